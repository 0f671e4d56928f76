"""What agents get: plain pydantic-ai models, with what happens around each call told to a listener."""

import asyncio
import threading
from typing import Any

import pytest
from pydantic import BaseModel
from pydantic_ai import Agent, NativeOutput, ToolOutput
from scripted_model import Reply, Request, ScriptedModel

from answerable.core.context import RunContext
from answerable.core.errors import OperatorError
from answerable.models.calls import ModelCalled
from answerable.models.gateway import Models


class City(BaseModel):
    name: str
    people: int


async def streamed(agent: Agent[None, Any], prompt: str) -> tuple[list[str], Any]:
    """The pieces of text in the order of arrival, and the output."""
    pieces: list[str] = []
    async with agent.run_stream_events(prompt) as events:
        async for event in events:
            part = getattr(event, "part", None) or getattr(event, "delta", None)
            text = getattr(part, "content", None) or getattr(part, "content_delta", None)
            if event.event_kind in ("part_start", "part_delta") and text:
                pieces.append(text)
            if event.event_kind == "agent_run_result":
                return pieces, event.result.output
    raise AssertionError("the run has no result")


async def test_text(
    models: Models, scripted_model: ScriptedModel, context: RunContext, calls: list[ModelCalled]
) -> None:
    scripted_model.script([Reply.text("Paris.", usage=(20, 3), cached=8)])
    result = await Agent(models.for_role("reasoning", context)).run("Capital of France?")
    assert result.output == "Paris."
    (call,) = calls
    assert (call.run, call.role, call.provider, call.model) == ("run_1", "reasoning", "lab", "scripted")
    assert (call.outcome, call.attempt, call.streamed) == ("done", 1, False)
    assert (call.input_tokens, call.output_tokens, call.cached_tokens, call.estimated) == (20, 3, 8, False)
    assert call.cost == 0, "a server on this machine costs nothing"
    (request,) = scripted_model.requests
    assert request.headers["authorization"] == "Bearer lab-key"
    assert (request.json["model"], request.json["max_tokens"]) == ("scripted", 8192)


@pytest.mark.parametrize("output", [NativeOutput, ToolOutput])
async def test_structured_output(
    models: Models, scripted_model: ScriptedModel, context: RunContext, output: Any
) -> None:
    city = {"name": "Paris", "people": 2100000}
    native = output is NativeOutput
    scripted_model.script([Reply.object(city) if native else Reply.tool_call("final_result", city)])
    agent = Agent(models.for_role("coding", context), output_type=output(City))
    assert (await agent.run("Paris?")).output == City(**city)
    request = scripted_model.requests[0].json
    assert ("response_format" in request, "tools" in request) == (native, not native)


async def test_tools_are_called_and_their_results_sent_back(
    models: Models, scripted_model: ScriptedModel, context: RunContext, calls: list[ModelCalled]
) -> None:
    scripted_model.script(
        [Reply.tool_calls([("add", {"a": 1, "b": 2}), ("add", {"a": 3, "b": 4})]), Reply.text("3, 7")]
    )
    agent = Agent(models.for_role("reasoning", context))

    @agent.tool_plain
    def add(a: int, b: int) -> int:
        return a + b

    assert (await agent.run("Add.")).output == "3, 7"
    assert [one["content"] for one in scripted_model.requests[1].messages if one["role"] == "tool"] == ["3", "7"]
    assert [call.outcome for call in calls] == ["done", "done"]


async def test_text_arrives_in_pieces(
    models: Models, scripted_model: ScriptedModel, context: RunContext, calls: list[ModelCalled]
) -> None:
    scripted_model.script([Reply.text("The capital of France is Paris.", usage=(20, 9))])
    pieces, output = await streamed(Agent(models.for_role("reasoning", context)), "Capital of France?")
    assert len(pieces) == 3
    assert "".join(pieces) == output == "The capital of France is Paris."
    (call,) = calls
    assert (call.streamed, call.input_tokens, call.output_tokens, call.estimated) == (True, 20, 9, False)
    assert call.first_token_ms is not None
    assert 0 < call.first_token_ms <= call.duration_ms


async def test_tool_calls_arrive_in_pieces(models: Models, scripted_model: ScriptedModel, context: RunContext) -> None:
    scripted_model.script([Reply.tool_call("add", {"a": 1000000, "b": 2000000}), Reply.text("done")])
    agent = Agent(models.for_role("reasoning", context))
    added = []

    @agent.tool_plain
    def add(a: int, b: int) -> int:
        added.append(a + b)
        return a + b

    _, output = await streamed(agent, "Add.")
    assert (added, output) == ([3000000], "done")


@pytest.mark.parametrize("stream", [False, True])
async def test_the_newer_interface_of_openai(
    make: Any, scripted_model: ScriptedModel, context: RunContext, stream: bool
) -> None:
    scripted_model.script([Reply.tool_call("add", {"a": 1, "b": 2}), Reply.text("three", usage=(7, 2))])
    lab = {"base_url": scripted_model.base_url, "key": "k", "api": "responses"}
    models = make(reasoning="openai:gpt-5.2", providers={"openai": lab})
    agent = Agent(models.for_role("reasoning", context))

    @agent.tool_plain
    def add(a: int, b: int) -> int:
        return a + b

    output = (await streamed(agent, "Add."))[1] if stream else (await agent.run("Add.")).output
    assert output == "three"
    assert {request.path for request in scripted_model.requests} == {"/v1/responses"}
    assert scripted_model.requests[0].json["max_output_tokens"] == 8192


async def test_connections_are_used_again(make: Any, scripted_model: ScriptedModel, context: RunContext) -> None:
    """Also by another model of the same provider."""
    models = make(reasoning="lab:one", coding="lab:two")
    scripted_model.script(lambda _: Reply.text("yes"))
    for role in ("reasoning", "coding", "reasoning"):
        await Agent(models.for_role(role, context)).run("Well?")
    assert [request.json["model"] for request in scripted_model.requests] == ["one", "two", "one"]
    assert scripted_model.connections == 1


async def test_calls_overlap(models: Models, scripted_model: ScriptedModel, context: RunContext) -> None:
    both_are_here = threading.Barrier(2)

    def reply(_: Request) -> Reply:
        both_are_here.wait(20)
        return Reply.text("yes")

    scripted_model.script(reply)
    agent = Agent(models.for_role("reasoning", context))
    results = await asyncio.gather(agent.run("A?"), agent.run("B?"))
    assert [result.output for result in results] == ["yes", "yes"]


async def test_an_agent_may_ask_for_shorter_replies_never_for_longer(
    models: Models, scripted_model: ScriptedModel, context: RunContext
) -> None:
    scripted_model.script(lambda _: Reply.text("yes"))
    agent = Agent(models.for_role("reasoning", context))
    for asked in (100, 10**6):
        await agent.run("Well?", model_settings={"max_tokens": asked})
    assert [request.json["max_tokens"] for request in scripted_model.requests] == [100, 8192]


async def test_a_listener_of_one_run_hears_only_of_that_run(
    models: Models, scripted_model: ScriptedModel, context: RunContext, calls: list[ModelCalled]
) -> None:
    scripted_model.script(lambda _: Reply.text("yes"))
    heard: list[ModelCalled] = []
    await Agent(models.for_role("reasoning", context, heard.append)).run("A?")
    await Agent(models.for_role("reasoning", context)).run("B?")
    assert (len(heard), len(calls)) == (1, 2)


async def test_no_model_is_set(make: Any, context: RunContext) -> None:
    models = make(reasoning=[])
    assert not models.configured
    with pytest.raises(OperatorError, match="No language model is set") as caught:
        models.for_role("reasoning", context)
    assert caught.value.stable_code == "model_missing"


async def test_a_key_is_nowhere_to_be_seen(
    make: Any, scripted_model: ScriptedModel, context: RunContext, calls: list[ModelCalled]
) -> None:
    scripted_model.key = "the right one"
    lab = {"base_url": scripted_model.base_url, "key": "sk-very-secret"}
    models = make(providers={"lab": lab})
    model = models.for_role("reasoning", context)
    with pytest.raises(OperatorError, match="does not accept the key") as caught:
        await Agent(model).run("Well?")
    seen = [repr(model), repr(models), repr(vars(models)), str(caught.value), repr(vars(caught.value)), repr(calls)]
    assert caught.value.stable_code == "model_unauthorised"
    assert not any("sk-very-secret" in text for text in seen)

"""The clients of every provider, against what each speaks: address, key, tools, streams, usage, cost, waits."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import pytest
from pydantic_ai import Agent
from scripted_model import Reply, Request, ScriptedModel

from answerable.core.context import RunContext
from answerable.core.errors import OperatorError
from answerable.models.calls import ModelCalled

KEY = "key-of-the-test"


@dataclass(frozen=True)
class Provider:
    model: str
    package: str
    path: str
    shown: Callable[[Request], str | None]
    """Where the key is found in a request."""
    base: str = ""
    more: tuple[tuple[str, str], ...] = ()


def header(name: str) -> Callable[[Request], str | None]:
    return lambda request: request.headers.get(name)


PROVIDERS = {
    "anthropic": Provider("claude-sonnet-5", "anthropic", "/v1/messages", header("authorization")),
    "google": Provider("gemini-2.5-flash", "google.genai", "/models/gemini-2.5-flash:", header("x-goog-api-key")),
    "azure": Provider(
        "gpt-4o",
        "openai",
        "/openai/deployments/gpt-4o/chat/completions?api-version=2025-04-01-preview",
        header("api-key"),
        more=(("api_version", "2025-04-01-preview"),),
    ),
    "ollama": Provider("qwen3:8b", "openai", "/v1/chat/completions", header("authorization"), base="/v1"),
    "openai": Provider("gpt-4o", "openai", "/v1/chat/completions", header("authorization"), base="/v1"),
    "bedrock": Provider(
        "amazon.nova-lite-v1:0",
        "boto3",
        "/model/amazon.nova-lite-v1%3A0/converse",
        header("authorization"),
        more=(("region", "eu-central-1"),),
    ),
}
each = pytest.mark.parametrize("name", PROVIDERS)
both = pytest.mark.parametrize("stream", [False, True], ids=["whole", "streamed"])


@pytest.fixture
def agent(
    make: Any, scripted_model: ScriptedModel, context: RunContext, monkeypatch: pytest.MonkeyPatch
) -> Callable[..., Agent[None, str]]:
    monkeypatch.setenv("AWS_ACCESS_KEY_ID", KEY)  # Amazon's client finds what it needs by itself
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", "secret-of-the-test")

    def agent(name: str, **more: Any) -> Agent[None, str]:
        provider = PROVIDERS[name]
        pytest.importorskip(provider.package, reason=f"pip install 'answerable[{name}]'")
        address = scripted_model.base_url.removesuffix("/v1") + provider.base
        key = {} if name == "bedrock" else {"key": KEY}
        endpoint = {"base_url": address, **key, "price": {"input": 1, "output": 10}, **dict(provider.more)}
        models = make(reasoning=f"{name}:{provider.model}", providers={name: endpoint})
        return Agent(models.for_role("reasoning", context), **more)

    return agent


async def said(agent: Agent[None, str], stream: bool) -> str:
    if not stream:
        return (await agent.run("Well?")).output
    async with agent.run_stream_events("Well?") as events:
        async for event in events:
            if event.event_kind == "agent_run_result":
                return str(event.result.output)
    raise AssertionError("the run has no result")


@each
@both
async def test_text_tools_usage_and_cost(
    agent: Any, scripted_model: ScriptedModel, calls: list[ModelCalled], name: str, stream: bool
) -> None:
    async def population(city: str) -> int:
        """How many live there."""
        return {"Oslo": 700_000}[city]

    scripted_model.script(
        [
            Reply.tool_call("population", {"city": "Oslo"}, usage=(100, 10)),
            Reply.text("About seven hundred thousand people live there.", usage=(200, 20)),
        ]
    )
    text = await said(agent(name, tools=[population]), stream)
    assert text == "About seven hundred thousand people live there."
    provider = PROVIDERS[name]
    for request in scripted_model.requests:
        assert provider.path in request.path
        assert KEY in (provider.shown(request) or "")
    assert "700000" in scripted_model.requests[1].text
    assert [(call.outcome, call.input_tokens, call.output_tokens) for call in calls] == [
        ("done", 100, 10),
        ("done", 200, 20),
    ]
    assert [call.cost for call in calls] == pytest.approx([0.0002, 0.0004])


@each
async def test_a_busy_provider_is_waited_for_as_long_as_it_asks(
    agent: Any, scripted_model: ScriptedModel, calls: list[ModelCalled], clock: Any, name: str
) -> None:
    scripted_model.script([Reply.status(429, retry_after=7), Reply.status(503), Reply.text("yes")])
    assert await said(agent(name), stream=True) == "yes"
    assert [call.outcome for call in calls] == ["model_rate_limited", "model_unavailable", "done"]
    assert clock.slept[0] == 7
    assert len(scripted_model.requests) == 3, "the client of the provider does not repeat by itself"


@each
async def test_a_wrong_key_is_the_operator_s_to_put_right(agent: Any, scripted_model: ScriptedModel, name: str) -> None:
    scripted_model.script(lambda _: Reply.status(401, message="wrong key" if name == "bedrock" else f"wrong key {KEY}"))
    with pytest.raises(OperatorError) as caught:
        await said(agent(name), stream=True)
    assert caught.value.stable_code == "model_unauthorised"
    assert KEY not in str(caught.value)


@each
async def test_a_stream_that_is_cut_off_is_not_an_answer(
    agent: Any, scripted_model: ScriptedModel, calls: list[ModelCalled], name: str
) -> None:
    scripted_model.script(lambda _: Reply.text("A sentence that is much longer than one piece of it.").cut(3))
    with pytest.raises(Exception, match="broke off") as caught:
        await said(agent(name), stream=True)
    assert getattr(caught.value, "stable_code", None) == "model_cut_off"

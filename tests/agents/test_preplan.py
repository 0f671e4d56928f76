"""A model looks at a question before it is planned: what cannot be told or is ambiguous ends there, the rest not."""

from collections.abc import AsyncIterator, Callable
from pathlib import Path
from typing import Any

import pytest
import pytest_asyncio
from scripted_model import Reply, Request, ScriptedModel

from answerable.agents.question_request import QuestionRequest
from answerable.answers.answer import Answer
from answerable.app import open_service
from answerable.core.context import LOCAL
from answerable.core.events import StepFinished, StepOutput
from answerable.core.ids import RunId, ThreadId
from answerable.service import Service
from answerable.settings import load_settings

PLAN = {
    "reasoning": "Tents that were sold.",
    "steps": [{"id": "tents", "tool": "sql", "context": "How many rows products has."}],
}
QUESTION = "how many zigzag tents?"
pytestmark = pytest.mark.asyncio(loop_scope="module")


def scripted(preplanned: dict[str, Any]) -> Callable[[Request], Reply]:
    def answer(request: Request) -> Reply:
        if "You look at a question" in request.text:
            return Reply.object({"asked": "The number of tents.", **preplanned})
        if "You plan how" in request.text:
            return Reply.object(PLAN)
        if "You find the answer" in request.text:
            return Reply.object({"cannot": "nothing explains it."})
        if "You put an answer" in request.text:
            return Reply.object({"text": ""})
        return Reply.object({"sql": "SELECT count(*) AS tents FROM products"})

    return answer


def asked(model: ScriptedModel) -> list[str]:
    """Who was asked, in order, by the first words of their instructions."""
    return [str(request.messages[0]["content"])[:12] for request in model.requests]


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def service(scripted_model: ScriptedModel, demo_home: Path) -> AsyncIterator[Service]:
    settings = load_settings(
        {},
        home=demo_home,
        store=":memory:",
        model="compatible:scripted",
        model_base_url=scripted_model.base_url,
        preplan=True,
    )
    async with open_service(settings, any_location=True) as service:
        yield service


async def ask(service: Service, **options: Any) -> Answer:
    return await service.questions.ask(QuestionRequest(options.pop("text", QUESTION), ("demo",), **options), LOCAL)


async def test_what_the_data_lacks_is_said_and_nothing_is_planned(
    service: Service, scripted_model: ScriptedModel
) -> None:
    scripted_model.script(scripted({"missing": "nothing here is about zigzags; products hold tents."}))
    answer = await ask(service)
    assert (answer.status, answer.kind) == ("done", "text")
    assert answer.text == "I cannot tell from this data: nothing here is about zigzags; products hold tents."
    assert answer.usage.model_calls == 1
    events = [event async for event in service.runs.events(RunId(answer.run_id), LOCAL)]
    assert "execute/preplan" in [event.node for event in events if isinstance(event, StepFinished)]


async def test_readings_are_offered_and_the_chosen_one_is_not_looked_at_again(
    service: Service, scripted_model: ScriptedModel
) -> None:
    thread = ThreadId("thr_000000000000000000000009")
    readings = ["How many tents were sold by zigzag?", "How many tents are in stock by zigzag?"]
    scripted_model.script(scripted({"readings": readings}))
    answer = await ask(service, thread=thread)
    assert answer.status == "clarify"
    assert [choice.label for choice in answer.choices] == readings
    assert answer.usage.model_calls == 1
    scripted_model.script(scripted({"readings": readings}))
    chosen = await ask(service, thread=thread, choice=2)
    assert chosen.status == "done", chosen.text
    assert asked(scripted_model)[0] == "You plan how"
    assert readings[1] in scripted_model.requests[0].text
    assert "do not ask once more" in scripted_model.requests[0].text


async def test_who_wants_an_answer_is_not_asked(service: Service, scripted_model: ScriptedModel) -> None:
    scripted_model.script(scripted({"readings": ["One?", "Another?"]}))
    answer = await ask(service, mode="plan", force=True)
    assert answer.status == "done", answer.text
    assert asked(scripted_model)[:2] == ["You look at ", "You plan how"]


async def test_a_plan_that_asks_is_handed_back_to_who_wants_an_answer(
    service: Service, scripted_model: ScriptedModel
) -> None:
    plans = iter([{"steps": [], "ask": ["One?", "Another?"]}, PLAN])
    usual = scripted({})
    scripted_model.script(lambda r: Reply.object(next(plans)) if "You plan how" in r.text else usual(r))
    answer = await ask(service, mode="plan", force=True)
    assert answer.status == "done", answer.text
    assert "wants no question back" in scripted_model.requests[2].text


async def test_the_planner_hears_the_hint(service: Service, scripted_model: ScriptedModel) -> None:
    scripted_model.script(scripted({"hint": "Tents are products whose category is Camping."}))
    answer = await ask(service)
    assert answer.status == "done", answer.text
    assert asked(scripted_model)[:2] == ["You look at ", "You plan how"]
    assert "Tents are products whose category is Camping. One query should do." in scripted_model.requests[1].text


async def test_a_look_that_fails_is_done_without(service: Service, scripted_model: ScriptedModel) -> None:
    usual = scripted({})
    failing = lambda r: Reply.status(400, message="no") if "You look at" in r.text else usual(r)  # noqa: E731
    scripted_model.script(failing)
    answer = await ask(service)
    assert answer.status == "done", answer.text
    assert "Nobody could look at it first." in scripted_model.requests[1].text
    events = [event async for event in service.runs.events(RunId(answer.run_id), LOCAL)]
    told = [event.data["code"] for event in events if isinstance(event, StepOutput) and event.channel == "fallback"]
    assert told == ["model_rejected"]


async def test_what_takes_exploring_is_explored_without_a_plan(service: Service, scripted_model: ScriptedModel) -> None:
    scripted_model.script(scripted({"difficulty": "explore"}))
    answer = await ask(service)
    assert "nothing explains it" in answer.text
    assert asked(scripted_model) == ["You look at ", "You find the"]
    scripted_model.script(scripted({"difficulty": "explore"}))
    await ask(service, mode="plan")
    assert asked(scripted_model)[1] == "You plan how"


async def test_one_reading_is_no_choice(service: Service, scripted_model: ScriptedModel) -> None:
    said = iter([{"readings": ["How many tents?"]}, {}])
    scripted_model.script(lambda request: scripted(next(said) if "You look" in request.text else {})(request))
    answer = await ask(service)
    assert answer.status == "done", answer.text
    assert "one reading is no choice" in scripted_model.requests[1].text


async def test_what_the_reader_is_sure_of_is_not_looked_at(service: Service, scripted_model: ScriptedModel) -> None:
    scripted_model.script([])
    answer = await ask(service, text="how many orders are there?")
    assert answer.status == "done", answer.text
    assert scripted_model.requests == []

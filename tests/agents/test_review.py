"""An answer of a model is checked: what does not hold goes back to its writer once, and what stays doubtful is said."""

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
from answerable.core.events import AnswerBatch, StepOutput
from answerable.core.ids import RunId
from answerable.service import Service
from answerable.settings import load_settings

pytestmark = pytest.mark.asyncio(loop_scope="module")
QUESTION = "how many zigzag purchases were there in 2025?"
TWICE = "SELECT count(*) AS n FROM orders o JOIN order_items i ON i.order_id = o.order_id WHERE year(order_date) = 2025"
ONCE = "SELECT count(*) AS n FROM orders WHERE order_date >= DATE '2025-01-01' AND order_date < DATE '2026-01-01'"
CHECK = {
    "question": "How many orders are of 2025?",
    "sql": "SELECT count(DISTINCT order_id) FROM orders WHERE year(order_date) = 2025",
    "column": "n",
}
PLANNED = {"id": "counted", "tool": "sql", "context": "Count the orders of 2025.", "code": TWICE}


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def service(scripted_model: ScriptedModel, demo_home: Path) -> AsyncIterator[Service]:
    model = {"model": "compatible:scripted", "model_base_url": scripted_model.base_url}
    async with open_service(load_settings({}, home=demo_home, store=":memory:", **model), any_location=True) as service:
        yield service


def who(request: Request) -> str:
    return str(request.messages[0]["content"]).splitlines()[0]


def by_agent(plan: Any = None, write: Any = None, review: Any = None) -> Callable[[Request], Reply]:
    """Replies for each agent in turn; the last one of a list is said again and again."""
    said = {
        "You plan how": list(plan or [{"steps": [PLANNED]}]),
        "You write one SQL": list(write or []),
        "You write one Python": list(write or []),
        "You put an answer": list(review or [{}]),
    }

    def reply(request: Request) -> Reply:
        replies = next(replies for start, replies in said.items() if who(request).startswith(start))
        return Reply.object(replies.pop(0) if len(replies) > 1 else replies[0])

    return reply


async def ask(service: Service, question: str = QUESTION, mode: Any = "plan") -> Answer:
    return await service.questions.ask(QuestionRequest(question, ("demo",), mode=mode), LOCAL)


async def test_a_check_that_does_not_hold_goes_back_to_the_writer_with_the_evidence(
    service: Service, scripted_model: ScriptedModel
) -> None:
    first = {"text": "There were 6,814.", "checks": [CHECK]}
    scripted_model.script(by_agent(write=[{"sql": ONCE}], review=[first, {"text": "There were 3,304."}]))
    answer = await ask(service)
    assert answer.rows == ((3304,),)
    assert "3,304" in answer.text
    assert answer.provenance.confidence == "high", answer.provenance
    assert "corrected" in answer.provenance.findings[0]
    assert answer.steps[-1].code is not None
    assert "JOIN" not in answer.steps[-1].code
    writer = next(request for request in scripted_model.requests if who(request).startswith("You write one SQL"))
    assert "The answer says 6,814, the data says 3,304." in writer.text
    assert "JOIN order_items" in writer.text


async def test_what_stays_doubtful_is_said_in_the_answer(service: Service, scripted_model: ScriptedModel) -> None:
    """The writer insists, so the rows stay. They are not called sure."""
    review = {"text": "There were 6,814.", "checks": [CHECK]}
    scripted_model.script(by_agent(write=[{"sql": TWICE}], review=[review]))
    answer = await ask(service)
    assert answer.provenance.confidence == "low"
    assert "A check does not hold: How many orders are of 2025?" in answer.text
    assert "the data says 3,304" in answer.text
    assert len(scripted_model.requests) == 3, "plan, review, and the writer once"


@pytest.mark.parametrize(
    "check",
    [
        {"question": "How many stores?", "sql": "SELECT count(*) FROM stores", "column": "n"},
        {"question": "How many rows?", "sql": f"SELECT count(*) FROM ({TWICE})", "of": "rows"},
        {"question": "The same?", "sql": TWICE, "column": "n"},
        {"question": "One row?", "sql": "SELECT min(1) FROM orders", "of": "rows"},
        {"question": "Broken?", "sql": "SELECT nothing_such FROM orders", "column": "n"},
        {"question": "Nothing?", "sql": "SELECT order_id FROM orders WHERE order_id < 0", "column": "n"},
    ],
)
async def test_a_check_that_says_nothing_of_the_answer_gives_no_confidence(
    service: Service, scripted_model: ScriptedModel, check: dict[str, Any]
) -> None:
    scripted_model.script(by_agent(review=[{"checks": [check]}]))
    answer = await ask(service)
    assert answer.provenance.confidence == "medium"
    assert answer.provenance.confidence_reason == "No independent check could decide."
    assert len(scripted_model.requests) == 2


async def test_a_simple_question_costs_two_calls(service: Service, scripted_model: ScriptedModel) -> None:
    scripted_model.script(by_agent([{"steps": [{**PLANNED, "code": ONCE}]}], review=[{"checks": [CHECK]}]))
    answer = await ask(service)
    assert answer.provenance.confidence == "high"
    assert answer.usage.model_calls == len(scripted_model.requests) == 2


@pytest.mark.parametrize(
    ("program", "asked", "shown"),
    [
        (False, ["You plan how", "You put an answer"], ["found"]),
        (True, ["You plan how", "You write one Python", "You put an answer"], ["found", "counted"]),
    ],
    ids=["one step", "two steps"],
)
async def test_a_plan_is_made_only_of_more_than_one_step(
    service: Service, scripted_model: ScriptedModel, program: bool, asked: list[str], shown: list[str]
) -> None:
    """For one step nobody plans: whoever is asked first writes its query, and no writer is asked after that."""
    steps: list[dict[str, Any]] = [{"id": "found", "tool": "sql", "code": ONCE}]
    steps += [{"id": "counted", "tool": "python", "context": "Its number.", "after": ["found"]}] if program else []
    scripted_model.script(by_agent([{"steps": steps}], [{"code": "result = found['n'].sum()"}]))
    answer = await ask(service)
    assert [
        next(each for each in asked if who(request).startswith(each)) for request in scripted_model.requests
    ] == asked
    assert [step.id for step in answer.steps] == shown
    assert answer.usage.model_calls == len(asked)


async def test_the_programs_before_a_program_are_reviewed_with_it(
    service: Service, scripted_model: ScriptedModel
) -> None:
    steps = [
        {"id": "all_orders", "tool": "sql", "code": "SELECT order_id, order_date FROM orders WHERE order_id > 1"},
        {"id": "counted", "tool": "python", "context": "Count the rows of 2025.", "after": ["all_orders"]},
    ]
    program = {"code": "result = all_orders.filter(pl.col('order_date').dt.year() == 2025).height"}
    scripted_model.script(by_agent([{"steps": steps}], [program], [{"checks": [{**CHECK, "column": ""}]}]))
    answer = await ask(service)
    assert answer.provenance.confidence == "high", answer.provenance
    reviewed = scripted_model.requests[-1].text
    assert "order_id > 1" in reviewed
    assert "all_orders.filter" in reviewed


async def test_rows_are_told_before_the_words(service: Service, scripted_model: ScriptedModel) -> None:
    scripted_model.script(by_agent(review=[{"text": "There were 6,814."}]))
    answer = await ask(service)
    events = [event async for event in service.runs.events(RunId(answer.run_id), LOCAL)]
    batch = next(event for event in events if isinstance(event, AnswerBatch))
    prompts = [event for event in events if isinstance(event, StepOutput) and event.channel == "prompt"]
    asked = next(event for event in prompts if event.data["agent"] == "format")
    assert batch.rows == [[6814]]
    assert batch.seq < asked.seq


async def test_an_exploration_is_checked_and_may_look_again(service: Service, scripted_model: ScriptedModel) -> None:
    explored = iter(
        [
            Reply.tool_call("execute_sql", {"name": "twice", "sql": TWICE}),
            Reply.object({"show": "twice", "text": "There were 6,814."}),
            Reply.tool_call("execute_sql", {"name": "once", "sql": ONCE}),
            Reply.object({"show": "once", "text": "There were 3,304."}),
        ]
    )

    def reply(request: Request) -> Reply:
        return Reply.object({"checks": [CHECK]}) if who(request).startswith("You put") else next(explored)

    scripted_model.script(reply)
    answer = await ask(service, mode="react")
    assert answer.rows == ((3304,),)
    assert answer.provenance.confidence == "high"
    assert "3,304" in answer.text
    assert [step.id for step in answer.steps] == ["twice", "once"]


UNREVIEWED = "The model could not check this answer and put it into words."


@pytest.mark.parametrize("mode", ["plan", "react"])
@pytest.mark.parametrize(
    ("failure", "finding"),
    [
        (Reply.status(400, message="no"), UNREVIEWED),
        (Reply.object({"text": "word " * 200_000}), UNREVIEWED),
        (
            Reply.refusal("I would rather not."),
            f"{UNREVIEWED} compatible:scripted declined to answer: I would rather not.",
        ),
    ],
    ids=["rejected", "a million signs", "refusal"],
)
async def test_a_reviewer_that_fails_leaves_the_answer_and_says_so(
    service: Service, scripted_model: ScriptedModel, failure: Reply, finding: str, mode: str
) -> None:
    looked = iter(
        [Reply.tool_call("execute_sql", {"name": "counted", "sql": TWICE}), Reply.object({"show": "counted"})]
    )

    def reply(request: Request) -> Reply:
        if who(request).startswith("You put"):
            return failure
        return Reply.object({"steps": [PLANNED]}) if mode == "plan" else next(looked)

    scripted_model.script(reply)
    answer = await ask(service, mode=mode)
    assert (answer.status, answer.rows) == ("done", ((6814,),))
    assert answer.provenance.findings == (finding,)
    assert answer.provenance.confidence_reason == "No independent check could decide."

"""When a model fails, the reader stands in and says so; what was found is kept; nothing names a library."""

from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest
import pytest_asyncio
from scripted_model import Reply, Request, ScriptedModel

from answerable.agents.question_request import QuestionRequest
from answerable.answers.answer import Answer
from answerable.app import open_service
from answerable.core.context import LOCAL
from answerable.core.ids import ThreadId
from answerable.service import Service
from answerable.settings import load_settings

pytestmark = pytest.mark.asyncio(loop_scope="module")
SURE, UNSURE = "how many orders are there?", "customers and their orders by product"
COUNT = "SELECT count(*) AS n FROM orders"


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def service(scripted_model: ScriptedModel, demo_home: Path) -> AsyncIterator[Service]:
    model = {"model": "compatible:scripted", "model_base_url": scripted_model.base_url, "models": {"attempts": 1}}
    async with open_service(load_settings({}, home=demo_home, store=":memory:", **model), any_location=True) as service:
        yield service


async def ask(service: Service, question: str, mode: Any = "plan", **more: Any) -> Answer:
    return await service.questions.ask(QuestionRequest(question, ("demo",), mode=mode, **more), LOCAL)


FAILURES = {
    "wrong key": lambda _: Reply.status(401),
    "not what was asked for": lambda _: Reply.text("I would rather talk about the weather."),
    "never a query that runs": lambda _: Reply.object({"steps": [{"id": "a", "tool": "sql", "code": "SELECT zone"}]}),
    "unknown tool": lambda _: Reply.tool_call("drop_tables", {}),
    "endless looks": lambda _: Reply.tool_call("search_schema", {"words": "orders"}),
    "a million signs": lambda _: Reply.text("word " * 200_000),
}


@pytest.mark.parametrize("failure", FAILURES)
@pytest.mark.parametrize("mode", ["plan", "react"])
async def test_the_reader_stands_in(service: Service, scripted_model: ScriptedModel, failure: str, mode: str) -> None:
    scripted_model.script(FAILURES[failure])
    answer = await ask(service, SURE, mode)
    assert (answer.status, answer.rows) == ("done", ((8977,),)), answer.text
    assert "The model could not answer this." in answer.text
    assert "This is the reader's answer." in answer.text
    assert not [word for word in ("http", "pydantic", "retries", "request_limit") if word in answer.text]


async def test_what_the_reader_can_offer_is_offered(service: Service, scripted_model: ScriptedModel) -> None:
    scripted_model.script(lambda _: Reply.status(401))
    answer = await ask(service, UNSURE, "auto")
    assert answer.kind == "clarify"
    assert answer.text.startswith("The model could not answer this. ")
    assert answer.choices


async def test_a_refusal_keeps_its_words_and_is_not_got_around(service: Service, scripted_model: ScriptedModel) -> None:
    scripted_model.script(lambda _: Reply.refusal("I will not count people."))
    answer = await ask(service, SURE)
    assert answer.status == "refused", answer
    assert "I will not count people." in answer.text


async def test_what_an_exploration_found_is_kept_when_it_does_not_end(
    service: Service, scripted_model: ScriptedModel
) -> None:
    names = (f"look{number}" for number in range(100))
    scripted_model.script(lambda _: Reply.tool_call("execute_sql", {"name": next(names), "sql": COUNT}))
    answer = await ask(service, SURE, "react")
    assert (answer.status, answer.rows) == ("partial", ((8977,),))
    assert "The exploration did not come to an end; this is what was found so far." in answer.text
    assert answer.provenance.confidence == "low"


async def test_a_follow_up_knows_the_answer_and_its_rows_also_after_a_question_back(
    service: Service, scripted_model: ScriptedModel
) -> None:
    thread = ThreadId("thr_000000000000000000000042")
    sql = "SELECT region, count(*) AS shops FROM stores GROUP BY region ORDER BY region"
    asked = {"ask": ["Which region has most?", "Which has least?"]}
    planned = iter([{"steps": [{"id": "found", "tool": "sql", "code": sql}]}, asked, {"cannot": "why it is so."}])

    def reply(request: Request) -> Reply:
        if str(request.messages[0]["content"]).startswith("You put"):
            return Reply.object({"text": "East and North have three each."})
        return Reply.object(next(planned))

    scripted_model.script(reply)
    for question in ("zigzag shops?", "which zigzag is special?", "why did that one lose?"):
        await ask(service, question, thread=thread)
    told = scripted_model.requests[-1].last("user")
    assert "East and North have three each." in told
    assert '{"region": "East", "shops": 3}' in told
    assert "zigzag shops?" in told
    assert '"Which region has most?", "Which has least?"' in told
    assert "earlier_rows" in scripted_model.requests[-1].tools

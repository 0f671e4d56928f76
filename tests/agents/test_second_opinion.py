"""The rows of the reader are held against those of a model: what that is worth depends on how sure the reader is."""

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
from answerable.service import Service
from answerable.settings import load_settings

SURE, UNSURE = "how many orders are there?", "customers and their orders by product"
pytestmark = pytest.mark.asyncio(loop_scope="module")
HOLDS = {"question": "Who is first?", "sql": "SELECT min(name) FROM customers", "of": "cell", "column": "name"}


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def ask(scripted_model: ScriptedModel, demo_home: Path) -> AsyncIterator[Callable[..., Any]]:
    """Puts a question to a model that plans one step and writes this query for it."""
    settings = load_settings(
        {},
        home=demo_home,
        store=":memory:",
        model="compatible:scripted",
        model_base_url=scripted_model.base_url,
    )

    async def asked(service: Service, question: str, sql: str) -> Answer:
        def say(request: Request) -> Reply:
            if "You plan how" in request.text:
                return Reply.object({"steps": [{"id": "found", "tool": "sql", "context": "Find it."}]})
            if "You put an answer" in request.text:
                return Reply.object({"checks": [HOLDS] if question == UNSURE else []})
            return Reply.object({"sql": sql})

        scripted_model.script(say)
        return await service.questions.ask(QuestionRequest(question, ("demo",), mode="plan"), LOCAL)

    async with open_service(settings, any_location=True) as service:
        yield lambda question, sql: asked(service, question, sql)


async def test_the_same_rows_raise_confidence(ask: Callable[..., Any]) -> None:
    answer = await ask(SURE, "SELECT count(order_id) AS n FROM orders")
    assert answer.provenance.confidence == "high"
    assert "reader's own" in answer.provenance.confidence_reason


async def test_other_rows_of_a_sure_reader_are_shown(ask: Callable[..., Any]) -> None:
    answer = await ask(SURE, "SELECT count(*) AS n FROM customers")
    assert answer.provenance.confidence == "low"
    assert "The reader reads this differently" in answer.provenance.findings[0]


async def test_other_rows_of_a_reader_that_guesses_mean_nothing_and_checks_decide(
    ask: Callable[..., Any],
) -> None:
    answer = await ask(UNSURE, "SELECT name FROM customers ORDER BY name LIMIT 3")
    assert answer.provenance.confidence == "high"
    assert answer.provenance.confidence_reason == "One independent check of the data held."
    assert answer.provenance.findings == ()

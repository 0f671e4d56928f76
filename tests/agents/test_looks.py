"""Models look at data before they commit themselves: a few typed looks, the same for all, bounded and counted."""

from collections.abc import AsyncIterator
from datetime import date
from pathlib import Path
from typing import Any

import pytest
import pytest_asyncio
from scripted_model import Reply, Request, ScriptedModel

from answerable.agents.question_request import QuestionRequest
from answerable.agents.schema_links import schema_links
from answerable.agents.schema_text import tables_text
from answerable.app import open_service
from answerable.core.catalog import Catalog, Column, Table
from answerable.core.context import LOCAL
from answerable.core.events import StepOutput
from answerable.core.ids import RunId
from answerable.models.tokens import likely
from answerable.reader.reader import Reader
from answerable.service import Service
from answerable.settings import load_settings

pytestmark = pytest.mark.asyncio(loop_scope="module")
QUESTION = "how many zigzag purchases came by telephone?"
PLANNED = {"steps": [{"id": "n", "tool": "sql", "code": "SELECT count(*) AS n FROM orders WHERE channel = 'Phone'"}]}


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def opened(scripted_model: ScriptedModel, demo_home: Path) -> AsyncIterator[Service]:
    model = {"model": "compatible:scripted", "model_base_url": scripted_model.base_url}
    settings = load_settings({}, home=demo_home, store=":memory:", **model)
    async with open_service(settings, any_location=True) as service:
        yield service


async def ask(service: Service, model: ScriptedModel, *planner: Reply) -> Any:
    left = iter(planner)

    def reply(request: Request) -> Reply:
        if str(request.messages[0]["content"]).startswith("You put"):
            return Reply.object({})
        return next(left)

    model.script(reply)
    return await service.questions.ask(QuestionRequest(QUESTION, ("demo",), mode="plan"), LOCAL)


@pytest.mark.parametrize(
    ("tool", "arguments", "seen"),
    [
        ("column_values", {"table": "orders", "column": "channel"}, '{"channel": "Phone", "rows": '),
        ("column_values", {"table": "orders", "column": "channel", "contains": "pho"}, '"Phone"'),
        ("probe", {"sql": "SELECT DISTINCT status FROM orders ORDER BY 1"}, '{"status": "Cancelled"}'),
        ("search_schema", {"words": "satisfaction of tickets"}, 'table "support_tickets"'),
        ("column_values", {"table": "orders", "column": "zone"}, "It failed: "),
        ("probe", {"sql": "DROP TABLE orders"}, "It failed: "),
    ],
)
async def test_a_planner_looks_before_it_writes(
    opened: Service, scripted_model: ScriptedModel, tool: str, arguments: dict[str, Any], seen: str
) -> None:
    answer = await ask(opened, scripted_model, Reply.tool_call(tool, arguments), Reply.object(PLANNED))
    assert answer.status == "done", answer.text
    assert seen in scripted_model.requests[1].last("tool")
    events = [event async for event in opened.runs.events(RunId(answer.run_id), LOCAL)]
    looks = [event.data for event in events if isinstance(event, StepOutput) and event.channel == "look"]
    assert looks == [{"kind": tool, "number": 1, "most": 3}]


@pytest.mark.parametrize("writer", ["sql", "python"])
async def test_writers_have_the_same_looks(opened: Service, scripted_model: ScriptedModel, writer: str) -> None:
    """Also at rows of earlier steps, which a planner has only of the conversation."""
    phones = {"id": "phones", "tool": "sql", "code": "SELECT order_id FROM orders WHERE channel = 'Phone'"}
    step = {"id": "n", "tool": writer, "context": "How many?", "after": ["phones"]}
    by_ids = "SELECT count(*) AS n FROM orders WHERE order_id IN (SELECT order_id FROM phones)"
    written = {"sql": by_ids} if writer == "sql" else {"code": "result = phones.height"}
    looks = [
        Reply.tool_call("column_values", {"table": "orders", "column": "channel"}),
        Reply.tool_call("earlier_rows", {"name": "phones", "first": 21}),
        Reply.tool_call("probe", {"sql": "SELECT 1 AS one"}),
        Reply.tool_call("search_schema", {"words": "tickets"}),
    ]
    answer = await ask(opened, scripted_model, Reply.object({"steps": [phones, step]}), *looks, Reply.object(written))
    assert answer.status == "done", answer.text
    seen = [request.last("tool") for request in scripted_model.requests[2:6]]
    assert ["Phone" in seen[0], "rows 21 to 40" in seen[1], '"one": 1' in seen[2]] == [True] * 3
    assert "No more than 3 looks" in seen[3]


async def test_looks_are_bounded(opened: Service, scripted_model: ScriptedModel) -> None:
    look = Reply.tool_call("search_schema", {"words": "orders"})
    answer = await ask(opened, scripted_model, look, look, look, look, Reply.object(PLANNED))
    assert answer.status == "done", answer.text
    assert "No more than 3 looks. Reply now with what you know." in scripted_model.requests[4].last("tool")


async def test_a_model_that_takes_no_tools_plans_without_looks(opened: Service, scripted_model: ScriptedModel) -> None:
    def reply(request: Request) -> Reply:
        if "probe" in request.tools:
            return Reply.status(400, message="this model does not support these tools")
        return Reply.object({} if str(request.messages[0]["content"]).startswith("You put") else PLANNED)

    scripted_model.script(reply)
    answer = await opened.questions.ask(QuestionRequest(QUESTION, ("demo",), mode="plan"), LOCAL)
    assert answer.status == "done", answer.text
    assert answer.row_count == 1


class NoValues:
    def find(self, phrase: str, limit: int = 8, least: float = 0.0) -> list[Any]:
        return []


async def test_a_prompt_describes_what_the_question_touches_and_names_the_rest() -> None:
    columns = ("id", "name", "created", "amount", "status", "comment", "owner", "kind", "state", "flag")
    tables = tuple(
        Table(name=name, columns=tuple(Column(name=column, type="text") for column in columns))
        for name in ("invoices", *(f"ledger_part_{number}" for number in range(150)))
    )
    catalog = Catalog(source="big", dialect="duckdb", tables=tables)
    reader = Reader(catalog, NoValues(), today=lambda: date(2026, 1, 1))
    text = tables_text(schema_links(reader, "how many invoices are there?"), share_rows=True)
    assert 'table "invoices"' in text
    assert likely(text) < 1_500
    assert "more" in text.splitlines()[-1]
    found = schema_links(reader, "ledger part 149").touched_alone()
    assert 'table "ledger_part_149"' in tables_text(found, share_rows=True)

"""The form that a user asks for: a model says it as data, and code applies it to all rows."""

from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest
import pytest_asyncio
from scripted_model import Reply, Request, ScriptedModel

from answerable.agents.question_request import QuestionRequest
from answerable.answers.answer import Answer
from answerable.answers.render import to_html, to_text
from answerable.app import open_service
from answerable.core.context import LOCAL
from answerable.service import Service
from answerable.settings import load_settings

pytestmark = pytest.mark.asyncio(loop_scope="module")
SHOPS = "SELECT region, count(*) AS n, min(store_id) AS first FROM stores GROUP BY region ORDER BY region"
ORDERS = "SELECT order_id, customer_id, order_date FROM orders ORDER BY order_id"


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def opened(scripted_model: ScriptedModel, demo_home: Path) -> AsyncIterator[Service]:
    model = {"model": "compatible:scripted", "model_base_url": scripted_model.base_url}
    async with open_service(load_settings({}, home=demo_home, store=":memory:", **model), any_location=True) as service:
        yield service


async def ask(service: Service, model: ScriptedModel, sql: str, *wordings: dict[str, Any]) -> Answer:
    left = iter(wordings)

    def reply(request: Request) -> Reply:
        if str(request.messages[0]["content"]).startswith("You put"):
            return Reply.object(next(left))
        return Reply.object({"steps": [{"id": "found", "tool": "sql", "code": sql}]})

    model.script(reply)
    return await service.questions.ask(QuestionRequest("zigzag shops per region?", ("demo",), mode="plan"), LOCAL)


async def test_columns_order_heads_and_totals_are_applied(opened: Service, scripted_model: ScriptedModel) -> None:
    asked = {
        "columns": ["n", "region"],
        "headers": {"n": "Shops"},
        "order": [{"column": "n", "descending": True}, {"column": "region"}],
        "totals": ["n"],
    }
    plain = await ask(opened, scripted_model, SHOPS, {})
    answer = await ask(opened, scripted_model, SHOPS, {"format": asked})
    expected = sorted(((row[1], row[0]) for row in plain.rows), key=lambda row: (-row[0], row[1]))
    assert list(answer.rows) == expected
    assert [column.name for column in answer.columns] == ["n", "region"]
    assert answer.provenance.format is not None
    total = sum(row[1] for row in plain.rows)
    assert answer.provenance.format["totals"] == [{"column": "n", "value": total}]
    assert answer.provenance.format["columns"][0]["header"] == "Shops"
    last = next(line for line in to_text(answer).splitlines() if "Total" in line)
    assert last.split() == [str(total), "Total"]
    assert f'<td style="text-align:right">{total}</td>' in to_html(answer)
    # The step's own rows are as they were, so the answer replays.
    assert (await opened.answers.replay(answer.run_id, LOCAL)).verdict == "same"


async def test_a_markdown_table_is_written_by_code(opened: Service, scripted_model: ScriptedModel) -> None:
    asked = {"columns": ["region", "n"], "headers": {"n": "Shops|all"}, "markdown": True, "totals": ["n"]}
    answer = await ask(opened, scripted_model, SHOPS, {"text": "The shops by region.", "format": asked})
    sentence, table = answer.text.split("\n\n", 1)
    lines = table.splitlines()
    assert sentence == "The shops by region."
    assert lines[:2] == ["| Region | Shops\\|all |", "| --- | ---: |"]
    assert len(lines) == answer.row_count + 3
    assert lines[-1] == f"| Total | {sum(row[1] for row in answer.rows)} |"
    assert to_text(answer).count("| --- |") == 1
    assert "─" not in to_text(answer)  # the table is in the text, and not drawn once more


async def test_all_rows_of_a_large_answer_are_arranged(opened: Service, scripted_model: ScriptedModel) -> None:
    asked = {"columns": ["order_date", "order_id"], "order": [{"column": "order_id", "descending": True}]}
    answer = await ask(opened, scripted_model, ORDERS, {"format": asked})
    assert answer.row_count >= 1_000
    whole = await opened.answers.with_rows(answer, 100_000, LOCAL)
    ids = [row[1] for row in whole.rows]
    assert ids == sorted(ids, reverse=True)
    assert len(ids) == answer.row_count
    rows_shown = scripted_model.requests[-1].last("user").count("row ")
    assert rows_shown < 60, "the model sees samples, and code applies what it says to all rows"


async def test_a_form_for_columns_that_are_not_there_goes_back(opened: Service, scripted_model: ScriptedModel) -> None:
    wrong, right = {"format": {"columns": ["shops"]}}, {"format": {"columns": ["n"]}}
    answer = await ask(opened, scripted_model, SHOPS, wrong, right)
    assert [column.name for column in answer.columns] == ["n"]
    assert "the format names 'shops', and the rows have the columns region, n, first" in scripted_model.requests[2].text


async def test_decimals_units_and_a_chart_are_followed(opened: Service, scripted_model: ScriptedModel) -> None:
    sql = "SELECT category, avg(price) AS price FROM products GROUP BY category ORDER BY category"
    asked = {"decimals": {"price": 1}, "units": {"price": "EUR"}, "chart": "bar"}
    answer = await ask(opened, scripted_model, sql, {"format": asked})
    assert answer.kind == "chart"
    assert answer.provenance.format is not None
    price = answer.provenance.format["columns"][1]
    assert (price["unit"], price["format"]["decimals"]) == ("EUR", 1)

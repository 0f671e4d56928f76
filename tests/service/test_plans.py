"""An answer is changed part by part, and a wrong one is kept until its question has a right answer."""

from collections.abc import AsyncIterator, Sequence
from datetime import date
from pathlib import Path
from typing import Any

import pytest
import pytest_asyncio

from answerable.agents.question_request import QuestionRequest
from answerable.answers.answer import Answer
from answerable.app import open_service
from answerable.core.context import LOCAL
from answerable.core.errors import RefusedError, UserError
from answerable.core.ids import RunId, ThreadId
from answerable.query.changes import AddFilter, ColumnPlace, RemoveFilter, SetGroup, SetMeasure, SetPeriod
from answerable.service import Service
from answerable.service.plan_parts import ChangeablePart, PlanOption
from answerable.settings import Settings


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def service(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Service]:
    home: Path = tmp_path_factory.mktemp("home")
    async with open_service(Settings(home=home, store=":memory:"), any_location=True) as opened:
        yield opened


pytestmark = pytest.mark.asyncio(loop_scope="module")


async def ask(service: Service, question: str, thread: ThreadId | None = None) -> Answer:
    return await service.questions.ask(QuestionRequest(question, ("demo",), thread=thread), LOCAL)


async def change(service: Service, run: RunId, *changes: Any) -> Answer:
    return await service.runs.wait(await service.plans.change(run, changes, LOCAL), LOCAL)


async def parts(service: Service, run: RunId) -> Sequence[ChangeablePart]:
    return (await service.plans.parts(run, LOCAL)).parts


def labels(found: Sequence[ChangeablePart]) -> list[tuple[str, str]]:
    return [(part.kind, part.label) for part in found]


def option(found: Sequence[ChangeablePart], kind: str, label: str) -> PlanOption:
    part = next(part for part in found if part.kind == kind)
    return next(option for option in part.options if option.label == label)


async def test_every_part_says_what_it_is_and_can_be_changed(service: Service) -> None:
    first = await ask(service, "revenue per month in 2025")
    found = await parts(service, first.run_id)
    assert labels(found) == [
        ("measure", "Revenue"),
        ("group", "Month"),
        ("period", "2025"),
        ("order", "Oldest first"),
    ]
    assert option(found, "group", "Quarter").detail == "4"
    by_quarter = await change(service, first.run_id, option(found, "group", "Quarter").change)
    assert (by_quarter.status, by_quarter.row_count) == ("done", 4)
    by_country = await change(
        service,
        by_quarter.run_id,
        option(found, "group", "Customer country").change,
        option(found, "period", "All time").change,
    )
    asked = await ask(service, "revenue per country")
    assert sorted(map(str, by_country.rows)) == sorted(map(str, asked.rows))
    assert by_country.provenance.understood == asked.provenance.understood
    found = await parts(service, by_country.run_id)
    assert labels(found) == [
        ("measure", "Revenue"),
        ("group", "Customer country"),
        ("period", ""),
        ("order", ""),
    ]
    highest = await change(service, by_country.run_id, option(found, "order", "Highest first").change)
    amounts = [row[-1] for row in highest.rows]
    assert amounts == sorted(amounts, reverse=True)
    orders = await change(service, asked.run_id, option(found, "measure", "Number of different orders").change)
    counted = await ask(service, "number of orders per country")
    assert sorted(map(str, orders.rows)) == sorted(map(str, counted.rows))


async def test_filters_are_added_replaced_and_removed(service: Service) -> None:
    first = await ask(service, "how many orders were returned in 2025?")
    found = await parts(service, first.run_id)
    assert labels(found)[2] == ("filter", "Status is 'Returned'")
    other = await change(
        service, first.run_id, AddFilter(of=ColumnPlace(column="status"), values=("Cancelled",), replaces=0)
    )
    shipped = await ask(service, "how many orders were cancelled in 2025?")
    assert other.rows == shipped.rows
    everything = await change(
        service, first.run_id, RemoveFilter(number=0), SetPeriod(of=ColumnPlace(column="order_date"))
    )
    assert everything.rows == (await ask(service, "how many orders are there?")).rows
    german = AddFilter(of=ColumnPlace(path=("customer_of_order",), column="country"), values=("Germany",))
    some = await change(service, everything.run_id, german)
    truth = "SQL: SELECT count(*) FROM orders JOIN customers USING (customer_id) WHERE country = 'Germany'"
    assert some.rows == (await ask(service, truth)).rows


async def test_a_change_keeps_the_question_and_its_thread(service: Service) -> None:
    first = await ask(service, "revenue per month in 2025")
    record = await service.runs.get(first.run_id, LOCAL)
    period = SetPeriod(
        of=ColumnPlace(path=("order_of_item",), column="order_date"), start=date(2024, 1, 1), end=date(2025, 1, 1)
    )
    changed = await change(service, first.run_id, period)
    assert changed.rows[0][0] == "2024-01-01"
    new = await service.runs.get(changed.run_id, LOCAL)
    assert (new.question, new.thread, new.mode) == (record.question, record.thread, "changed")
    follow_up = await ask(service, "and per region?", record.thread)
    assert follow_up.provenance.understood is not None
    assert "2024" in follow_up.provenance.understood


async def test_what_cannot_be_changed_says_so(service: Service) -> None:
    written = await ask(service, "SQL: SELECT 1 AS one")
    assert await parts(service, written.run_id) == []
    with pytest.raises(UserError, match="no parts"):
        await service.plans.change(written.run_id, [SetGroup()], LOCAL)
    asked = await ask(service, "revenue per country")
    with pytest.raises(UserError, match="no column 'wealth'"):
        await service.plans.change(asked.run_id, [SetGroup(by=ColumnPlace(column="wealth"))], LOCAL)
    with pytest.raises(UserError, match="no relationship 'nowhere'"):
        await service.plans.change(asked.run_id, [SetGroup(by=ColumnPlace(path=("nowhere",), column="x"))], LOCAL)
    wrong = AddFilter(of=ColumnPlace(column="quantity"), values=("many",))
    with pytest.raises(UserError, match="is no value of"):
        await service.plans.change(asked.run_id, [wrong], LOCAL)


async def test_rows_without_a_partner_stay_when_the_group_changes(tmp_path: Path, service: Service) -> None:
    folder = tmp_path / "shop"
    folder.mkdir()
    (folder / "agents.csv").write_text("agent_id,name\n1,Ada\n2,Bob\n")
    (folder / "sales.csv").write_text("sale_id,agent_id,amount\n1,1,10\n2,2,20\n3,,30\n4,1,40\n")
    asked = await service.questions.ask(QuestionRequest("total amount of sales", (str(folder),)), LOCAL)
    assert [row[-1] for row in asked.rows] == [100]
    found = await parts(service, asked.run_id)
    by_agent = await change(service, asked.run_id, option(found, "group", "Agent").change)
    assert sorted(by_agent.rows, key=str) == [("Ada", 50), ("Bob", 20), (None, 30)]
    average = await change(service, by_agent.run_id, SetMeasure(function="avg", of=ColumnPlace(column="amount")))
    assert sorted(average.rows, key=str) == [("Ada", 25.0), ("Bob", 20.0), (None, 30.0)]


async def test_a_wrong_answer_waits_in_the_evals_until_the_question_has_a_right_one(service: Service) -> None:
    answer = await ask(service, "revenue per channel")
    kept = await service.evals.call_wrong(answer.run_id, "meaning", LOCAL, note=" Without returns. ")
    assert (kept.question, kept.source, kept.note) == ("revenue per channel", "demo", "Without returns.")
    assert kept.understood == answer.provenance.understood
    await service.evals.call_wrong(answer.run_id, "number", LOCAL)
    assert [(wrong.run_id, wrong.what) for wrong in await service.evals.wrong_answers(LOCAL)] == [
        (answer.run_id, "number")
    ]
    assert "to-mend" not in await service.evals.cases(LOCAL)
    with pytest.raises(RefusedError):
        await service.evals.add_case("to-mend", answer.run_id, LOCAL)
    right = await change(service, answer.run_id, AddFilter(of=ColumnPlace(column="quantity"), op=">", values=(1,)))
    await service.evals.add_case("golden", right.run_id, LOCAL)
    assert await service.evals.wrong_answers(LOCAL) == []
    judged = await service.evals.judgement(right.run_id, LOCAL)
    assert (judged.golden, judged.suite, judged.wrong) == ("revenue_per_channel", "golden", None)
    again = await ask(service, "revenue per region")
    await service.evals.call_wrong(again.run_id, "rows", LOCAL)
    await service.evals.take_back(again.run_id, LOCAL)
    assert await service.evals.wrong_answers(LOCAL) == []

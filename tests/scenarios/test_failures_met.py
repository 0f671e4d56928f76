"""What a question does when something fails: it tries again, leaves a failing source alone, stops early, goes without a
part, and never loses what was found."""

import asyncio
import contextlib
import sqlite3
from collections.abc import AsyncIterator, Callable
from pathlib import Path
from typing import Any

import psutil
import pytest
import pytest_asyncio

from answerable.agents.question_request import QuestionRequest
from answerable.answers.answer import Answer
from answerable.app import open_service
from answerable.core import progress
from answerable.core.context import LOCAL
from answerable.core.events import Event, StepOutput, StepProgress, StepRetried, StepSkipped, StepStarted
from answerable.core.ids import RunId
from answerable.service import Service
from answerable.settings import load_settings

Run = Callable[..., Any]
LONG_QUERY = (
    "SELECT sum(a.n * b.n + c.n) AS x FROM numbers a JOIN numbers b ON a.n + b.n >= 0 JOIN numbers c ON b.n + c.n >= 0"
)
COUNT = 220
NOBODY = "postgresql://someone@127.0.0.1:1/none"


@pytest_asyncio.fixture
async def service(tmp_path: Path) -> AsyncIterator[Service]:
    settings = load_settings({}, home=tmp_path / "home", store=":memory:", breaker_failures=3, breaker_seconds=40)
    async with open_service(settings, any_location=True) as opened:
        yield opened


@pytest.fixture
def numbers(tmp_path: Path) -> Path:
    path = tmp_path / "numbers.sqlite"
    with contextlib.closing(sqlite3.connect(path)) as connection:
        connection.execute("CREATE TABLE numbers (n INTEGER)")
        connection.executemany("INSERT INTO numbers VALUES (?)", [(n,) for n in range(COUNT)])
        connection.commit()
    return path


async def planned(service: Service, source: Path, *steps: dict[str, Any]) -> tuple[Answer, list[Event]]:
    run = await service.questions.begin_query("plan", {"steps": list(steps)}, LOCAL, source=str(source))
    return await service.runs.wait(run, LOCAL), list(await service.runs.journal(run, LOCAL))


async def asked(service: Service, source: str, sql: str = "SELECT 1 AS one") -> Answer:
    run = await service.questions.begin_query("sql", sql, LOCAL, source=source)
    return await service.runs.wait(run, LOCAL)


async def _kill_the_worker_in_its_work(service: Service, run: RunId) -> None:
    """Once: in the middle of the query."""
    async for event in service.runs.events(run, LOCAL):
        if isinstance(event, StepOutput) and event.channel == "code":
            break
    await asyncio.sleep(0.2)  # the query takes several times as long
    for child in psutil.Process().children():
        with contextlib.suppress(psutil.NoSuchProcess, psutil.ZombieProcess):
            if "answerable.sources.workers" in child.cmdline():
                child.kill()


async def test_a_query_whose_worker_was_killed_is_tried_again_and_answers(service: Service, numbers: Path) -> None:
    await asked(service, str(numbers), "SELECT count(*) AS n FROM numbers")
    run = await service.questions.begin_query("sql", LONG_QUERY, LOCAL, source=str(numbers))
    await asyncio.wait_for(_kill_the_worker_in_its_work(service, run), 30)
    answer = await service.runs.wait(run, LOCAL)

    assert answer.status == "done", answer.text
    ends = range(COUNT)
    assert answer.rows[0][0] == sum(a * b for a in ends for b in ends) * COUNT + sum(ends) * COUNT**2
    events = await service.runs.journal(run, LOCAL)
    assert [event.code for event in events if isinstance(event, StepRetried)] == ["worker_died"]
    assert [event.attempt for event in events if isinstance(event, StepStarted) and event.node == "query"] == [1, 2]


async def test_a_source_that_keeps_failing_is_left_alone_for_a_while(service: Service) -> None:
    for _ in range(3):
        answer = await asked(service, NOBODY)
        assert answer.provenance.error is not None
        assert answer.provenance.error.code == "source_unreachable"
    answer = await asked(service, NOBODY)
    error = answer.provenance.error
    assert error is not None
    assert (answer.status, error.code) == ("failed", "breaker_open")
    assert "failed 3 times in a row" in answer.text
    assert "cannot be reached" in answer.text, "the last reason is kept"
    assert error.hint is not None
    seconds = int(error.hint.removeprefix("Try again in ").removesuffix(" seconds."))
    assert 1 <= seconds <= 40


async def test_questions_in_words_open_the_breaker_too(service: Service, sales: Path) -> None:
    answers = [await service.questions.ask(QuestionRequest("how many orders?", [NOBODY]), LOCAL) for _ in range(4)]
    assert [a.provenance.error.code for a in answers if a.provenance.error] == [
        *["source_unreachable"] * 3,
        "breaker_open",
    ]
    assert (await asked(service, str(sales), "SELECT count(*) AS n FROM regions")).rows == ((3,),), "others are not"


async def test_a_file_that_is_wrong_stays_the_reason(service: Service, tmp_path: Path) -> None:
    (tmp_path / "empty.csv").write_text("")
    codes = {(await asked(service, str(tmp_path / "empty.csv"))).provenance.error.code for _ in range(5)}  # type: ignore[union-attr]
    assert "breaker_open" not in codes


FOUND = {"id": "found", "tool": "sql", "code": "SELECT region, region_id FROM regions ORDER BY 1"}
NONE = {"id": "none", "tool": "sql", "code": "SELECT * FROM regions WHERE region = 'West'"}


async def test_nothing_runs_on_what_a_first_step_did_not_find(service: Service, sales: Path) -> None:
    count = {"id": "counted", "tool": "combine", "code": "SELECT count(*) AS n FROM none", "after": ["none"]}
    answer, events = await planned(service, sales, NONE, count)

    skipped = {event.node: event.reason for event in events if isinstance(event, StepSkipped)}
    assert skipped == {"counted": "stopped early: the first step found nothing"}
    assert answer.status == "done"
    assert answer.row_count == 0
    assert answer.text.endswith("Step none found nothing, so counted did not run.")
    assert [(step.id, step.status) for step in answer.steps] == [("none", "done"), ("counted", "skipped")]


async def test_one_first_step_that_found_something_is_enough(service: Service, sales: Path) -> None:
    both = "SELECT count(*) AS n FROM found LEFT JOIN none ON found.region_id = none.region_id"
    answer, _ = await planned(
        service, sales, FOUND, NONE, {"id": "n", "tool": "combine", "code": both, "after": ["found", "none"]}
    )
    assert answer.rows == ((3,),)


async def test_a_plain_query_without_rows_is_an_answer(service: Service, sales: Path) -> None:
    answer = await asked(service, str(sales), "SELECT * FROM regions WHERE region = 'West'")
    assert (answer.status, answer.row_count, answer.columns[0].name) == ("done", 0, "region_id")


async def test_a_failed_run_keeps_what_its_finished_steps_found(service: Service, sales: Path) -> None:
    wrong = {"id": "wrong", "tool": "combine", "code": "SELECT nothing_such FROM found", "after": ["found"]}
    after = {"id": "after", "tool": "combine", "code": "SELECT * FROM wrong", "after": ["wrong"]}
    answer, _ = await planned(service, sales, FOUND, wrong, after)

    assert answer.status == "failed"
    assert "nothing_such" in answer.text
    found, failed, skipped = answer.steps
    assert (found.id, found.status, found.row_count) == ("found", "done", 3)
    assert found.code is not None
    assert "regions" in found.code
    assert found.sample[0] == {"region": "East", "region_id": 3}
    assert found.artifact is not None
    assert (failed.id, failed.status, failed.code) == ("wrong", "failed", "SELECT nothing_such FROM found")
    assert (skipped.id, skipped.status) == ("after", "skipped")
    assert answer.provenance.sources == (str(sales),)


async def test_a_part_that_is_not_critical_leaves_a_partial_answer(service: Service, sales: Path) -> None:
    extra = {"id": "extra", "tool": "sql", "code": "SELECT nothing_such FROM orders", "critical": False}
    answer, _ = await planned(service, sales, extra, FOUND)

    assert answer.status == "partial"
    assert answer.row_count == 3
    assert [finding for finding in answer.provenance.findings if "extra" in finding and "nothing_such" in finding]
    assert {step.id: step.status for step in answer.steps} == {"found": "done", "extra": "failed"}


async def test_a_program_finds_none_where_a_part_that_is_not_critical_failed(service: Service, sales: Path) -> None:
    extra = {"id": "extra", "tool": "sql", "code": "SELECT nothing_such FROM orders", "critical": False}
    code = "result = [{'rows': len(found), 'extra': 'none' if extra is None else 'some'}]"
    program = {"id": "end", "tool": "python", "code": code, "after": ["found", "extra"]}
    answer, _ = await planned(service, sales, FOUND, extra, program)

    assert answer.status == "partial"
    assert answer.rows[0] == (3, "none")
    assert [finding for finding in answer.provenance.findings if "extra = None" in finding]


def test_the_command_shows_what_a_failed_run_found(answerable: Run, sales: Path, tmp_path: Path) -> None:
    plan = tmp_path / "plan.yaml"
    plan.write_text(
        "steps:\n"
        "  - {id: found, tool: sql, code: SELECT region FROM regions ORDER BY 1}\n"
        "  - {id: wrong, tool: combine, code: SELECT nothing_such FROM found, after: [found]}\n"
    )
    failed = answerable("ask", "--plan", str(plan), "--source", str(sales), "--json")
    assert failed.code != 0
    shown = answerable("runs", "show", failed.json["run_id"])
    assert "Step found found 3 rows" in shown.out
    assert "East" in shown.out
    assert "nothing_such" in shown.out


async def test_the_first_question_about_a_file_reports_progress(
    service: Service, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Reading it takes a while; quick work after that says nothing."""
    folder = tmp_path / "big"
    folder.mkdir()
    line = "{0},city {1},{2}.25,2025-01-{3:02},a longer text to be read number {0}\n"
    for name in ("orders", "returns", "visits"):
        rows = "".join(line.format(n, n % 5000, n * 7 % 1000, 1 + n % 28) for n in range(5_000))
        (folder / f"{name}.csv").write_text("id,city,amount,day,note\n" + rows)
    request = QuestionRequest("how many orders?", [str(folder)])
    # What counts as quick must not depend on the speed of the machine: first nothing does, then everything.
    monkeypatch.setattr(progress, "QUIET_SECONDS", 0.0)
    first = await service.questions.begin(request, LOCAL)
    await service.runs.wait(first, LOCAL)
    monkeypatch.setattr(progress, "QUIET_SECONDS", 3600.0)
    second = await service.questions.begin(request, LOCAL)
    assert (await service.runs.wait(second, LOCAL)).rows == ((5_000,),)

    reports = [e for e in await service.runs.journal(first, LOCAL) if isinstance(e, StepProgress)]
    assert reports
    assert {report.node for report in reports} <= {"understand", "execute/query"}
    assert any("orders" in report.message or "Indexing" in report.message for report in reports)
    assert all(report.total and 0 <= (report.done or 0) <= report.total for report in reports if report.total)
    assert not [e for e in await service.runs.journal(second, LOCAL) if isinstance(e, StepProgress)]

"""Golden questions: kept, measured, and looked at."""

from collections.abc import Mapping, Sequence
from datetime import date, datetime
from pathlib import Path as FilePath
from typing import Annotated

from fastapi import APIRouter, Path
from pydantic import Field

from answerable.answers.answer import Answer
from answerable.core.context import Principal
from answerable.core.errors import LimitError, NotFoundError, RefusedError, UserError
from answerable.core.ids import EvalId, RunId
from answerable.core.values import Json
from answerable.evals.cases import BUNDLED
from answerable.evals.score import Outcome
from answerable.gateway.access import MeasuringOf, PrincipalOf, ServiceOf
from answerable.gateway.measuring import GoldenCase, Measuring, golden_case
from answerable.gateway.problems import documented
from answerable.gateway.wire import API, RUN_ID, Wire
from answerable.service import Service
from answerable.sources.added import source_name
from answerable.store.base import EvalRecord, EvalStatus, RunRecord

router = APIRouter(prefix=API, tags=["evals"])

MOST_GOLD_ROWS = 10_000
TREND = 50
SuitePath = Annotated[str, Path(pattern=r"^[a-z0-9][a-z0-9_-]{0,59}$")]
CasePath = Annotated[str, Path(min_length=1, max_length=200)]


class EvalRun(Wire):
    eval_id: str
    suite: str
    status: EvalStatus
    started_at: datetime
    finished_at: datetime | None
    done: int = Field(description="Cases that are through.")
    cases: int
    correct: int | None = Field(description="This and what follows is null until it is done.")
    accuracy: float | None
    coverage: float | None
    precision: float | None
    asked: int | None
    offered: int | None
    failed: int | None
    seconds: float | None
    error: str | None


class EvalSuite(Wire):
    name: str
    bundled: bool
    cases: int
    last: EvalRun | None
    trend: list[EvalRun] = Field(description="Those that are done, the oldest first.")


class EvalSuiteList(Wire):
    suites: list[EvalSuite]


class EvalCaseSummary(Wire):
    id: str
    question: str
    source: str
    outcome: Outcome | None = Field(description="When it was last measured; null if never.")
    offered: bool
    changed: bool = Field(description="The time before, the outcome was another.")


class EvalSuiteDetail(Wire):
    suite: EvalSuite
    cases: list[EvalCaseSummary]


class EvalCase(Wire):
    id: str
    question: str
    source: str
    ordered: bool
    gold_sql: str | None
    today: date | None
    lead: list[str] = Field(description="Questions that come before it in the same conversation.")
    run_id: str | None = Field(description="The answer that it was made from.")


class EvalCaseDetail(Wire):
    case: EvalCase
    columns: list[str] = Field(description="Of the expected rows, where they are known.")
    expected_rows: list[list[Json]] | None = Field(description="Null when only a statement is known.")
    outcome: Outcome | None
    got_rows: list[list[Json]] = Field(description="The first of those it gave when it was last measured.")
    got_code: str | None


class EvalRunList(Wire):
    runs: list[EvalRun]


class NewCase(Wire):
    run_id: str = Field(pattern=RUN_ID, description="A run whose answer is right.")
    id: str | None = Field(None, min_length=1, max_length=60)
    ordered: bool = Field(False, description="Whether the order of the rows counts.")


@router.get("/evals", responses=documented(422))
async def suites(measuring: MeasuringOf, principal: PrincipalOf) -> EvalSuiteList:
    """Suites of golden questions, and how they did."""
    found = await measuring.suites(principal)
    return EvalSuiteList(suites=[await _suite(name, cases, measuring, principal) for name, cases in found.items()])


@router.get("/evals/{suite}", responses=documented(404, 422))
async def suite(suite: SuitePath, measuring: MeasuringOf, principal: PrincipalOf) -> EvalSuiteDetail:
    cases = await measuring.suite(principal, suite)
    last, before = await _last_results(suite, measuring, principal)
    listed = [_case_summary(each, last, before) for each in cases]
    return EvalSuiteDetail(suite=await _suite(suite, cases, measuring, principal), cases=listed)


@router.get("/evals/{suite}/cases/{case_id}", responses=documented(404, 422))
async def case(suite: SuitePath, case_id: CasePath, measuring: MeasuringOf, principal: PrincipalOf) -> EvalCaseDetail:
    """One case: what was expected, and what it gave."""
    cases = await measuring.suite(principal, suite)
    found = next((each for each in cases if each.case.id == case_id), None)
    if found is None:
        raise NotFoundError(f"The suite {suite!r} has no case {case_id!r}.", code="case_unknown")
    last, _ = await _last_results(suite, measuring, principal)
    return _case_detail(found, last.get(case_id, {}))


@router.post("/evals/{suite}/cases", status_code=201, responses=documented(400, 403, 404, 413, 422))
async def add_case(
    suite: SuitePath, body: NewCase, service: ServiceOf, measuring: MeasuringOf, principal: PrincipalOf
) -> EvalCaseSummary:
    """A good answer becomes a golden case; a suite that is new is made."""
    _check_own(suite)
    record = await service.runs.get(RunId(body.run_id), principal)
    answer = await service.runs.answer(record.run, principal)
    gold = await _gold(record, answer, body.ordered, service, principal)
    known = {each.case.id for each in (await measuring.suites(principal)).get(suite, ())}
    name = body.id or _free_id(gold["question"], known)
    made = await service.store.evals.put_case(principal, suite, name, gold, run=record.run)
    return _case_summary(golden_case(made), {}, {})


@router.delete("/evals/{suite}/cases/{case_id}", status_code=204, responses=documented(403, 404, 422))
async def delete_case(suite: SuitePath, case_id: CasePath, service: ServiceOf, principal: PrincipalOf) -> None:
    _check_own(suite)
    await service.store.evals.delete_case(principal, suite, case_id)


@router.post("/evals/{suite}/runs", status_code=202, responses=documented(404, 422))
async def start(suite: SuitePath, measuring: MeasuringOf, principal: PrincipalOf) -> EvalRun:
    """Measure a suite in the background; one that is under way is told instead."""
    return _run(await measuring.start(principal, suite), measuring)


@router.get("/evals/{suite}/runs", responses=documented(422))
async def eval_runs(suite: SuitePath, measuring: MeasuringOf, principal: PrincipalOf) -> EvalRunList:
    """Newest first."""
    records = await measuring.store.evals.recent(principal, suite, limit=TREND)
    return EvalRunList(runs=[_run(record, measuring) for record in records])


@router.get("/evals/{suite}/runs/{eval_id}", responses=documented(404, 422))
async def eval_run(
    suite: SuitePath,
    eval_id: Annotated[str, Path(pattern=r"^evl_[0-9a-z]{24}$")],
    measuring: MeasuringOf,
    principal: PrincipalOf,
) -> EvalRun:
    record = await measuring.store.evals.get(principal, EvalId(eval_id))
    if record.suite != suite:
        raise NotFoundError(f"The suite {suite!r} has no eval {eval_id}.", code="eval_not_found")
    return _run(record, measuring)


def _check_own(suite: str) -> None:
    if suite in BUNDLED:
        raise RefusedError(f"The suite {suite!r} comes with the package and stays as it is.", code="suite_bundled")


async def _gold(
    record: RunRecord, answer: Answer, ordered: bool, service: Service, principal: Principal
) -> dict[str, Json]:
    if record.question is None or answer.provenance.artifact is None or len(record.sources) != 1:
        raise UserError(
            "Only an answer with rows, to a question about one source, can become a golden case.", code="case_unfit"
        )
    if answer.row_count > MOST_GOLD_ROWS:
        raise LimitError(f"A golden case holds {MOST_GOLD_ROWS:,} rows at most.", code="case_too_large")
    full = await service.answers.with_rows(answer, MOST_GOLD_ROWS, principal)
    catalog = await (await service.registry.get(record.sources[0])).describe()
    return {
        "question": record.question,
        "source": record.sources[0],
        "gold_rows": [list(row) for row in full.rows],
        "columns": [column.name for column in answer.columns],
        "ordered": ordered,
        "today": None if catalog.as_of else record.created_at.date().isoformat(),
        "lead": await _lead(record, service, principal),
    }


async def _lead(record: RunRecord, service: Service, principal: Principal) -> list[str]:
    """What was asked before in the same conversation: a follow-up means nothing without it."""
    if record.thread is None:
        return []
    said = await service.store.threads.messages(principal, record.thread)
    asked = [message for message in said if message.role == "user"]
    place = next((number for number, message in enumerate(asked) if message.run == record.run), 0)
    return [message.content for message in asked[:place]]


def _free_id(question: str, known: set[str]) -> str:
    name = source_name(question)
    number = 1
    while (free := name if number == 1 else f"{name}_{number}") in known:
        number += 1
    return free


async def _suite(name: str, cases: Sequence[GoldenCase], measuring: Measuring, principal: Principal) -> EvalSuite:
    records = await measuring.store.evals.recent(principal, name, limit=TREND)
    runs = [_run(record, measuring) for record in records]
    done = [run for run in reversed(runs) if run.status == "done"]
    return EvalSuite(name=name, bundled=name in BUNDLED, cases=len(cases), last=runs[0] if runs else None, trend=done)


async def _last_results(
    suite: str, measuring: Measuring, principal: Principal
) -> tuple[Mapping[str, Mapping[str, Json]], Mapping[str, Mapping[str, Json]]]:
    """Of the two newest that are done, by case."""
    records = [r for r in await measuring.store.evals.recent(principal, suite, limit=TREND) if r.status == "done"]
    found = [{result["id"]: result for result in record.body["results"]} for record in records[:2]]
    last, before = [*found, {}, {}][:2]
    return last, before


def _case_summary(
    golden: GoldenCase, last: Mapping[str, Mapping[str, Json]], before: Mapping[str, Mapping[str, Json]]
) -> EvalCaseSummary:
    now, then = last.get(golden.case.id, {}), before.get(golden.case.id, {})
    return EvalCaseSummary(
        id=golden.case.id,
        question=golden.case.question,
        source=_shown_source(golden),
        outcome=now.get("outcome"),
        offered=bool(now.get("offered")),
        changed=bool(then) and then.get("outcome") != now.get("outcome"),
    )


def _case_detail(golden: GoldenCase, result: Mapping[str, Json]) -> EvalCaseDetail:
    case = golden.case
    return EvalCaseDetail(
        case=EvalCase(
            id=case.id,
            question=case.question,
            source=_shown_source(golden),
            ordered=case.ordered,
            gold_sql=case.gold_sql,
            today=case.today,
            lead=list(golden.lead),
            run_id=golden.run,
        ),
        columns=list(golden.columns),
        expected_rows=[list(row) for row in case.gold_rows] if case.gold_rows is not None else None,
        outcome=result.get("outcome"),
        got_rows=result.get("rows", []),
        got_code=result.get("code"),
    )


def _shown_source(golden: GoldenCase) -> str:
    """Bundled cases name the folder of their data, which lies beside them."""
    place = FilePath(golden.case.source)
    return place.parent.name if place.is_absolute() else golden.case.source


def _run(record: EvalRecord, measuring: Measuring) -> EvalRun:
    """One that is nowhere under way was ended by the end of its server."""
    body, done = record.body, measuring.done(record.eval)
    status: EvalStatus = "failed" if record.status == "running" and done is None else record.status
    figures = ("correct", "accuracy", "coverage", "precision", "asked", "offered", "failed", "seconds")
    return EvalRun(
        eval_id=record.eval,
        suite=record.suite,
        status=status,
        started_at=record.started_at,
        finished_at=record.finished_at,
        done=body["cases"] if record.status == "done" else done or 0,
        cases=body["cases"],
        **{name: body.get(name) for name in figures},
        error=body.get("error", {}).get("message") if status == "failed" else None,
    )

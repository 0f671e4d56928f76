"""Suites, cases and measurements as listings show them."""

from collections.abc import Mapping, Sequence
from datetime import date, datetime
from pathlib import Path

from pydantic import Field

from answerable.core.values import Frozen, Json
from answerable.evals.score import Outcome
from answerable.service.golden_cases import GoldenCase
from answerable.store.protocols.evals import EvalRecord, EvalStatus

Results = Mapping[str, Mapping[str, Json]]
"""What a measurement found, by the id of the case."""


class EvalRun(Frozen):
    eval_id: str
    suite: str
    status: EvalStatus
    started_at: datetime
    finished_at: datetime | None
    done: int = Field(description="Cases that have been measured.")
    cases: int
    correct: int | None = Field(description="This and what follows is null until all cases are measured.")
    accuracy: float | None
    coverage: float | None
    precision: float | None
    asked: int | None
    offered: int | None
    failed: int | None
    seconds: float | None
    error: str | None


class EvalSuite(Frozen):
    name: str
    bundled: bool
    cases: int
    last: EvalRun | None
    trend: list[EvalRun] = Field(description="Those that are done, the oldest first.")


class EvalCaseSummary(Frozen):
    id: str
    question: str
    source: str
    outcome: Outcome | None = Field(description="When it was last measured; null if never.")
    offered: bool
    changed: bool = Field(description="Whether the outcome differs from the measurement before.")


class EvalSuiteDetail(Frozen):
    suite: EvalSuite
    cases: list[EvalCaseSummary]


class EvalCase(Frozen):
    id: str
    question: str
    source: str
    ordered: bool
    gold_sql: str | None
    today: date | None
    lead: list[str] = Field(description="Questions that come before it in the same conversation.")
    run_id: str | None = Field(description="The answer that it was made from.")


class EvalCaseDetail(Frozen):
    case: EvalCase
    columns: list[str] = Field(description="Of the expected rows, where they are known.")
    expected_rows: list[list[Json]] | None = Field(description="Null when only a statement is known.")
    outcome: Outcome | None
    got_rows: list[list[Json]] = Field(description="The first of those it gave when it was last measured.")
    got_code: str | None


def suite_view(name: str, cases: Sequence[GoldenCase], runs: Sequence[EvalRun], *, bundled: bool) -> EvalSuite:
    """`runs`: the measurements of the suite, newest first."""
    done = [run for run in reversed(runs) if run.status == "done"]
    return EvalSuite(name=name, bundled=bundled, cases=len(cases), last=runs[0] if runs else None, trend=done)


def last_results(records: Sequence[EvalRecord]) -> tuple[Results, Results]:
    """What the newest measurement found, and the one before it."""
    done = [record for record in records if record.status == "done"]
    found = [{result["id"]: result for result in record.body["results"]} for record in done[:2]]
    last, before = [*found, {}, {}][:2]
    return last, before


def case_summary(golden: GoldenCase, last: Results, before: Results) -> EvalCaseSummary:
    now, then = last.get(golden.case.id, {}), before.get(golden.case.id, {})
    return EvalCaseSummary(
        id=golden.case.id,
        question=golden.case.question,
        source=_shown_source(golden),
        outcome=now.get("outcome"),
        offered=bool(now.get("offered")),
        changed=bool(then) and then.get("outcome") != now.get("outcome"),
    )


def case_detail(golden: GoldenCase, result: Mapping[str, Json]) -> EvalCaseDetail:
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
    place = Path(golden.case.source)
    return place.parent.name if place.is_absolute() else golden.case.source


def eval_run(record: EvalRecord, done: int | None) -> EvalRun:
    """`done`: how many cases have been measured, or None if this process does not measure them. Such a measurement was
    ended by the end of its process."""
    body = record.body
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

"""Two runs side by side: what differs in the rows, columns, plan, code and time of the later one."""

import asyncio
import json
from collections.abc import Iterator, Sequence
from pathlib import Path

from pydantic import Field

from answerable.answers.answer import Answer, StepRecord
from answerable.answers.comparison import (
    CHANGES,
    Change,
    ComparedRow,
    RowComparison,
    RowCounts,
    compare,
    text_difference,
    write_differences,
)
from answerable.answers.difference import ChangedColumn
from answerable.answers.export import Format, export
from answerable.core.context import Principal
from answerable.core.ids import RunId
from answerable.core.values import Frozen, OutputColumn
from answerable.isolation.own_folder import scratch_folder
from answerable.service.answers import AnswerService
from answerable.service.run_summary import RunSummary, run_summary
from answerable.service.runs import RunService


class ComparedStep(Frozen):
    id: str
    before_ms: float | None
    after_ms: float | None
    before_code: str | None
    after_code: str | None
    code_diff: str = Field(description="As a unified diff; empty when both are the same.")


class RunComparison(Frozen):
    before: RunSummary
    after: RunSummary
    same_question: bool
    same_plan: bool
    same_code: bool
    data_changed: bool | None = Field(description="Null when that is not known.")
    columns: list[OutputColumn] = Field(description="Those that both have.")
    changed_columns: list[ChangedColumn]
    key: list[str] = Field(description="Columns that identify a row; empty when only whole rows could be compared.")
    rows_compared: bool = Field(description="False when one of the two has no rows, as a run that failed.")
    counts: RowCounts
    offset: int
    rows: list[ComparedRow]
    plan_diff: str
    steps: list[ComparedStep]


NO_ROWS = RowComparison(
    columns=(), changed_columns=(), key=(), counts=RowCounts(added=0, removed=0, changed=0, same=0), rows=()
)


class ComparisonService:
    def __init__(self, runs: RunService, answers: AnswerService) -> None:
        self._runs = runs
        self._answers = answers

    async def compare(
        self,
        run: RunId,
        other: RunId,
        principal: Principal,
        *,
        key: Sequence[str] | None = None,
        changes: Sequence[Change] | None = None,
        offset: int = 0,
        limit: int = 200,
    ) -> RunComparison:
        """What is different in a later run. Without a `key`, columns that identify a row are looked for."""
        records = [await self._runs.get(each, principal) for each in (run, other)]
        before, after = [await self._runs.answer(record.run, principal) for record in records]
        rows = NO_ROWS
        if both := before.provenance.artifact is not None and after.provenance.artifact is not None:
            paths = [await self._answers.rows_path(answer, principal) for answer in (before, after)]
            rows = await asyncio.to_thread(
                compare, *paths, key=key, changes=changes or CHANGES, offset=offset, limit=limit
            )
        steps = _steps(before.steps, after.steps)
        plan_diff = text_difference(_plan_text(before), _plan_text(after))
        return RunComparison(
            before=run_summary(records[0]),
            after=run_summary(records[1]),
            same_question=records[0].question == records[1].question,
            same_plan=not plan_diff,
            same_code=not any(step.code_diff for step in steps),
            data_changed=_data_changed(before, after),
            columns=list(rows.columns),
            changed_columns=list(rows.changed_columns),
            key=list(rows.key),
            rows_compared=both,
            counts=rows.counts,
            offset=offset,
            rows=list(rows.rows),
            plan_diff=plan_diff,
            steps=steps,
        )

    async def export_differences(
        self, run: RunId, other: RunId, principal: Principal, format: Format, *, key: Sequence[str] | None = None
    ) -> Iterator[bytes]:
        """Every row that was added, removed or changed in a later run, as the bytes of a file."""
        answers = [await self._runs.answer(each, principal) for each in (run, other)]
        before, after = [await self._answers.rows_path(answer, principal) for answer in answers]
        return _differing(before, after, key, format)


def _differing(before: Path, after: Path, key: Sequence[str] | None, format: Format) -> Iterator[bytes]:
    with scratch_folder() as folder:
        path = folder / "rows.arrow"
        write_differences(before, after, path, key=key)
        yield from export(path, format)


def _plan_text(answer: Answer) -> str:
    plan = answer.provenance.plan
    return "" if plan is None else json.dumps(plan, indent=2, ensure_ascii=False)


def _data_changed(before: Answer, after: Answer) -> bool | None:
    prints = (before.provenance.fingerprint, after.provenance.fingerprint)
    return None if None in prints else prints[0] != prints[1]


def _steps(before: Sequence[StepRecord], after: Sequence[StepRecord]) -> list[ComparedStep]:
    old, new = ({step.id: step for step in steps} for steps in (before, after))
    return [_step(name, old.get(name), new.get(name)) for name in dict.fromkeys((*new, *old))]


def _step(name: str, before: StepRecord | None, after: StepRecord | None) -> ComparedStep:
    old, new = (step.code if step else None for step in (before, after))
    return ComparedStep(
        id=name,
        before_ms=before.duration_ms if before else None,
        after_ms=after.duration_ms if after else None,
        before_code=old,
        after_code=new,
        code_diff=text_difference(old or "", new or ""),
    )

"""Two runs side by side."""

import itertools
import json
import tempfile
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Annotated

from fastapi import APIRouter, Query
from fastapi.concurrency import run_in_threadpool
from fastapi.responses import StreamingResponse
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
from answerable.answers.export import FORMATS, Format, export
from answerable.core.ids import RunId
from answerable.core.values import OutputColumn
from answerable.gateway.access import PrincipalOf, RunPath, ServiceOf
from answerable.gateway.problems import documented
from answerable.gateway.routes.runs import RunSummary, summary
from answerable.gateway.wire import API, RUN_ID, Wire

router = APIRouter(prefix=API, tags=["runs"])

Other = Annotated[str, Query(pattern=RUN_ID, description="The later one.")]
Key = Annotated[list[str] | None, Query(max_length=20, description="Looked for when none is given.")]


class ComparedStep(Wire):
    id: str
    before_ms: float | None
    after_ms: float | None
    before_code: str | None
    after_code: str | None
    code_diff: str = Field(description="As a unified diff; empty when both are the same.")


class RunComparison(Wire):
    before: RunSummary
    after: RunSummary
    same_question: bool
    same_plan: bool
    same_code: bool
    data_changed: bool | None = Field(description="Null when that is not known.")
    columns: list[OutputColumn] = Field(description="Those that both have.")
    changed_columns: list[ChangedColumn]
    key: list[str] = Field(description="By which rows are known; empty when only whole rows could be compared.")
    rows_compared: bool = Field(description="False when one of the two has no rows, as a run that failed.")
    counts: RowCounts
    offset: int
    rows: list[ComparedRow]
    plan_diff: str
    steps: list[ComparedStep]


NO_ROWS = RowComparison(
    columns=(), changed_columns=(), key=(), counts=RowCounts(added=0, removed=0, changed=0, same=0), rows=()
)


@router.get("/runs/{run_id}/comparison", responses=documented(404, 413, 422))
async def comparison(
    run_id: RunPath,
    service: ServiceOf,
    principal: PrincipalOf,
    other: Other,
    key: Key = None,
    change: Annotated[list[Change] | None, Query(description="Only rows of these sorts.")] = None,
    offset: Annotated[int, Query(ge=0, le=10**9)] = 0,
    limit: Annotated[int, Query(ge=0, le=1_000)] = 200,
) -> RunComparison:
    """What is different in a later run: rows, columns, plan, code, time."""
    runs = [await service.runs.get(RunId(run), principal) for run in (run_id, other)]
    before, after = [await service.runs.answer(record.run, principal) for record in runs]
    rows = NO_ROWS
    if both := before.provenance.artifact is not None and after.provenance.artifact is not None:
        paths = [await service.answers.rows_path(answer, principal) for answer in (before, after)]
        rows = await run_in_threadpool(compare, *paths, key=key, changes=change or CHANGES, offset=offset, limit=limit)
    steps = _steps(before.steps, after.steps)
    plan_diff = text_difference(_plan_text(before), _plan_text(after))
    return RunComparison(
        before=summary(runs[0]),
        after=summary(runs[1]),
        same_question=runs[0].question == runs[1].question,
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


@router.get(
    "/runs/{run_id}/comparison/rows",
    response_class=StreamingResponse,
    responses={
        200: {
            "content": {info.media_type.partition(";")[0]: {} for info in FORMATS.values()},
            "description": "As a file: the key once, of each other column how it was before and how it is",
        },
        **documented(404, 413, 422),
    },
)
async def differing_rows(
    run_id: RunPath,
    service: ServiceOf,
    principal: PrincipalOf,
    other: Other,
    key: Key = None,
    format: Format = "csv",
) -> StreamingResponse:
    """Every row that came, went or changed in a later run, however many they are."""
    answers = [await service.runs.answer(RunId(run), principal) for run in (run_id, other)]
    before, after = [await service.answers.rows_path(answer, principal) for answer in answers]
    pieces = _differing(before, after, key, format)
    first = await run_in_threadpool(next, pieces, b"")  # what cannot be compared fails before anything is sent
    info = FORMATS[format]
    headers = {"Content-Disposition": f'attachment; filename="differences.{info.extension}"'}
    return StreamingResponse(itertools.chain([first], pieces), media_type=info.media_type, headers=headers)


def _differing(before: Path, after: Path, key: Sequence[str] | None, format: Format) -> Iterator[bytes]:
    with tempfile.TemporaryDirectory(prefix="answerable-differences-") as folder:
        path = Path(folder) / "rows.arrow"
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

"""A run as listings show it."""

from datetime import datetime

from pydantic import Field

from answerable.core.values import Frozen
from answerable.store.base import RunRecord, RunStatus


class RunSummary(Frozen):
    run_id: str
    thread_id: str | None
    question: str | None
    status: RunStatus
    created_at: datetime
    finished_at: datetime | None
    duration_ms: float | None = Field(description="From its beginning to its end; null while it goes on.")
    error_code: str | None
    sources: list[str]
    mode: str | None = Field(
        description="`auto`, `plan` or `react`; `sql`, `python`, `plan` for what was written; `graph`."
    )
    graph_version: int | None = Field(description="The version of the stored graph that ran, named in `question`.")
    kind: str | None = Field(description="Of its answer: `table`, `value`, `chart`, `text`, `clarify` or `refusal`.")
    row_count: int | None
    tokens: int | None
    cost_usd: float | None = Field(description="Null while it is not known.")


def run_summary(record: RunRecord) -> RunSummary:
    result = record.result
    took = record.finished_at - record.created_at if record.finished_at else None
    return RunSummary(
        run_id=record.run,
        thread_id=record.thread,
        question=record.question,
        status=record.status,
        created_at=record.created_at,
        finished_at=record.finished_at,
        duration_ms=took.total_seconds() * 1000 if took is not None else None,
        error_code=record.error_code,
        sources=list(record.sources),
        mode=record.mode,
        graph_version=record.graph_version,
        kind=result.kind if result else None,
        row_count=result.row_count if result else None,
        tokens=result.tokens if result else None,
        cost_usd=result.cost if result else None,
    )

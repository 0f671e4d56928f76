"""Runs a query and stores its rows as an artifact."""

import asyncio
from collections.abc import Awaitable, Callable, Mapping, Sequence
from importlib import import_module
from pathlib import Path
from sys import modules

from answerable.answers.result_rows import RecentRows, Rows
from answerable.core.context import Principal
from answerable.core.values import FrameRef, Json, OutputColumn
from answerable.sources.base import QueryResult
from answerable.store.base import Artifacts

SAMPLE_RECORDS = 3
_PRESENT = "answerable.answers.present"


async def stored_frame(
    query: Callable[[Path], Awaitable[QueryResult]], artifacts: Artifacts, recent: RecentRows, principal: Principal
) -> tuple[QueryResult, FrameRef]:
    """Runs a query that writes its rows to a path. No file is left behind if the query fails. Rows that came with the
    result are remembered in `recent`."""
    staging = artifacts.staging()
    # The next step needs this module to build the answer. The first time, it is imported in a thread while the query
    # runs.
    loading = None if _PRESENT in modules else asyncio.create_task(asyncio.to_thread(import_module, _PRESENT))
    try:
        result = await query(staging)
        rows = result.plain_rows
        sample = await asyncio.to_thread(_stored_sample, staging) if rows is None else _sample(result.columns, rows)
        artifact = await artifacts.adopt(principal, staging)
        if rows is not None:
            recent.remember(artifact, rows)
        if loading is not None:
            await loading
    finally:
        staging.unlink(missing_ok=True)
    frame = FrameRef(
        artifact=artifact,
        columns=result.columns,
        row_count=result.row_count,
        byte_count=result.byte_count,
        sample=sample,
    )
    return result, frame


def _sample(columns: Sequence[OutputColumn], rows: Rows) -> tuple[Mapping[str, Json], ...]:
    names = [column.name for column in columns]
    return tuple(dict(zip(names, row, strict=True)) for row in rows[:SAMPLE_RECORDS])


def _stored_sample(path: Path) -> tuple[Mapping[str, Json], ...]:
    from answerable.answers.frame import sample_records  # loads slowly, and small results do not need it

    return sample_records(path, SAMPLE_RECORDS)

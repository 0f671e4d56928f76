"""Runs a query and stores its rows as an artifact."""

import asyncio
from collections.abc import Awaitable, Callable, Mapping
from pathlib import Path

from answerable.core.context import Principal
from answerable.core.values import FrameRef, Json
from answerable.sources.base import QueryResult
from answerable.store.base import Artifacts


async def stored_frame(
    query: Callable[[Path], Awaitable[QueryResult]], artifacts: Artifacts, principal: Principal
) -> tuple[QueryResult, FrameRef]:
    """Runs a query that writes its rows to a path. No file is left behind if the query fails."""
    staging = artifacts.staging()
    # Modules that read rows load slowly. They are imported in a thread while the query runs.
    reading = asyncio.create_task(asyncio.to_thread(_reader_of_rows))
    try:
        result = await query(staging)
        sample = (await reading)(staging)
        artifact = await artifacts.adopt(principal, staging)
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


def _reader_of_rows() -> Callable[[Path], tuple[Mapping[str, Json], ...]]:
    import answerable.answers.present  # noqa: F401 - the step after this one needs it to build the answer
    from answerable.answers.frame import sample_records

    return sample_records

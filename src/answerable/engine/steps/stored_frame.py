"""Rows that a query writes, kept as an artifact.

What reads rows is loaded while the query is at work, so that a command that asks one question is soon done.
"""

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
    """Runs a query that writes its rows to the path it is given; nothing is left behind when it fails."""
    staging = artifacts.staging()
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
    import answerable.answers.present  # noqa: F401 - what makes the answer is needed next
    from answerable.answers.frame import sample_records

    return sample_records

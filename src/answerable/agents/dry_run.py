"""The reader's dry run: its likeliest readings are run where that costs next to nothing, in the source's own worker."""

import asyncio
from collections.abc import Sequence
from typing import Protocol, runtime_checkable

from answerable.core.catalog import Catalog
from answerable.core.errors import AnswerableError
from answerable.reader.ranking.dry_run import MOST_ROWS, Rows, Run
from answerable.sources.base import Limits

MOST_DATA = 50_000
"""Rows of all tables together; of more data, and of data behind a network, nothing is run ahead of the answer."""
_LOCAL = frozenset({"sqlite", "duckdb", "files", "frames"})
_LIMITS = Limits(seconds=2.0, memory_mb=512, rows=MOST_ROWS, result_mb=16)


@runtime_checkable
class Peeking(Protocol):
    """A source that can tell a few rows of several statements without writing them down."""

    kind: str

    async def peek(self, statements: Sequence[str], limits: Limits) -> Sequence[Rows | None]: ...


def dry_run(source: object, catalog: Catalog) -> Run | None:
    """To be called on the event loop; what it returns is called from a thread beside it."""
    if not isinstance(source, Peeking) or source.kind not in _LOCAL or not _is_small(catalog):
        return None
    loop = asyncio.get_running_loop()

    def run(statements: Sequence[str]) -> Sequence[Rows | None]:
        return asyncio.run_coroutine_threadsafe(_rows(source, statements), loop).result()

    return run


def _is_small(catalog: Catalog) -> bool:
    counts = [table.row_count for table in catalog.tables]
    return sum(count for count in counts if count is not None) <= MOST_DATA and None not in counts


async def _rows(source: Peeking, statements: Sequence[str]) -> Sequence[Rows | None]:
    """Where they fail here, nothing is known; the one that is the answer then fails there and says why."""
    try:
        return await source.peek(statements, _LIMITS)
    except AnswerableError:
        return [None] * len(statements)

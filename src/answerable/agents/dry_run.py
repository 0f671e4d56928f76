"""The reader's dry run: its likeliest readings are run where that costs next to nothing, in the source's own worker."""

import asyncio
from collections.abc import Sequence
from typing import Protocol

from answerable.core.catalog import Catalog
from answerable.core.errors import AnswerableError
from answerable.query.checked import CheckedQuery
from answerable.reader.ranking.dry_run import MOST_ROWS, Rows, Run
from answerable.sources.base import Limits, Peekable

MOST_DATA = 50_000
"""Rows of all tables together; of more data, and of data behind a network, nothing is run ahead of the answer."""
_LIMITS = Limits(seconds=2.0, memory_mb=512, rows=MOST_ROWS, result_mb=16)


class Describable(Protocol):
    """One source, or several as one."""

    name: str


def dry_run(source: Describable, catalog: Catalog) -> Run | None:
    """Returns a function that runs queries, or None if running them ahead of the answer would cost too much. Call this
    on the event loop; the function is called from a thread beside it."""
    if not isinstance(source, Peekable) or not source.is_local or not _is_small(catalog):
        return None
    loop = asyncio.get_running_loop()

    def run(queries: Sequence[CheckedQuery]) -> Sequence[Rows | None]:
        return asyncio.run_coroutine_threadsafe(_rows(source, queries), loop).result()

    return run


def _is_small(catalog: Catalog) -> bool:
    counts = [table.row_count for table in catalog.tables]
    return sum(count for count in counts if count is not None) <= MOST_DATA and None not in counts


async def _rows(source: Peekable, queries: Sequence[CheckedQuery]) -> Sequence[Rows | None]:
    """An error here only means that nothing is known. The query that becomes the answer fails again and says why."""
    try:
        return await source.peek(queries, _LIMITS)
    except AnswerableError:
        return [None] * len(queries)

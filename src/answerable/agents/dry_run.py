"""The reader's dry run: runs the likeliest readings in the source's own worker, if the source is local and small.

The rows help the reader to choose: readings that give the same rows are the same answer.
"""

from collections.abc import Awaitable, Callable, Sequence
from typing import Protocol, TypeAlias

from answerable.core.catalog import Catalog
from answerable.core.errors import AnswerableError
from answerable.query.checked import CheckedQuery
from answerable.reader.ranking.dry_run import MOST_ROWS, Rows
from answerable.sources.base import Limits, Peekable

MOST_DATA = 50_000
"""Rows of all tables together. Over more data, or over a network, a dry run would take longer than it is worth."""
_LIMITS = Limits(seconds=2.0, memory_mb=512, rows=MOST_ROWS, result_mb=16)
"""The user waits for the dry run, so it gives up early."""


class Describable(Protocol):
    """One source, or several that are read as one."""

    name: str


DryRun: TypeAlias = Callable[[Sequence[CheckedQuery]], Awaitable[Sequence[Rows | None]]]


def dry_run(source: Describable, catalog: Catalog) -> DryRun | None:
    """Returns a function that runs queries, or None if running them ahead of the answer would cost too much."""
    if not isinstance(source, Peekable) or not source.is_local or not _is_small(catalog):
        return None
    return lambda queries: _rows(source, queries)


def _is_small(catalog: Catalog) -> bool:
    # A table without a row count may have any size, so it rules a dry run out.
    counts = [table.row_count for table in catalog.tables]
    return sum(count for count in counts if count is not None) <= MOST_DATA and None not in counts


async def _rows(source: Peekable, queries: Sequence[CheckedQuery]) -> Sequence[Rows | None]:
    """The rows of each query, or None for all queries if they failed."""
    # Errors are dropped on purpose: the query that becomes the answer fails again and reports the reason.
    try:
        return await source.peek(queries, _LIMITS)
    except AnswerableError:
        return [None] * len(queries)

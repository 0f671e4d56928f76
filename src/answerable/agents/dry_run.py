"""The reader's dry run: runs the likeliest readings in the source's own worker, if the source is local.

The rows help the reader to choose: readings that give the same rows are the same answer.
"""

from collections.abc import Awaitable, Callable, Sequence
from dataclasses import replace
from time import monotonic
from typing import Protocol, TypeAlias

from answerable.core.catalog import Catalog
from answerable.core.errors import AnswerableError
from answerable.query.checked import CheckedQuery
from answerable.reader.ranking.dry_run import MOST_ROWS, Rows
from answerable.sources.base import Limits, Peekable

MOST_DATA = 5_000_000
"""Rows of all tables together. Over more data, or over a network, a dry run would take longer than it is worth."""
_SMALL = 50_000
_LIMITS = Limits(seconds=2.0, memory_mb=512, rows=MOST_ROWS, result_mb=16)
"""The user waits for the dry run, so it gives up early."""
_SECONDS = 1.5
"""How long the user waits at most for the dry runs of one question about more than a little data."""
_LEAST_SECONDS = 0.1


class Describable(Protocol):
    """One source, or several that are read as one."""

    name: str


DryRun: TypeAlias = Callable[[Sequence[CheckedQuery]], Awaitable[Sequence[Rows | None]]]


def dry_run(source: Describable, catalog: Catalog) -> DryRun | None:
    """Returns a function that runs queries, or None if running them ahead of the answer would cost too much."""
    # A table without a row count may have any size, so it rules a dry run out.
    rows = sum(MOST_DATA + 1 if table.row_count is None else table.row_count for table in catalog.tables)
    if not isinstance(source, Peekable) or not source.is_local or rows > MOST_DATA:
        return None
    if rows <= _SMALL:
        return lambda queries: _rows(source, queries, _LIMITS)
    return _Bounded(source)


class _Bounded:
    """Runs the readings of one question until its time is spent. The likeliest come first."""

    def __init__(self, source: Peekable) -> None:
        self._source = source
        self._left = _SECONDS

    async def __call__(self, queries: Sequence[CheckedQuery]) -> Sequence[Rows | None]:
        if self._left < _LEAST_SECONDS:
            return [None] * len(queries)
        started = monotonic()
        found = await _rows(self._source, queries, replace(_LIMITS, seconds=self._left))
        self._left -= monotonic() - started
        return found


async def peeked(source: object, queries: Sequence[CheckedQuery], limits: Limits = _LIMITS) -> Sequence[Rows | None]:
    """The first rows of each query, whatever the size of the data; None for a source that cannot be asked like this,
    and for a query that takes too long."""
    return await _rows(source, queries, limits) if isinstance(source, Peekable) else [None] * len(queries)


async def _rows(source: Peekable, queries: Sequence[CheckedQuery], limits: Limits) -> Sequence[Rows | None]:
    """The rows of each query, or None for all queries if they failed."""
    # Errors are dropped on purpose: the query that becomes the answer fails again and reports the reason.
    try:
        return await source.peek(queries, limits)
    except AnswerableError:
        return [None] * len(queries)

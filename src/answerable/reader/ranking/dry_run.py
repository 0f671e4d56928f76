"""The dry run: runs the likeliest readings and compares their rows. Readings with the same rows are the same answer."""

from collections.abc import Callable, Sequence
from typing import NamedTuple, TypeAlias

from answerable.query.checked import CheckedQuery

# One more than are offered, since two of them often give the same rows.
RUNS = 6
"""How many readings are run."""
MORE_RUNS = 6
"""How many more are run if too few of the first ones differ."""
MOST_ROWS = 1_000
"""A result with more rows counts as unknown: comparing it would cost more than it tells."""

Rows: TypeAlias = Sequence[Sequence[object]]
Run: TypeAlias = Callable[[Sequence[CheckedQuery]], Sequence[Rows | None]]
"""Runs queries; None for one that failed, took too long or returned too many rows."""


def remembering(run: Run) -> Run:
    """Runs each query once: the ways of reading a question lead to many of the same ones."""
    known: dict[str, Rows | None] = {}

    def run_new(queries: Sequence[CheckedQuery]) -> list[Rows | None]:
        new = {query.text: query for query in queries if query.text not in known}
        if new:
            known.update(zip(new, run(list(new.values())), strict=True))
        return [known[query.text] for query in queries]

    return run_new


class DryRunResult(NamedTuple):
    """What came out of a reading."""

    key: object
    """Equal for the same rows."""
    rows: int
    void: bool
    """No value at all."""
    nulls: bool
    zero: bool
    """A single 0."""
    repeated: bool
    """Some row stands there twice."""


def dry_run_result(rows: Rows, ordered: bool) -> DryRunResult:
    found = [tuple(row) for row in rows]
    values = [value for row in found for value in row]
    return DryRunResult(
        # Without an order, the rows of two readings may come in any order and still be the same answer.
        # Sorted by `repr`, because nulls and values of different types have no common order.
        key=tuple(found if ordered else sorted(found, key=repr)),
        rows=len(found),
        void=all(value is None for value in values),
        nulls=any(value is None for value in values),
        zero=len(values) == 1 and values[0] == 0,
        repeated=len(set(found)) < len(found),
    )

"""The clauses that forms consist of: the calculation, its groups, and the conditions on rows.

Each function in `calculations`, `dimensions`, `periods` and `conditions` looks at the question and returns a clause
together with `words`, the places of the words that the clause uses. None means that the question does not have the
clause, or that the data cannot answer it.
"""

from answerable.core.records import dataclass
from answerable.query.plan import Filter

Words = frozenset[int]
"""Places of words in the question."""


@dataclass(frozen=True, slots=True)
class Conditions:
    """Conditions that all hold."""

    filters: tuple[Filter, ...]
    words: Words


@dataclass(frozen=True, slots=True)
class ColumnUse:
    column: int
    words: Words


def both(*parts: Conditions) -> Conditions:
    return Conditions(
        tuple(one for part in parts for one in part.filters), frozenset().union(*(part.words for part in parts))
    )

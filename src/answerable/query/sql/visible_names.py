"""What a SELECT can name: relations with their columns, in levels from the inner query outwards."""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import field

from answerable.core.catalog import Table
from answerable.core.records import dataclass


@dataclass(frozen=True, slots=True)
class VisibleRelation:
    """Something to select from: a table of the catalog, a common table expression, a derived table."""

    columns: Mapping[str, str | None]
    """Look-up key to the name of the column. A column without a name gets a key that nobody can write."""
    table: Table | None = None
    stored: Mapping[str, str] = field(default_factory=dict)
    """Look-up key to the name in the catalog, for columns of a table."""
    schema: str | None = None
    one_row: bool = False
    is_open: bool = False
    """Whether it may have columns that only the engine knows: those of a table function, or of a pivoted table."""


@dataclass(slots=True)
class NameLevel:
    """The names that are visible within one SELECT."""

    sources: dict[str, VisibleRelation]
    outer: "NameLevel | None"
    aliases: frozenset[str] = frozenset()

    @property
    def names(self) -> list[str]:
        """The names of its tables, without the keys of those that have no name."""
        return [name for name in self.sources if not name.startswith("\0")]


def column_names(relations: Iterable[VisibleRelation]) -> Iterator[str]:
    return (name for relation in relations for name in relation.columns.values() if name is not None)


def outwards(level: NameLevel | None) -> Iterator[NameLevel]:
    while level is not None:
        yield level
        level = level.outer

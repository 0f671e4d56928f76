"""Whether the first row of a table names its columns, and what the columns are called."""

import re
from collections.abc import Sequence
from dataclasses import dataclass

from answerable.sources.workers.engine import unique_names
from answerable.sources.workers.typing_columns import likely

_YEAR = re.compile(r"1[89][0-9]{2}|2[01][0-9]{2}")

Record = Sequence[str | None]


@dataclass(frozen=True, slots=True)
class Header:
    names: tuple[str, ...]
    present: bool
    notes: tuple[str, ...] = ()


def header_of(records: Sequence[Record]) -> Header:
    """The header, judged by the first records of a table, all of the same length."""
    first = [_tidy(cell) for cell in records[0]]
    if not _names_columns(first, records[1:]):
        note = f"its first row holds values, not names; the columns are called column_1 to column_{len(first)}"
        return Header(tuple(f"column_{number}" for number in range(1, len(first) + 1)), False, (note,))
    names = [name or f"column_{number}" for number, name in enumerate(first, 1)]
    unique = unique_names(names)
    return Header(tuple(unique), True, (*_nameless(first), *_renamed(names, unique)))


def _tidy(cell: str | None) -> str:
    return " ".join((cell or "").split())


def _names_columns(first: Sequence[str], rest: Sequence[Record]) -> bool:
    columns = list(zip(*rest, strict=True)) if rest else [()] * len(first)
    pairs = list(zip(first, columns, strict=True))
    # A name above numbers or dates settles it, whatever the other columns look like.
    if any(_is_name(cell) and _holds_values(column) for cell, column in pairs):
        return True
    if any(cell and cell in map(_tidy, column) for cell, column in pairs):
        return False  # a name does not occur below itself
    values = [(cell, column) for cell, column in pairs if cell and not _is_name(cell)]
    return not values or (len(values) < len(first) and _are_years(values))


def _is_name(cell: str) -> bool:
    return bool(cell) and not likely([cell])


def _holds_values(column: Sequence[str | None]) -> bool:
    return any(column) and bool(likely(column)) and any(cell and likely([cell]) for cell in column)


def _are_years(values: Sequence[tuple[str, Sequence[str | None]]]) -> bool:
    """A table with a column for each year, beside others that have proper names."""
    cells = [cell for cell, _column in values]
    below = [cell for _cell, column in values for cell in column if cell]
    return len(set(cells)) == len(cells) and all(map(_YEAR.fullmatch, cells)) and not all(map(_YEAR.fullmatch, below))


def _nameless(first: Sequence[str]) -> tuple[str, ...]:
    places = [f"column_{number}" for number, name in enumerate(first, 1) if not name]
    return (f"columns without a name are called {', '.join(places)}",) if places else ()


def _renamed(names: Sequence[str], unique: Sequence[str]) -> tuple[str, ...]:
    changed = [f"{new!r}" for old, new in zip(names, unique, strict=True) if old != new]
    return (f"names that occur more than once were numbered: {', '.join(changed)}",) if changed else ()

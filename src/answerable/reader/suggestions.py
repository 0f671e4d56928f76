"""Suggests questions that a source can answer, in its own names, for people who see it for the first time."""

from collections.abc import Iterator
from itertools import zip_longest
from typing import NamedTuple

from answerable.core.catalog import Catalog, Column, Table
from answerable.core.words import name_words
from answerable.query.nouns import Nouns, without_unit

_FEW, _MANY = 2, 30
"""The least and the most distinct values of a text column that a suggestion groups by."""
_VALUES = 5
"""The least distinct values of a column of whole numbers that has an average; fewer are codes or grades."""
_TABLES = 3
_FIRST = 2
"""How many questions about the main table come before those about others."""
_KEYS = frozenset({"id", "key", "code", "number", "no", "nr", "zip", "phone", "to"})
_CLOCKS = frozenset({"year", "month", "day", "hour", "minute", "time", "tz"})
_PLACES = frozenset({"lat", "lon", "latitude", "longitude", "alt"})
_NO_FIGURES = _KEYS | _CLOCKS | _PLACES
"""Words of columns whose numbers have no average."""


class Suggestion(NamedTuple):
    text: str
    grouped: bool = False
    """Whether its answer has a row for each name or month; one row means that it was not understood."""


def suggested(catalog: Catalog) -> Iterator[Suggestion]:
    """A number by a name, one over time, a ranking, and a count; first about the largest table."""
    filled = [table for table in catalog.tables if table.row_count != 0]
    tables = sorted(filled, key=lambda table: -(table.row_count or 0))
    names = Nouns(catalog)
    if not tables:
        return
    main = next((table for table in tables if _is_dated(table)), tables[0])
    by = next((column for table in tables for column in table.columns if _is_category(column)), None)
    if catalog.measures and by:
        yield Suggestion(_sentence(f"{names.measure(catalog.measures[0])} per {_called(by)}"), grouped=True)
    about = [list(_about(table, names)) for table in dict.fromkeys((main, *tables[:_TABLES]))]
    yield from about[0][:_FIRST]
    # In turns: four questions about one table would hide the others.
    rest = (about[0][_FIRST:], *about[1:])
    yield from (each for turn in zip_longest(*rest) for each in turn if each is not None)


def _about(table: Table, names: Nouns) -> Iterator[Suggestion]:
    categories = [names.column(table, column) for column in table.columns if _is_category(column)]
    figures = [column for column in table.columns if _is_figure(column, table)]
    nouns = [without_unit(names.column(table, column), column) for column in figures]
    many = names.many(table)
    has_noun = not many.endswith(" rows")  # nobody speaks of the rows of a table
    if categories and nouns:
        yield Suggestion(f"What is the average {nouns[0]} by {categories[0]}?", grouped=True)
    if _is_dated(table) and nouns:
        yield Suggestion(_sentence(f"average {nouns[0]} per month"), grouped=True)
    if categories and has_noun:
        yield Suggestion(_sentence(f"{many} per {categories[-1]}"), grouped=True)
    elif categories:
        yield Suggestion(f"Which {categories[-1]} is the most common?")
    if len(nouns) > 1 and categories:
        yield Suggestion(f"What is the average {nouns[1]} by {categories[0]}?", grouped=True)
    if _is_dated(table):
        yield from (Suggestion(_sentence(f"average {noun} per month"), grouped=True) for noun in nouns[1:3])
    if len(nouns) > 1:
        yield Suggestion(f"What is the highest {nouns[1]}?")
    if _is_dated(table) and has_noun:
        yield Suggestion(_sentence(f"{many} per month"), grouped=True)
    if has_noun:
        yield Suggestion(f"How many {many} are there?")


def _sentence(text: str) -> str:
    return text[:1].upper() + text[1:]


def _is_figure(column: Column, table: Table) -> bool:
    """A number that has an average: no key, no code, no year."""
    words = set(name_words(column.name))
    key = column.unique or column.name in table.primary_key or bool(words & _NO_FIGURES)
    is_code = column.type == "integer" and column.distinct_count is not None and column.distinct_count < _VALUES
    return column.type in ("integer", "number") and not key and not is_code


def _is_dated(table: Table) -> bool:
    return any(column.type in ("date", "datetime") for column in table.columns)


def _is_category(column: Column) -> bool:
    return column.type == "text" and column.distinct_count is not None and _FEW <= column.distinct_count <= _MANY


def _called(column: Column) -> str:
    return (column.label or column.name).replace("_", " ")

"""Suggests questions that a source can answer, in its own names, for people who see it for the first time."""

from collections.abc import Iterator

from answerable.core.catalog import Catalog, Column, Table
from answerable.core.words import name_words
from answerable.query.nouns import Nouns, without_unit

_FEW, _MANY = 2, 30
"""The least and the most distinct values of a text column that a suggestion groups by."""
_TABLES = 3
_NO_FIGURES = frozenset({"id", "key", "code", "number", "no", "nr", "year", "month", "day", "zip", "phone", "to"})


def suggested(catalog: Catalog) -> Iterator[str]:
    """A number by a name, one over time, a count, and an average by a name; first about the largest table."""
    filled = [table for table in catalog.tables if table.row_count != 0]
    tables = sorted(filled, key=lambda table: -(table.row_count or 0))
    names = Nouns(catalog)
    if not tables:
        return
    main = next((table for table in tables if _is_dated(table)), tables[0])
    by = next((column for table in tables for column in table.columns if _is_category(column)), None)
    if catalog.measures and by:
        yield _sentence(f"{names.measure(catalog.measures[0])} per {_called(by)}")
    if _is_dated(main):
        yield _sentence(f"{names.many(main)} per month")
    for table in dict.fromkeys((main, *tables[:_TABLES])):
        yield f"How many {names.many(table)} are there?"
        yield from _about(table, names)


def _about(table: Table, names: Nouns) -> Iterator[str]:
    by = next((column for column in table.columns if _is_category(column)), None)
    number = next((column for column in table.columns if _is_figure(column, table)), None)
    if by is not None and number is not None:
        noun = without_unit(names.column(table, number), number)
        yield f"What is the average {noun} by {names.column(table, by)}?"
    if by is not None:
        yield f"How many {names.many(table)} are there per {names.column(table, by)}?"


def _sentence(text: str) -> str:
    return text[:1].upper() + text[1:]


def _is_figure(column: Column, table: Table) -> bool:
    """A number that has an average: no key, no code, no year."""
    words = set(name_words(column.name))
    key = column.unique or column.name in table.primary_key or bool(words & _NO_FIGURES)
    return column.type in ("integer", "number") and not key


def _is_dated(table: Table) -> bool:
    return any(column.type in ("date", "datetime") for column in table.columns)


def _is_category(column: Column) -> bool:
    return column.type == "text" and column.distinct_count is not None and _FEW <= column.distinct_count <= _MANY


def _called(column: Column) -> str:
    return (column.label or column.name).replace("_", " ")

"""Suggests questions that a source can answer, in its own names, for people who see it for the first time."""

from answerable.core.catalog import Catalog, Column, Measure, Table

_FEW, _MANY = 2, 30
"""The least and the most distinct values of a text column that a suggestion groups by."""


def suggested(catalog: Catalog) -> tuple[str, ...]:
    """A number by a name, one over time, and a count."""
    tables = sorted(catalog.tables, key=lambda table: -(table.row_count or 0))
    if not tables:
        return ()
    main = next((table for table in tables if _is_dated(table)), tables[0])
    by = next((column for table in tables for column in table.columns if _is_category(column)), None)
    found = [
        f"{_called(catalog.measures[0])} per {_called(by)}" if catalog.measures and by else None,
        f"{_called(main)} per month" if _is_dated(main) else None,
        f"How many {_called(main)} are there?",
    ]
    return tuple(question[:1].upper() + question[1:] for question in found if question)


def _is_dated(table: Table) -> bool:
    return any(column.type in ("date", "datetime") for column in table.columns)


def _is_category(column: Column) -> bool:
    return column.type == "text" and column.distinct_count is not None and _FEW <= column.distinct_count <= _MANY


def _called(thing: Table | Column | Measure) -> str:
    return (thing.label or thing.name).replace("_", " ")

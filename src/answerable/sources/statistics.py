"""What somebody who looks at a table sees of its columns, and whether relationships hold for all rows."""

from datetime import date, datetime

from answerable.core.catalog import Catalog, Relationship, Table
from answerable.core.errors import NotFoundError
from answerable.core.values import ColumnType, Frozen, Json, Scalar


class HistogramBin(Frozen):
    low: Scalar
    high: Scalar
    """Exclusive, except in the last bin. In a histogram of dates, `low` and `high` name the same day, month or year."""
    count: int


class ValueCount(Frozen):
    value: str | None
    count: int


class ColumnStatistics(Frozen):
    name: str
    type: ColumnType
    unique: bool
    null_count: int | None
    distinct_count: int | None
    minimum: Scalar
    maximum: Scalar
    histogram: tuple[HistogramBin, ...] = ()
    """Of numbers and dates."""
    top_values: tuple[ValueCount, ...] = ()
    """The most frequent values; empty if every value occurs once."""


class TableStatistics(Frozen):
    table: str
    row_count: int | None
    looked_at: int | None
    """How many rows histograms and frequencies come from; None for all rows."""
    columns: tuple[ColumnStatistics, ...]


class RelationshipCheck(Frozen):
    relationship: Relationship
    orphan_rows: int | None
    """Rows that point to nothing; None if that could not be counted."""


def table_named(catalog: Catalog, name: str) -> Table:
    table = catalog.table(name)
    if table is None:
        hint = f"It has: {', '.join(table.name for table in catalog.tables[:20])}."
        raise NotFoundError(f"The source {catalog.source!r} has no table {name!r}.", code="table_unknown", hint=hint)
    return table


def plain(value: Json) -> Json:
    """A stored value in the form that JSON can hold."""
    if isinstance(value, datetime | date):
        return value.isoformat()
    if isinstance(value, bytes):
        return f"{len(value):,} bytes"
    return value if isinstance(value, str | int | float | bool | None) else str(value)

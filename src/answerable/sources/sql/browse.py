"""Looking at the tables of an SQL source: some rows, how values are distributed, and rows that point to nothing."""

import asyncio
from abc import ABC, abstractmethod
from collections.abc import Iterator, Mapping, Sequence
from datetime import date
from typing import Any

from sqlglot import exp

from answerable.core.catalog import Catalog, Column, Relationship, Table
from answerable.core.errors import LimitError, SourceError, UserError
from answerable.core.values import Language
from answerable.query.sql.dialects import DIALECTS
from answerable.sources.sql.probe import Probe
from answerable.sources.sql.statements import Sql, chunked, union_all
from answerable.sources.statistics import ColumnStatistics, HistogramBin, RelationshipCheck, TableStatistics, ValueCount

BINS = 24
TOP = 10
LOOKED_AT = 1_000_000
"""Rows of a larger table that stand for the rest."""
_COLUMNS_A_STATEMENT = 30
_LONGEST_VALUE = 200
_FEW_DAYS, _FEW_MONTHS = 31, 36


async def first_rows(probe: Probe, dialect: Language, table: Table, offset: int, limit: int) -> list[tuple[Any, ...]]:
    """Some rows as they are stored, of the columns that may be seen."""
    columns = [_column(column.name) for column in table.columns]
    statement = exp.select(*columns).from_(_table(table.name)).limit(limit).offset(offset)
    return await probe.rows(Sql(statement.sql(dialect)))


async def table_statistics(probe: Probe, dialect: Language, table: Table) -> TableStatistics:
    part = table.row_count is not None and table.row_count > LOOKED_AT
    looking = _Looking(probe, dialect, table, part)
    tops, spreads = await looking.tops(), await looking.spreads()
    columns = tuple(
        ColumnStatistics(
            name=column.name,
            type=column.type,
            unique=column.unique,
            null_count=column.null_count,
            distinct_count=column.distinct_count,
            minimum=column.minimum,
            maximum=column.maximum,
            histogram=spreads.get(number, ()),
            top_values=tops.get(number, ()),
        )
        for number, column in enumerate(table.columns)
    )
    return TableStatistics(
        table=table.name, row_count=table.row_count, looked_at=LOOKED_AT if part else None, columns=columns
    )


async def relationship_checks(probe: Probe, dialect: Language, catalog: Catalog) -> list[RelationshipCheck]:
    counts = await asyncio.gather(*(_orphans(probe, dialect, each) for each in catalog.relationships))
    pairs = zip(catalog.relationships, counts, strict=True)
    return [RelationshipCheck(relationship=each, orphan_rows=count) for each, count in pairs]


async def _orphans(probe: Probe, dialect: Language, relationship: Relationship) -> int | None:
    """Rows whose reference is filled in and leads nowhere."""
    pairs = list(zip(relationship.from_columns, relationship.to_columns, strict=True))
    meets = exp.and_(*(exp.EQ(this=_column(to, "parent"), expression=_column(own, "child")) for own, to in pairs))
    parent = exp.select(exp.Literal.number(1)).from_(_table(relationship.to_table, "parent")).where(meets)
    filled = [exp.Not(this=exp.Is(this=_column(own, "child"), expression=exp.Null())) for own, _ in pairs]
    lost = exp.and_(*filled, exp.Not(this=exp.Exists(this=parent)))
    counted = exp.select(exp.Count(this=exp.Star())).from_(_table(relationship.from_table, "child")).where(lost)
    try:
        [(count,)] = await probe.rows(Sql(counted.sql(dialect)))
    except (LimitError, SourceError, UserError):  # too large, or types that the database does not compare
        return None
    return int(count)


class _Looking:
    def __init__(self, probe: Probe, dialect: Language, table: Table, part: bool) -> None:
        self._probe = probe
        self._dialect: Language = dialect
        self._columns = table.columns
        whole = _table(table.name)
        self._from: exp.Expr = exp.select("*").from_(whole).limit(LOOKED_AT).subquery("part") if part else whole

    async def tops(self) -> Mapping[int, tuple[ValueCount, ...]]:
        wanted = [number for number, column in enumerate(self._columns) if _has_frequent(column)]
        found = await self._asked([self._top(number) for number in wanted])
        return {n: tuple(ValueCount(value=_shown(value), count=count) for value, count in found[n]) for n in found}

    async def spreads(self) -> Mapping[int, tuple[HistogramBin, ...]]:
        planned = {number: spread for number, column in enumerate(self._columns) if (spread := _spread(column))}
        found = await self._asked([self._binned(number, spread) for number, spread in planned.items()])
        return {number: tuple(spread.bins(found.get(number, []))) for number, spread in planned.items()}

    async def _asked(self, selects: Sequence[exp.Select]) -> dict[int, list[tuple[Any, int]]]:
        """Each gives the number of a column, a value and a count."""
        found: dict[int, list[tuple[Any, int]]] = {}
        for chunk in chunked(selects, _COLUMNS_A_STATEMENT):
            parts = [
                Sql(exp.select("*").from_(each.subquery(f"p{n}")).sql(self._dialect)) for n, each in enumerate(chunk)
            ]
            for number, value, count in await self._probe.rows(union_all(parts)):
                found.setdefault(int(number), []).append((value, int(count)))
        return found

    def _top(self, number: int) -> exp.Select:
        value = exp.cast(_column(self._columns[number].name), exp.DType.TEXT)
        return self._grouped(number, value).order_by(exp.Ordered(this=exp.column("n"), desc=True), "v").limit(TOP)

    def _binned(self, number: int, spread: "_Spread") -> exp.Select:
        return self._grouped(number, spread.place(_column(self._columns[number].name), self._dialect))

    def _grouped(self, number: int, value: exp.Expr) -> exp.Select:
        filled = exp.Not(this=exp.Is(this=_column(self._columns[number].name), expression=exp.Null()))
        return (
            exp.select(
                exp.alias_(exp.Literal.number(number), "c"),
                exp.alias_(exp.cast(value, exp.DType.TEXT), "v"),
                exp.alias_(exp.Count(this=exp.Star()), "n"),
            )
            .from_(self._from.copy())
            .where(filled)
            .group_by(exp.Literal.number(2))
        )


class _Spread(ABC):
    """How the values of a column fall into bins."""

    @abstractmethod
    def place(self, value: exp.Expr, dialect: Language) -> exp.Expr:
        """The bin of a value."""

    @abstractmethod
    def bins(self, found: Sequence[tuple[Any, int]]) -> Iterator[HistogramBin]: ...


class _Numbers(_Spread):
    def __init__(self, low: float, high: float, whole: bool) -> None:
        self._low = low
        count = min(BINS, int(high - low) + 1) if whole else BINS
        # Whole numbers: one more, because `high` itself lies within the last bin.
        self._width = (high - low + whole) / count
        self._count = count

    def place(self, value: exp.Expr, dialect: Language) -> exp.Expr:
        distance = exp.Sub(this=exp.cast(value, exp.DType.DOUBLE), expression=_number(self._low))
        share = exp.Div(this=exp.paren(distance), expression=_number(self._width), typed=False, safe=False)
        if DIALECTS[dialect].cast_truncates:
            return exp.cast(share, exp.DType.INT)
        return exp.cast(exp.Floor(this=share), exp.DType.INT)

    def bins(self, found: Sequence[tuple[Any, int]]) -> Iterator[HistogramBin]:
        counts = [0] * self._count
        for place, count in found:
            # The greatest value lies on the end of the last bin, and rows may have changed since the range was read.
            counts[min(max(int(place), 0), self._count - 1)] += count
        for number, count in enumerate(counts):
            low = self._low + number * self._width
            yield HistogramBin(low=_rounded(low), high=_rounded(low + self._width), count=count)


class _Periods(_Spread):
    """Days, months or years: the first letters of a date."""

    def __init__(self, low: str, high: str) -> None:
        days = (date.fromisoformat(high[:10]) - date.fromisoformat(low[:10])).days
        self._letters = 10 if days <= _FEW_DAYS else 7 if days <= 31 * _FEW_MONTHS else 4

    def place(self, value: exp.Expr, dialect: Language) -> exp.Expr:
        text = exp.cast(value, exp.DType.TEXT)
        return exp.Substring(this=text, start=exp.Literal.number(1), length=exp.Literal.number(self._letters))

    def bins(self, found: Sequence[tuple[Any, int]]) -> Iterator[HistogramBin]:
        for period, count in sorted((str(period), count) for period, count in found):
            yield HistogramBin(low=period, high=period, count=count)


def _spread(column: Column) -> _Spread | None:
    low, high = column.minimum, column.maximum
    is_key = column.unique and column.type == "integer"
    if isinstance(low, int | float) and isinstance(high, int | float) and not is_key:
        return _Numbers(float(low), float(high), column.type == "integer") if high > low else None
    if column.type in ("date", "datetime") and isinstance(low, str) and isinstance(high, str):
        try:
            return _Periods(low, high)
        except ValueError:
            return None
    return None


def _has_frequent(column: Column) -> bool:
    return not column.unique and column.type in ("text", "boolean", "integer", "date", "time")


def _shown(value: object) -> str | None:
    return None if value is None else str(value)[:_LONGEST_VALUE]


def _rounded(number: float) -> float:
    return float(f"{number:.10g}")


def _number(value: float) -> exp.Expr:
    literal = exp.Literal.number(repr(abs(value)))
    return exp.paren(exp.Neg(this=literal)) if value < 0 else literal


def _column(name: str, table: str | None = None) -> exp.Column:
    return exp.column(exp.to_identifier(name, quoted=True), table=exp.to_identifier(table) if table else None)


def _table(name: str, alias: str | None = None) -> exp.Table:
    called = exp.TableAlias(this=exp.to_identifier(alias)) if alias else None
    return exp.Table(this=exp.to_identifier(name, quoted=True), alias=called)

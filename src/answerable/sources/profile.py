"""What the data of a table looks like: row counts, nulls, distinct values, ranges, keys, frequent values.

One statement per table gives the figures, few statements for a whole schema the frequent values. Tables up to
`Budget.exact_rows` are read whole. Of larger ones distinct counts are estimated and frequent values come from a part of
the rows; what is stated as a fact (`unique`, a key, a range, a type that was recognised) was always proven on all rows,
else it is left open.
"""

from collections.abc import Awaitable, Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import date, datetime
from decimal import Decimal
from itertools import islice
from math import isfinite, sqrt
from typing import Any, TypeVar

from sqlglot import exp

from answerable.core.catalog import Column, Table, Warning
from answerable.core.errors import LimitError, SourceError, UserError
from answerable.core.values import ColumnType, Dialect, Scalar
from answerable.core.words import name_words, singular
from answerable.sources import storage
from answerable.sources.base import Probe

T = TypeVar("T")
V = TypeVar("V")

_ORDERED: frozenset[ColumnType] = frozenset({"integer", "number", "date", "datetime"})
_COUNTABLE: frozenset[ColumnType] = _ORDERED | {"text", "boolean", "time"}
_KEY_TYPES: frozenset[ColumnType] = frozenset({"integer", "text"})
_COLUMNS_A_STATEMENT = 100
_TABLES_A_STATEMENT = 100
_SELECTS_A_STATEMENT = 60
_EXAMPLES = 5
_EXAMPLE_LENGTH = 80


@dataclass(frozen=True, slots=True)
class Budget:
    """How much of the data may be read. Counted in rows and cells, not seconds, so that the same data always gives the
    same profile."""

    exact_rows: int = 200_000
    """Tables up to here are read whole."""
    exact_cells: int = 60_000_000
    """Of all tables together; the smallest tables come first."""
    sample_rows: int = 50_000
    """How many rows of a larger table stand for the rest."""
    proof_rows: int = 5_000_000
    """Up to here a likely key or date column of a larger table is proven on all its rows."""
    range_cells: int = 200_000_000
    """Up to here minimum, maximum and nulls of a larger table are exact; beyond, they stay unknown."""


@dataclass(frozen=True, slots=True)
class Facts:
    """What was counted of one column; nothing where it was not."""

    filled: int | None = None
    """Values that are not null."""
    distinct: int | None = None
    minimum: object = None
    maximum: object = None
    stored: storage.Stored | None = None
    """SQLite only: how the values are stored."""
    proven: bool = False
    """`distinct` was counted on all rows."""


async def profile(
    probe: Probe,
    dialect: Dialect,
    tables: Sequence[Table],
    *,
    budget: Budget | None = None,
    notices: list[Warning] | None = None,
) -> tuple[Table, ...]:
    """The tables with their figures filled in. What could not be counted stays unknown and is told in `notices`."""
    run = _Profiling(probe, dialect, budget or Budget(), [] if notices is None else notices)
    counted = await run.count_rows(tables)
    exact = _affordable(counted, run.budget)
    profiled = [await run.fill_in(table, exact=table.name in exact) for table in counted]
    examples = await run.examples(profiled, exact)
    return tuple(_with_examples(table, examples) for table in profiled)


def table_ref(name: str) -> exp.Table:
    return exp.Table(this=exp.to_identifier(name, quoted=True))


def column_ref(name: str, table: str | None = None) -> exp.Column:
    return exp.column(exp.to_identifier(name, quoted=True), table=table)


def chunked(items: Iterable[T], size: int) -> Iterator[list[T]]:
    remaining = iter(items)
    while chunk := list(islice(remaining, size)):
        yield chunk


def comparable(column: Column, dialect: Dialect, table: str | None = None) -> exp.Expression:
    """The column in a form that can be compared: PostgreSQL has types shown as text (xml, point) that cannot."""
    reference = column_ref(column.name, table)
    if column.type == "text" and dialect == "postgres":
        return exp.cast(reference, exp.DType.TEXT)
    return reference


@dataclass(slots=True)
class _Profiling:
    probe: Probe
    dialect: Dialect
    budget: Budget
    notices: list[Warning]
    views: set[str] = field(default_factory=set)
    """PostgreSQL relations that know no TABLESAMPLE."""

    async def count_rows(self, tables: Sequence[Table]) -> list[Table]:
        counts = await self._postgres_estimates(tables) if self.dialect == "postgres" else {}
        uncounted = [table for table in tables if table.name not in counts]
        for chunk in chunked(uncounted, _TABLES_A_STATEMENT):
            counts.update(await self._each("tables", chunk, self._exact_counts))
        return [table.model_copy(update={"row_count": counts.get(table.name)}) for table in tables]

    async def _exact_counts(self, tables: Sequence[Table]) -> dict[str, int]:
        counts = (exp.select(exp.Count(this=exp.Star())).from_(table_ref(table.name)) for table in tables)
        [row] = await self._rows(exp.select(*(count.subquery() for count in counts)))
        return {table.name: int(count) for table, count in zip(tables, row, strict=True)}

    async def _postgres_estimates(self, tables: Sequence[Table]) -> dict[str, int]:
        """Counting a huge table takes PostgreSQL long; its own estimate is near enough. Smaller ones are counted."""
        counts: dict[str, int] = {}
        for chunk in chunked(tables, _TABLES_A_STATEMENT):
            for number, estimate, kind in await self._rows(_relations(chunk)):
                name = chunk[number].name
                if kind == "v":
                    self.views.add(name)
                if estimate > self.budget.proof_rows:
                    counts[name] = int(estimate)
        return counts

    async def fill_in(self, table: Table, *, exact: bool) -> Table:
        if table.row_count is None:
            return table
        facts = await (self._whole(table) if exact else self._estimated(table))
        return with_key(_filled_in(table, facts))

    async def _whole(self, table: Table) -> dict[str, Facts]:
        return await self._figures(table, table_ref(table.name), "exact")

    async def _estimated(self, table: Table) -> dict[str, Facts]:
        rows = table.row_count or 0
        affordable = rows * len(table.columns) <= self.budget.range_cells
        if self.dialect == "duckdb" and affordable:
            facts = await self._figures(table, table_ref(table.name), "approximate")
        else:
            seen = await self._figures(table, self._part(table), "exact")
            facts = {name: _extrapolated(fact, rows, self.budget.sample_rows) for name, fact in seen.items()}
        if affordable:
            facts = _with_ranges(facts, await self._ranges(table))
        return await self._proven(table, facts) if rows <= self.budget.proof_rows else facts

    async def _figures(self, table: Table, source: exp.Expression, how: str) -> dict[str, Facts]:
        async def ask(columns: Sequence[Column]) -> dict[str, Facts]:
            asked = {column.name: _figures(column, self.dialect, how) for column in columns}
            figures = [figure for figures in asked.values() for figure in figures.values()]
            [row] = await self._rows(exp.select(*figures).from_(source.copy()))
            cells = iter(row)
            return {name: _facts({figure: next(cells) for figure in figures}) for name, figures in asked.items()}

        facts: dict[str, Facts] = {}
        for columns in chunked(table.columns, _COLUMNS_A_STATEMENT):
            facts.update(await self._each(table.name, columns, ask))
        return facts

    async def _ranges(self, table: Table) -> dict[str, Facts]:
        """Counts and extremes of all rows, in a statement of their own: DuckDB answers it from statistics alone."""
        return await self._figures(table, table_ref(table.name), "range")

    async def _proven(self, table: Table, facts: dict[str, Facts]) -> dict[str, Facts]:
        """Reads all rows once more for those columns that look like a key or, in SQLite, like dates."""
        source = table_ref(table.name)
        keys = [c for c in table.columns if _may_be_key(table, c, facts.get(c.name))]
        proofs = await self._figures(table.model_copy(update={"columns": tuple(keys)}), source, "distinct")
        for name, proof in proofs.items():
            facts[name] = replace(facts[name], distinct=proof.distinct, proven=True)
        dates = [c for c in table.columns if self.dialect == "sqlite" and _looks_temporal(c, facts.get(c.name))]
        stored = await self._figures(table.model_copy(update={"columns": tuple(dates)}), source, "stored")
        for column in table.columns:
            if column.name in facts:
                fact = stored.get(column.name)
                facts[column.name] = replace(facts[column.name], stored=fact.stored if fact else None)
        return facts

    def _part(self, table: Table) -> exp.Subquery:
        """Some rows that stand for all: spread over the table where the engine can do that, else the first ones."""
        relation = table_ref(table.name)
        if self.dialect == "postgres" and table.name not in self.views:
            relation.set("sample", _system_sample(100 * self.budget.sample_rows / max(1, table.row_count or 1)))
        return exp.select(exp.Star()).from_(relation).limit(self.budget.sample_rows).subquery("part")

    async def examples(self, tables: Sequence[Table], exact: set[str]) -> dict[tuple[str, str], list[str]]:
        async def ask(wanted: Sequence[tuple[Table, Column]]) -> dict[tuple[str, str], list[str]]:
            selects = [
                _frequent(number, column, self._example_rows(table, column, exact), self.dialect)
                for number, (table, column) in enumerate(wanted)
            ]
            found: dict[tuple[str, str], list[str]] = {}
            for number, value, _ in sorted(await self._rows(_all_of(selects)), key=lambda r: (r[0], -r[2], r[1])):
                table, column = wanted[number]
                found.setdefault((table.name, column.name), []).append(value)
            return found

        texts = [(t, c) for t in tables if t.row_count for c in t.columns if c.type == "text" and c.distinct_count != 0]
        examples: dict[tuple[str, str], list[str]] = {}
        for chunk in chunked(texts, _SELECTS_A_STATEMENT):
            examples.update(await self._each(chunk[0][0].name, chunk, ask))
        return examples

    def _example_rows(self, table: Table, column: Column, exact: set[str]) -> exp.Expression:
        if column.unique:
            return exp.select(exp.Star()).from_(table_ref(table.name)).limit(_EXAMPLES * 20).subquery("part")
        return table_ref(table.name) if table.name in exact else self._part(table)

    async def _each(
        self, subject: str, items: Sequence[T], ask: Callable[[Sequence[T]], Awaitable[Mapping[Any, V]]]
    ) -> dict[Any, V]:
        """Asks for all items in one statement. A type that cannot be compared or a scan that takes too long must not
        cost the user the whole source: what fails is halved until the culprit stands alone, and is then left open."""
        if not items:
            return {}
        try:
            return dict(await ask(items))
        except (SourceError, UserError, LimitError) as error:
            if len(items) == 1 or isinstance(error, LimitError):
                self.notices.append(Warning(subject=subject, message=f"not profiled completely: {error.message}"))
                return {}
        middle = len(items) // 2
        first = await self._each(subject, items[:middle], ask)
        return first | await self._each(subject, items[middle:], ask)

    async def _rows(self, query: exp.Query) -> list[tuple[Any, ...]]:
        return await self.probe.rows(query.sql(self.dialect))


# What is asked of a column


def _figures(column: Column, dialect: Dialect, how: str) -> dict[str, exp.Expression]:
    """The aggregates for one column, by the name of the fact that they give."""
    reference = comparable(column, dialect)
    counted = column.type in _COUNTABLE
    figures: dict[str, exp.Expression] = {}
    if how in ("exact", "approximate", "range"):
        figures["filled"] = exp.Count(this=column_ref(column.name))
    if how in ("exact", "distinct") and counted:
        figures["distinct"] = exp.Count(this=exp.Distinct(expressions=[reference]))
    if how == "approximate" and counted:
        figures["distinct"] = exp.ApproxDistinct(this=reference)
    if how in ("exact", "range"):
        figures |= _extremes(column, dialect)
    if how in ("exact", "stored") and dialect == "sqlite" and counted:
        figures |= storage.figures(column_ref(column.name))
    return figures or {"filled": exp.Count(this=column_ref(column.name))}


def _extremes(column: Column, dialect: Dialect) -> dict[str, exp.Expression]:
    value: exp.Expression = column_ref(column.name)
    if dialect == "sqlite" and column.type in ("integer", "number"):
        value = storage.numbers_only(value)
    elif column.type not in _ORDERED and not (dialect == "sqlite" and column.type == "text"):
        return {}
    return {"minimum": exp.Min(this=value), "maximum": exp.Max(this=value.copy())}


def _facts(cells: Mapping[str, Any]) -> Facts:
    kept = {name: cells.get(name) for name in ("filled", "distinct", "minimum", "maximum")}
    return Facts(**kept, stored=storage.read(cells), proven=True)


def _frequent(number: int, column: Column, rows: exp.Expression, dialect: Dialect) -> exp.Select:
    value = comparable(column, dialect)
    short = exp.LTE(this=exp.Length(this=value.copy()), expression=exp.Literal.number(_EXAMPLE_LENGTH))
    counts = (
        exp.select(exp.alias_(value, "v"), exp.alias_(exp.Count(this=exp.Star()), "n"))
        .from_(rows)
        .where(short)
        .group_by(value.copy())
        .order_by("n DESC", "v")
        .limit(_EXAMPLES)
    )
    as_text = exp.cast(exp.column("v"), exp.DType.TEXT)
    return exp.select(exp.Literal.number(number), as_text, exp.column("n")).from_(counts.subquery("counts"))


def _all_of(selects: Sequence[exp.Select]) -> exp.Query:
    return selects[0] if len(selects) == 1 else exp.union(*selects, distinct=False)


def _system_sample(percent: float) -> exp.TableSample:
    return exp.TableSample(
        method=exp.var("SYSTEM"),
        percent=exp.Literal.number(f"{min(100.0, percent):.6f}"),
        seed=exp.Literal.number(1),
    )


def _relations(tables: Sequence[Table]) -> exp.Select:
    """Number, estimated rows and kind of each, looked up the way that the statements themselves will be."""
    rows = [
        exp.Tuple(expressions=[exp.Literal.number(n), exp.Literal.string(table_ref(table.name).sql("postgres"))])
        for n, table in enumerate(tables)
    ]
    asked = exp.Values(expressions=rows, alias=exp.TableAlias(this=exp.to_identifier("asked"), columns=["n", "name"]))
    found = exp.EQ(this=exp.column("oid", "c"), expression=exp.func("to_regclass", exp.column("name", "asked")))
    return (
        exp.select(exp.column("n", "asked"), exp.column("reltuples", "c"), exp.column("relkind", "c"))
        .from_(asked)
        .join(exp.table_("pg_class", db="pg_catalog", alias="c"), on=found)
    )


# What follows from the figures


def _affordable(tables: Sequence[Table], budget: Budget) -> set[str]:
    """The tables that are read whole: none above the row limit, and the smallest first until the cells are used up."""
    exact: set[str] = set()
    cells = 0
    for table in sorted(tables, key=lambda t: ((t.row_count or 0) * len(t.columns), t.name)):
        rows = table.row_count or 0
        cells += rows * len(table.columns)
        if rows <= budget.exact_rows and cells <= budget.exact_cells:
            exact.add(table.name)
    return exact


def _extrapolated(fact: Facts, rows: int, sampled: int) -> Facts:
    """A column that hardly repeats in the sample goes on like that; one that repeats a lot has shown most it has."""
    open_fact = Facts(stored=fact.stored)
    if not fact.filled or fact.distinct is None:
        return open_fact
    novelty = fact.distinct / fact.filled
    growth = max(1.0, rows / max(1, min(rows, sampled)))
    unseen = growth if novelty > 0.95 else 1 + novelty * (sqrt(growth) - 1)
    return replace(open_fact, distinct=min(round(fact.distinct * unseen), rows))


def _with_ranges(facts: Mapping[str, Facts], ranges: Mapping[str, Facts]) -> dict[str, Facts]:
    return {
        name: replace(fact, filled=seen.filled, minimum=seen.minimum, maximum=seen.maximum, proven=False)
        for name, fact in facts.items()
        for seen in [ranges.get(name, Facts())]
    }


def _may_be_key(table: Table, column: Column, fact: Facts | None) -> bool:
    """Worth the proof: nearly as many distinct values as rows, and the name or the place of a key."""
    if fact is None or column.unique or column.type not in _KEY_TYPES or not table.row_count:
        return False
    near = (fact.distinct or 0) >= 0.9 * table.row_count
    return near and (key_rank(table, column) < _UNNAMED or column == table.columns[0])


def _looks_temporal(column: Column, fact: Facts | None) -> bool:
    if fact is None or fact.stored is None:
        return False
    return column.type in ("date", "datetime") or storage.recognised(column.type, fact.stored) in ("date", "datetime")


def _filled_in(table: Table, facts: Mapping[str, Facts]) -> Table:
    rows = table.row_count or 0
    columns = (_column(column, facts.get(column.name, Facts()), rows) for column in table.columns)
    return table.model_copy(update={"columns": tuple(columns)})


def _column(column: Column, fact: Facts, rows: int) -> Column:
    type_ = column.type if fact.stored is None else storage.recognised(column.type, fact.stored)
    ranged = type_ in _ORDERED
    seen_unique = fact.proven and bool(fact.filled) and fact.distinct == fact.filled
    return column.model_copy(
        update={
            "type": type_,
            "unique": column.unique or seen_unique,
            "distinct_count": fact.distinct,
            "null_count": None if fact.filled is None else max(0, rows - fact.filled),
            "minimum": _scalar(fact.minimum, type_) if ranged else None,
            "maximum": _scalar(fact.maximum, type_) if ranged else None,
        }
    )


def _scalar(value: object, type_: ColumnType) -> Scalar:
    """As the catalog keeps it: numbers as such, dates as ISO text; anything else is no extreme of this type."""
    if isinstance(value, date | datetime):
        return value.isoformat()
    if type_ in ("date", "datetime"):
        return value.replace(" ", "T", 1) if isinstance(value, str) else None
    if isinstance(value, Decimal):
        value = int(value) if value.is_finite() and value == value.to_integral_value() else float(value)
    if isinstance(value, bool) or not isinstance(value, int | float):
        return None
    return value if isfinite(value) else None


_UNNAMED = 4


def key_rank(table: Table, column: Column) -> int:
    """How much a column's name says that it is the table's key: 0 most, `_UNNAMED` not at all."""
    name = name_words(column.name)
    subject = [singular(word) for word in name_words(table.name)]
    bare, suffix = [singular(word) for word in name[:-1]], name[-1:]
    if name == ["id"]:
        return 0
    if suffix in (["id"], ["key"], ["code"], ["no"], ["number"], ["uuid"]):
        if bare == subject:
            return 1
        return 2 if not bare or (subject and bare == subject[-len(bare) :]) else 3
    return _UNNAMED


def _can_be_key(table: Table, column: Column) -> bool:
    return column.type in ("integer", "text", "date", "datetime") or (
        column.type == "number" and key_rank(table, column) < _UNNAMED
    )


def with_key(table: Table) -> Table:
    """The primary key, when none is declared: a proven unique column without nulls, by name, else the first."""
    if table.primary_key:
        return table
    keys = [c for c in table.columns if c.unique and c.null_count == 0 and _can_be_key(table, c)]
    best = min(keys, key=lambda column: key_rank(table, column), default=None)
    return table if best is None else table.model_copy(update={"primary_key": (best.name,)})


def _with_examples(table: Table, examples: Mapping[tuple[str, str], Sequence[str]]) -> Table:
    columns = (
        column.model_copy(update={"examples": tuple(examples.get((table.name, column.name), ()))})
        for column in table.columns
    )
    return table.model_copy(update={"columns": tuple(columns)})

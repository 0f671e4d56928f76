"""What the data of a table looks like: row counts, nulls, distinct values, ranges, keys, frequent values.

One statement per table gives the figures, few statements for a whole schema the frequent values. Tables up to
`ProbeBudget.exact_rows` are read whole. Of larger ones distinct counts are estimated and frequent values come from a
part of the rows; what is stated as a fact (`unique`, a key, a range, a type that was recognised) was always proven on
all rows, else it is left open.
"""

from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import date, datetime
from decimal import Decimal
from functools import lru_cache
from math import isfinite, sqrt
from typing import Any, Literal, TypeAlias, TypeVar

from sqlglot import exp

from answerable.core.catalog import Column, Table, Warning
from answerable.core.errors import LimitError, RefusedError, SourceError, UserError
from answerable.core.progress import Progress, no_progress
from answerable.core.values import ColumnType, Language, Scalar
from answerable.core.words import name_words, singular
from answerable.query.sql.dialects import DIALECTS
from answerable.sources.classing import LONGEST_EXAMPLE
from answerable.sources.sql import storage
from answerable.sources.sql.probe import Probe
from answerable.sources.sql.statements import (
    Sql,
    Template,
    chunked,
    column_hole,
    comparable,
    first_rows,
    literal,
    quoted,
    select,
    table_hole,
    union_all,
)

T = TypeVar("T")
V = TypeVar("V")

How: TypeAlias = Literal["exact", "approximate", "range", "distinct", "stored"]
"""Which figures are asked of a column: all, all but an exact count of distinct values, or one kind only."""
Examples: TypeAlias = Mapping[tuple[str, str], Sequence[str]]
"""By table and column."""

_ORDERED: frozenset[ColumnType] = frozenset({"integer", "number", "date", "datetime"})
_COUNTABLE: frozenset[ColumnType] = _ORDERED | {"text", "boolean", "time"}
_COLUMNS_A_STATEMENT = 100
_TABLES_A_STATEMENT = 100
_SELECTS_A_STATEMENT = 60
_EXAMPLES = 5
_BEGINNING = 200
"""Characters of long texts that are looked at."""
_UNNAMED = 4
_NO_KEYS = frozenset(
    (
        *("abstract", "description", "comment", "comments", "note", "notes", "text", "body", "summary", "content"),
        *("message", "review", "biography", "bio", "remarks", "details", "address", "url", "link", "password", "hash"),
        *("count", "amount", "total", "sum", "average", "avg", "mean", "score", "rating", "price", "cost", "salary"),
        *("quantity", "percent", "percentage", "share", "rate", "ratio", "age", "height", "weight", "length", "size"),
    )
)
"""Last words of names that no key has: prose, amounts and secrets."""


@dataclass(frozen=True, slots=True)
class ProbeBudget:
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
    """What was counted of one column, or None if it was not counted."""

    filled: int | None = None
    """Values that are not null."""
    distinct: int | None = None
    minimum: object = None
    maximum: object = None
    stored: storage.Stored | None = None
    """How the values are stored, if columns are not typed."""
    proven: bool = False
    """`distinct` was counted on all rows."""


async def profile(
    probe: Probe,
    dialect: Language,
    tables: Sequence[Table],
    *,
    budget: ProbeBudget | None = None,
    notices: list[Warning] | None = None,
    progress: Progress = no_progress,
    estimates: bool = True,
) -> tuple[Table, ...]:
    """The tables with their figures filled in. What could not be counted stays None and is named in `notices`.
    `estimates`: whether the server's estimates may serve as counts of rows. They count hidden rows too."""
    run = _Profiling(probe, dialect, budget or ProbeBudget(), [] if notices is None else notices, estimates)
    counted = await run.count_rows(tables)
    exact = _affordable(counted, run.budget)
    profiled = []
    for done, table in enumerate(counted):
        progress(f"Reading {table.name}", done, len(counted))
        profiled.append(await run.fill_in(table, exact=table.name in exact))
    examples = await run.examples(profiled, exact)
    return tuple(_with_examples(table, examples) for table in profiled)


@dataclass(slots=True)
class _Profiling:
    probe: Probe
    dialect: Language
    budget: ProbeBudget
    notices: list[Warning]
    estimates: bool = True
    views: set[str] = field(default_factory=set)
    """Relations that know no TABLESAMPLE."""

    # How many rows

    async def count_rows(self, tables: Sequence[Table]) -> list[Table]:
        asks_server = self.estimates and DIALECTS[self.dialect].row_estimate
        counts = await self._estimates(tables) if asks_server else {}
        uncounted = [table for table in tables if table.name not in counts]
        for chunk in chunked(uncounted, _TABLES_A_STATEMENT):
            counts.update(await self._each("tables", chunk, self._exact_counts))
        return [table.model_copy(update={"row_count": counts.get(table.name)}) for table in tables]

    async def _exact_counts(self, tables: Sequence[Table]) -> dict[str, int]:
        count = _row_count(self.dialect)
        [row] = await self.probe.rows(select(count(table=table.name) for table in tables))
        return {table.name: int(number) for table, number in zip(tables, row, strict=True)}

    async def _estimates(self, tables: Sequence[Table]) -> dict[str, int]:
        """Counting a huge table takes long; the server's own estimate is near enough. Smaller ones are counted."""
        counts: dict[str, int] = {}
        for chunk in chunked(tables, _TABLES_A_STATEMENT):
            named = (literal(quoted(table.name, self.dialect), self.dialect) for table in chunk)
            asked = (_row_estimate(self.dialect)(number=number, name=name) for number, name in enumerate(named))
            for number, estimate, kind in await self.probe.rows(union_all(asked)):
                name = chunk[number].name
                if kind == "v":
                    self.views.add(name)
                if estimate > self.budget.proof_rows:
                    counts[name] = int(estimate)
        return counts

    # Figures of columns

    async def fill_in(self, table: Table, *, exact: bool) -> Table:
        if table.row_count is None:
            return table
        facts = await (self._whole(table) if exact else self._estimated(table))
        return with_key(_filled_in(table, facts))

    async def _whole(self, table: Table) -> dict[str, Facts]:
        return await self._figures(table, table.columns, "exact")

    async def _estimated(self, table: Table) -> dict[str, Facts]:
        rows = table.row_count or 0
        affordable = rows * len(table.columns) <= self.budget.range_cells
        if DIALECTS[self.dialect].counts_distinct_approximately and affordable:
            facts = await self._figures(table, table.columns, "approximate")
        else:
            seen = await self._figures(table, table.columns, "exact", self._part(table))
            sampled = max((fact.filled or 0 for fact in seen.values()), default=0)
            facts = {name: _extrapolated(fact, rows / max(1, sampled), rows) for name, fact in seen.items()}
        if affordable:
            # In a statement of their own: DuckDB then answers from its statistics without reading any row.
            facts = _with_ranges(facts, await self._figures(table, table.columns, "range"))
        return await self._proven(table, facts) if rows <= self.budget.proof_rows else _unproven(table, facts)

    async def _proven(self, table: Table, facts: Mapping[str, Facts]) -> dict[str, Facts]:
        """Reads all rows once more for columns that look like a key or, in SQLite, like another type than declared."""
        keys = [c for c in table.columns if c.name in facts and _may_be_key(table, c, facts[c.name])]
        counted = await self._figures(table, keys, "distinct")
        doubtful = [c for c in table.columns if c.name in facts and _type_is_doubtful(c, facts[c.name])]
        stored = await self._figures(table, doubtful, "stored")
        proven = {name: replace(fact, stored=stored.get(name, Facts()).stored) for name, fact in facts.items()}
        for name, fact in counted.items():
            proven[name] = replace(proven[name], distinct=fact.distinct, proven=True)
        return proven

    async def _figures(
        self, table: Table, columns: Sequence[Column], how: How, rows: Sql | None = None
    ) -> dict[str, Facts]:
        source = rows or quoted(table.name, self.dialect)

        async def ask(columns: Sequence[Column]) -> dict[str, Facts]:
            asked = {column.name: _figures(column.type, self.dialect, how) for column in columns}
            figures = [figure(column=name) for name, figures in asked.items() for figure in figures.values()]
            [row] = await self.probe.rows(select(figures, source))
            cells = iter(row)
            return {name: _facts({figure: next(cells) for figure in figures}) for name, figures in asked.items()}

        facts: dict[str, Facts] = {}
        for chunk in chunked(columns, _COLUMNS_A_STATEMENT):
            facts.update(await self._each(table.name, chunk, ask))
        return facts

    def _part(self, table: Table) -> Sql:
        """Some rows that stand for all: spread over the table where the engine can do that, else the first ones."""
        if not DIALECTS[self.dialect].samples_pages or table.name in self.views:
            return first_rows(self.dialect, self.budget.sample_rows)(table=table.name)
        percent = min(100.0, 100 * self.budget.sample_rows / max(1, table.row_count or 1))
        return _spread_rows(self.dialect, self.budget.sample_rows)(table=table.name, percent=Sql(f"{percent:.6f}"))

    # Frequent values

    async def examples(self, tables: Sequence[Table], exact: set[str]) -> Examples:
        async def ask(wanted: Sequence[tuple[Table, Column]]) -> dict[tuple[str, str], list[str]]:
            frequent = _frequent(self.dialect)
            selects = (
                frequent(number=number, column=column.name, rows=self._example_rows(table, column, table.name in exact))
                for number, (table, column) in enumerate(wanted)
            )
            found: dict[tuple[str, str], list[str]] = {}
            for number, value, _ in sorted(await self.probe.rows(union_all(selects)), key=_by_frequency):
                table, column = wanted[number]
                found.setdefault((table.name, column.name), []).append(value)
            return found

        texts = [(t, c) for t in tables if t.row_count for c in t.columns if c.type == "text" and c.distinct_count != 0]
        examples: dict[tuple[str, str], Sequence[str]] = {}
        for chunk in chunked(texts, _SELECTS_A_STATEMENT):
            examples.update(await self._each(chunk[0][0].name, chunk, ask))
        long = [(table, column) for table, column in texts if (table.name, column.name) not in examples]
        for chunk in chunked(long, _SELECTS_A_STATEMENT):
            examples.update(await self._each(chunk[0][0].name, chunk, self._beginnings))
        return examples

    async def _beginnings(self, wanted: Sequence[tuple[Table, Column]]) -> dict[tuple[str, str], list[str]]:
        """How the values of columns of long texts begin, by which such columns are classed: a token is long, too."""
        beginning = _beginning(self.dialect)
        first = first_rows(self.dialect, 20 * _EXAMPLES)
        selects = (
            beginning(number=number, column=column.name, rows=first(table=table.name))
            for number, (table, column) in enumerate(wanted)
        )
        found: dict[tuple[str, str], list[str]] = {}
        for number, value in await self.probe.rows(union_all(selects)):
            table, column = wanted[number]
            found.setdefault((table.name, column.name), []).append(value)
        return found

    def _example_rows(self, table: Table, column: Column, exact: bool) -> Sql:
        # All values of a unique column are equally frequent, so any rows will do.
        if column.unique:
            return first_rows(self.dialect, 20 * _EXAMPLES)(table=table.name)
        return quoted(table.name, self.dialect) if exact else self._part(table)

    # Asking

    async def _each(
        self, subject: str, items: Sequence[T], ask: Callable[[Sequence[T]], Awaitable[Mapping[Any, V]]]
    ) -> dict[Any, V]:
        """Asks for all items in one statement. A type that cannot be compared or a scan that takes too long must not
        cost the user the whole source: what fails is halved until the culprit stands alone, and is then left open."""
        try:
            return dict(await ask(items))
        except (SourceError, UserError, LimitError, RefusedError) as error:
            if len(items) == 1 or isinstance(error, LimitError):
                subject = items[0].name if len(items) == 1 and isinstance(items[0], Table) else subject
                self.notices.append(Warning(subject=subject, message=f"not profiled completely: {error.message}"))
                return {}
        middle = len(items) // 2
        first = await self._each(subject, items[:middle], ask)
        return first | await self._each(subject, items[middle:], ask)


# What is asked


@lru_cache(maxsize=8)
def _row_count(dialect: Language) -> Template:
    return Template(exp.select(exp.Count(this=exp.Star())).from_(table_hole()).subquery(), dialect)


@lru_cache(maxsize=8)
def _row_estimate(dialect: Language) -> Template:
    estimate = DIALECTS[dialect].row_estimate
    assert estimate is not None
    return Template(estimate(column_hole("number"), column_hole("name")), dialect)


@lru_cache(maxsize=512)
def _figures(type_: ColumnType, dialect: Language, how: How) -> Mapping[str, Template]:
    """The aggregates for a column, by the name of the fact that they give."""
    counted = type_ in _COUNTABLE
    figures: dict[str, exp.Expr] = {}
    if how in ("exact", "approximate", "range"):
        figures["filled"] = exp.Count(this=column_hole())
    if how in ("exact", "distinct") and counted:
        figures["distinct"] = exp.Count(this=exp.Distinct(expressions=[comparable(type_, dialect)]))
    if how == "approximate" and counted:
        figures["distinct"] = exp.ApproxDistinct(this=comparable(type_, dialect))
    if how in ("exact", "range"):
        figures |= _extremes(type_, dialect)
    if how in ("exact", "stored") and counted and not DIALECTS[dialect].columns_are_typed:
        figures |= storage.figures(column_hole())
    return {name: Template(tree, dialect) for name, tree in figures.items()}


def _extremes(type_: ColumnType, dialect: Language) -> dict[str, exp.Expr]:
    value: exp.Expr = column_hole()
    untyped = not DIALECTS[dialect].columns_are_typed
    if untyped and type_ in ("integer", "number"):
        value = storage.numbers_only(value)
    elif type_ not in _ORDERED and not (untyped and type_ == "text"):
        return {}
    return {"minimum": exp.Min(this=value), "maximum": exp.Max(this=value.copy())}


@lru_cache(maxsize=8)
def _spread_rows(dialect: Language, count: int) -> Template:
    table = table_hole()
    # A fixed seed, so that the same data gives the same profile.
    sample = exp.TableSample(method=exp.var("SYSTEM"), percent=column_hole("percent"), seed=exp.Literal.number(1))
    table.set("sample", sample)
    return Template(exp.select(exp.Star()).from_(table).limit(count).subquery("part"), dialect)


@lru_cache(maxsize=8)
def _frequent(dialect: Language) -> Template:
    """The number of the question, a frequent value, and how often it occurs."""
    value = comparable("text", dialect)
    short = exp.LTE(this=exp.Length(this=value.copy()), expression=exp.Literal.number(LONGEST_EXAMPLE))
    counts = (
        exp.select(exp.alias_(value, "v"), exp.alias_(exp.Count(this=exp.Star()), "n"))
        .from_(table_hole("rows"))
        .where(short)
        .group_by(value.copy())
        .order_by("n DESC", "v")
        .limit(_EXAMPLES)
    )
    items = (column_hole("number"), exp.cast(exp.column("v"), exp.DType.TEXT), exp.column("n"))
    return Template(exp.select(*items).from_(counts.subquery("counts")), dialect)


@lru_cache(maxsize=8)
def _beginning(dialect: Language) -> Template:
    """The number of the question, and how a value begins."""
    value = comparable("text", dialect)
    cut = exp.Substring(this=value, start=exp.Literal.number(1), length=exp.Literal.number(_BEGINNING))
    some = (
        exp.select(exp.alias_(cut, "v"))
        .from_(table_hole("rows"))
        .where(value.copy().is_(exp.null()).not_())
        .limit(_EXAMPLES)
    )
    items = (column_hole("number"), exp.cast(exp.column("v"), exp.DType.TEXT))
    return Template(exp.select(*items).from_(some.subquery("some_values")), dialect)


def _by_frequency(row: tuple[Any, ...]) -> tuple[int, int, str]:
    number, value, count = row
    return number, -count, value


# What follows from the figures


def _facts(cells: Mapping[str, Any]) -> Facts:
    counted = {name: cells.get(name) for name in ("filled", "distinct", "minimum", "maximum")}
    return Facts(**counted, stored=storage.read(cells), proven=True)


def _affordable(tables: Sequence[Table], budget: ProbeBudget) -> set[str]:
    """The tables that are read whole: none above the row limit, and the smallest first until the cells are used up."""
    exact: set[str] = set()
    cells = 0
    for table in sorted(tables, key=lambda t: ((t.row_count or 0) * len(t.columns), t.name)):
        rows = table.row_count or 0
        cells += rows * len(table.columns)
        if rows <= budget.exact_rows and cells <= budget.exact_cells:
            exact.add(table.name)
    return exact


def _extrapolated(fact: Facts, growth: float, rows: int) -> Facts:
    """A column that hardly repeats in the sample goes on like that; one that repeats a lot has shown most it has."""
    estimate = Facts(stored=fact.stored)
    if not fact.filled or fact.distinct is None:
        return estimate
    novelty = fact.distinct / fact.filled
    unseen = growth if novelty > 0.95 else 1 + novelty * (sqrt(growth) - 1)
    return replace(estimate, distinct=min(round(fact.distinct * unseen), rows))


def _with_ranges(facts: Mapping[str, Facts], ranges: Mapping[str, Facts]) -> dict[str, Facts]:
    unknown = Facts()
    return {
        name: replace(fact, filled=seen.filled, minimum=seen.minimum, maximum=seen.maximum, proven=False)
        for name, fact in facts.items()
        for seen in (ranges.get(name, unknown),)
    }


def _may_be_key(table: Table, column: Column, fact: Facts) -> bool:
    """Worth the proof: nearly as many distinct values as rows, and the name or the place of a key."""
    if column.unique or not table.row_count or not _can_be_key(table, column):
        return False
    # The count is an estimate, so a key may seem to fall short of the number of rows.
    near = (fact.distinct or 0) >= 0.9 * table.row_count
    return near and (key_rank(table, column) < _UNNAMED or column is table.columns[0])


def _unproven(table: Table, facts: Mapping[str, Facts]) -> dict[str, Facts]:
    """A part of the rows can refute a declared type, but not prove another one."""
    refutable = {column.name for column in table.columns if column.type in ("date", "datetime", "boolean")}
    return {name: fact if name in refutable else replace(fact, stored=None) for name, fact in facts.items()}


def _type_is_doubtful(column: Column, fact: Facts) -> bool:
    """The sample speaks against the declared type, or could not speak for one that SQLite does not enforce."""
    if fact.stored is None:
        return False
    return column.type in ("date", "datetime", "boolean") or storage.recognised(column.type, fact.stored) != column.type


def _filled_in(table: Table, facts: Mapping[str, Facts]) -> Table:
    rows, unknown = table.row_count or 0, Facts()
    columns = (_column(column, facts.get(column.name, unknown), rows) for column in table.columns)
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
    """The value as the catalog stores it: numbers as such, dates as ISO text. Anything else is no extreme of this
    type."""
    if isinstance(value, date | datetime):
        return value.isoformat()
    if type_ in ("date", "datetime"):
        return value.replace(" ", "T", 1) if isinstance(value, str) else None
    if isinstance(value, Decimal):
        value = int(value) if value.is_finite() and value == value.to_integral_value() else float(value)
    if isinstance(value, bool) or not isinstance(value, int | float):
        return None
    return value if isfinite(value) else None


def key_rank(table: Table, column: Column) -> int:
    """How much a column's name says that it is the table's key: 0 most, `_UNNAMED` not at all."""
    name = name_words(column.name)
    subject = [singular(word) for word in name_words(table.name)]
    bare = [singular(word) for word in name[:-1]]
    if name == ["id"]:
        return 0
    if not name or name[-1] not in ("id", "key", "code", "no", "number", "uuid"):
        return _UNNAMED
    if bare == subject:
        return 1
    return 2 if bare == subject[len(subject) - len(bare) :] else 3


def _can_be_key(table: Table, column: Column) -> bool:
    """Whether the name and the type let a column be a key. Amounts and long texts are often unique by accident."""
    if key_rank(table, column) < _UNNAMED:
        return column.type in ("integer", "text", "number", "date", "datetime")
    if not _NO_KEYS.isdisjoint(name_words(column.name)[-1:]):
        return False
    # Whole numbers without a key's name are mostly amounts; in the first place they may be numbers of rows.
    if column.type == "integer":
        return column.name == table.columns[0].name or name_words(column.name)[-1:] in (["day"], ["year"])
    return column.type in ("text", "date", "datetime")


def with_key(table: Table) -> Table:
    """The primary key, when none is declared: a proven unique column without nulls, by name, else the first."""
    if table.primary_key:
        return table
    keys = [c for c in table.columns if c.unique and c.null_count == 0 and _can_be_key(table, c)]
    best = min(keys, key=lambda column: key_rank(table, column), default=None)
    return table if best is None else table.model_copy(update={"primary_key": (best.name,)})


def _with_examples(table: Table, examples: Examples) -> Table:
    columns = (
        column.model_copy(update={"examples": tuple(examples.get((table.name, column.name), ()))})
        for column in table.columns
    )
    return table.model_copy(update={"columns": tuple(columns)})

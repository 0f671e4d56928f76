"""The parts of an answer's plan as people see them: each with its words, and with what it can be changed to."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import date, timedelta
from functools import cached_property
from typing import Literal

from pydantic import Field

from answerable.core.catalog import Catalog, Column, Table
from answerable.core.values import ColumnType, Frozen
from answerable.core.words import name_words
from answerable.query.changes import (
    AddFilter,
    Change,
    ColumnPlace,
    RemoveFilter,
    SetGroup,
    SetMeasure,
    SetOrder,
    SetPeriod,
    can_change,
    conditions,
    is_end_of_period,
    keys,
    measures,
    to_one_ways,
)
from answerable.query.nouns import Nouns
from answerable.query.plan import (
    Aggregate,
    Bucket,
    ColumnRef,
    Compare,
    Constant,
    Expr,
    Filter,
    InList,
    MeasureRef,
    QueryPlan,
    Unit,
)
from answerable.query.row_source import rows_of
from answerable.query.scope import NUMERIC, TEMPORAL, Scope, scope_of
from answerable.reader.explaining.sentence import phrases_of
from answerable.reader.time.calendar_periods import Period, period_name

PartKind = Literal["measure", "group", "filter", "period", "order"]
MOST_GROUPS = 60
"""A column with more values than this is not offered to group by, unless it names the rows of its table."""
MOST_YEARS = 8
_NO_FIGURES = frozenset({"id", "key", "code", "number", "no", "nr", "year", "month", "day", "zip", "phone"})
_NAMES = frozenset({"name", "title", "full_name"})
_UNITS: tuple[Unit, ...] = ("day", "week", "month", "quarter", "year")


class PlanOption(Frozen):
    label: str
    detail: str | None = Field(None, description="What it would give, in a few words.")
    heading: str | None = Field(None, description="Options under the same heading stand together.")
    chosen: bool = False
    change: Change


class ChangeablePart(Frozen):
    kind: PartKind
    label: str = Field(description="How it is now; empty if the plan has no such part yet.")
    options: list[PlanOption] = Field([])
    remove: Change | None = Field(None, description="Takes the part away; null if it has to stay.")
    place: ColumnPlace | None = Field(None, description="Of a filter: its column.")
    number: int | None = Field(None, description="Of a filter: its number.")
    values: list[str] = Field([], description="Of a filter that names values: these.")


class PlanColumn(Frozen):
    """A column that can be filtered by."""

    place: ColumnPlace
    table: str
    label: str
    type: ColumnType
    examples: list[str]


class PlanParts(Frozen):
    source: str | None
    parts: list[ChangeablePart] = Field(description="Empty if the plan cannot be changed part by part.")
    columns: list[PlanColumn]


NO_PARTS = PlanParts(source=None, parts=[], columns=[])


def plan_parts(plan: QueryPlan, catalog: Catalog, source: str) -> PlanParts:
    if not can_change(plan, catalog):
        return NO_PARTS
    view = _View(plan, catalog)
    return PlanParts(source=source, parts=[*view.parts()], columns=[*view.columns()])


@dataclass(frozen=True, slots=True)
class _Found:
    """A column, the way to it, and what it is called from here."""

    place: ColumnPlace
    table: Table
    column: Column
    label: str

    @property
    def names_rows(self) -> bool:
        return self.column.name.casefold() in _NAMES

    @property
    def is_figure(self) -> bool:
        words = set(name_words(self.column.name))
        key = self.column.name in self.table.primary_key or bool(words & _NO_FIGURES)
        return self.column.type in NUMERIC and not key

    @property
    def is_category(self) -> bool:
        count = self.column.distinct_count
        fits = self.column.type in ("text", "boolean") and (count is None or 1 < count <= MOST_GROUPS)
        return self.column.sensitivity is None and (fits or (self.names_rows and bool(self.place.path)))


class _View:
    def __init__(self, plan: QueryPlan, catalog: Catalog) -> None:
        self.plan = plan
        self.catalog = catalog
        self.scope: Scope = scope_of(plan, catalog)
        self.rows = rows_of(plan, self.scope)
        self.root = self.scope.tables[self.rows.root]
        self.names = Nouns(catalog)
        self.say = phrases_of(plan, catalog, self.names)

    def parts(self) -> Iterator[ChangeablePart]:
        yield self.measure()
        yield self.group()
        yield from self.filters()
        if (period := self.period()) is not None:
            yield period
        if (order := self.order()) is not None:
            yield order

    def columns(self) -> Iterator[PlanColumn]:
        for found in self.known:
            column = found.column
            if column.type in ("json", "binary"):
                continue
            yield PlanColumn(
                place=found.place,
                table=found.table.name,
                label=found.label,
                type=column.type,
                examples=list(column.examples),
            )

    # The columns that a row leads to

    @cached_property
    def known(self) -> Sequence[_Found]:
        ways = list(to_one_ways(self.catalog, self.root.name))
        times = [table.name for _, table in ways]
        return [
            _Found(ColumnPlace(path=path, column=column.name), table, column, self._called(path, table, column, times))
            for path, table in ways
            for column in table.columns
        ]

    def _called(self, path: Sequence[str], table: Table, column: Column, tables: Sequence[str]) -> str:
        name = self.names.column(table, column)
        if path:
            whose = self.names.one(table)
            name = whose if name in _NAMES else name if whose in name else f"{whose} {name}"
            if tables.count(table.name) > 1:
                name = f"{name} ({path[-1].replace('_', ' ')})"
        return _capital(name)

    def found(self, expr: Expr) -> _Found | None:
        """The column that an expression is about, by its way from the rows."""
        ref = expr.of if isinstance(expr, Bucket) else expr
        if not isinstance(ref, ColumnRef):
            return None
        table = self.scope.tables[ref.table].name
        same = [each for each in self.known if each.table.name == table and each.column.name == ref.column]
        exact = [each for each in same if self._leads_to(each.place, ref.table)]
        return next(iter(exact or same), None)

    def _leads_to(self, place: ColumnPlace, alias: str) -> bool:
        return len(place.path) == len(self.say.way(alias))

    # Measure

    def measure(self) -> ChangeablePart:
        now = [item.expr for item in measures(self.plan)]
        label = ", ".join(self.words(expr) for expr in now)
        return ChangeablePart(kind="measure", label=label, options=[*self.measure_options(now)])

    def measure_options(self, now: Sequence[Expr]) -> Iterator[PlanOption]:
        counted = f"Number of {self.names.many(self.root)}"
        chosen = now == [Aggregate(function="count")]
        yield PlanOption(label=counted, heading="Count", chosen=chosen, change=SetMeasure())
        for found in self.known:
            if found.place.path and found.table.primary_key == (found.column.name,):
                label = f"Number of different {self.names.many(found.table)}"
                change = SetMeasure(function="count", of=found.place)
                yield PlanOption(label=label, heading="Count", chosen=[label] == [*map(self.words, now)], change=change)
        for measure in self.catalog.measures:
            if measure.table == self.root.name:
                chosen = now == [MeasureRef(name=measure.name)]
                label, unit = _capital(self.names.measure(measure)), measure.unit
                change = SetMeasure(name=measure.name)
                yield PlanOption(label=label, detail=unit, heading="Measure", chosen=chosen, change=change)
        for found in self.known:
            if found.is_figure and not found.place.path:
                yield from self._figures(found, now)

    def _figures(self, found: _Found, now: Sequence[Expr]) -> Iterator[PlanOption]:
        ref = ColumnRef(table=self.rows.root, column=found.column.name)
        functions: tuple[tuple[Literal["sum", "avg", "max"], str], ...] = (
            ("sum", "Total"),
            ("avg", "Average"),
            ("max", "Highest"),
        )
        for function, adjective in functions:
            label = f"{adjective} {found.label[:1].lower() + found.label[1:]}"
            chosen = now == [Aggregate(function=function, of=ref)]
            change = SetMeasure(function=function, of=found.place)
            yield PlanOption(label=label, detail=found.column.unit, heading="Number", chosen=chosen, change=change)

    # Group

    def group(self) -> ChangeablePart:
        now = [item.expr for item in keys(self.plan)]
        label = ", ".join(self.group_words(expr) for expr in now)
        remove = SetGroup() if now else None
        return ChangeablePart(kind="group", label=label, options=[*self.group_options(now)], remove=remove)

    def group_words(self, expr: Expr) -> str:
        found = self.found(expr)
        if isinstance(expr, Bucket):
            return expr.unit.capitalize()
        return found.label if found is not None else self.words(expr)

    def group_options(self, now: Sequence[Expr]) -> Iterator[PlanOption]:
        here = {(found.place, _unit(expr)) for expr in now if (found := self.found(expr)) is not None}
        dates = [found for found in self.known if found.column.type in TEMPORAL]
        for found in dates[:2]:
            for unit in _UNITS:
                count = _periods(*self._span(found), unit)
                if count is not None and not 1 < count <= 400:
                    continue
                heading = "Time" if len(dates) == 1 else found.label
                change = SetGroup(by=found.place, unit=unit)
                yield PlanOption(
                    label=unit.capitalize(),
                    detail=None if count is None else f"{count:,}",
                    heading=heading,
                    chosen=(found.place, unit) in here,
                    change=change,
                )
        for found in self.known:
            if found.is_category:
                yield PlanOption(
                    label=found.label,
                    detail=_shape(found.column),
                    heading="Column",
                    chosen=(found.place, None) in here,
                    change=SetGroup(by=found.place),
                )

    def _span(self, found: _Found) -> tuple[date | None, date | None]:
        """The first and the last day that can occur: of the data, within the period of the plan."""
        first, last = _date_of(found.column.minimum), _date_of(found.column.maximum)
        ends = [each for each in conditions(self.plan) if is_end_of_period(each, self.scope)]
        for each in ends:
            day = _day(each.right) if isinstance(each, Compare) and self.found(each.left) == found else None
            if first and last and day and isinstance(each, Compare):
                first, last = (max(first, day), last) if each.op == ">=" else (first, min(last, _before(day)))
        return first, last

    # Filters and period

    def filters(self) -> Iterator[ChangeablePart]:
        own_conditions = [each for each in conditions(self.plan) if not is_end_of_period(each, self.scope)]
        for number, condition in enumerate(own_conditions):
            found, values = self._values(condition)
            yield ChangeablePart(
                kind="filter",
                label=_capital(self.say.clause(condition)),
                options=[*self._other_values(found, values, number)],
                remove=RemoveFilter(number=number),
                place=found.place if found is not None else None,
                number=number,
                values=values,
            )

    def _values(self, condition: Filter) -> tuple[_Found | None, list[str]]:
        match condition:
            case Compare(left=ColumnRef(), op="=", right=Constant(type=None, value=value)):
                return self.found(condition.left), [str(value)]
            case InList(left=ColumnRef(), negated=False):
                return self.found(condition.left), [str(constant.value) for constant in condition.values]
        return None, []

    def _other_values(self, found: _Found | None, values: Sequence[str], number: int) -> Iterator[PlanOption]:
        if found is None:
            return
        for value in dict.fromkeys((*values, *found.column.examples)):
            change = AddFilter(of=found.place, values=(value,), replaces=number)
            yield PlanOption(label=value, heading=found.label, chosen=value in values, change=change)

    def period(self) -> ChangeablePart | None:
        ends = [each for each in conditions(self.plan) if is_end_of_period(each, self.scope)]
        dated = [found for found in self.known if found.column.type in TEMPORAL]
        now = next((self.found(end.left) for end in ends if isinstance(end, Compare)), None)
        found = now or next(iter(dated), None)
        if found is None:
            return None
        days = {end.op: _day(end.right) for end in ends if isinstance(end, Compare)}
        start, end = days.get(">="), days.get("<")
        none = SetPeriod(of=found.place)
        return ChangeablePart(
            kind="period",
            label=_period_words(start, end) if ends else "",
            options=[
                PlanOption(label="All time", detail=_range(found.column), chosen=not ends, change=none),
                *self._periods_of(found, start, end),
            ],
            remove=none if ends else None,
            place=found.place,
        )

    def _periods_of(self, found: _Found, start: date | None, end: date | None) -> Iterator[PlanOption]:
        first, last = _date_of(found.column.minimum), _date_of(found.column.maximum)
        if first is None or last is None:
            return
        for year in range(last.year, max(first.year, last.year - MOST_YEARS + 1) - 1, -1):
            yield _period_option(found, str(year), "Year", date(year, 1, 1), date(year + 1, 1, 1), start, end)
        for back in range(4):
            month = (last.month - 1) // 3 * 3 + 1 - 3 * back
            begin = date(last.year + (month - 1) // 12, (month - 1) % 12 + 1, 1)
            if begin < first.replace(day=1):
                break
            label = f"Quarter {(begin.month + 2) // 3} of {begin.year}"
            yield _period_option(found, label, "Quarter", begin, _months_on(begin, 3), start, end)
        for back in range(3):
            begin = _months_on(last.replace(day=1), -back)
            label = f"{begin:%B %Y}"
            yield _period_option(found, label, "Month", begin, _months_on(begin, 1), start, end)

    # Order

    def order(self) -> ChangeablePart | None:
        if not self.plan.group_by or not measures(self.plan):
            return None
        now = self.plan.order_by[0] if self.plan.order_by else None
        measure, key = measures(self.plan)[0].expr, keys(self.plan)[0].expr if keys(self.plan) else None
        timed = isinstance(key, Bucket)
        words = (
            (("group", False, "Oldest first"), ("group", True, "Newest first"))
            if timed
            else (("group", False, "A to Z"),)
        )
        wanted: tuple[tuple[Literal["measure", "group"], bool, str], ...] = (
            ("measure", True, "Highest first"),
            ("measure", False, "Lowest first"),
            *words,
        )
        options = [
            PlanOption(
                label=label,
                chosen=now is not None and now.descending == down and now.expr == (measure if by == "measure" else key),
                change=SetOrder(by=by, descending=down),
            )
            for by, down, label in wanted
            if by == "measure" or key is not None
        ]
        chosen = next((option.label for option in options if option.chosen), "")
        if chosen and self.plan.limit is not None:
            chosen = f"{chosen}, {self.plan.limit}"
        return ChangeablePart(kind="order", label=chosen, options=options)

    def words(self, expr: Expr) -> str:
        return _capital(self.say.expression(expr).removeprefix("the "))


def _capital(text: str) -> str:
    return text[:1].upper() + text[1:]


def _unit(expr: Expr) -> Unit | None:
    return expr.unit if isinstance(expr, Bucket) else None


def _shape(column: Column) -> str | None:
    """How many groups a column gives, and the first of them."""
    if column.distinct_count is None:
        return None
    some = ", ".join(column.examples[:2])
    return f"{column.distinct_count:,}: {some} …" if some and column.distinct_count > 2 else some or None


def _date_of(value: object) -> date | None:
    try:
        return date.fromisoformat(str(value)[:10]) if value is not None else None
    except ValueError:
        return None


def _day(expr: Expr) -> date | None:
    return _date_of(expr.value) if isinstance(expr, Constant) else None


def _before(day: date) -> date:
    return day - timedelta(days=1)


def _months_on(day: date, months: int) -> date:
    number = day.year * 12 + day.month - 1 + months
    return date(number // 12, number % 12 + 1, 1)


def _periods(first: date | None, last: date | None, unit: Unit) -> int | None:
    """How many periods of this length the data spans, or None if that is not known."""
    if first is None or last is None:
        return None
    days, months = (last - first).days + 1, (last.year - first.year) * 12 + last.month - first.month + 1
    return {
        "day": days,
        "week": (days + 6) // 7,
        "month": months,
        "quarter": (months + 2) // 3,
        "year": last.year - first.year + 1,
    }[unit]


def _range(column: Column) -> str | None:
    first, last = _date_of(column.minimum), _date_of(column.maximum)
    return f"{first} to {last}" if first and last else None


def _period_words(start: date | None, end: date | None) -> str:
    if start is not None and end is not None:
        name = period_name(Period(start, end))
        return _capital(name.removeprefix("in ").removeprefix("on ")) if name else f"{start} to {end}"
    return f"From {start}" if start is not None else f"Before {end}"


def _period_option(
    found: _Found, label: str, heading: str, begin: date, until: date, start: date | None, end: date | None
) -> PlanOption:
    change = SetPeriod(of=found.place, start=begin, end=until)
    return PlanOption(label=label, heading=heading, chosen=(start, end) == (begin, until), change=change)

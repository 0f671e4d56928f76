"""Changes of a plan that a person makes without writing a query: another measure, group, filter, period or order.

Columns are named by their way from the table whose rows the plan is about: relationships that lead from many rows to
one. So a change never repeats a row, and sums stay right.
"""

from collections.abc import Iterator, Sequence
from datetime import date
from typing import Annotated, Literal, TypeAlias

from pydantic import Field

from answerable.core.catalog import Catalog, Column, Table
from answerable.core.errors import UserError
from answerable.core.values import Frozen, Scalar
from answerable.query.plan import (
    Aggregate,
    And,
    Bucket,
    ColumnRef,
    Compare,
    Constant,
    Expr,
    Filter,
    InList,
    IsNull,
    Join,
    MeasureRef,
    OrderItem,
    QueryPlan,
    SelectItem,
    Unit,
)
from answerable.query.row_source import RowSource, rows_of
from answerable.query.scope import TEMPORAL, Scope, aggregates, scope_of
from answerable.query.validate import validate


class ColumnPlace(Frozen):
    """A column, and the relationships that lead to its table."""

    path: tuple[str, ...] = ()
    column: str


class SetMeasure(Frozen):
    kind: Literal["measure"] = "measure"
    name: str | None = None
    """A measure of the catalog; None for an aggregate."""
    function: Literal["count", "sum", "avg", "min", "max", "median"] = "count"
    of: ColumnPlace | None = None
    """None counts rows. With `count`, different values are counted."""


class SetGroup(Frozen):
    kind: Literal["group"] = "group"
    by: ColumnPlace | None = None
    """None for one number over everything."""
    unit: Unit | None = None
    """For dates: the length of a period."""


class SetPeriod(Frozen):
    kind: Literal["period"] = "period"
    of: ColumnPlace
    start: date | None = None
    end: date | None = None
    """The first day after the period. Without start and end the period is lifted."""


class AddFilter(Frozen):
    kind: Literal["filter"] = "filter"
    of: ColumnPlace
    op: Literal["=", "!=", "<", "<=", ">", ">="] = "="
    values: tuple[Scalar, ...] = Field(min_length=1)
    """Several only with `=` and `!=`. None stands for a missing value."""
    replaces: int | None = None
    """The number of the filter that this one takes the place of, counted from 0."""


class RemoveFilter(Frozen):
    kind: Literal["remove_filter"] = "remove_filter"
    number: int = Field(ge=0)


class SetOrder(Frozen):
    kind: Literal["order"] = "order"
    by: Literal["measure", "group"] | ColumnPlace
    descending: bool = False


class SetLimit(Frozen):
    kind: Literal["limit"] = "limit"
    rows: int | None = Field(None, ge=1, le=10_000)


Change: TypeAlias = Annotated[
    SetMeasure | SetGroup | SetPeriod | AddFilter | RemoveFilter | SetOrder | SetLimit, Field(discriminator="kind")
]


def changed(plan: QueryPlan, changes: Sequence[Change], catalog: Catalog) -> QueryPlan:
    """The plan with the changes made, in their order. Raises a `UserError` if a change does not fit the plan or the
    catalog."""
    for change in changes:
        plan = _Editor(plan, catalog).applied(change)
    validate(plan, catalog)
    return plan


def can_change(plan: QueryPlan, catalog: Catalog) -> bool:
    """Whether the plan is simple enough: one table whose rows it is about, and no combination with another plan."""
    return plan.set_operation is None and not plan.offset and rows_of(plan, scope_of(plan, catalog)).exact


def conditions(plan: QueryPlan) -> tuple[Filter, ...]:
    """The conditions of a plan that must all hold."""
    return () if plan.where is None else tuple(_flat(plan.where))


def measures(plan: QueryPlan) -> tuple[SelectItem, ...]:
    return tuple(item for item in plan.select if aggregates(item.expr))


def keys(plan: QueryPlan) -> tuple[SelectItem, ...]:
    """What the plan groups by, as it is shown."""
    return tuple(item for item in plan.select if not aggregates(item.expr)) if plan.group_by or measures(plan) else ()


def is_end_of_period(condition: Filter, scope: Scope) -> bool:
    """Whether the condition is one end of a period of a date column."""
    return (
        isinstance(condition, Compare)
        and condition.op in (">=", "<")
        and isinstance(condition.left, ColumnRef)
        and isinstance(condition.right, Constant)
        and scope.column(condition.left).type in TEMPORAL
    )


def to_one_ways(catalog: Catalog, root: str, longest: int = 3) -> Iterator[tuple[tuple[str, ...], Table]]:
    """The tables that each row of `root` leads to one row of, nearest first, each with the way to it."""
    seen: set[str] = set()
    ways: list[tuple[tuple[str, ...], str]] = [((), root)]
    while ways:
        path, name = ways.pop(0)
        table = catalog.table(name)
        if table is None or (name in seen and len(path) > 1):
            continue
        seen.add(name)
        yield path, table
        if len(path) < longest:
            ways += [
                ((*path, way.name), way.to_table)
                for way in catalog.relationships
                if way.from_table == name and way.to_table != root
            ]


class _Editor:
    """Makes one change of one plan."""

    def __init__(self, plan: QueryPlan, catalog: Catalog) -> None:
        if not can_change(plan, catalog):
            raise UserError(
                "This answer has no parts that can be changed one by one.",
                code="plan_fixed",
                hint="Ask the question in other words.",
            )
        self.plan = plan
        self.catalog = catalog
        self.scope: Scope = scope_of(plan, catalog)
        self.rows: RowSource = rows_of(plan, self.scope)

    def applied(self, change: Change) -> QueryPlan:
        match change:
            case SetMeasure():
                return self._measured(change)
            case SetGroup():
                return self._grouped(change)
            case SetPeriod():
                return self._dated(change)
            case AddFilter():
                return self._filtered(change)
            case RemoveFilter():
                rest = [c for number, c in enumerate(self._numbered()) if number != change.number]
                return self._where([*rest, *self._ends()])
            case SetOrder():
                return self._ordered(change)
            case SetLimit():
                return self.plan.model_copy(update={"limit": change.rows})

    # The parts

    def _measured(self, change: SetMeasure) -> QueryPlan:
        before = {item.expr for item in measures(self.plan)}
        if change.name is not None:
            new: Expr = MeasureRef(name=change.name)
        elif change.of is None:
            new = Aggregate(function="count")
        else:
            new = Aggregate(function=change.function, of=self._at(change.of), distinct=change.function == "count")
        order = [
            item.model_copy(update={"expr": new}) if item.expr in before or aggregates(item.expr) else item
            for item in self.plan.order_by
            if self.plan.group_by
        ]
        select = (*keys(self.plan), SelectItem(expr=new)) if before else (SelectItem(expr=new),)
        return self.plan.model_copy(update={"select": select, "order_by": tuple(order), "distinct": False})

    def _grouped(self, change: SetGroup) -> QueryPlan:
        shown = measures(self.plan) or (SelectItem(expr=Aggregate(function="count")),)
        if change.by is None:
            nothing: dict[str, object] = {"group_by": (), "order_by": (), "limit": None, "having": None}
            return self.plan.model_copy(update=nothing | {"select": shown, "distinct": False})
        column = self._at(change.by)
        key: Expr = column if change.unit is None else Bucket(unit=change.unit, of=column)
        by_measure = [item for item in self.plan.order_by if aggregates(item.expr)]
        timed = change.unit is not None
        update: dict[str, object] = {
            "select": (SelectItem(expr=key), *shown),
            "group_by": (*self._key_beside(column), key),
            "order_by": (OrderItem(expr=key),) if timed else tuple(by_measure),
            "limit": None if timed or not by_measure else self.plan.limit,
            "distinct": False,
        }
        return self.plan.model_copy(update=update)

    def _dated(self, change: SetPeriod) -> QueryPlan:
        column = self._at(change.of)
        days = ((">=", change.start), ("<", change.end))
        ends = [
            Compare(left=column, op=op, right=Constant(value=day.isoformat(), type="date"))
            for op, day in days
            if day is not None
        ]
        return self._where([*self._numbered(), *ends])

    def _filtered(self, change: AddFilter) -> QueryPlan:
        column = self._at(change.of)
        new = _condition(column, self.scope.column(column), change)
        rest = [condition for number, condition in enumerate(self._numbered()) if number != change.replaces]
        return self._where([*rest, new, *self._ends()])

    def _ordered(self, change: SetOrder) -> QueryPlan:
        if isinstance(change.by, ColumnPlace):
            expr: Expr = self._at(change.by)
        else:
            items = measures(self.plan) if change.by == "measure" else keys(self.plan)
            if not items:
                raise UserError(f"This answer has no {change.by} to order by.", code="plan_invalid")
            expr = items[0].expr
        return self.plan.model_copy(update={"order_by": (OrderItem(expr=expr, descending=change.descending),)})

    # The ways to columns

    def _at(self, place: ColumnPlace) -> ColumnRef:
        alias = self.rows.root
        for name in place.path:
            alias = self._followed(alias, name)
        column = ColumnRef(table=alias, column=place.column)
        self.scope.column(column)  # refuses names that do not exist or may not be seen
        return column

    def _followed(self, alias: str, name: str) -> str:
        """The alias that a relationship leads to from another one. Joins its table if the plan does not yet."""
        way = self.catalog.relationship(name)
        if way is None or way.from_table != self.scope.tables[alias].name:
            raise UserError(f"There is no relationship {name!r} here.", code="plan_invalid")
        pairs = set(zip(way.from_columns, way.to_columns, strict=True))
        for link in self.rows.links:
            there = {(left.column, right.column) for left, right in link.pairs}
            if link.parent == alias and there == pairs and self.scope.tables[link.alias].name == way.to_table:
                return link.alias
        new = way.to_table if way.to_table not in self.scope.tables else f"{way.to_table}_{len(self.plan.joins) + 1}"
        join = Join(
            table=way.to_table,
            alias=None if new == way.to_table else new,
            relationship=name,
            via=alias,
            outer=self._may_lack(alias, way.from_columns),
        )
        self.plan = self.plan.model_copy(update={"joins": (*self.plan.joins, join)})
        self.scope = scope_of(self.plan, self.catalog)
        self.rows = rows_of(self.plan, self.scope)
        return new

    def _may_lack(self, alias: str, columns: Sequence[str]) -> bool:
        """Whether some rows have no partner. They must stay, or the total would change with the group."""
        if self.rows.root != (self.plan.alias or self.plan.entity):
            return False
        found = [self.scope.tables[alias].column(name) for name in columns]
        outer = any(join.alias == alias and join.outer for join in self.scope.joins)
        return outer or any(column is not None and column.null_count != 0 and column.nullable for column in found)

    def _key_beside(self, column: ColumnRef) -> tuple[ColumnRef, ...]:
        """Two customers of the same name are two groups."""
        table = self.scope.tables[column.table]
        if column.column not in ("name", "title", "full_name", "Name", "Title") or len(table.primary_key) != 1:
            return ()
        return (ColumnRef(table=column.table, column=table.primary_key[0]),)

    # Conditions

    def _numbered(self) -> list[Filter]:
        """The conditions that are no ends of a period. A change names them by their number."""
        return [each for each in conditions(self.plan) if not is_end_of_period(each, self.scope)]

    def _ends(self) -> list[Filter]:
        return [each for each in conditions(self.plan) if is_end_of_period(each, self.scope)]

    def _where(self, parts: Sequence[Filter]) -> QueryPlan:
        where = None if not parts else parts[0] if len(parts) == 1 else And(parts=tuple(parts))
        return self.plan.model_copy(update={"where": where})


def _condition(column: ColumnRef, known: Column, change: AddFilter) -> Filter:
    constants = tuple(_constant(value, known) for value in change.values if value is not None)
    if change.op in ("=", "!="):
        if not constants:
            return IsNull(left=column, negated=change.op == "!=")
        if len(constants) > 1:
            return InList(left=column, values=constants, negated=change.op == "!=")
    if len(constants) != 1:
        raise UserError(f"{change.op} compares with one value.", code="plan_invalid")
    return Compare(left=column, op=change.op, right=constants[0])


def _constant(value: Scalar, column: Column) -> Constant:
    """The value as the column holds it: statistics and people name numbers as text."""
    if column.type in TEMPORAL:
        return Constant(value=value, type="date" if column.type == "date" else "datetime")
    if isinstance(value, str) and column.type in ("integer", "number", "boolean"):
        return Constant(value=_read(value, column))
    return Constant(value=value)


def _read(text: str, column: Column) -> Scalar:
    try:
        if column.type == "boolean":
            return {"true": True, "false": False}[text.casefold()]
        return int(text) if column.type == "integer" else float(text)
    except (ValueError, KeyError) as error:
        raise UserError(
            f"{text!r} is no value of {column.name!r}, which holds {column.type} values.", code="plan_invalid"
        ) from error


def _flat(condition: Filter) -> Iterator[Filter]:
    if isinstance(condition, And):
        for part in condition.parts:
            yield from _flat(part)
    else:
        yield condition

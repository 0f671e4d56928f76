"""The parts of a plan, each with a few words that describe it by the names of the data."""

from collections.abc import Iterator, Sequence
from datetime import date
from typing import Literal, TypeAlias

from answerable.core.catalog import Catalog
from answerable.core.records import dataclass
from answerable.core.values import Scalar
from answerable.query.plan import (
    Aggregate,
    And,
    Arithmetic,
    Between,
    Bucket,
    ColumnRef,
    Compare,
    Constant,
    DateDifference,
    DatePart,
    Expr,
    Filter,
    InList,
    InQuery,
    IsNull,
    MeasureRef,
    Not,
    Or,
    QueryPlan,
    ScalarQuery,
    TextFunction,
    TextMatch,
)
from answerable.query.scope import Scope, children, scope_of
from answerable.reader.time.calendar_periods import Period, period_name

Kind = Literal[
    "table",
    "column",
    "shown",
    "measure",
    "test",
    "either",
    "aggregate",
    "calculation",
    "period",
    "group",
    "order",
    "limit",
    "distinct",
    "combination",
]
Name: TypeAlias = tuple[str, str]
"""Table and column, as the catalog names them."""

_COMBINATIONS = {"union": "and also", "union_all": "and also", "intersect": "in both", "except": "but not"}
_MATCHES = {
    "contains": ("contains", "without"),
    "starts_with": ("starts with", "not starting with"),
    "ends_with": ("ends with", "not ending with"),
    "equals": ("is", "is not"),
}


@dataclass(frozen=True, slots=True)
class PlanPart:
    kind: Kind
    meaning: str
    tables: tuple[str, ...] = ()
    columns: tuple[Name, ...] = ()
    values: tuple[Scalar, ...] = ()
    """The values that a test compares with, or the number of rows that a limit lets through."""
    how: str = ""
    """The function, the operator, the direction, the unit of time, or the name of a measure."""
    negated: bool = False


def parts_of(plan: QueryPlan, catalog: Catalog) -> tuple[PlanPart, ...]:
    """All parts of a plan, each once. The parts of nested plans come last."""
    return tuple(dict.fromkeys(_Parts(plan, catalog).all()))


class _Parts:
    def __init__(self, plan: QueryPlan, catalog: Catalog) -> None:
        self.plan = plan
        self.catalog = catalog
        self.scope: Scope = scope_of(plan, catalog)
        self.inner: list[QueryPlan] = []

    def all(self) -> Iterator[PlanPart]:
        yield from self.of_tables()
        yield from self.of_columns()
        yield from self.of_filters()
        yield from self.of_groups()
        yield from self.of_order()
        if self.plan.set_operation is not None:
            operation = self.plan.set_operation
            yield PlanPart("combination", _COMBINATIONS[operation.op], how=operation.op)
            self.inner.append(operation.right)
        for inner in self.inner:
            yield from _Parts(inner, self.catalog).all()

    def of_tables(self) -> Iterator[PlanPart]:
        for table in self.scope.tables.values():
            yield PlanPart("table", table.name, tables=(table.name,))

    def of_columns(self) -> Iterator[PlanPart]:
        for item in self.plan.select:
            if isinstance(item.expr, ColumnRef) and item.expr not in self.plan.group_by:
                yield PlanPart("shown", self.said(item.expr), columns=self.names(item.expr))
            yield from self.of_expr(item.expr)
        if self.plan.distinct:
            yield PlanPart("distinct", "without repeats")

    def of_expr(self, expr: Expr) -> Iterator[PlanPart]:
        match expr:
            case ColumnRef():
                yield PlanPart("column", self.said(expr), columns=self.names(expr))
            case Aggregate():
                yield PlanPart("aggregate", self.said(expr), self.counted(expr), self.names(expr), how=expr.function)
                if expr.distinct:
                    yield PlanPart("distinct", self.said(expr), columns=self.names(expr))
                yield from self.of_filter(expr.where) if expr.where is not None else ()
            case MeasureRef():
                measure, _ = self.scope.measure(expr)
                yield PlanPart("measure", f"{measure.name}: {measure.expression}", (measure.table,), how=measure.name)
            case Arithmetic() | DateDifference():
                yield PlanPart("calculation", self.calculation(expr), columns=self.names(expr))
            case Bucket():
                yield PlanPart("period", self.said(expr), columns=self.names(expr), how=expr.unit)
            case DatePart():
                yield PlanPart("period", self.said(expr), columns=self.names(expr), how=expr.part)
            case ScalarQuery():
                self.inner.append(expr.plan)
        for _, child in children(expr):
            within = isinstance(expr, Arithmetic) and isinstance(child, Arithmetic)
            yield from (part for part in self.of_expr(child) if not within or part.kind != "calculation")

    def counted(self, expr: Aggregate) -> tuple[str, ...]:
        return tuple(table.name for table in self.scope.tables.values()) if expr.of is None else ()

    def of_filters(self) -> Iterator[PlanPart]:
        for condition in (self.plan.where, self.plan.having):
            if condition is not None:
                yield from self.of_filter(condition)

    def of_filter(self, condition: Filter, negated: bool = False) -> Iterator[PlanPart]:
        match condition:
            case And():
                for part in _with_periods(condition.parts):
                    yield from self.of_period(*part) if isinstance(part, tuple) else self.of_filter(part, negated)
            case Or():
                yield PlanPart("either", "or")
                for part in condition.parts:
                    yield from self.of_filter(part, negated)
            case Not():
                yield from self.of_filter(condition.part, not negated)
            case _:
                yield from self.of_test(condition, negated)

    def of_period(self, first: Compare, last: Compare) -> Iterator[PlanPart]:
        start, end = _constants(first.right), _constants(last.right)
        name = self.said(first.left)
        period = _period(*start, *end) or f"from {start[0]} until before {end[0]}"
        yield PlanPart("test", f"{name} {period}", columns=self.names(first.left), values=(*start, *end), how="period")
        yield from self.of_expr(first.left)

    def of_test(self, condition: Filter, negated: bool) -> Iterator[PlanPart]:
        said = f"not ({self.tested(condition)})" if negated else self.tested(condition)
        exprs = list(_operands(condition))
        columns = tuple(name for expr in exprs for name in self.names(expr))
        negative = negated or getattr(condition, "negated", False) or getattr(condition, "op", "") == "!="
        values = tuple(value for expr in exprs[1:] for value in _constants(expr))
        if isinstance(condition, TextMatch):
            values = (condition.pattern,)
        tables = (condition.plan.entity,) if isinstance(condition, InQuery) else ()
        yield PlanPart("test", said, tables, columns, values, _how(condition), negative)
        if isinstance(condition, InList) and len(condition.values) > 1:
            yield PlanPart("either", said, columns=columns)
        if isinstance(condition, InQuery):
            self.inner.append(condition.plan)
        for expr in exprs:
            yield from self.of_expr(expr)

    def of_groups(self) -> Iterator[PlanPart]:
        keys = self.plan.group_by
        if not keys:
            return
        columns = tuple(name for key in keys for name in self.names(key))
        tables = tuple(dict.fromkeys(table for table, _ in columns))
        yield PlanPart("group", "for each " + ", ".join(map(self.said, keys)), tables, columns)
        for key in keys:
            yield from self.of_expr(key)

    def of_order(self) -> Iterator[PlanPart]:
        for item in self.plan.order_by:
            direction = "descending" if item.descending else "ascending"
            yield PlanPart(
                "order", f"sorted by {self.said(item.expr)}, {direction}", columns=self.names(item.expr), how=direction
            )
            yield from self.of_expr(item.expr)
        if self.plan.limit is not None:
            first_rows = "only the first" if self.plan.limit == 1 else f"the first {self.plan.limit}"
            skipped = f", after {self.plan.offset} skipped" if self.plan.offset else ""
            yield PlanPart("limit", first_rows + skipped, values=(self.plan.limit, (self.plan.offset or 0) + 1))

    # In words.

    def names(self, expr: Expr) -> tuple[Name, ...]:
        if isinstance(expr, ColumnRef):
            return ((self.scope.tables[expr.table].name, expr.column),)
        return tuple(name for _, child in children(expr) for name in self.names(child))

    def said(self, expr: Expr) -> str:
        match expr:
            case ColumnRef():
                return f"{expr.table}.{expr.column}"
            case Constant():
                return _literal(expr.value)
            case Aggregate():
                of = "rows" if expr.of is None else self.said(expr.of)
                return f"{expr.function}({'different ' if expr.distinct else ''}{of})"
            case Arithmetic():
                return self.calculation(expr)
            case Bucket():
                return f"{expr.unit} of {self.said(expr.of)}"
            case DatePart():
                return f"{expr.part} of {self.said(expr.of)}"
            case DateDifference():
                return self.calculation(expr)
            case TextFunction():
                return f"{expr.function}({self.said(expr.of)})"
            case MeasureRef():
                return expr.name
            case ScalarQuery():
                return f"({_Parts(expr.plan, self.catalog).result()})"

    def result(self) -> str:
        """The columns that a plan within another plan returns."""
        return ", ".join(self.said(item.expr) for item in self.plan.select) or f"{self.plan.entity}.*"

    def operand(self, expr: Expr) -> str:
        return f"({self.said(expr)})" if isinstance(expr, Arithmetic) else self.said(expr)

    def calculation(self, expr: Arithmetic | DateDifference) -> str:
        """Growth and shares in a word; the periods and tests that tell their numbers apart are parts of their own."""
        match expr:
            case Arithmetic(op="/", left=Arithmetic(op="*", left=Constant(value=100), right=part), right=whole):
                if isinstance(part, Arithmetic) and part.op == "-" and part.right == whole:
                    return f"growth of {self.operand(whole)} in percent"
                return f"{self.operand(part)} in percent of {self.operand(whole)}"
            case Arithmetic():
                return f"{self.operand(expr.left)} {expr.op} {self.operand(expr.right)}"
            case DateDifference():
                return f"{expr.unit}s from {self.said(expr.start)} to {self.said(expr.end)}"

    def tested(self, condition: Filter) -> str:
        left = self.said(next(iter(_operands(condition))))
        match condition:
            case Compare():
                return f"{left} {condition.op} {self.operand(condition.right)}"
            case TextMatch():
                verb = _MATCHES[condition.how][condition.negated]
                return f"{left} {verb} {_literal(condition.pattern)}"
            case InList():
                listed = ", ".join(_literal(constant.value) for constant in condition.values)
                return f"{left} {'not in' if condition.negated else 'in'} ({listed})"
            case InQuery():
                inner = _Parts(condition.plan, self.catalog).result()
                return f"{left} {'not in' if condition.negated else 'in'} {inner}"
            case Between():
                word = "not between" if condition.negated else "between"
                return f"{left} {word} {self.said(condition.low)} and {self.said(condition.high)}"
            case IsNull():
                return f"{left} {'is known' if condition.negated else 'is missing'}"
        return left


def _operands(condition: Filter) -> Iterator[Expr]:
    match condition:
        case Compare():
            yield from (condition.left, condition.right)
        case Between():
            yield from (condition.left, condition.low, condition.high)
        case InList():
            yield from (condition.left, *condition.values)
        case TextMatch() | InQuery() | IsNull():
            yield condition.left


def _how(condition: Filter) -> str:
    match condition:
        case Compare():
            return condition.op
        case TextMatch():
            return condition.how
    return condition.kind


def _constants(expr: Expr) -> tuple[Scalar, ...]:
    return (expr.value,) if isinstance(expr, Constant) else ()


def _with_periods(parts: Sequence[Filter]) -> Iterator[Filter | tuple[Compare, Compare]]:
    """The parts of a conjunction, with the two ends of a period side by side."""
    rest = list(parts)
    while rest:
        part = rest.pop(0)
        end = next(_ends_of(part, rest), None)
        if end is None:
            yield part
        else:
            rest.remove(end[1])
            yield end


def _ends_of(first: Filter, rest: Sequence[Filter]) -> Iterator[tuple[Compare, Compare]]:
    for last in rest:
        if isinstance(first, Compare) and isinstance(last, Compare) and (first.op, last.op) == (">=", "<"):
            both = (first.right, last.right)
            if first.left == last.left and all(isinstance(end, Constant) and end.type for end in both):
                yield first, last


def _period(start: Scalar, end: Scalar) -> str | None:
    try:
        return period_name(Period(date.fromisoformat(str(start)), date.fromisoformat(str(end))))
    except ValueError:  # a time of day
        return None


def _literal(value: Scalar) -> str:
    if isinstance(value, str):
        return "'" + value.replace("'", "''") + "'"
    return "nothing" if value is None else str(value).lower() if isinstance(value, bool) else str(value)

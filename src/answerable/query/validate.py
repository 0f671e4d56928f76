"""Says no to plans that cannot run, naming the field and what was probably meant."""

import math
from collections.abc import Iterable
from datetime import datetime

from pydantic import BaseModel

from answerable.core.catalog import Catalog
from answerable.core.errors import UserError
from answerable.core.values import ColumnType
from answerable.query.grouping import determined, ungrouped
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
    SetOperation,
    TextFunction,
    TextMatch,
)
from answerable.query.scope import (
    NUMERIC,
    TEMPORAL,
    Scope,
    aggregates,
    invalid,
    operands,
    scope_of,
    selected,
    type_of,
)

MAX_NODES = 5_000
MAX_DEPTH = 50
MAX_TEXT = 10_000
MAX_JOINS = 40

_NO_ORDER: frozenset[ColumnType] = frozenset({"json", "binary"})
_TAKES: dict[str, frozenset[ColumnType]] = {
    "sum": NUMERIC,
    "avg": NUMERIC,
    "median": NUMERIC,
    "stddev": NUMERIC,
    "min": frozenset({"text", "integer", "number", "date", "datetime", "time"}),
    "max": frozenset({"text", "integer", "number", "date", "datetime", "time"}),
}
"""What each aggregate can be computed of; `count` takes anything."""


def validate(plan: QueryPlan, catalog: Catalog) -> None:
    """Raises a `UserError` with code `plan_invalid` for a plan that does not fit the catalog or itself."""
    _check_size(plan)
    _PlanCheck(plan, catalog, "").run()


def _check_size(plan: QueryPlan) -> None:
    """Before anything that recurses: a plan may come from outside."""
    count = 0
    stack: list[tuple[object, int]] = [(plan, 1)]
    while stack:
        value, depth = stack.pop()
        if isinstance(value, str):
            _check_text(value)
        elif isinstance(value, tuple):
            stack.extend((item, depth) for item in value)
        elif isinstance(value, BaseModel):
            count += 1
            if count > MAX_NODES or depth > MAX_DEPTH:
                raise invalid("", "The plan is too large or too deeply nested.", "Split the question.")
            stack.extend((item, depth + 1) for item in value.__dict__.values())


def _check_text(text: str) -> None:
    if len(text) > MAX_TEXT:
        raise invalid("", f"A text of the plan has more than {MAX_TEXT:,} characters.")
    if "\0" in text:
        raise invalid("", "A text of the plan holds a zero character.")


class _PlanCheck:
    """Checks one plan; sub-plans get a check of their own, with the path of the field that holds them."""

    def __init__(self, plan: QueryPlan, catalog: Catalog, path: str) -> None:
        self.plan = plan
        self.catalog = catalog
        self.path = path
        if len(plan.joins) > MAX_JOINS:
            raise invalid(f"{path}joins", f"A plan joins at most {MAX_JOINS} tables.")
        self.scope: Scope = scope_of(plan, catalog, path)

    def run(self) -> list[ColumnType | None]:
        """The types of the result columns."""
        plan, path = self.plan, self.path
        types = [
            self.expr(item.expr, f"{path}select[{number}].expr", groups=True)
            for number, item in enumerate(selected(plan, self.scope))
        ]
        if plan.where is not None:
            self.filter(plan.where, f"{path}where", groups=False)
        for number, key in enumerate(plan.group_by):
            self.expr(key, f"{path}group_by[{number}]", groups=False)
        if plan.having is not None:
            self.filter(plan.having, f"{path}having", groups=True)
        for number, item in enumerate(plan.order_by):
            self.expr(item.expr, f"{path}order_by[{number}].expr", groups=True)
        self._check_grouping()
        self._check_order()
        if plan.set_operation is not None:
            self._check_set_operation(plan.set_operation, types)
        return types

    # Expressions.

    def expr(self, expr: Expr, path: str, *, groups: bool) -> ColumnType | None:
        """The type of an expression; `groups` where it may be computed from groups of rows."""
        match expr:
            case ColumnRef():
                self.scope.column(expr, path)
            case Constant():
                _check_constant(expr, path)
            case Aggregate():
                self._check_aggregate(expr, path, groups)
            case MeasureRef():
                self._check_measure(expr, path, groups)
            case ScalarQuery():
                self._one_column(expr.plan, f"{path}.plan.")
            case _:
                self._check_parts(expr, path, groups)
        return type_of(expr, self.scope)

    def _check_parts(
        self, expr: Arithmetic | Bucket | DatePart | DateDifference | TextFunction, path: str, groups: bool
    ) -> None:
        match expr:
            case Arithmetic():
                for side, part in (("left", expr.left), ("right", expr.right)):
                    self._typed(part, f"{path}.{side}", groups, NUMERIC, "Arithmetic needs numbers, and this is {}.")
            case DateDifference():
                for side, part in (("start", expr.start), ("end", expr.end)):
                    self._typed(part, f"{path}.{side}", groups, TEMPORAL, "A duration needs dates, and this is {}.")
            case Bucket():
                self._typed(expr.of, f"{path}.of", groups, TEMPORAL, "Periods are made of dates, and this is {}.")
            case DatePart():
                fine = expr.part in ("hour", "minute")
                kinds: frozenset[ColumnType] = frozenset({"datetime", "time"}) if fine else TEMPORAL
                whole = "times" if fine else "dates"
                need = f"The {expr.part} is a part of {whole}, and this is {{}}."
                self._typed(expr.of, f"{path}.of", groups, kinds, need)
            case TextFunction():
                self._typed(
                    expr.of, f"{path}.of", groups, frozenset({"text"}), f"{expr.function} needs text, and this is {{}}."
                )

    def _typed(self, expr: Expr, path: str, groups: bool, kinds: Iterable[ColumnType], need: str) -> None:
        found = self.expr(expr, path, groups=groups)
        if found is not None and found not in kinds:
            raise invalid(path, need.format(_article(found)))

    def _check_aggregate(self, expr: Aggregate, path: str, groups: bool) -> None:
        if not groups:
            raise _misplaced(path, f"{expr.function} is computed over groups of rows and cannot stand here.")
        if expr.of is None:
            if expr.function != "count" or expr.distinct:
                raise invalid(f"{path}.of", f"{expr.function} needs something to compute from.")
        elif expr.function == "count":
            self.expr(expr.of, f"{path}.of", groups=False)
        else:
            need = f"{expr.function} cannot be computed of {{}}."
            self._typed(expr.of, f"{path}.of", False, _TAKES[expr.function], need)
        if expr.distinct and expr.function in ("median", "stddev"):
            raise invalid(f"{path}.distinct", f"A {expr.function} of distinct values is not supported.")
        if expr.where is not None:
            self.filter(expr.where, f"{path}.where", groups=False)

    def _check_measure(self, expr: MeasureRef, path: str, groups: bool) -> None:
        from answerable.query.sql.measures import parsed_measure

        measure, _ = self.scope.measure(expr, path)
        if not groups:
            raise _misplaced(path, f"The measure {expr.name!r} is computed over groups of rows and cannot stand here.")
        parsed_measure(measure, self.catalog)

    def _one_column(self, plan: QueryPlan, path: str) -> ColumnType | None:
        types = _PlanCheck(plan, self.catalog, path).run()
        if len(types) != 1:
            raise invalid(f"{path}select", f"This plan must give one column, not {len(types)}.")
        return types[0]

    # Filters.

    def filter(self, filter: Filter, path: str, *, groups: bool) -> None:
        match filter:
            case And() | Or():
                if not filter.parts:
                    raise invalid(f"{path}.parts", f"`{filter.kind}` has no parts.")
                for number, part in enumerate(filter.parts):
                    self.filter(part, f"{path}.parts[{number}]", groups=groups)
            case Not():
                self.filter(filter.part, f"{path}.part", groups=groups)
            case TextMatch():
                self._check_match(filter, path, groups)
            case InList():
                self._check_list(filter, path, groups)
            case InQuery():
                left = self.expr(filter.left, f"{path}.left", groups=groups)
                inner = self._one_column(filter.plan, f"{path}.plan.")
                if not self._related(filter):
                    _check_comparable(left, inner, f"{path}.plan", filter.left)
            case IsNull():
                self.expr(filter.left, f"{path}.left", groups=groups)
            case Compare() | Between():
                self._check_comparison(filter, path, groups)

    def _related(self, filter: InQuery) -> bool:
        """What a relationship joins may be compared, as it is when it is joined, whatever the types say."""
        select = filter.plan.select
        if len(select) != 1 or not isinstance(filter.left, ColumnRef) or not isinstance(select[0].expr, ColumnRef):
            return False
        ends = {(filter.left.table, filter.left.column), (select[0].expr.table, select[0].expr.column)}
        return any(
            ends == {(each.from_table, each.from_columns[0]), (each.to_table, each.to_columns[0])}
            for each in self.catalog.relationships
            if len(each.from_columns) == 1
        )

    def _check_comparison(self, filter: Compare | Between, path: str, groups: bool) -> None:
        (first_path, first), *others = operands(filter, path)
        left = self.expr(first, first_path, groups=groups)
        for other_path, other in others:
            right = self.expr(other, other_path, groups=groups)
            for side_path, side in ((first_path, first), (other_path, other)):
                if isinstance(side, Constant) and side.value is None:
                    raise invalid(side_path, "Nothing compares with null.", 'Use {"kind": "null"}.')
            _check_comparable(left, right, other_path, first)

    def _check_match(self, filter: TextMatch, path: str, groups: bool) -> None:
        if self.expr(filter.left, f"{path}.left", groups=groups) == "binary":
            raise invalid(f"{path}.left", "Binary data cannot be matched with text.")
        if not filter.pattern and filter.how != "equals":
            raise invalid(f"{path}.pattern", "The text to look for is empty.")

    def _check_list(self, filter: InList, path: str, groups: bool) -> None:
        left = self.expr(filter.left, f"{path}.left", groups=groups)
        if not filter.values:
            raise invalid(f"{path}.values", "The list is empty.")
        for number, value in enumerate(filter.values):
            where = f"{path}.values[{number}]"
            _check_comparable(left, self.expr(value, where, groups=False), where, filter.left)

    # The plan as a whole.

    def _check_grouping(self) -> None:
        plan, path = self.plan, self.path
        shown = [(f"{path}select[{n}].expr", item.expr) for n, item in enumerate(selected(plan, self.scope))]
        shown += [(f"{path}order_by[{n}].expr", item.expr) for n, item in enumerate(plan.order_by)]
        tested = list(operands(plan.having, f"{path}having")) if plan.having is not None else []
        grouped = plan.group_by or any(aggregates(expr) for _, expr in shown + tested)
        if not grouped:
            if plan.having is not None:
                raise invalid(f"{path}having", "Nothing is grouped or aggregated.", "Use `where`.")
            return
        keys = list(plan.group_by)
        same_in_group = determined(keys, self.scope)
        for where, expr in shown + tested:
            for column_path, column in ungrouped(expr, keys, where):
                if column not in same_in_group:
                    raise invalid(
                        column_path,
                        f"{column.table}.{column.column} is neither grouped by nor aggregated.",
                        "Add it to `group_by`, or aggregate it.",
                    )

    def _check_order(self) -> None:
        """Order that needs the rows behind the result is not defined once those have been merged."""
        if not self.plan.distinct and self.plan.set_operation is None:
            return
        shown = [item.expr for item in selected(self.plan, self.scope)]
        for number, item in enumerate(self.plan.order_by):
            if item.expr not in shown:
                reason = "distinct rows" if self.plan.set_operation is None else "combined rows"
                raise invalid(
                    f"{self.path}order_by[{number}].expr",
                    f"The order of {reason} can only name something that is selected.",
                    "Select it too, or order by a selected expression.",
                )

    def _check_set_operation(self, operation: SetOperation, types: list[ColumnType | None]) -> None:
        path = f"{self.path}set_operation.right."
        others = _PlanCheck(operation.right, self.catalog, path).run()
        if len(others) != len(types):
            message = f"The sides of {operation.op} have {len(types)} and {len(others)} columns."
            raise invalid(f"{path}select", message, "Select the same number of columns on both sides.")
        for number, (left, right) in enumerate(zip(types, others, strict=True)):
            if not _comparable(left, right):
                message = f"Column {number + 1} is {_article(left)} on one side and {_article(right)} on the other."
                raise invalid(f"{path}select[{number}].expr", message)


def _misplaced(path: str, message: str) -> UserError:
    return invalid(path, message, "Conditions on aggregates belong in `having`.")


def _check_constant(constant: Constant, path: str) -> None:
    value = constant.value
    if isinstance(value, float) and not math.isfinite(value):
        raise invalid(f"{path}.value", "The number is not finite.")
    if constant.type is None:
        return
    try:
        datetime.fromisoformat(str(value))
    except ValueError as error:
        hint = "Write 2024-12-31, or 2024-12-31T23:59:59."
        raise invalid(f"{path}.value", f"{value!r} is not a {constant.type} in ISO 8601.", hint) from error


def _check_comparable(left: ColumnType | None, right: ColumnType | None, path: str, what: Expr) -> None:
    if _comparable(left, right):
        return
    subject = f"{what.table}.{what.column}" if isinstance(what, ColumnRef) else "The left side"
    hint = None
    if left in TEMPORAL and right == "text":
        hint = 'Give the constant the type "date" or "datetime".'
    raise invalid(path, f"{subject} is {_article(left)} and cannot be compared with {_article(right)}.", hint)


def _comparable(left: ColumnType | None, right: ColumnType | None) -> bool:
    if left in _NO_ORDER or right in _NO_ORDER:
        return False
    # A constant cannot have the type `time`, so a time of day is written as text.
    if left is None or right is None or left == right or {left, right} == {"time", "text"}:
        return True
    return (left in NUMERIC and right in NUMERIC) or (left in TEMPORAL and right in TEMPORAL)


def _article(kind: ColumnType | None) -> str:
    if kind is None:
        return "nothing"
    return {"integer": "an integer", "text": "text", "json": "JSON", "binary": "binary data"}.get(kind, f"a {kind}")

"""Expressions and filters of a plan as expressions of Cypher."""

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass, field

from answerable.query.cypher import tree
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
from answerable.query.scope import invalid

_MILLISECONDS = {"second": 1_000, "minute": 60_000, "hour": 3_600_000, "day": 86_400_000}
_MATCHES = {"contains": "CONTAINS", "starts_with": "STARTS WITH", "ends_with": "ENDS WITH", "equals": "="}
_TEXT = {"lower": "lower", "upper": "upper", "trim": "trim", "length": "size"}


def call(name: str, *arguments: tree.Expression) -> tree.FunctionCall:
    return tree.FunctionCall(name, arguments)


def conjunction(conditions: Sequence[tree.Expression]) -> tree.Expression | None:
    found: tree.Expression | None = None
    for condition in conditions:
        found = condition if found is None else tree.Binary("AND", found, condition)
    return found


@dataclass(slots=True)
class ExpressionsOfPlan(ABC):
    known: dict[Expr, tree.Variable] = field(default_factory=dict, init=False)
    """Expressions that an earlier clause has computed."""

    @abstractmethod
    def column(self, ref: ColumnRef) -> tree.Expression: ...

    @abstractmethod
    def subplan(self, plan: QueryPlan) -> tree.Expression:
        """The values of a one-column plan, as a list."""

    def expression(self, expr: Expr) -> tree.Expression:
        if expr in self.known:
            return self.known[expr]
        match expr:
            case ColumnRef():
                return self.column(expr)
            case Constant():
                return _constant(expr)
            case Aggregate():
                return self._aggregate(expr)
            case Arithmetic():
                return self._arithmetic(expr)
            case Bucket():
                bucket = call("date_trunc", tree.Given(expr.unit), self.expression(expr.of))
                return bucket if expr.unit in ("second", "minute", "hour") else tree.Cast(bucket, "DATE")
            case DatePart():
                return self._part(expr)
            case DateDifference():
                apart = tree.Binary("-", self._milliseconds(expr.end), self._milliseconds(expr.start))
                return tree.Binary("/", tree.Cast(apart, "DOUBLE"), tree.Given(float(_MILLISECONDS[expr.unit])))
            case TextFunction():
                return call(_TEXT[expr.function], self.expression(expr.of))
            case ScalarQuery():
                return tree.ListElement(self.subplan(expr.plan), tree.Given(1))
            case MeasureRef():
                raise invalid("select", "A graph has no measures.")

    def _milliseconds(self, expr: Expr) -> tree.Expression:
        return call("to_epoch_ms", tree.Cast(self.expression(expr), "TIMESTAMP"))

    def _part(self, expr: DatePart) -> tree.Expression:
        if expr.part != "weekday":
            return call("date_part", tree.Given(expr.part), self.expression(expr.of))
        # The engine counts from Sunday = 0.
        day = call("date_part", tree.Given("dayofweek"), self.expression(expr.of))
        shifted = tree.Binary("%", tree.Binary("+", day, tree.Given(6)), tree.Given(7))
        return tree.Binary("+", shifted, tree.Given(1))

    def _aggregate(self, expr: Aggregate) -> tree.Expression:
        if expr.function == "stddev":
            raise invalid("select", "A graph computes no standard deviation.")
        where = None if expr.where is None else self.filter(expr.where)
        if expr.of is None:
            if where is None:
                return tree.FunctionCall("count", (), star=True)
            return call("count", tree.CaseExpression(None, ((where, tree.Given(1)),), None))
        value = self.expression(expr.of)
        if where is not None:
            value = tree.CaseExpression(None, ((where, value),), None)
        if expr.function == "median":
            return call("percentilecont", value, tree.Given(0.5))
        return tree.FunctionCall(expr.function, (value,), expr.distinct)

    def _arithmetic(self, expr: Arithmetic) -> tree.Expression:
        left, right = self.expression(expr.left), self.expression(expr.right)
        if expr.op != "/":
            return tree.Binary(expr.op, left, right)
        is_zero = tree.Binary("=", right, tree.Given(0))
        divisor = tree.CaseExpression(None, ((is_zero, tree.Given(None)),), right)
        return tree.Binary("/", tree.Cast(left, "DOUBLE"), divisor)

    def filter(self, condition: Filter) -> tree.Expression:
        match condition:
            case And() | Or():
                op = "AND" if isinstance(condition, And) else "OR"
                parts = [self.filter(part) for part in condition.parts]
                found = parts[0]
                for part in parts[1:]:
                    found = tree.Binary(op, found, part)
                return found
            case Not():
                return tree.Unary("NOT", self.filter(condition.part))
            case Compare():
                op = "<>" if condition.op == "!=" else condition.op
                return tree.Binary(op, self.expression(condition.left), self.expression(condition.right))
            case IsNull():
                return tree.NullTest(self.expression(condition.left), condition.negated)
            case TextMatch():
                text = tree.Given(condition.pattern.lower())
                matches = tree.Binary(_MATCHES[condition.how], call("lower", self.expression(condition.left)), text)
                return _unless(matches, condition.negated)
            case Between():
                left = self.expression(condition.left)
                low = tree.Binary(">=", left, self.expression(condition.low))
                high = tree.Binary("<=", left, self.expression(condition.high))
                return _unless(tree.Binary("AND", low, high), condition.negated)
            case InList():
                values = tree.ListOf(tuple(_constant(value) for value in condition.values))
                return _unless(tree.Binary("IN", self.expression(condition.left), values), condition.negated)
            case InQuery():
                values_of = self.subplan(condition.plan)
                return _unless(tree.Binary("IN", self.expression(condition.left), values_of), condition.negated)


def _unless(condition: tree.Expression, negated: bool) -> tree.Expression:
    return tree.Unary("NOT", condition) if negated else condition


def _constant(constant: Constant) -> tree.Expression:
    if constant.type is None or constant.value is None:
        return tree.Given(constant.value)
    return call("date" if constant.type == "date" else "timestamp", tree.Given(str(constant.value)))

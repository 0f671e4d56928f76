"""Expressions and filters of a plan become nodes of an SQL syntax tree."""

from abc import ABC, abstractmethod
from collections.abc import Iterable

from sqlglot import exp

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
from answerable.query.scope import Scope, scope_of, selected, type_of
from answerable.query.sql.dialects import SqlDialect
from answerable.query.sql.measures import parsed_measure
from answerable.query.sql.names import identifier
from answerable.query.sql.syntax import Operand, call, cast, grouped, moment_of

_COMPARISONS = {"=": exp.EQ, "!=": exp.NEQ, "<": exp.LT, "<=": exp.LTE, ">": exp.GT, ">=": exp.GTE}
_ARITHMETIC = {"+": exp.Add, "-": exp.Sub, "*": exp.Mul}


class ExpressionCompiler(ABC):
    """Within one plan. What a column is called there, and how a sub-plan is compiled, is the statement's business."""

    def __init__(self, scope: Scope, dialect: SqlDialect) -> None:
        self.scope = scope
        self.dialect = dialect

    @abstractmethod
    def column(self, ref: ColumnRef) -> exp.Expr: ...

    @abstractmethod
    def subquery(self, plan: QueryPlan, *, without_nulls: bool = False) -> exp.Subquery: ...

    def name(self, name: str) -> exp.Identifier:
        return identifier(name, self.dialect.name)

    def expression(self, expr: Expr) -> exp.Expr:
        match expr:
            case ColumnRef():
                return self.column(expr)
            case Constant():
                return self.dialect.constant(expr.value, expr.type)
            case Aggregate():
                return self.aggregate(expr)
            case Arithmetic():
                return self._arithmetic(expr)
            case Bucket():
                return self.dialect.bucket(expr.unit, self._operand(expr.of))
            case DatePart():
                return self.dialect.part(expr.part, self.expression(expr.of))
            case DateDifference():
                return self.dialect.difference(expr.unit, self._operand(expr.start), self._operand(expr.end))
            case TextFunction():
                return call(expr.function.upper(), self.expression(expr.of))
            case MeasureRef():
                return self._measure(expr)
            case ScalarQuery():
                return self.subquery(expr.plan)

    def aggregate(self, expr: Aggregate) -> exp.Expr:
        node = self._over_all_rows(expr)
        if expr.where is None:
            return node
        return exp.Filter(this=node, expression=exp.Where(this=self.condition(expr.where)))

    def _over_all_rows(self, expr: Aggregate) -> exp.Expr:
        if expr.of is None:
            return call("COUNT", exp.Star())
        if expr.function == "median":
            return self.dialect.median(self._operand(expr.of))
        of = self.expression(expr.of)
        name = "STDDEV_SAMP" if expr.function == "stddev" else expr.function.upper()
        return call(name, exp.Distinct(expressions=[of]) if expr.distinct else of)

    def _arithmetic(self, expr: Arithmetic) -> exp.Expr:
        left, right = self.expression(expr.left), self.expression(expr.right)
        if expr.op == "/":
            kinds = {type_of(expr.left, self.scope), type_of(expr.right, self.scope)}
            return self.dialect.divided(left, right, whole="number" not in kinds)
        return _ARITHMETIC[expr.op](this=_summand(left, expr.op), expression=grouped(right))

    def _measure(self, ref: MeasureRef) -> exp.Expr:
        measure, alias = self.scope.measure(ref)
        # The brackets give the root a parent: without one, the root itself could not be replaced below.
        tree = exp.Paren(this=parsed_measure(measure, self.scope.catalog))
        for column in list(tree.find_all(exp.Column)):
            column.replace(self.column(ColumnRef(table=alias, column=column.name)))
        for division in reversed(list(tree.find_all(exp.Div))):
            division.replace(self.dialect.divided(division.this, division.expression, whole=True))
        measured: exp.Expr = tree.this.pop()
        return measured

    def condition(self, filter: Filter) -> exp.Expr:
        match filter:
            case Compare():
                return self._compare(filter)
            case TextMatch():
                return _negated(self._match(filter), filter.negated)
            case InList():
                return _negated(self._in_list(filter), filter.negated)
            case InQuery():
                # `x NOT IN (…)` is never true if the inner query returns a null.
                inner = self.subquery(filter.plan, without_nulls=filter.negated)
                return _negated(exp.In(this=grouped(self.expression(filter.left)), query=inner), filter.negated)
            case Between():
                return _negated(self._between(filter), filter.negated)
            case IsNull():
                test = exp.Is(this=grouped(self.expression(filter.left)), expression=exp.Null())
                return _negated(test, filter.negated)
            case And():
                return exp.and_(*self._flat(filter.parts, And), copy=False)
            case Or():
                return exp.or_(*self._flat(filter.parts, Or), copy=False)
            case Not():
                return exp.not_(self.condition(filter.part), copy=False)

    def _flat(self, parts: Iterable[Filter], kind: type[And] | type[Or]) -> list[exp.Expr]:
        nodes: list[exp.Expr] = []
        for part in parts:
            if isinstance(part, kind):
                nodes.extend(self._flat(part.parts, kind))
            else:
                nodes.append(self.condition(part))
        return nodes

    def _compare(self, filter: Compare) -> exp.Expr:
        operands = (self._operand(filter.left), self._operand(filter.right))
        left, right = self.dialect.aligned(operands, filter.op)
        return _COMPARISONS[filter.op](this=grouped(left), expression=grouped(right))

    def _between(self, filter: Between) -> exp.Expr:
        operands = [self._operand(side) for side in (filter.left, filter.low, filter.high)]
        this, low, high = (grouped(node) for node in self.dialect.aligned(operands, None))
        return exp.Between(this=this, low=low, high=high)

    def _match(self, filter: TextMatch) -> exp.Expr:
        left = self.expression(filter.left)
        if type_of(filter.left, self.scope) != "text":
            left = cast(left, exp.DType.TEXT)
        return self.dialect.match(grouped(left), filter.how, filter.pattern)

    def _in_list(self, filter: InList) -> exp.Expr:
        # `IN` never finds a null, so a null in the list becomes a condition of its own.
        values = [value for value in filter.values if value.value is not None]
        this, *nodes = self.dialect.aligned([self._operand(side) for side in (filter.left, *values)], None)
        if len(values) == len(filter.values):
            return exp.In(this=grouped(this), expressions=nodes)
        missing = exp.Is(this=grouped(self.expression(filter.left)), expression=exp.Null())
        return exp.or_(exp.In(this=grouped(this), expressions=nodes), missing, copy=False) if nodes else missing

    def _operand(self, expr: Expr) -> Operand:
        return Operand(
            node=self.expression(expr),
            type=type_of(expr, self.scope),
            moment=moment_of(str(expr.value)) if isinstance(expr, Constant) and expr.type is not None else None,
            origin=_origin(expr, self.scope),
            is_day=isinstance(expr, Bucket),
        )


def _negated(node: exp.Expr, negated: bool) -> exp.Expr:
    return exp.not_(node, copy=False) if negated else node


def _summand(node: exp.Expr, op: str) -> exp.Expr:
    """The left side of +, - or *, in brackets only where leaving them out would change the result."""
    binds_as_tightly = exp.Mul if op == "*" else exp.Add | exp.Sub | exp.Mul
    return node if isinstance(node, binds_as_tightly) else grouped(node)


def _origin(expr: Expr, scope: Scope) -> tuple[str, str] | None:
    """The column of the catalog whose stored values an expression gives."""
    match expr:
        case ColumnRef():
            return scope.tables[expr.table].name, expr.column
        case Aggregate(function="min" | "max") if expr.of is not None:
            return _origin(expr.of, scope)
        case ScalarQuery():
            inner = scope_of(expr.plan, scope.catalog)
            return _origin(selected(expr.plan, inner)[0].expr, inner)
    return None

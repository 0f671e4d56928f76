"""What the numbers of a result are: amounts that add up over its rows, changes of them, parts of a whole."""

from typing import Literal, TypeAlias

from answerable.query.plan import Aggregate, Arithmetic, ColumnRef, Constant, Expr, MeasureRef, QueryPlan, ScalarQuery
from answerable.query.scope import Scope

Quantity: TypeAlias = Literal["amount", "change", "growth", "share", "rate"]
"""An amount, the change of one and its share of one whole add up over the rows. Growth (a change in relation to what
was) and a rate (a part of what each row has of its own) do not."""


def quantity_of(expr: Expr, scope: Scope) -> Quantity | None:
    match expr:
        case Aggregate(function="sum") | Aggregate(function="count", distinct=False):
            return "amount"
        case MeasureRef():
            return "amount" if _adds_up(expr, scope) else None
        case ColumnRef():
            return "amount" if _is_summed(expr, scope) else None
        case Arithmetic():
            return _calculated(expr, scope)
    return None


def base_of(expr: Expr) -> Expr:
    """The amount that a number is about: without factors, and whichever rows take part."""
    match expr:
        case Aggregate():
            return expr.model_copy(update={"where": None})
        case Arithmetic(op="*", left=Constant(), right=other) | Arithmetic(op="*" | "/", left=other, right=Constant()):
            return base_of(other)
        case Arithmetic(op="-" | "/") if base_of(expr.left) == base_of(expr.right):
            return base_of(expr.left)
        case ScalarQuery(plan=QueryPlan(select=[only])):
            return base_of(only.expr)
    return expr


def is_percentage(expr: Expr) -> bool:
    """Whether it is counted in hundredths: a relation times 100."""
    match expr:
        case Arithmetic(op="*", left=Constant(value=100)) | Arithmetic(op="*", right=Constant(value=100)):
            return True
        case Arithmetic(op="/"):
            return is_percentage(expr.left)
    return False


def _calculated(expr: Arithmetic, scope: Scope) -> Quantity | None:
    left, right = expr.left, expr.right
    if expr.op == "*" and isinstance(left, Constant):
        return quantity_of(right, scope)
    if expr.op in ("*", "/") and isinstance(right, Constant):
        return quantity_of(left, scope)
    first, same = quantity_of(left, scope), base_of(left) == base_of(right)
    if expr.op == "/":
        return _related(first, right) if same else None
    if expr.op == "*" or first != "amount" or quantity_of(right, scope) != "amount":
        return None
    return "change" if expr.op == "-" and same else "amount"


def _related(part: Quantity | None, whole: Expr) -> Quantity | None:
    if part == "change":
        return "growth"
    if part == "amount":
        return "share" if isinstance(whole, ScalarQuery) else "rate"
    return None


def _adds_up(ref: MeasureRef, scope: Scope) -> bool:
    from answerable.query.sql.measures import adds_up  # brings the parser of SQL

    return adds_up(scope.measure(ref)[0], scope.catalog)


def _is_summed(column: ColumnRef, scope: Scope) -> bool:
    """A column of single amounts is one that a measure of its table adds up."""
    from answerable.query.sql.measures import summed_column

    table = scope.tables[column.table].name
    measures = (measure for measure in scope.catalog.measures if measure.table == table)
    return any(summed_column(measure, scope.catalog) == column.column for measure in measures)

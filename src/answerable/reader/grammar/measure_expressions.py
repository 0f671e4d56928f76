"""Measures as expressions, so that they can be restricted to a period or compared with each other."""

from sqlglot import exp, parse_one
from sqlglot.errors import ParseError

from answerable.core.catalog import Measure
from answerable.query.plan import Aggregate, Arithmetic, ColumnRef, Constant, Expr, Filter, MeasureRef
from answerable.query.sql.dialects import FRAMES_DIALECT
from answerable.reader.linking.schema import ColumnView

_FUNCTIONS: dict[type[exp.Expr], str] = {
    exp.Count: "count",
    exp.Sum: "sum",
    exp.Avg: "avg",
    exp.Min: "min",
    exp.Max: "max",
    exp.Median: "median",
}
_ARITHMETIC: dict[type[exp.Expr], str] = {exp.Add: "+", exp.Sub: "-", exp.Mul: "*", exp.Div: "/"}


def written_out(measure: Measure) -> Expr | None:
    """The measure as an expression, or None if it says more than the plan language can."""
    try:
        # What a plan can say of a measure, every dialect writes alike; any of them can read it.
        return _expr(parse_one(measure.expression, dialect=FRAMES_DIALECT), measure.table)
    except (ParseError, _TooMuch):
        return None


class _TooMuch(Exception):
    """The expression has a part that a plan has no word for."""


def _expr(tree: exp.Expr, table: str) -> Expr:
    if isinstance(tree, exp.Paren):
        return _expr(tree.this, table)
    if isinstance(tree, exp.Column):
        return ColumnRef(table=table, column=tree.name)
    if isinstance(tree, exp.Literal) and not tree.is_string:
        return Constant(value=float(tree.this) if "." in tree.this else int(tree.this))
    if type(tree) in _ARITHMETIC:
        left, right = _expr(tree.this, table), _expr(tree.expression, table)
        return Arithmetic.model_validate({"op": _ARITHMETIC[type(tree)], "left": left, "right": right})
    if type(tree) in _FUNCTIONS:
        return _aggregate(tree, table)
    raise _TooMuch


def _aggregate(tree: exp.Expr, table: str) -> Aggregate:
    inner, distinct = tree.this, False
    if isinstance(inner, exp.Distinct):
        inner, distinct = inner.expressions[0], True
    of = None if isinstance(inner, exp.Star) else _expr(inner, table)
    return Aggregate.model_validate({"function": _FUNCTIONS[type(tree)], "of": of, "distinct": distinct})


def is_money(column: ColumnView) -> bool:
    return is_additive(column) and not _MONEY.isdisjoint(column.words)


def is_additive(column: ColumnView) -> bool:
    """Whether values can be added up: amounts can, prices and ages cannot."""
    if not column.numeric or column.key or column.foreign or column.looks_like_id:
        return False
    return not _ADDITIVE.isdisjoint(column.words) and _PER_UNIT.isdisjoint(column.words)


_MONEY_WORDS = """
amount revenue sales turnover income profit cost costs spend spending expense expenses payment payments budget
earnings proceeds fee fees
"""
_COUNTED_WORDS = """
quantity qty units volume count total sold passengers visitors visits views clicks hours minutes distance calls
attendance rainfall precipitation
"""
_PER_UNIT_WORDS = "average avg mean rate ratio percent percentage per unit price max min limit share"
_MONEY = frozenset(_MONEY_WORDS.split())
_ADDITIVE = _MONEY | frozenset(_COUNTED_WORDS.split())
_PER_UNIT = frozenset(_PER_UNIT_WORDS.split())


def restricted(expr: Expr, condition: Filter) -> Expr | None:
    """The same calculation over only the rows for which the condition holds."""
    if isinstance(expr, Aggregate):
        return expr.model_copy(update={"where": condition}) if expr.where is None else None
    if isinstance(expr, Constant):
        return expr
    if isinstance(expr, Arithmetic):
        left, right = restricted(expr.left, condition), restricted(expr.right, condition)
        if left is None or right is None:
            return None
        return expr.model_copy(update={"left": left, "right": right})
    if isinstance(expr, MeasureRef | ColumnRef):
        return None
    return None

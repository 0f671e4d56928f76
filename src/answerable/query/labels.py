"""What result columns are called: the user's word where there is one, else a short one derived from the expression."""

from collections import Counter

from answerable.query.plan import (
    Aggregate,
    Arithmetic,
    Bucket,
    ColumnRef,
    Compare,
    Constant,
    DateDifference,
    DatePart,
    Expr,
    Filter,
    InList,
    MeasureRef,
    QueryPlan,
    ScalarQuery,
    TextFunction,
    TextMatch,
)
from answerable.query.quantities import base_of, quantity_of
from answerable.query.scope import Scope, scope_of, selected

_LONGEST = 60
"""In UTF-8 bytes: PostgreSQL cuts names off at 63."""

_RELATIONS = {"change": "change of", "growth": "growth of", "share": "share of", "rate": "share of"}
_OPENINGS = {"sum": "total", "stddev": "standard deviation"}


def labels_in(plan: QueryPlan, scope: Scope) -> tuple[str, ...]:
    """The names of the result columns, in order. No two are equal, even if case is ignored."""
    items = selected(plan, scope)
    wanted = [_shortened(item.label or label_of(item.expr, scope)) for item in items]
    seen = Counter(label.casefold() for label in wanted)
    for number, item in enumerate(items):
        ambiguous = seen[wanted[number].casefold()] > 1
        if ambiguous and item.label is None and isinstance(item.expr, ColumnRef):
            wanted[number] = _shortened(f"{item.expr.table}.{item.expr.column}")
    return _numbered(wanted)


def label_of(expr: Expr, scope: Scope) -> str:
    match expr:
        case ColumnRef():
            return expr.column
        case Constant():
            return "value"
        case Aggregate():
            return _label_of_aggregate(expr, scope)
        case Arithmetic():
            return _label_of_arithmetic(expr, scope)
        case Bucket():
            return expr.unit
        case DatePart():
            return expr.part
        case DateDifference():
            return f"{expr.unit}s"
        case TextFunction():
            return f"{expr.function} {_words(label_of(expr.of, scope))}"
        case MeasureRef():
            measure, _ = scope.measure(expr)
            return measure.label or measure.name
        case ScalarQuery():
            return labels_in(expr.plan, scope_of(expr.plan, scope.catalog))[0]


def _label_of_arithmetic(expr: Arithmetic, scope: Scope) -> str:
    opening = _RELATIONS.get(quantity_of(expr, scope) or "")
    if opening is not None:
        return f"{opening} {_words(label_of(base_of(expr), scope))}"
    return f"{label_of(expr.left, scope)} {expr.op} {label_of(expr.right, scope)}"


def _label_of_aggregate(expr: Aggregate, scope: Scope) -> str:
    condition = _gist(expr.where) if expr.where is not None else None
    if expr.function == "count":
        what = f"distinct {_words(label_of(expr.of, scope))}" if expr.distinct and expr.of is not None else "count"
    else:
        of = "" if expr.of is None else _words(label_of(expr.of, scope))
        opening = _OPENINGS.get(expr.function, expr.function)
        # `sum total price`, not `total total price`.
        what = f"{expr.function if of.startswith(opening) else opening} {of}".strip()
    return f"{what} {condition}" if condition else what


def _gist(condition: Filter) -> str | None:
    """The value that a simple condition asks for: enough to tell two counts apart."""
    match condition:
        case Compare(op="=", right=Constant(value=value)) if value is not None:
            return str(value)
        case TextMatch(negated=False):
            return condition.pattern
        case InList(negated=False):
            return " or ".join(str(constant.value) for constant in condition.values)
    return None


def _words(name: str) -> str:
    return name.replace("_", " ")


def _shortened(label: str) -> str:
    if len(label.encode()) <= _LONGEST:
        return label
    # The ellipsis takes three bytes. A character that the cut splits is dropped.
    return label.encode()[: _LONGEST - 3].decode(errors="ignore").rstrip() + "…"


def _numbered(labels: list[str]) -> tuple[str, ...]:
    taken: set[str] = set()
    for number, label in enumerate(labels):
        repeat = 1
        candidate = label
        while candidate.casefold() in taken:
            repeat += 1
            candidate = f"{label} {repeat}"
        taken.add(candidate.casefold())
        labels[number] = candidate
    return tuple(labels)

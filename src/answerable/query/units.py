"""What the numbers of a result are, and in what they are counted, as far as plan and catalog say so."""

from answerable.core.catalog import Catalog
from answerable.query.labels import labels_in
from answerable.query.nouns import unit_in_name
from answerable.query.plan import Aggregate, Arithmetic, ColumnRef, Expr, MeasureRef, QueryPlan
from answerable.query.quantities import Quantity, is_percentage, quantity_of
from answerable.query.scope import Scope, scope_of, selected


def result_units(plan: QueryPlan, catalog: Catalog) -> dict[str, str]:
    """The units by the names of the result columns. A column of unknown unit is left out."""
    scope = scope_of(plan, catalog)
    units = (_unit(item.expr, scope) for item in selected(plan, scope))
    return {label: unit for label, unit in zip(labels_in(plan, scope), units, strict=True) if unit is not None}


def result_quantities(plan: QueryPlan, catalog: Catalog) -> dict[str, Quantity]:
    """The quantities by the names of the result columns. A column of unknown quantity is left out."""
    scope = scope_of(plan, catalog)
    found = (quantity_of(item.expr, scope) for item in selected(plan, scope))
    return {label: one for label, one in zip(labels_in(plan, scope), found, strict=True) if one is not None}


def _unit(expr: Expr, scope: Scope) -> str | None:
    match expr:
        case ColumnRef():
            column = scope.column(expr)
            return column.unit or unit_in_name(column)
        case MeasureRef():
            return scope.measure(expr)[0].unit
        case Aggregate(of=of) if of is not None and expr.function != "count":
            return _unit(of, scope)
        case Arithmetic(op="+" | "-"):
            left, right = _unit(expr.left, scope), _unit(expr.right, scope)
            return left if left == right else None
        case Arithmetic() if is_percentage(expr) and quantity_of(expr, scope) in ("growth", "share", "rate"):
            return "%"
    return None

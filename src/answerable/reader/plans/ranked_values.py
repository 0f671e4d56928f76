"""Rows are ranked by a value only if they have one, and the first group is one that has a name.

"Which region grew fastest?" must not name a region if the growth of none is known. So a plan that shows the first rows
in some order leaves out rows whose value in that order is missing. Where the catalog says that none can be missing, the
plan stays as it is.
"""

import re

from answerable.core.catalog import Catalog, Column
from answerable.query.plan import Aggregate, And, Arithmetic, ColumnRef, Expr, Filter, IsNull, MeasureRef, QueryPlan


def without_unknown_ranks(plan: QueryPlan, catalog: Catalog) -> QueryPlan:
    if plan.limit is None or not plan.order_by or plan.set_operation is not None:
        return plan
    plan = _of_known_groups(plan, catalog)
    ranked_by = plan.order_by[0].expr
    if not _may_be_missing(ranked_by, catalog):
        return plan
    known = IsNull(left=ranked_by, negated=True)
    clause = "having" if plan.group_by else "where"
    before: Filter | None = getattr(plan, clause)
    conditions = () if before is None else before.parts if isinstance(before, And) else (before,)
    # A follow-up starts from a plan that may have the condition already.
    if known in conditions:
        return plan
    return plan.model_copy(update={clause: And(parts=(*conditions, known)) if conditions else known})


def _of_known_groups(plan: QueryPlan, catalog: Catalog) -> QueryPlan:
    """ "Who directed the most" is not answered with the films whose director is not known."""
    shown = [item.expr for item in plan.select]
    for key in plan.group_by:
        known = IsNull(left=key, negated=True)
        before = () if plan.where is None else plan.where.parts if isinstance(plan.where, And) else (plan.where,)
        if isinstance(key, ColumnRef) and key in shown and known not in before and _may_be_missing(key, catalog):
            plan = plan.model_copy(update={"where": And(parts=(*before, known)) if before else known})
    return plan


def _may_be_missing(expr: Expr, catalog: Catalog) -> bool:
    match expr:
        case ColumnRef():
            return _column_may_be_missing(expr, catalog)
        case Aggregate(function="count"):
            return False
        case Aggregate():
            # With a condition of its own, an aggregate may have no rows at all, as a sum of last year's orders.
            return expr.where is not None or (expr.of is not None and _may_be_missing(expr.of, catalog))
        case Arithmetic():
            # Division by zero has no value.
            parts = (expr.left, expr.right)
            return expr.op == "/" or any(_may_be_missing(part, catalog) for part in parts)
        case MeasureRef():
            return _measure_may_be_missing(expr, catalog)
    return False


def _column_may_be_missing(ref: ColumnRef, catalog: Catalog) -> bool:
    table = catalog.table(ref.table)
    column = table.column(ref.column) if table is not None else None
    return column is not None and _has_nulls(column)


def _measure_may_be_missing(ref: MeasureRef, catalog: Catalog) -> bool:
    measure = catalog.measure(ref.name)
    table = catalog.table(measure.table) if measure is not None else None
    if measure is None or table is None:
        return False
    words = frozenset(re.findall(r"\w+", measure.expression.lower()))
    return any(_has_nulls(column) for column in table.columns if column.name.lower() in words)


def _has_nulls(column: Column) -> bool:
    """Whether nulls are possible. A column whose nulls were never counted may have some."""
    return column.nullable and column.null_count != 0

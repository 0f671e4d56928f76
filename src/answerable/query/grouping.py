"""Which columns a grouped plan may show: its keys, and what they determine.

A plan that groups by a table's key may show the other columns of that table too, and those of tables that the key leads
to by joins. Not every database sees that, so the compiler adds them to the keys; the groups stay the same.
"""

from collections.abc import Iterator

from answerable.core.catalog import Table
from answerable.query.plan import Aggregate, ColumnRef, Expr, MeasureRef, QueryPlan
from answerable.query.scope import Scope, children, operands, selected


def completed_keys(plan: QueryPlan, scope: Scope) -> list[Expr]:
    """The plan's keys and the determined columns that it shows besides."""
    keys = list(plan.group_by)
    shown = [item.expr for item in selected(plan, scope)] + [item.expr for item in plan.order_by]
    if plan.having is not None:
        shown += [expr for _, expr in operands(plan.having)]
    for expr in shown:
        keys += [column for _, column in ungrouped(expr, keys)]
    return keys


def ungrouped(expr: Expr, keys: list[Expr], path: str = "") -> Iterator[tuple[str, ColumnRef]]:
    """Columns that an expression reads outside aggregates and that are no keys, with their field paths."""
    if expr in keys or isinstance(expr, Aggregate | MeasureRef):
        return
    if isinstance(expr, ColumnRef):
        yield path, expr
    for name, child in children(expr):
        yield from ungrouped(child, keys, f"{path}.{name}")


def determined(keys: list[Expr], scope: Scope) -> set[ColumnRef]:
    """Every column whose value is the same in all rows of a group."""
    known = {key for key in keys if isinstance(key, ColumnRef)}
    # What one step finds may complete another key or join, so the steps are repeated until one finds nothing new.
    while True:
        found = set(known)
        for alias, table in scope.tables.items():
            if _has_key(alias, table, known):
                found |= {ColumnRef(table=alias, column=column.name) for column in table.columns}
        for join in scope.joins:
            if all(left in known for left, _ in join.pairs):
                found |= {right for _, right in join.pairs}
            # The right side of an outer join is null for every left row without a partner: it determines no left value.
            if not join.outer:
                found |= {left for left, right in join.pairs if right in known}
        if found == known:
            return known
        known = found


def _has_key(alias: str, table: Table, known: set[ColumnRef]) -> bool:
    names = {ref.column for ref in known if ref.table == alias}
    if table.primary_key and names.issuperset(table.primary_key):
        return True
    # A unique column may hold any number of nulls, and all these rows would form one group.
    columns = (column for column in table.columns if column.name in names)
    return any(column.unique and (not column.nullable or column.null_count == 0) for column in columns)

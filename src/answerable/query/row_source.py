"""What one row of a plan is: the table that it describes, and the joins that lead from there to the other tables."""

from collections.abc import Iterator, Mapping
from typing import TypeAlias

from answerable.core.catalog import Catalog, Table
from answerable.core.records import dataclass
from answerable.query.plan import (
    Aggregate,
    And,
    Between,
    ColumnRef,
    Compare,
    Expr,
    Filter,
    InList,
    InQuery,
    IsNull,
    Not,
    Or,
    QueryPlan,
    TextMatch,
)
from answerable.query.scope import ResolvedJoin, Scope, children

Pairs: TypeAlias = tuple[tuple[ColumnRef, ColumnRef], ...]


@dataclass(frozen=True, slots=True)
class JoinStep:
    """The join of a table to its parent. The columns of the parent are on the left of the pairs."""

    alias: str
    parent: str
    pairs: Pairs
    to_one: bool
    outer: bool


@dataclass(frozen=True, slots=True)
class RowSource:
    root: str
    """The alias of the table that has one row for each row of the plan; the entity where no table has."""
    exact: bool
    """Whether there is such a table."""
    links: tuple[JoinStep, ...]
    """The steps to all other tables, parents first."""

    def link(self, alias: str) -> JoinStep | None:
        return next((link for link in self.links if link.alias == alias), None)


def rows_of(plan: QueryPlan, scope: Scope) -> RowSource:
    """Finds the table that has one row for each row of the plan. Inner joins have no first table: "customers with their
    orders" and "orders with their customer" are the same rows, and both are orders."""
    entity = plan.alias or plan.entity
    fixed = not plan.select or any(join.outer for join in scope.joins)
    for alias in (entity,) if fixed else scope.tables:
        links = _links_from(alias, scope)
        if len(links) == len(scope.joins) and all(link.to_one for link in links):
            return RowSource(alias, True, links)
    return RowSource(entity, False, _links_from(entity, scope))


def _links_from(root: str, scope: Scope) -> tuple[JoinStep, ...]:
    """The steps to all tables that can be reached from this one. The entity reaches all tables."""
    found: list[JoinStep] = []
    reached = {root}
    while link := next((link for join in scope.joins for link in _steps(join, reached, scope)), None):
        found.append(link)
        reached.add(link.alias)
    return tuple(found)


def _steps(join: ResolvedJoin, reached: set[str], scope: Scope) -> Iterator[JoinStep]:
    """The join as a step from the reached side to the other side. A join on columns of more than one table cannot be
    reversed."""
    known = {left.table for left, _ in join.pairs}
    if join.alias not in reached and known <= reached:
        parent = join.pairs[0][0].table
        yield JoinStep(
            join.alias, parent, join.pairs, _is_unique(scope, [right for _, right in join.pairs]), join.outer
        )
    elif join.alias in reached and len(known) == 1 and not known & reached:
        pairs = tuple((right, left) for left, right in join.pairs)
        (alias,) = known
        yield JoinStep(alias, join.alias, pairs, _is_unique(scope, [left for left, _ in join.pairs]), join.outer)


def _is_unique(scope: Scope, refs: list[ColumnRef]) -> bool:
    table = scope.tables[refs[0].table]
    names = tuple(ref.column for ref in refs)
    if set(table.primary_key) and set(table.primary_key) <= set(names):
        return True
    if any(scope.column(ref).unique for ref in refs):
        return True
    return any(r.to_table == table.name and set(r.to_columns) <= set(names) for r in scope.catalog.relationships)


def usual_ways(catalog: Catalog, start: str) -> Mapping[str, tuple[str, ...] | None]:
    """Every table that a row of `start` leads to, with the path to it, or None if more than one path is the
    shortest."""
    ways: dict[str, tuple[str, ...] | None] = {start: ()}
    edge = [start]
    while edge:
        found: dict[str, tuple[str, ...] | None] = {}
        for relationship in catalog.relationships:
            table, way = relationship.to_table, ways.get(relationship.from_table)
            if relationship.from_table in edge and table not in ways:
                found[table] = None if table in found or way is None else (*way, table)
        ways |= found
        edge = list(found)
    return ways


def relationships_between(catalog: Catalog, one: Table, other: Table) -> Iterator[frozenset[tuple[str, str]]]:
    """The pairs of columns by which the catalog joins the two tables, `one` on the left; a table that refers to itself
    on the side of many."""
    for relationship in catalog.relationships:
        pairs = tuple(zip(relationship.from_columns, relationship.to_columns, strict=True))
        if (relationship.from_table, relationship.to_table) == (one.name, other.name):
            yield frozenset(pairs)
        elif (relationship.to_table, relationship.from_table) == (one.name, other.name):
            yield frozenset((right, left) for left, right in pairs)


def mentioned(plan: QueryPlan) -> set[str]:
    """The aliases of the tables whose columns the plan shows, tests, groups by or sorts on."""
    filters = [condition for condition in (plan.where, plan.having) if condition is not None]
    exprs: list[Expr] = [item.expr for item in plan.select] + list(plan.group_by) + [o.expr for o in plan.order_by]
    for condition in filters:
        exprs.extend(_tested(condition))
    return {ref.table for expr in exprs for ref in _columns(expr)}


def _columns(expr: Expr) -> Iterator[ColumnRef]:
    if isinstance(expr, ColumnRef):
        yield expr
    for _, child in children(expr):
        yield from _columns(child)
    if isinstance(expr, Aggregate) and expr.where is not None:
        for tested in _tested(expr.where):
            yield from _columns(tested)


def _tested(condition: Filter) -> Iterator[Expr]:
    match condition:
        case And() | Or():
            for part in condition.parts:
                yield from _tested(part)
        case Not():
            yield from _tested(condition.part)
        case Compare():
            yield condition.left
            yield condition.right
        case Between():
            yield from (condition.left, condition.low, condition.high)
        case TextMatch() | InList() | InQuery() | IsNull():
            yield condition.left

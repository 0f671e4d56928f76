"""A plan becomes Cypher, by way of a syntax tree; the same plan always becomes the same text.

A node table of the plan is a node of the pattern. A relationship table is a relationship; the nodes that it leads to
are those that the plan joins to its ends, or nodes without a name in the plan. So a join along a relationship is one
hop in its own direction, never a comparison of keys.
"""

from collections.abc import Iterator
from dataclasses import dataclass, field

from answerable.core.catalog import Catalog, Connection, Table
from answerable.query.cypher import tree
from answerable.query.cypher.check import CheckedCypher, checked
from answerable.query.cypher.plan_expressions import ExpressionsOfPlan, conjunction
from answerable.query.grouping import completed_keys
from answerable.query.labels import labels_in
from answerable.query.plan import Aggregate, ColumnRef, Expr, MeasureRef, QueryPlan
from answerable.query.scope import ResolvedJoin, Scope, aggregates, children, invalid, operands, scope_of, selected
from answerable.query.validate import validate


def compiled_cypher(plan: QueryPlan, catalog: Catalog) -> CheckedCypher:
    """The plan as a query that may run. A plan that cannot run is a `UserError` that names the field."""
    validate(plan, catalog)
    return checked(tree.CypherQuery(tuple(_parts(plan, catalog)), _unites_all(plan)), catalog)


def _unites_all(plan: QueryPlan) -> bool:
    return plan.set_operation is not None and plan.set_operation.op == "union_all"


def _parts(plan: QueryPlan, catalog: Catalog) -> Iterator[tree.SingleQuery]:
    operation = plan.set_operation
    if operation is None:
        yield _PlanQuery(plan, catalog).query()
        return
    if operation.op not in ("union", "union_all") or plan.order_by or plan.limit is not None or plan.offset:
        raise invalid("set_operation", "A graph can only unite the rows of two plans, without order and limit.")
    left = plan.model_copy(update={"set_operation": None})
    yield _PlanQuery(left, catalog).query()
    names = labels_in(left, scope_of(left, catalog))
    for part in _parts(operation.right, catalog):
        items = tuple(
            tree.ReturnItem(item.expression, name) for item, name in zip(part.returned.items, names, strict=True)
        )
        yield tree.SingleQuery(part.clauses, tree.Projection(items, distinct=part.returned.distinct))


@dataclass(slots=True)
class _Ends:
    """The variables of the nodes that a relationship of the plan connects."""

    connection: Connection
    left: str
    right: str


@dataclass(slots=True)
class _PlanQuery(ExpressionsOfPlan):
    plan: QueryPlan
    catalog: Catalog
    names: dict[str, str] = field(default_factory=dict)
    """The variable of each alias."""
    ends: dict[str, _Ends] = field(default_factory=dict)
    before: list[tree.Clause] = field(default_factory=list)
    """Clauses that compute the values of sub-plans."""
    values: list[str] = field(default_factory=list)
    """The variables of sub-plans."""
    conditions: list[tree.Expression] = field(default_factory=list)
    optional: set[str] = field(default_factory=set)
    """Relationships whose absence keeps the row."""
    depth: str = ""
    scope: Scope = field(init=False)

    def __post_init__(self) -> None:
        self.scope = scope_of(self.plan, self.catalog)
        for number, alias in enumerate(self.scope.tables):
            self.names[alias] = f"{self.depth}{_letter(self.scope.tables[alias])}{number or ''}"
        for alias, table in self.scope.tables.items():
            if table.connections:
                self.ends[alias] = self._free_ends(alias, table)
        for join in self.scope.joins:
            self._join(join)

    def _free_ends(self, alias: str, table: Table) -> _Ends:
        if len(table.connections) > 1 or table.connections[0].from_column is None:
            raise invalid("entity", f"{table.name!r} connects more than one pair of tables; ask for it in Cypher.")
        return _Ends(table.connections[0], f"{self.names[alias]}_from", f"{self.names[alias]}_to")

    def _join(self, join: ResolvedJoin) -> None:
        """A join of a relationship to one of its nodes makes that node an end of it. Any other compares columns."""
        for left, right in join.pairs:
            if self._meets(left, right) or self._meets(right, left):
                if join.outer:
                    self.optional.add(left.table if left.table in self.ends else right.table)
                continue
            if join.outer:
                raise invalid("joins", "A graph keeps rows without a partner only along its relationships.")
            self.conditions.append(tree.Binary("=", self.column(left), self.column(right)))

    def _meets(self, edge: ColumnRef, node: ColumnRef) -> bool:
        ends = self.ends.get(edge.table)
        if ends is None or node.table in self.ends:
            return False
        each, table = ends.connection, self.scope.tables[node.table].name
        if (edge.column, table, node.column) == (each.from_column, each.from_table, each.from_key):
            ends.left = self._shared(ends.left, node.table)
        elif (edge.column, table, node.column) == (each.to_column, each.to_table, each.to_key):
            ends.right = self._shared(ends.right, node.table)
        else:
            return False
        return True

    def _shared(self, end: str, alias: str) -> str:
        """The variable of a node that is an end of a relationship. Two nodes at one end are the same node."""
        if end in self.names.values():
            self.conditions.append(tree.Binary("=", tree.Variable(end), tree.Variable(self.names[alias])))
            return end
        return self.names[alias]

    # Clauses.

    def query(self) -> tree.SingleQuery:
        where = conjunction([*self.conditions, *([self.filter(self.plan.where)] if self.plan.where else [])])
        reading = list(self._reading(where))
        returned, grouped = self._returned()
        return tree.SingleQuery((*self.before, *reading, *grouped), returned)

    def _reading(self, where: tree.Expression | None) -> Iterator[tree.Clause]:
        required = [alias for alias in self.ends if alias not in self.optional]
        optional = [alias for alias in self.ends if alias in self.optional]
        in_optional = {end for alias in optional for end in (self.ends[alias].left, self.ends[alias].right)}
        in_required = {end for alias in required for end in (self.ends[alias].left, self.ends[alias].right)}
        entity = self.names[self.plan.alias or self.plan.entity]
        alone = [
            alias
            for alias, table in self.scope.tables.items()
            if not table.connections
            and self.names[alias] not in in_required
            and (self.names[alias] not in in_optional or self.names[alias] == entity)
        ]
        patterns = [self._edge(alias) for alias in required] + [self._node(alias) for alias in alone]
        if not patterns:
            raise invalid("joins", "A plan cannot start from a relationship that may be absent.")
        yield tree.MatchClause(tuple(patterns), None if optional else where)
        for alias in optional:
            yield tree.MatchClause((self._edge(alias),), optional=True)
        if optional and where is not None:
            # After OPTIONAL MATCH a condition would only decide what is optional, so it follows a WITH.
            yield tree.With(tree.Projection((), star=True, where=where))

    def _edge(self, alias: str) -> tree.Pattern:
        ends, table = self.ends[alias], self.scope.tables[alias]
        nodes = (
            tree.NodePattern(ends.left, (ends.connection.from_table,)),
            tree.NodePattern(ends.right, (ends.connection.to_table,)),
        )
        return tree.Pattern(nodes, (tree.EdgePattern(self.names[alias], (table.name,)),))

    def _node(self, alias: str) -> tree.Pattern:
        return tree.Pattern((tree.NodePattern(self.names[alias], (self.scope.tables[alias].name,)),))

    def _returned(self) -> tuple[tree.Projection, list[tree.Clause]]:
        items, labels = selected(self.plan, self.scope), labels_in(self.plan, self.scope)
        groups = bool(self.plan.group_by) or self.plan.having is not None or any(aggregates(i.expr) for i in items)
        staged: list[tree.Clause] = [self._groups()] if groups else []
        order: list[tree.Sorting] = []
        for item in self.plan.order_by:
            value = self.expression(item.expr)
            # The engine puts nulls first in descending order; people look for the greatest value there.
            order += [tree.Sorting(tree.NullTest(value, False)), tree.Sorting(value, item.descending)]
        shown = tuple(
            tree.ReturnItem(self.expression(item.expr), label) for item, label in zip(items, labels, strict=True)
        )
        distinct = self.plan.distinct
        if distinct and order:
            # Rows are made distinct first; then only what is shown can be sorted on.
            names = {item.expression: tree.Variable(str(item.alias)) for item in shown}
            staged.append(tree.With(tree.Projection(shown, distinct=True)))
            order = [tree.Sorting(_renamed(each.expression, names), each.descending) for each in order]
            shown = tuple(tree.ReturnItem(tree.Variable(str(item.alias)), item.alias) for item in shown)
            distinct = False
        skip = self.plan.offset or None
        return tree.Projection(shown, distinct=distinct, order=tuple(order), skip=skip, limit=self.plan.limit), staged

    def _groups(self) -> tree.With:
        """The keys and aggregates of the plan, each under a name by which the rest of the query knows it."""
        keys = completed_keys(self.plan, self.scope)
        found = list(dict.fromkeys(each for expr in self._outputs() for each in _aggregates_in(expr)))
        items = [tree.ReturnItem(self.expression(key), f"key{number}") for number, key in enumerate(keys)]
        items += [tree.ReturnItem(self.expression(each), f"figure{number}") for number, each in enumerate(found)]
        items += [tree.ReturnItem(tree.Variable(name), name) for name in self.values]
        for number, key in enumerate(keys):
            self.known[key] = tree.Variable(f"key{number}")
        for number, each in enumerate(found):
            self.known[each] = tree.Variable(f"figure{number}")
        having = None if self.plan.having is None else self.filter(self.plan.having)
        return tree.With(tree.Projection(tuple(items), where=having))

    def _outputs(self) -> Iterator[Expr]:
        yield from (item.expr for item in selected(self.plan, self.scope))
        yield from (item.expr for item in self.plan.order_by)
        if self.plan.having is not None:
            yield from (expr for _, expr in operands(self.plan.having))

    # Names.

    def column(self, ref: ColumnRef) -> tree.Expression:
        ends = self.ends.get(ref.table)
        if ends is not None and ref.column == ends.connection.from_column:
            return tree.Property(tree.Variable(ends.left), str(ends.connection.from_key))
        if ends is not None and ref.column == ends.connection.to_column:
            return tree.Property(tree.Variable(ends.right), str(ends.connection.to_key))
        return tree.Property(tree.Variable(self.names[ref.table]), ref.column)

    def subplan(self, plan: QueryPlan) -> tree.Expression:
        """The values of a one-column plan as a list, which is computed first."""
        name = f"part{self.depth}{len(self.values)}"
        if plan.set_operation is not None:
            raise invalid("set_operation", "A graph cannot unite rows inside a condition.")
        inner = _PlanQuery(plan, self.catalog, depth=f"{name}_")
        query = inner.query()
        value = tree.Variable("value")
        first = tree.ReturnItem(query.returned.items[0].expression, "value")
        carried = tuple(tree.ReturnItem(tree.Variable(each), each) for each in self.values)
        shown = tree.Projection(
            (first, *carried),
            distinct=query.returned.distinct,
            order=query.returned.order,
            skip=query.returned.skip,
            limit=query.returned.limit,
        )
        collected = tree.ReturnItem(tree.FunctionCall("collect", (value,)), name)
        if self.values:
            raise invalid("where", "A graph compares with one inner plan at a time.")
        self.before += [*query.clauses, tree.With(shown), tree.With(tree.Projection((collected,)))]
        self.values.append(name)
        return tree.Variable(name)


def _aggregates_in(expr: Expr) -> Iterator[Aggregate | MeasureRef]:
    if isinstance(expr, Aggregate | MeasureRef):
        yield expr
        return
    for _, child in children(expr):
        yield from _aggregates_in(child)


def _renamed(expression: tree.Expression, names: dict[tree.Expression, tree.Variable]) -> tree.Expression:
    if isinstance(expression, tree.NullTest):
        return tree.NullTest(_renamed(expression.operand, names), expression.negated)
    if expression not in names:
        raise invalid("order_by", "Rows that are made distinct can only be sorted on what is shown.")
    return names[expression]


def _letter(table: Table) -> str:
    first = table.name[:1].lower()
    return first if first.isascii() and first.isalpha() else "n"

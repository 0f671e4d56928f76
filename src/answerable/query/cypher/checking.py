"""Types a query against the catalog, and completes it: the labels that can stand in a pattern, the properties that are
shown in place of whole nodes. What may not be said is refused.

`access/graph_shape.py` builds on the same walk: it puts what a person may see in the place of what is named.
"""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace

from answerable.query.cypher import tree, write
from answerable.query.cypher.graph import GraphSchema
from answerable.query.cypher.shown import expanded
from answerable.query.cypher.tokens import invalid
from answerable.query.cypher.types import (
    EDGE,
    EDGES,
    NODE,
    NODES,
    PATH,
    VALUE,
    NameKind,
    Scope,
    element_of,
    require_value,
)
from answerable.query.cypher.words import AGGREGATES
from answerable.query.scope import nearest


@dataclass(slots=True)
class CypherCheck:
    schema: GraphSchema
    tables: set[str] = field(default_factory=set)
    read: dict[str, set[str]] = field(default_factory=dict)

    def query(self, query: tree.CypherQuery) -> tree.CypherQuery:
        parts = tuple(map(self._single, query.parts))
        headers = [tuple(item.alias for item in part.returned.items) for part in parts]
        if any(header != headers[0] for header in headers):
            raise invalid("The parts of a UNION return different columns.", "Give them the same names with AS.")
        return replace(query, parts=parts)

    def _single(self, query: tree.SingleQuery) -> tree.SingleQuery:
        scope: Scope = {}
        clauses: list[tree.Clause] = []
        for clause in query.clauses:
            match clause:
                case tree.MatchClause():
                    patterns, where = self.matched(clause.patterns, clause.where, scope)
                    clauses.append(replace(clause, patterns=patterns, where=where))
                case tree.Unwind():
                    items, kind = self.expression(clause.items, scope)
                    clauses.append(replace(clause, items=items))
                    _declare(clause.alias, element_of(kind), scope)
                case tree.With():
                    projection, scope = self.carried_on(clause.projection, scope)
                    clauses.append(tree.With(projection))
        return tree.SingleQuery(tuple(clauses), self._returned(query.returned, scope))

    # WITH and RETURN.

    def carried_on(self, projection: tree.Projection, scope: Scope) -> tuple[tree.Projection, Scope]:
        """A WITH, and the scope after it."""
        after: Scope = dict(scope) if projection.star else {}
        items: list[tree.ReturnItem] = []
        for item in projection.items:
            expression, kind = self.expression(item.expression, scope, groups=True)
            alias = item.alias or (expression.name if isinstance(expression, tree.Variable) else None)
            if alias is None:
                raise invalid(
                    f"WITH {write.expression(item.expression)} needs a name.", "Write AS and a name after it."
                )
            if kind.name in ("nodes", "edges", "path") and not isinstance(expression, tree.Variable):
                raise invalid("Lists of nodes cannot be carried on by WITH.", "Carry the path on, and use it later.")
            items.append(tree.ReturnItem(expression, alias))
            after[alias] = kind
        if not after:
            raise invalid("WITH carries nothing on.")
        items += self.carried_besides(items, after)
        order = self._order(projection.order, {**scope, **after})
        where = self.condition(projection.where, after)
        return replace(projection, items=tuple(items), order=order, where=where), after

    def carried_besides(self, items: Sequence[tree.ReturnItem], after: Scope) -> list[tree.ReturnItem]:
        """What a WITH carries on without being asked: nothing, unless a check of another kind needs it."""
        return []

    def _returned(self, projection: tree.Projection, scope: Scope) -> tree.Projection:
        items = [tree.ReturnItem(tree.Variable(name)) for name in scope] if projection.star else []
        if projection.star and not items:
            raise invalid("RETURN * returns nothing, as nothing has a name.")
        shown: list[tree.ReturnItem] = []
        for item in [*items, *projection.items]:
            expression, kind = self.expression(item.expression, scope, groups=True)
            if kind.name == "value":
                shown.append(tree.ReturnItem(expression, item.alias))
                continue
            for added in expanded(tree.ReturnItem(expression, item.alias), kind, self.schema):
                of_it, _value = self.expression(added.expression, scope, groups=True)
                shown.append(replace(added, expression=of_it))
        named = _with_unique_names(shown)
        aliases: Scope = {item.alias: VALUE for item in named if item.alias is not None}
        order = self._order(projection.order, {**aliases, **scope})
        return replace(projection, items=tuple(named), star=False, order=order)

    def _order(self, order: Sequence[tree.Sorting], scope: Scope) -> tuple[tree.Sorting, ...]:
        found = []
        for each in order:
            expression, kind = self.expression(each.expression, scope, groups=True)
            require_value(kind, each.expression)
            found.append(replace(each, expression=expression))
        return tuple(found)

    def condition(self, where: tree.Expression | None, scope: Scope) -> tree.Expression | None:
        if where is None:
            return None
        expression, kind = self.expression(where, scope)
        require_value(kind, where)
        return expression

    # Patterns.

    def matched(
        self, patterns: Sequence[tree.Pattern], where: tree.Expression | None, scope: Scope
    ) -> tuple[tuple[tree.Pattern, ...], tree.Expression | None]:
        """A MATCH, of the query itself or inside of EXISTS and COUNT. Its variables are added to the scope."""
        found = self.patterns(patterns, scope)
        return found, self.condition(where, scope)

    def patterns(self, patterns: Sequence[tree.Pattern], scope: Scope) -> tuple[tree.Pattern, ...]:
        """The patterns with the labels that can stand in them. Their variables are added to the scope."""
        bound = frozenset(scope)
        found = [self._labelled(pattern, scope) for pattern in patterns]
        # A variable may get its label from a later pattern, so all are narrowed together until nothing changes.
        while True:
            narrowed = [self._narrowed(pattern, scope) for pattern in found]
            if narrowed == found:
                break
            found = narrowed
        return tuple(self._completed(pattern, scope, bound) for pattern in found)

    def _labelled(self, pattern: tree.Pattern, scope: Scope) -> tree.Pattern:
        nodes = tuple(self._node(node, scope) for node in pattern.nodes)
        edges = tuple(self._edge(edge, scope) for edge in pattern.edges)
        if pattern.variable is not None:
            _declare(pattern.variable, PATH, scope)
        return replace(pattern, nodes=nodes, edges=edges)

    def _node(self, node: tree.NodePattern, scope: Scope) -> tree.NodePattern:
        labels = tuple(dict.fromkeys(self.schema.node(label).name for label in node.labels))
        known = scope.get(node.variable) if node.variable else None
        if known is not None:
            if known.name != "node":
                raise invalid(f"{node.variable!r} is not a node.", "Give each node a name of its own.")
            both = tuple(label for label in labels or known.tables if label in known.tables)
            if not both:
                raise invalid(f"{node.variable!r} is a {' or '.join(known.tables)}, not a {' or '.join(labels)}.")
            labels = both
        labels = labels or self.schema.node_names
        if node.variable:
            scope[node.variable] = replace(NODE, tables=labels)
        return replace(node, labels=labels)

    def _edge(self, edge: tree.EdgePattern, scope: Scope) -> tree.EdgePattern:
        types = tuple(dict.fromkeys(self.schema.edge(name).name for name in edge.types)) or self.schema.edge_names
        if not types:
            raise invalid(f"{self.schema.catalog.source} has no relationships that could be followed.")
        if edge.variable is not None:
            _declare(edge.variable, replace(EDGE if edge.length is None else PATH, tables=types), scope)
        return replace(edge, types=types)

    def _narrowed(self, pattern: tree.Pattern, scope: Scope) -> tree.Pattern:
        nodes, edges = list(pattern.nodes), list(pattern.edges)
        for place, node in enumerate(nodes):
            if node.variable:
                tables = scope[node.variable].tables
                nodes[place] = replace(node, labels=tuple(label for label in node.labels if label in tables))
        for place, edge in enumerate(edges):
            left, right = nodes[place], nodes[place + 1]
            fits = self.schema.steps(edge, left.labels, right.labels)
            if edge.length is None and not fits:
                raise self.schema.impossible(edge, left.labels, right.labels)
            if edge.length is None:
                edges[place] = replace(edge, types=tuple(t for t in edge.types if t in {step.type for step in fits}))
                lefts, rights = {step.left for step in fits}, {step.right for step in fits}
            else:
                lefts, rights = self.schema.path_ends(edge)
            nodes[place] = self._with_labels(left, lefts, edge)
            nodes[place + 1] = self._with_labels(right, rights, edge)
        for node in nodes:
            if node.variable:
                scope[node.variable] = replace(NODE, tables=node.labels)
        for edge in edges:
            if edge.variable:
                scope[edge.variable] = replace(scope[edge.variable], tables=edge.types)
        return replace(pattern, nodes=tuple(nodes), edges=tuple(edges))

    def _with_labels(
        self, node: tree.NodePattern, possible: Collection[str], edge: tree.EdgePattern
    ) -> tree.NodePattern:
        labels = tuple(label for label in node.labels if label in possible)
        if not labels:
            raise self.schema.impossible(edge, node.labels, node.labels)
        return replace(node, labels=labels)

    def _completed(self, pattern: tree.Pattern, scope: Scope, bound: Collection[str]) -> tree.Pattern:
        nodes: list[tree.NodePattern] = []
        for node in pattern.nodes:
            self.tables.update(node.labels)
            properties = self._properties(node.properties, node.labels, scope)
            labels = () if node.variable in bound else node.labels
            nodes.append(replace(node, labels=labels, properties=properties))
        edges: list[tree.EdgePattern] = []
        for edge in pattern.edges:
            self.tables.update(edge.types)
            if edge.properties and edge.length is not None:
                raise invalid("The relationships of a path cannot be given by their properties.", "Use WHERE all(…).")
            edges.append(replace(edge, properties=self._properties(edge.properties, edge.types, scope)))
        return replace(pattern, nodes=tuple(nodes), edges=tuple(edges))

    def _properties(
        self, fields: tuple[tuple[str, tree.Expression], ...], tables: tuple[str, ...], scope: Scope
    ) -> tuple[tuple[str, tree.Expression], ...]:
        found = []
        for name, value in fields:
            expression, kind = self.expression(value, scope)
            require_value(kind, value)
            found.append((self._property(name, tables), expression))
        return tuple(found)

    # Expressions.

    def expression(
        self, node: tree.Expression, scope: Scope, *, groups: bool = False
    ) -> tuple[tree.Expression, NameKind]:
        """The expression with its names as the catalog has them, and its kind. `groups`: whether aggregates may
        stand in it."""
        match node:
            case tree.Given():
                return node, VALUE
            case tree.Variable():
                if node.name not in scope:
                    raise invalid(f"Nothing is called {node.name!r} here.", nearest(node.name, scope))
                return node, scope[node.name]
            case tree.Property():
                return self._property_of(node, scope, groups)
            case tree.FunctionCall():
                return self._call(node, scope, groups)
            case tree.Quantified():
                items, kind = self.expression(node.items, scope, groups=groups)
                where = self._value(node.where, {**scope, node.variable: element_of(kind)}, groups)
                return replace(node, items=items, where=where), VALUE
            case tree.Matching():
                patterns, condition = self.matched(node.patterns, node.where, dict(scope))
                return replace(node, patterns=patterns, where=condition), VALUE
            case tree.Lambda():
                raise invalid("A function such as n -> n.name can only stand in list_transform() and list_filter().")
            case tree.Binary():
                return self._binary(node, scope, groups), VALUE
            case tree.ListElement():
                of, kind = self.expression(node.of, scope, groups=groups)
                return replace(node, of=of, index=self._value(node.index, scope, groups)), element_of(kind)
            case _:
                return self._plain(node, scope, groups), VALUE

    def _plain(self, node: tree.Expression, scope: Scope, groups: bool) -> tree.Expression:
        """Expressions whose parts are all values."""

        def value(part: tree.Expression) -> tree.Expression:
            return self._value(part, scope, groups)

        match node:
            case tree.ListOf():
                return replace(node, items=tuple(map(value, node.items)))
            case tree.Record():
                return replace(node, fields=tuple((name, value(part)) for name, part in node.fields))
            case tree.Unary() | tree.Cast():
                return replace(node, operand=value(node.operand))
            case tree.NullTest():
                return replace(node, operand=self.expression(node.operand, scope, groups=groups)[0])
            case tree.CaseExpression():
                branches = tuple((value(when), value(then)) for when, then in node.branches)
                operand = None if node.operand is None else value(node.operand)
                otherwise = None if node.otherwise is None else value(node.otherwise)
                return tree.CaseExpression(operand, branches, otherwise)
        raise AssertionError(f"no such expression: {node!r}")

    def _value(self, node: tree.Expression, scope: Scope, groups: bool) -> tree.Expression:
        expression, kind = self.expression(node, scope, groups=groups)
        require_value(kind, node)
        return expression

    def _binary(self, node: tree.Binary, scope: Scope, groups: bool) -> tree.Binary:
        left, left_kind = self.expression(node.left, scope, groups=groups)
        right, right_kind = self.expression(node.right, scope, groups=groups)
        same = node.op in ("=", "<>") and left_kind.name == right_kind.name and left_kind.name in ("node", "edge")
        among = node.op == "IN" and (right_kind.name, left_kind.name) == ("nodes", "node")
        if not same and not among:
            require_value(left_kind, node.left)
            require_value(right_kind, node.right)
        return replace(node, left=left, right=right)

    def _property_of(self, node: tree.Property, scope: Scope, groups: bool) -> tuple[tree.Expression, NameKind]:
        of, kind = self.expression(node.of, scope, groups=groups)
        if kind.name == "value" and not isinstance(of, tree.Record):
            raise invalid(f"{write.expression(node.of)} is a value, and has no property {node.name!r}.")
        if kind.name in ("path", "nodes", "edges"):
            hint = "Write, for example, list_transform(nodes(p), n -> n.name)."
            raise invalid(f"{write.expression(node.of)} is more than one node or relationship.", hint)
        if kind.name == "value":
            return tree.Property(of, node.name), VALUE
        tables = kind.tables or self.all_tables(kind)
        return self.property_value(tree.Property(of, self._property(node.name, tables)), kind, tables), VALUE

    def property_value(self, found: tree.Property, kind: NameKind, tables: Sequence[str]) -> tree.Expression:
        """What stands in the query where it names a property of a node or relationship of these tables."""
        return found

    def all_tables(self, kind: NameKind) -> tuple[str, ...]:
        return self.schema.node_names if kind.name == "node" else self.schema.edge_names

    def _property(self, name: str, tables: Sequence[str]) -> str:
        """The property as the catalog writes it. It must not be hidden in any of the tables."""
        real = self.schema.property(name, tables)
        for table in tables:
            self.read.setdefault(table, set()).add(real)
        return real

    # Calls.

    def _call(self, node: tree.FunctionCall, scope: Scope, groups: bool) -> tuple[tree.Expression, NameKind]:
        if node.name in AGGREGATES and not groups:
            raise invalid(f"{node.name}() cannot stand here: it is computed from groups of rows.", "Use WITH first.")
        inner = groups and node.name not in AGGREGATES
        if node.arguments and isinstance(node.arguments[-1], tree.Lambda):
            return self._transformed(node, node.arguments[-1], scope, inner)
        found = [self.expression(argument, scope, groups=inner) for argument in node.arguments]
        completed = replace(node, arguments=tuple(expression for expression, _kind in found))
        kinds = [kind.name for _expression, kind in found]
        if node.name in _GRAPH_FUNCTIONS:
            takes, gives = _GRAPH_FUNCTIONS[node.name]
            if len(kinds) != 1 or kinds[0] not in takes:
                raise invalid(f"{node.name}() takes one argument: a {' or a '.join(takes)}.")
            return completed, gives
        if node.name == "properties":
            return self.listed_properties(completed, found), VALUE
        # How many nodes there are tells nothing about their properties.
        if node.name in ("count", "size") and kinds in (["node"], ["edge"], ["nodes"], ["edges"]):
            return completed, VALUE
        for argument, (_expression, kind) in zip(node.arguments, found, strict=True):
            require_value(kind, argument)
        return completed, VALUE

    def _transformed(
        self, node: tree.FunctionCall, function: tree.Lambda, scope: Scope, groups: bool
    ) -> tuple[tree.Expression, NameKind]:
        items, kind = self.expression(node.arguments[0], scope, groups=groups)
        inner = {**scope, function.variable: element_of(kind)}
        body = self._value(function.body, inner, False)
        completed = replace(node, arguments=(items, replace(function, body=body)))
        return completed, kind if node.name == "list_filter" else VALUE

    def listed_properties(
        self, node: tree.FunctionCall, found: Sequence[tuple[tree.Expression, NameKind]]
    ) -> tree.Expression:
        if len(found) == 2 and found[0][1].name in ("nodes", "edges") and isinstance(found[1][0], tree.Given):
            kind, name = element_of(found[0][1]), found[1][0].value
            if isinstance(name, str):
                real = self._property(name, kind.tables or self.all_tables(kind))
                return replace(node, arguments=(found[0][0], tree.Given(real)))
        raise invalid("properties() takes nodes(p) or rels(p), and the name of a property as text.")


_GRAPH_FUNCTIONS: Mapping[str, tuple[tuple[str, ...], NameKind]] = {
    "label": (("node", "edge"), VALUE),
    "nodes": (("path",), NODES),
    "rels": (("path",), EDGES),
    "length": (("path",), VALUE),
    "is_trail": (("path",), VALUE),
    "is_acyclic": (("path",), VALUE),
}


def _declare(name: str, kind: NameKind, scope: Scope) -> None:
    if name in scope:
        raise invalid(f"The name {name!r} is taken.", "Give each relationship and path a name of its own.")
    scope[name] = kind


def _with_unique_names(items: Sequence[tree.ReturnItem]) -> list[tree.ReturnItem]:
    """Each column has a name of its own: `u.name` of an expression without one, and a number where it is taken."""
    taken: set[str] = set()
    named: list[tree.ReturnItem] = []
    for item in items:
        wanted = item.alias or write.expression(item.expression).replace("`", "")[:80]
        name, number = wanted, 1
        while name.casefold() in taken:
            number += 1
            name = f"{wanted}_{number}"
        taken.add(name.casefold())
        named.append(replace(item, alias=name))
    return named

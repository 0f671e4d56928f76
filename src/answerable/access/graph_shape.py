"""Rewrites Cypher so that it reaches only what a person may see.

Each node and relationship of a pattern is held to the rules about its rows, those that a path passes included, and each
property becomes what its mask shows. Hidden rows must not act either: a condition that met one could tell of it by an
error. So each property is taken inside of a CASE with the condition of the rules, and is NULL where a row is hidden.
(The engine computes all branches of a CASE, so nothing but the bare property stands in one.)

Where a rule cannot be kept exactly, the query is refused, and the refusal names the rule.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import reduce
from typing import TypeVar

from answerable.access.graph_conditions import bound_graph_condition, changed, columns_in
from answerable.access.graph_masks import keeps_type, masked
from answerable.access.policy import Rule
from answerable.access.view import MaskedColumn, SourceView, VisibleTable
from answerable.core.catalog import Catalog, Table
from answerable.core.errors import OperatorError, RefusedError
from answerable.query.cypher import tree, write
from answerable.query.cypher.checking import CypherCheck
from answerable.query.cypher.graph import GraphSchema
from answerable.query.cypher.parse import parsed
from answerable.query.cypher.types import NameKind, Scope, element_of

_Part = TypeVar("_Part", tree.NodePattern, tree.EdgePattern)


@dataclass(frozen=True, slots=True)
class _Seen:
    """What the rules say about one table."""

    table: Table
    masks: Mapping[str, MaskedColumn]
    rule: Rule | None
    """The first that limits its rows."""
    condition: tree.Expression | None
    """Of all of them, with the columns of the table as bare names."""


_ColumnOf = Callable[[str, _Seen], tree.Expression]
"""How a column of a relationship is named in a pattern."""


class GraphRules:
    """The rules of one person about one graph, bound to its tables. Those that cannot be kept raise `OperatorError`."""

    def __init__(self, view: SourceView, catalog: Catalog, secret: str) -> None:
        """`catalog`: all tables and columns, hidden ones too."""
        self.catalog = catalog
        self.secret = secret
        self.schema = GraphSchema(catalog)
        views = {table.name: view.table(table) for table in catalog.tables}
        shown = {name: found for name, found in views.items() if isinstance(found, VisibleTable)}
        self.seen = {
            table.name: self._bound(table, shown[table.name], view)
            for table in catalog.tables
            if table.name in shown and all(end in shown for end in _nodes_of(table))
        }

    @staticmethod
    def _bound(table: Table, found: VisibleTable, view: SourceView) -> _Seen:
        conditions = [bound_graph_condition(rule, table, view.attributes) for rule in found.rows]
        for column in ends_of(table) & found.masks.keys():
            raise _unsupported(found.masks[column].rule, f"{column} is the key of a node; mask that of the node")
        rule = found.rows[0] if found.rows else None
        return _Seen(table, found.masks, rule, joined("AND", conditions) if conditions else None)

    def shape(self, text: str) -> str:
        """The query over what the person may see. It must have been checked against that."""
        return write.written(_Shaping(self.schema, rules=self, text=text).query(parsed(text)))

    def is_cut(self, table: str) -> bool:
        """Whether figures about all rows of the table would tell of what is hidden."""
        seen = self.seen[table]
        if seen.condition is not None or seen.masks:
            return True
        ends = [self.seen[node] for node in _nodes_of(seen.table)]
        return any(end.condition is not None or end.masks for end in ends)


@dataclass(frozen=True, slots=True)
class _GuardedEdge(NameKind):
    """A relationship of a pattern, with what must hold for it to be seen: its own rules, and those of its ends."""

    guard: tree.Expression | None = None


@dataclass(slots=True)
class _Shaping(CypherCheck):
    rules: GraphRules = field(kw_only=True)
    text: str = field(kw_only=True)
    _own: set[str] = field(default_factory=set)
    """Names that the query did not give."""

    # Patterns.

    def matched(
        self, patterns: Sequence[tree.Pattern], where: tree.Expression | None, scope: Scope
    ) -> tuple[tuple[tree.Pattern, ...], tree.Expression | None]:
        given = [] if where is None else [where]
        named = [self._named(pattern, given) for pattern in patterns]
        found = self.patterns(named, scope)
        must: list[tree.Expression] = []
        for pattern in found:
            must += self._guarded(pattern, scope)
        shaped = tuple(replace(pattern, edges=tuple(self._along(edge) for edge in pattern.edges)) for pattern in found)
        if given:
            condition = self.condition(joined("AND", given), scope)
            assert condition is not None
            must.append(condition)
        return shaped, joined("AND", list(dict.fromkeys(must))) if must else None

    def _named(self, pattern: tree.Pattern, given: list[tree.Expression]) -> tree.Pattern:
        """Each part gets a name, and what is said in `{name: …}` becomes a condition: it must not see hidden rows."""
        nodes = tuple(self._with_name(node, given) for node in pattern.nodes)
        edges = tuple(self._with_name(edge, given) for edge in pattern.edges)
        return replace(pattern, nodes=nodes, edges=edges)

    def _with_name(self, part: _Part, given: list[tree.Expression]) -> _Part:
        variable = part.variable or self._new_name()
        for name, value in part.properties:
            given.append(tree.Binary("=", tree.Property(tree.Variable(variable), name), value))
        return replace(part, variable=variable, properties=())

    def _new_name(self) -> str:
        number = len(self._own)
        while (name := f"seen_{number}") in self.text or name in self._own:
            number += 1
        self._own.add(name)
        return name

    def _guarded(self, pattern: tree.Pattern, scope: Scope) -> list[tree.Expression]:
        """What must hold for the pattern's parts to be seen. Its relationships remember theirs."""
        guards: list[tree.Expression | None] = []
        for node in pattern.nodes:
            assert node.variable is not None
            guards.append(self._guard(tree.Variable(node.variable), scope[node.variable].tables))
        of_edges: list[tree.Expression] = []
        for place, edge in enumerate(pattern.edges):
            if edge.length is not None:
                continue
            assert edge.variable is not None
            own = self._edge_guard(edge, pattern.nodes[place], pattern.nodes[place + 1])
            ends = [guard for guard in (own, guards[place], guards[place + 1]) if guard is not None]
            guard = joined("AND", ends) if ends else None
            scope[edge.variable] = _GuardedEdge("edge", edge.types, guard)
            of_edges += [own] if own is not None else []
        return [*(guard for guard in guards if guard is not None), *of_edges]

    def _edge_guard(
        self, edge: tree.EdgePattern, left: tree.NodePattern, right: tree.NodePattern
    ) -> tree.Expression | None:
        start, end = (right, left) if edge.direction == "left" else (left, right)

        def column(name: str, seen: _Seen) -> tree.Expression:
            for each in seen.table.connections:
                for own, key, node in ((each.from_column, each.from_key, start), (each.to_column, each.to_key, end)):
                    if own == name and key is not None and node.variable is not None:
                        if edge.direction == "both":
                            raise self._refused(seen, "of a relationship whose direction is left open")
                        return tree.Property(tree.Variable(node.variable), key)
            return tree.Property(tree.Variable(str(edge.variable)), name)

        return self._guard(tree.Variable(str(edge.variable)), edge.types, column)

    def _along(self, edge: tree.EdgePattern) -> tree.EdgePattern:
        """The relationships of a path and the nodes between its ends must be seen too, while it is looked for: the
        shortest path must not be one through a hidden node."""
        if edge.length is None:
            return edge
        steps = {node for name in edge.types for node in _nodes_of(self.schema.edge(name))}
        passed, node = self._new_name(), self._new_name()
        must = [
            guard
            for guard in (
                self._element_guard(tree.Variable(passed), edge.types),
                self._guard(tree.Variable(node), tuple(sorted(steps))),
            )
            if guard is not None
        ]
        return replace(edge, along=tree.PathFilter(passed, node, joined("AND", must))) if must else edge

    def _element_guard(self, of: tree.Expression, types: Sequence[str]) -> tree.Expression | None:
        """What must hold for a relationship whose ends have no names."""
        for name in types:
            seen = self.rules.seen[name]
            if seen.condition is not None and columns_in(seen.condition) & ends_of(seen.table):
                raise self._refused(seen, "of the relationships of a path")
        return self._guard(of, types)

    # Guards.

    def _guard(
        self, of: tree.Expression, tables: Sequence[str], column: _ColumnOf | None = None
    ) -> tree.Expression | None:
        """What must hold for a node or a relationship of these tables to be seen. None if nothing must."""
        cut = [seen for name in tables if (seen := self.rules.seen[name]).condition is not None]
        if not cut:
            return None
        self._check_types(cut, tables)
        open_to_all = [name for name in tables if self.rules.seen[name].condition is None]
        parts: list[tree.Expression] = []
        for seen in cut:
            condition = _over(seen, of, column)
            both = tree.Binary("AND", _is_of(of, [seen.table.name]), condition)
            parts.append(condition if len(tables) == 1 else both)
        if open_to_all:
            parts.append(_is_of(of, open_to_all))
        return joined("OR", parts)

    def _check_types(self, cut: Sequence[_Seen], tables: Sequence[str]) -> None:
        """Properties of the same name in several tables can only be read together if they are of one type."""
        for seen in cut:
            assert seen.condition is not None
            for name in columns_in(seen.condition):
                types = {found.type for table in tables if (found := self.rules.seen[table].table.column(name))}
                if len(types) > 1:
                    raise self._refused(seen, f"where {' and '.join(tables)} stand together; name one of them")

    def _refused(self, seen: _Seen, where: str) -> RefusedError:
        rule = seen.rule or next(iter(seen.masks.values())).rule
        return refused(rule, f"{seen.table.name} {where}")

    # Values.

    def all_tables(self, kind: NameKind) -> tuple[str, ...]:
        names = self.schema.node_names if kind.name == "node" else self.schema.edge_names
        return tuple(name for name in names if name in self.rules.seen)

    def property_value(self, found: tree.Property, kind: NameKind, tables: Sequence[str]) -> tree.Expression:
        if isinstance(kind, _GuardedEdge):
            guard = kind.guard
        elif kind.name == "edge":
            guard = self._element_guard(found.of, tables)
            self._check_ends(tables)
        else:
            guard = self._guard(found.of, tables)
        value: tree.Expression = found if guard is None else tree.CaseExpression(None, ((guard, found),), None)
        return self._masked(value, found, [self.rules.seen[name] for name in tables])

    def _check_ends(self, types: Sequence[str]) -> None:
        """The nodes at the ends of a relationship in a list cannot be named, so a property of it might be told that
        leads to a hidden node."""
        for name in types:
            for end in _nodes_of(self.schema.edge(name)):
                if self.rules.seen[end].condition is not None:
                    where = f"at the ends of {name}, whose properties are read from a path"
                    raise self._refused(self.rules.seen[end], where)

    def _masked(self, value: tree.Expression, found: tree.Property, tables: Sequence[_Seen]) -> tree.Expression:
        having = [seen for seen in tables if seen.table.column(found.name) is not None]
        if not any(found.name in seen.masks for seen in having):
            return value
        shown: dict[tree.Expression, list[str]] = {}
        for seen in having:
            mask, column = seen.masks.get(found.name), seen.table.column(found.name)
            assert column is not None
            if mask is not None and len(having) > 1 and not keeps_type(mask.mask, column.type):
                raise refused(mask.rule, f"{seen.table.name} where it stands for one of several tables; name it alone")
            form = value if mask is None else masked(value, mask.mask, self.rules.secret)
            shown.setdefault(form, []).append(seen.table.name)
        if len(shown) == 1 and len(having) == len(tables):
            return next(iter(shown))
        branches = tuple((_is_of(found.of, names), form) for form, names in shown.items())
        return tree.CaseExpression(None, branches, None)

    def listed_properties(
        self, node: tree.FunctionCall, found: Sequence[tuple[tree.Expression, NameKind]]
    ) -> tree.Expression:
        checked = CypherCheck.listed_properties(self, node, found)
        assert isinstance(checked, tree.FunctionCall)
        items, name = checked.arguments
        assert isinstance(name, tree.Given)
        kind, element = element_of(found[0][1]), tree.Variable(self._new_name())
        tables = kind.tables or self.all_tables(kind)
        value = self.property_value(tree.Property(element, str(name.value)), kind, tables)
        return tree.FunctionCall("list_transform", (items, tree.Lambda(element.name, value)))

    # WITH.

    def carried_on(self, projection: tree.Projection, scope: Scope) -> tuple[tree.Projection, Scope]:
        if projection.star:
            names = tuple(tree.ReturnItem(tree.Variable(name), name) for name in scope if name not in self._own)
            projection = replace(projection, star=False, items=(*names, *projection.items))
        return CypherCheck.carried_on(self, projection, scope)

    def carried_besides(self, items: Sequence[tree.ReturnItem], after: Scope) -> list[tree.ReturnItem]:
        """What a relationship is guarded by: its ends may have no name any more. It holds for every row that is left,
        so it makes no more groups of them."""
        found: list[tree.ReturnItem] = []
        for item in items:
            kind = after[str(item.alias)]
            if isinstance(kind, _GuardedEdge) and kind.guard is not None:
                name = self._new_name()
                found.append(tree.ReturnItem(kind.guard, name))
                after[str(item.alias)] = replace(kind, guard=tree.Variable(name))
        return found


def _over(seen: _Seen, of: tree.Expression, column: _ColumnOf | None) -> tree.Expression:
    """The condition about one node or relationship."""

    def named(node: tree.Expression) -> tree.Expression:
        if not isinstance(node, tree.Variable):
            return node
        return tree.Property(of, node.name) if column is None else column(node.name, seen)

    assert seen.condition is not None
    done: tree.Expression = changed(seen.condition, named)
    return done


def ends_of(table: Table) -> set[str]:
    """The columns of a relationship that are keys of its nodes."""
    return {name for each in table.connections for name in (each.from_column, each.to_column) if name is not None}


def _nodes_of(table: Table) -> list[str]:
    """The tables of nodes at the ends of a relationship."""
    return list(dict.fromkeys(end for each in table.connections for end in (each.from_table, each.to_table)))


def _is_of(of: tree.Expression, tables: Sequence[str]) -> tree.Expression:
    names = tree.ListOf(tuple(map(tree.Given, tables)))
    return tree.Binary("IN", tree.FunctionCall("label", (of,)), names)


def joined(word: str, parts: Sequence[tree.Expression]) -> tree.Expression:
    return reduce(lambda left, right: tree.Binary(word, left, right), parts)


def refused(rule: Rule, what: str) -> RefusedError:
    return RefusedError(
        f"The rule {rule.name!r} cannot be applied to {what}.",
        code="access_cypher_refused",
        hint="Write the query with a label for each node, and without what the sentence names.",
    )


def _unsupported(rule: Rule, problem: str) -> OperatorError:
    return OperatorError(
        f"The rule {rule.name!r} cannot be applied: {problem}. Until it is changed, nobody to whom it applies can ask "
        "this source.",
        code="access_rule_unsupported",
    )

"""The catalog of a graph as Cypher sees it: labels of nodes, types of relationships, and what they connect."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property

from answerable.core.catalog import Catalog, Column, Table
from answerable.core.errors import UserError, not_visible
from answerable.query.cypher import tree
from answerable.query.scope import nearest


@dataclass(frozen=True, slots=True)
class EdgeStep:
    """One relationship as a pattern goes along it."""

    type: str
    left: str
    right: str


class GraphSchema:
    def __init__(self, catalog: Catalog) -> None:
        self.catalog = catalog
        self._nodes = {table.name.casefold(): table for table in catalog.tables if not table.connections}
        self._edges = {table.name.casefold(): table for table in catalog.tables if table.connections}

    @cached_property
    def node_names(self) -> tuple[str, ...]:
        return tuple(table.name for table in self._nodes.values())

    @cached_property
    def edge_names(self) -> tuple[str, ...]:
        return tuple(table.name for table in self._edges.values())

    def node(self, label: str) -> Table:
        return self._found(label, self._nodes, "nodes", self._edges)

    def edge(self, name: str) -> Table:
        return self._found(name, self._edges, "relationships", self._nodes)

    def _found(self, name: str, tables: dict[str, Table], what: str, others: dict[str, Table]) -> Table:
        table = tables.get(name.casefold())
        if table is not None:
            return table
        for hidden in self.catalog.hidden:
            if hidden.column is None and hidden.table.casefold() == name.casefold():
                raise not_visible(f"the table {hidden.table!r}", hidden.rule, self.catalog.contact)
        if name.casefold() in others:
            form = "-[:{}]->" if what == "nodes" else "(:{})"
            hint = f"Write it as {form.format(others[name.casefold()].name)}."
            raise _unknown(f"{name!r} does not name {what}.", hint)
        raise _unknown(f"There are no {what} {name!r}.", nearest(name, (table.name for table in tables.values())))

    def properties(self, table: str) -> tuple[Column, ...]:
        """What is stored of a node or a relationship: not the keys of the nodes that a relationship connects."""
        found = self._table(table)
        keys = {name for each in found.connections for name in (each.from_column, each.to_column)}
        return tuple(column for column in found.columns if column.name not in keys)

    def key(self, table: str) -> str | None:
        """The property that tells the nodes of a table apart, if it may be seen."""
        key = self._table(table).primary_key
        return key[0] if key else None

    def _table(self, name: str) -> Table:
        folded = name.casefold()
        return self._nodes.get(folded) or self._edges[folded]

    def property(self, name: str, tables: Sequence[str]) -> str:
        for table, column, rule in self.hidden_properties():
            if table in tables and column.casefold() == name.casefold():
                raise not_visible(f"the property {column!r} of {table}", rule, self.catalog.contact)
        known = {column.name.casefold(): column.name for table in tables for column in self.properties(table)}
        if name.casefold() not in known:
            problem = f"{' or '.join(tables)} has no property {name!r}."
            raise _unknown(problem, nearest(name, known.values()))
        return known[name.casefold()]

    def hidden_properties(self) -> Iterator[tuple[str, str, str | None]]:
        """Table, property and rule: those that access rules hide, and those that hold secrets."""
        for hidden in self.catalog.hidden:
            if hidden.column is not None:
                yield hidden.table, hidden.column, hidden.rule
        for secret in self.catalog.secrets:
            yield secret.table, secret.column, "secrets"

    # Directions.

    def steps(self, edge: tree.EdgePattern, left: Iterable[str], right: Iterable[str]) -> list[EdgeStep]:
        """The relationships that a pattern can go along between nodes of these tables."""
        lefts, rights = set(left), set(right)
        return [step for step in self._every_step(edge) if step.left in lefts and step.right in rights]

    def _every_step(self, edge: tree.EdgePattern) -> Iterator[EdgeStep]:
        for name in edge.types or self.edge_names:
            for each in self.edge(name).connections:
                if edge.direction != "left":
                    yield EdgeStep(name, each.from_table, each.to_table)
                if edge.direction != "right":
                    yield EdgeStep(name, each.to_table, each.from_table)

    def path_ends(self, edge: tree.EdgePattern) -> tuple[set[str], set[str]]:
        """The tables that a path of any length can start from and end at. A path of no relationship has one node."""
        steps = list(self._every_step(edge))
        lefts, rights = {step.left for step in steps}, {step.right for step in steps}
        both = lefts | rights
        return (both, both) if edge.length is not None and edge.length.low == 0 else (lefts, rights)

    def impossible(self, edge: tree.EdgePattern, left: Sequence[str], right: Sequence[str]) -> UserError:
        leads = "; ".join(
            f"{name} leads from {each.from_table} to {each.to_table}"
            for name in edge.types[:4]
            for each in self.edge(name).connections[:4]
        )
        names = "|".join(edge.types[:4])
        problem = f"No {names} relationship goes from {' or '.join(left)} to {' or '.join(right)}: {leads}."
        turned = {"right": f"<-[:{names}]-", "left": f"-[:{names}]->", "both": f"-[:{names}]-"}[edge.direction]
        return _unknown(problem, f"Turn the arrow around: {turned}." if self.steps(edge, right, left) else None)


def _unknown(problem: str, hint: str | None) -> UserError:
    return UserError(problem, code="cypher_name_unknown", hint=hint)

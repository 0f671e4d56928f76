"""What a name stands for within a query: a node, a relationship, a path, lists of these, or a plain value."""

from dataclasses import dataclass
from typing import Literal, TypeAlias

from answerable.query.cypher import tree, write
from answerable.query.cypher.tokens import invalid


@dataclass(frozen=True, slots=True)
class NameKind:
    name: Literal["value", "node", "edge", "path", "nodes", "edges"]
    tables: tuple[str, ...] = ()
    """The tables that a node or a relationship can be of; empty for any table that the catalog shows."""


VALUE, NODE, EDGE, PATH = NameKind("value"), NameKind("node"), NameKind("edge"), NameKind("path")
NODES, EDGES = NameKind("nodes"), NameKind("edges")

Scope: TypeAlias = dict[str, NameKind]
"""The names in force, with what they stand for."""
_IN_WORDS = {"node": "a node", "edge": "a relationship", "path": "a path", "nodes": "nodes", "edges": "relationships"}


def element_of(kind: NameKind) -> NameKind:
    """What the elements of a list are. A list of values has values."""
    if kind.name in ("nodes", "edges"):
        return NODE if kind.name == "nodes" else EDGE
    if kind.name != "value":
        raise invalid(f"There is {_IN_WORDS[kind.name]} where a list is needed.", "Write nodes(p) or rels(p).")
    return VALUE


def require_value(kind: NameKind, node: tree.Expression) -> None:
    """A whole node would bring along every property that it has."""
    if kind.name != "value":
        raise invalid(
            f"{write.expression(node)} is {_IN_WORDS[kind.name]}; a value is needed here.",
            "Name a property, for example n.name.",
        )

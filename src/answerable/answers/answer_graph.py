"""What an answer about ways draws beside its table: things and what leads from one to the next.

The ways are in the rows. Either a row names the things of its way in columns (`row_ways`), or a column holds whole
paths of a graph (`path_ways`).
"""

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import pairwise
from typing import NamedTuple, TypeAlias

from answerable.core.values import Frozen, Json, OutputColumn

MOST_NODES, MOST_EDGES = 60, 120
"""More cannot be looked at. The table has all of it."""
PATH_NODES, PATH_EDGES = "nodes", "relationships"
"""How the names of the columns end that hold the nodes and the relationships of paths."""


Connections: TypeAlias = Mapping[str, Sequence[tuple[str, str]]]
"""The kinds of nodes that each kind of relationship leads from and to."""


class GraphNode(Frozen):
    id: str
    kind: str
    """What sort of thing it is, such as `group`."""
    name: str


class GraphEdge(Frozen):
    source: str
    target: str
    label: str = ""
    directed: bool = True
    """False where the rows do not tell which way it leads."""


class AnswerGraph(Frozen):
    nodes: tuple[GraphNode, ...]
    edges: tuple[GraphEdge, ...]
    truncated: bool = False
    """Whether the table has more than is drawn."""


class Stop(NamedTuple):
    """A thing on a way, and what leads to it from the one before."""

    node: GraphNode
    label: str
    forward: bool | None = True
    """Whether the arrow points to it; None if that is not known."""


def drawn_ways(ways: Iterable[Sequence[Stop]]) -> AnswerGraph | None:
    """None if there is nothing to draw: no way leads from one thing to another."""
    nodes: dict[str, GraphNode] = {}
    edges: dict[GraphEdge, None] = {}
    truncated = False
    for way in ways:
        new_nodes = {stop.node.id: stop.node for stop in way}
        new_edges = dict.fromkeys(_edges(way))
        if len(nodes | new_nodes) > MOST_NODES or len(edges | new_edges) > MOST_EDGES:
            truncated = True  # only whole ways are drawn
            continue
        nodes |= new_nodes
        edges |= new_edges
    return AnswerGraph(nodes=tuple(nodes.values()), edges=tuple(edges), truncated=truncated) if edges else None


def ways_in_words(ways: Iterable[Sequence[Stop]]) -> str:
    """The ways in words: `Ada → in engineering → has GitHub.`"""
    return " ".join(_way_in_words(way) for way in ways if len(way) > 1)


def _way_in_words(way: Sequence[Stop]) -> str:
    return " → ".join(f"{stop.label} {stop.node.name}".strip() for stop in way) + "."


def _edges(way: Sequence[Stop]) -> Iterator[GraphEdge]:
    for before, stop in pairwise(way):
        source, target = (stop, before) if stop.forward is False else (before, stop)
        directed = stop.forward is not None
        yield GraphEdge(source=source.node.id, target=target.node.id, label=stop.label, directed=directed)


def row_ways(
    columns: Sequence[OutputColumn], rows: Iterable[Sequence[Json]], path: Mapping[str, str]
) -> Iterator[Sequence[Stop]]:
    """Each row as a way through the columns of `path`, which says what leads to each. Empty cells are passed over."""
    names = [column.name for column in columns]
    places = [(names.index(name), name, label) for name, label in path.items() if name in names]
    for row in rows:
        yield [Stop(_node(kind, row[place]), label) for place, kind, label in places if row[place] is not None]


def path_ways(
    columns: Sequence[OutputColumn], rows: Sequence[Sequence[Json]], connections: Connections
) -> Iterator[Sequence[Stop]]:
    """The paths in columns that a query of a graph returned."""
    names = [column.name for column in columns]
    for place, name in enumerate(names):
        whole = name.removesuffix(f" {PATH_NODES}")
        other = f"{whole} {PATH_EDGES}"
        if whole != name and other in names:
            for row in rows:
                yield list(_path(_listed(row[place]), _listed(row[names.index(other)]), connections))


def _path(nodes: Sequence[Json], types: Sequence[str], connections: Connections) -> Iterator[Stop]:
    if len(types) != len(nodes) - 1 or not all(isinstance(node, dict) and "label" in node for node in nodes):
        return  # somebody has called other columns so
    for place, node in enumerate(nodes):
        stop = GraphNode(id=f"{node['label']}:{node.get('key')}", kind=node["label"], name=_name(node))
        if place == 0:
            yield Stop(stop, "")
            continue
        kind, ends = types[place - 1], (nodes[place - 1]["label"], node["label"])
        known = connections.get(kind, ())
        forward, backward = ends in known, ends[::-1] in known
        yield Stop(stop, kind, None if forward == backward else forward)


def _listed(cell: Json) -> Sequence[Json]:
    """The elements of a cell that holds a list, as JSON or as it is."""
    try:
        found = json.loads(cell) if isinstance(cell, str) else cell
    except ValueError:
        return ()
    return found if isinstance(found, list) else ()


def _name(node: Mapping[str, Json]) -> str:
    return str(node.get("name") or node.get("key") or node["label"])


def _node(kind: str, value: Json) -> GraphNode:
    return GraphNode(id=f"{kind}:{value}", kind=kind, name=str(value))

"""Stored graphs inside of a graph: which it names, directly and through each other."""

from collections.abc import Awaitable, Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import TypeAlias

from answerable.core.errors import NotFoundError
from answerable.core.yaml_text import FieldPath, Marks
from answerable.graphs.definition import MOST_NODES, Body, GraphDefinition, SubgraphNode
from answerable.graphs.reading import read_graph

DEEPEST = 6
"""How deep stored graphs may lie in each other. The engine's own limit counts the bodies of nodes, too."""


@dataclass(frozen=True, slots=True)
class StoredGraph:
    name: str
    """With its version: `daily@3`."""
    definition: GraphDefinition
    marks: Marks


StoredGraphs: TypeAlias = Mapping[str, StoredGraph]
"""By the names that stand in the texts: `daily` or `daily@3`."""
Load: TypeAlias = Callable[[str], Awaitable[tuple[str, str]]]
"""The text of a stored graph by its name, with the name and version that it has."""


async def stored_inside(definition: GraphDefinition, marks: Marks, load: Load) -> StoredGraphs:
    """Every stored graph that a graph runs, loaded once. Raises a `GraphError` at the place where one is named that is
    not there, or that would run itself."""
    found: dict[str, StoredGraph] = {}
    nodes = [count(definition.body)]

    async def follow(body: Body, marks: Marks, way: tuple[str, ...]) -> None:
        for place, name in named_in(body):
            if name == definition.name:
                raise marks.error(place, f"the graph `{name}` would run itself", "Give a version: NAME@1.")
            stored = found.get(name) or await _loaded(name, marks, place, load)
            if stored.name in way:
                raise marks.error(place, f"stored graphs run each other in a circle: {' → '.join([*way, stored.name])}")
            if len(way) == DEEPEST:
                raise marks.error(place, f"stored graphs lie in each other more than {DEEPEST} deep")
            nodes[0] += count(stored.definition.body)
            if nodes[0] > MOST_NODES:
                raise marks.error(place, f"with the stored graphs inside it has more than {MOST_NODES:,} nodes")
            found[name] = stored
            await follow(stored.definition.body, stored.marks, (*way, stored.name))

    await follow(definition.body, marks, ())
    return found


def named_in(body: Body, path: FieldPath = ()) -> Iterator[tuple[FieldPath, str]]:
    """The stored graphs that a body names, each with its place."""
    for id, node in body.nodes.items():
        place = (*path, "nodes", id)
        inside = getattr(node, "body", None)
        if isinstance(node, SubgraphNode) and node.graph is not None:
            yield (*place, "graph"), node.graph
        elif isinstance(inside, Body):
            yield from named_in(inside, (*place, "body"))


def count(body: Body) -> int:
    bodies = [inside for node in body.nodes.values() if isinstance(inside := getattr(node, "body", None), Body)]
    return len(body.nodes) + sum(map(count, bodies))


async def _loaded(name: str, marks: Marks, place: FieldPath, load: Load) -> StoredGraph:
    try:
        known_as, text = await load(name)
    except NotFoundError as error:
        raise marks.error(place, error.message[:1].lower() + error.message[1:].rstrip("."), error.hint) from error
    definition, inner = read_graph(text, known_as)
    return StoredGraph(known_as, definition, inner)

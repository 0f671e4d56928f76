"""A run once more from one of its nodes on: what has ended before it is taken over, the rest runs again. Pure.

A node whose output is taken over becomes one that gives this output. So nothing that has ended is done twice, and the
new run has a graph and a journal of its own.
"""

from collections.abc import Collection, Mapping

from answerable.core.errors import UserError
from answerable.core.ids import NodeId
from answerable.core.values import Json
from answerable.core.yaml_text import did_you_mean
from answerable.engine.graph import Graph, Node
from answerable.engine.steps.literal import INPUT, LiteralStep
from answerable.graphs.compiling import ANSWER


def forked(
    graph: Graph, ended: Mapping[NodeId, Json], start: Collection[str], edited: Mapping[str, Json], input: Json
) -> Graph:
    """The graph of the new run. `ended`: the outputs of the nodes that have finished; `start`: nodes that run again;
    `edited`: outputs to go on with instead; `input`: the input of the new run. All nodes after one that runs again or
    has another output run again too."""
    for id in (*start, *edited):
        if id not in graph.by_id or id in (INPUT, ANSWER):
            names = [node.id for node in graph.nodes if node.id not in (INPUT, ANSWER)]
            raise UserError(f"The run has no node {id!r}.", code="node_unknown", hint=did_you_mean(id, names))
    again = _after(graph, {*start, *edited}) | set(start)
    if not again - set(edited) - {ANSWER} and not edited and all(node.id in ended for node in graph.nodes):
        raise UserError(
            "Every node of the run has finished: there is nothing to do again.",
            code="nothing_failed",
            hint="Name the node to begin with.",
        )

    def node_of(node: Node) -> Node:
        if node.id == INPUT:
            return _giving(node.id, input)
        if node.id in edited:
            return _giving(node.id, edited[node.id])
        taken_over = node.id in ended and node.id not in again and node.id != ANSWER
        return _giving(node.id, ended[node.id]) if taken_over else node

    return graph.model_copy(update={"nodes": tuple(map(node_of, graph.nodes))})


def continued(
    graph: Graph, ended: Mapping[NodeId, Json], start: Collection[str], edited: Mapping[str, Json]
) -> frozenset[str]:
    """The nodes that have not ended and run again with what they had before them: what has ended inside of them is
    taken over."""
    changed = _after(graph, {*start, *edited}) | set(edited) | (set(start) & set(ended))
    return frozenset(node.id for node in graph.nodes if node.id not in ended and node.id not in changed)


def _giving(id: NodeId, output: Json) -> Node:
    return Node(id=id, kind=LiteralStep.descriptor.name, config=output)


def _after(graph: Graph, first: Collection[str]) -> set[str]:
    """All nodes that come after one of these, also through others."""
    found: set[str] = set()
    for id in graph.order:  # parents before children
        parents = graph.by_id[id].after
        if any(parent in first or parent in found for parent in parents):
            found.add(id)
    return found

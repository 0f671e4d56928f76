"""The difference between two versions of a graph: by node, and as text. Pure."""

from difflib import unified_diff

from answerable.core.values import Frozen
from answerable.graphs.definition import GraphDefinition


class GraphDifference(Frozen):
    added: tuple[str, ...]
    """Nodes that only the later version has."""
    removed: tuple[str, ...]
    changed: tuple[str, ...]
    """Nodes that say something else in the later version."""
    settings: tuple[str, ...]
    """Fields of the graph itself that say something else, such as `input` or `defaults`."""
    text: str
    """Line by line, as a unified diff; empty if the texts are the same."""


def difference(
    before: GraphDefinition, after: GraphDefinition, texts: tuple[str, str], names: tuple[str, str]
) -> GraphDifference:
    old, new = (text.splitlines(keepends=True) for text in texts)
    fields = (name for name in GraphDefinition.model_fields if name != "nodes")
    return GraphDifference(
        added=tuple(node for node in after.nodes if node not in before.nodes),
        removed=tuple(node for node in before.nodes if node not in after.nodes),
        changed=tuple(id for id, node in after.nodes.items() if id in before.nodes and before.nodes[id] != node),
        settings=tuple(name for name in fields if getattr(before, name) != getattr(after, name)),
        text="".join(unified_diff(old, new, *names)),
    )

"""How the steps of a question meet failure: retries, circuit breakers, time limits and fallbacks, by kind of step."""

from collections.abc import Mapping
from dataclasses import dataclass

from answerable.core.ids import NodeId
from answerable.core.values import Json
from answerable.engine.graph import Graph, Node, Retry

_UNLIMITED = frozenset(("subgraph",))
"""What takes as long as the steps inside it."""
_ASKS_ITS_SOURCE = frozenset(("understand", "preplan", "sql", "write_sql", "program", "react", "critic"))
"""Kinds that ask the source named in their config; others name it only to say what they are about."""
_FALLBACKS: Mapping[str, Json] = {
    "critic": {"findings": ["The checks of this answer could not be made."]},
    "format": {},
}
"""Advice that stands in for a model's if the model fails: the rows are right without it."""
_DEFAULTS = Node(id=NodeId("default"), kind="default")


@dataclass(frozen=True, slots=True)
class RunPolicy:
    attempts: int = 3
    """How often a step is tried in all if its failure may pass by itself."""
    seconds: float = 1_800.0
    """Longest time for one attempt."""

    def applied(self, graph: Graph) -> Graph:
        """The same graph, each node with its guards. What a node sets itself is left alone."""
        return graph.model_copy(update={"nodes": tuple(map(self._guarded, graph.nodes))})

    def _guarded(self, node: Node) -> Node:
        if node.kind in _UNLIMITED:
            return node
        guards = {
            "retry": Retry(attempts=self.attempts, timeouts=False),  # what was too slow would be too slow again
            "timeout": self.seconds,
            "breaker": _source_of(node),
            "fallback": _FALLBACKS.get(node.kind),
        }
        unset = [name for name in guards if getattr(node, name) == getattr(_DEFAULTS, name)]
        return node.model_copy(update={name: guards[name] for name in unset if guards[name] is not None})


def _source_of(node: Node) -> str | None:
    """The only source that the step asks; None if it asks none, or several whose failures could not be told apart."""
    if node.kind not in _ASKS_ITS_SOURCE or not isinstance(node.config, dict) or node.config.get("sources"):
        return None
    source = node.config.get("source")
    return source if isinstance(source, str) else None

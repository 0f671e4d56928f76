"""The failure policy for the steps of a question: retries, circuit breakers, time limits and fallbacks by kind."""

from collections.abc import Mapping
from dataclasses import dataclass

from answerable.core.ids import NodeId
from answerable.core.values import Json
from answerable.engine.graph import Graph, Node, Retry

_UNLIMITED = frozenset(("subgraph",))
"""Kinds without guards of their own: a sub-graph takes as long as the steps inside it, and these have their guards."""
_ASKS_ITS_SOURCE = frozenset(("understand", "preplan", "sql", "write_sql", "program", "react", "critic"))
"""Kinds that query the source in their config. For other kinds the source is only information, so their failures must
not open its breaker."""
_FALLBACKS: Mapping[str, Json] = {
    "critic": {"findings": ["The checks of this answer could not be made."]},
    "format": {},
}
"""Advice that replaces a model's if the model fails: the rows are right without it."""
_DEFAULTS = Node(id=NodeId("default"), kind="default")


@dataclass(frozen=True, slots=True)
class RunPolicy:
    attempts: int = 3
    """Attempts in all for a step whose failure may pass by itself."""
    seconds: float = 1_800.0
    """Longest time for one attempt."""

    def applied(self, graph: Graph) -> Graph:
        """The same graph with guards on each node. Guards that a node already has are not changed."""
        return graph.model_copy(update={"nodes": tuple(map(self._guarded, graph.nodes))})

    def _guarded(self, node: Node) -> Node:
        if node.kind in _UNLIMITED:
            return node
        guards = {
            "retry": Retry(attempts=self.attempts, timeouts=False),  # a step that was too slow would be too slow again
            "timeout": self.seconds,
            "breaker": _source_of(node),
            "fallback": _FALLBACKS.get(node.kind),
        }
        unset = [name for name in guards if getattr(node, name) == getattr(_DEFAULTS, name)]
        return node.model_copy(update={name: guards[name] for name in unset if guards[name] is not None})


def _source_of(node: Node) -> str | None:
    """The source that the step asks, or None if it asks no source or several. With several sources a failure cannot be
    attributed to one of them, and one failing source would block the others."""
    if node.kind not in _ASKS_ITS_SOURCE or not isinstance(node.config, dict) or node.config.get("sources"):
        return None
    source = node.config.get("source")
    return source if isinstance(source, str) else None

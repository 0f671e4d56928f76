"""The failure policy for the steps of a question: retries, circuit breakers, time limits and fallbacks by kind."""

from collections.abc import Mapping

from answerable.core.ids import NodeId
from answerable.core.records import dataclass
from answerable.engine.graph import Graph, Node, Retry
from answerable.engine.steps.descriptor import StepDescriptor

_DEFAULTS = Node(id=NodeId("default"), kind="default")


@dataclass(frozen=True, slots=True)
class RunPolicy:
    step_kinds: Mapping[str, StepDescriptor]
    attempts: int = 3
    """Attempts in all for a step whose failure may pass by itself."""
    seconds: float = 1_800.0
    """Longest time for one attempt."""

    def applied(self, graph: Graph) -> Graph:
        """The same graph with guards on each node. Guards that a node already has are not changed."""
        return graph.model_copy(update={"nodes": tuple(map(self._guarded, graph.nodes))})

    def _guarded(self, node: Node) -> Node:
        kind = self.step_kinds.get(node.kind)
        # The engine refuses a node of an unknown kind, and a wrapper takes as long as the steps inside it.
        if kind is None or kind.is_wrapper:
            return node
        guards = {
            "retry": Retry(attempts=self.attempts, timeouts=False),  # a step that was too slow would be too slow again
            "timeout": self.seconds,
            "breaker": _source_of(node) if kind.asks_source else None,
            "fallback": kind.fallback,
        }
        # A guard with its default value counts as unset: a node cannot ask for "no retry" against the policy.
        unset = [name for name in guards if getattr(node, name) == getattr(_DEFAULTS, name)]
        return node.model_copy(update={name: guards[name] for name in unset if guards[name] is not None})


def _source_of(node: Node) -> str | None:
    """The source in the node's config, or None if there is none or several. With several sources a failure cannot be
    attributed to one of them, and one failing source would block the others."""
    if not isinstance(node.config, dict) or node.config.get("sources"):
        return None
    source = node.config.get("source")
    return source if isinstance(source, str) else None

"""Which nodes of a graph may start, and how the end of one bears on the others. Pure: no clock, no I/O.

The rules, the same for every strategy:

- A node is decided on when all it comes after have ended (and, with `on`, when its event has happened).
- It is skipped if one of those failed and was critical, or was itself skipped for such a reason.
- Those that failed without being critical, and those not taken (a condition did not hold, an event never happened),
  hand on null. A node is not taken either if none of those it comes after was.
- An event can no longer happen once nothing runs, nothing may start and nothing waits for a person.

A decision depends only on how the parents ended, not on the order in which they did. So all strategies, and a run that
was taken up again, come to the same end.
"""

from collections import deque
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from answerable.core.errors import AnswerableError
from answerable.core.ids import NodeId
from answerable.core.values import Json
from answerable.engine.conditions import holds, is_empty
from answerable.engine.graph import Graph, Node

STOPPED_EARLY = "stopped early"
"""How the reason of a skip begins if the whole graph was stopped early."""


@dataclass(frozen=True, slots=True)
class Missing:
    """A node that gave no output."""

    kind: str
    failed: bool
    """Else it was skipped."""
    reason: str


class Frontier:
    def __init__(self, graph: Graph) -> None:
        self.graph = graph
        self.outputs: dict[NodeId, Json] = {}
        self.errors: dict[NodeId, AnswerableError] = {}
        self.skipped: dict[NodeId, str] = {}
        self.held: set[NodeId] = set()
        """Those that wait for a person."""
        self.partial = False
        """A node did only a part of its work, or failed without being critical."""
        self.happened: dict[str, Json] = {}
        """The data of the events that nodes waited for."""
        self._left = len(graph.nodes)
        self._running = 0
        self._limit = 1 if graph.strategy == "sequential" else graph.concurrency or self._left
        self._missing = dict(graph.waits)
        self._blocked: set[NodeId] = set()
        self._ready: list[Node] = []
        self._rejected: deque[NodeId] = deque()
        self._verdicts: list[tuple[NodeId, str]] = []
        self._awaited = {name: list(nodes) for name, nodes in graph.awaited.items()}
        self._stages = _Stages(graph) if graph.strategy == "levels" else None
        self._first = sum(level == 0 for level in graph.levels.values()) if graph.early_stop else 0
        """For an early stop: how many first steps have yet to end before anything after them is decided on."""
        self._undecided: list[NodeId] = []
        for node in graph.nodes:
            if not self._missing[node.id]:
                self._admit(node)

    @property
    def ended(self) -> bool:
        """Whether no node runs and only a person can make one ready."""
        return not self._running and not self._ready and (not self._left or bool(self.held))

    def take(self) -> Sequence[Node]:
        """The nodes to start now. They count as running until they finish, fail or are held."""
        if not self._running and not self._ready:
            self._give_up_waiting()
        free = self._limit - self._running
        taken, self._ready = self._ready[:free], self._ready[free:]
        self._running += len(taken)
        return taken

    def take_skipped(self) -> Sequence[tuple[NodeId, str]]:
        """The nodes that were decided against since the last call, each with the reason."""
        verdicts, self._verdicts = self._verdicts, []
        return verdicts

    def inputs(self, node: Node) -> Mapping[NodeId, Json]:
        outputs = self.outputs
        return {parent: outputs.get(parent) for parent in node.after}

    def missing(self, node: Node) -> Mapping[NodeId, Missing]:
        """The nodes it comes after that gave nothing because they failed or were skipped."""
        if not self.errors and not self.skipped:
            return {}
        reasons = {parent: error.message for parent, error in self.errors.items()} | self.skipped
        return {
            parent: Missing(self.graph.by_id[parent].kind, parent in self.errors, reasons[parent])
            for parent in node.after
            if parent in reasons
        }

    def finish(self, node: NodeId, output: Json, partial: bool = False) -> None:
        self.outputs[node] = output
        self.partial = self.partial or partial
        self._running -= 1
        self._end(node, "finished", output)

    def fail(self, node: NodeId, error: AnswerableError) -> None:
        self.errors[node] = error
        if self.graph.by_id[node].critical:
            self._blocked.add(node)
        else:
            self.partial = True
        self._running -= 1
        self._end(node, "failed", error.stable_code)

    def hold(self, node: NodeId) -> None:
        """The node waits for a person; the others go on as far as they can without it."""
        self.held.add(node)
        self._running -= 1

    def signal(self, name: str, data: Json) -> None:
        """A named event happened. Only the first time counts."""
        self._hear(name, data)
        self._fold_rejected()

    def _end(self, node: NodeId, how: str, data: Json) -> None:
        self._fold(node, how, data)
        if self._rejected:
            self._fold_rejected()

    def _fold_rejected(self) -> None:
        """A loop, not a recursion: one failure may skip a chain of any length."""
        while self._rejected:
            node = self._rejected.popleft()
            self._fold(node, "skipped", self.skipped[node])

    def _fold(self, node: NodeId, how: str, data: Json) -> None:
        self._left -= 1
        self._met(self.graph.children[node])
        if self._first and self.graph.levels[node] == 0:
            self._end_first()
        if self._stages is not None:
            self._ready.extend(self._stages.close(node))
        if self._awaited:
            self._hear(f"{node}.{how}", data)

    def _hear(self, name: str, data: Json) -> None:
        if name in self._awaited:
            self.happened[name] = data
            self._met(self._awaited.pop(name))

    def _met(self, nodes: Sequence[NodeId]) -> None:
        """One of the things that each of these nodes waits for is there."""
        missing = self._missing
        for node in nodes:
            missing[node] -= 1
            if not missing[node] and node not in self.skipped:
                if self._first and self.graph.levels[node]:
                    self._undecided.append(node)
                else:
                    self._decide(self.graph.by_id[node])

    def _decide(self, node: Node) -> None:
        if self._blocked or self.skipped:
            for parent in node.after:
                if parent in self._blocked:
                    how = "failed" if parent in self.errors else "was skipped"
                    return self._reject(node.id, f"`{parent}` {how}", blocks=True)
            if node.after and all(parent in self.skipped for parent in node.after):
                return self._reject(node.id, "no step before it was taken")
        for condition in node.when:
            if not holds(condition, self.outputs.get(condition.input)):
                return self._reject(node.id, f"`{condition}` does not hold")
        return self._admit(node)

    def _admit(self, node: Node) -> None:
        if self._stages is None or self._stages.admits(node):
            self._ready.append(node)

    def _reject(self, node: NodeId, reason: str, *, blocks: bool = False) -> None:
        self.skipped[node] = reason
        self._verdicts.append((node, reason))
        self._rejected.append(node)
        if blocks:
            self._blocked.add(node)

    def _end_first(self) -> None:
        """One more first step has ended. After the last, the rest is decided on, or stopped."""
        self._first -= 1
        if self._first:
            return
        first = [node for node, level in self.graph.levels.items() if level == 0]
        failed = next((node for node in first if node in self._blocked), None)
        if failed is not None:
            self._stop_early(f"{STOPPED_EARLY}: `{failed}` failed", finals_too=True)
        elif all(is_empty(self.outputs.get(node)) for node in first):
            self._stop_early(f"{STOPPED_EARLY}: the first step found nothing", finals_too=False)
        else:
            for node in self._undecided:
                self._decide(self.graph.by_id[node])

    def _stop_early(self, reason: str, *, finals_too: bool) -> None:
        self._awaited.clear()
        for node in self.graph.nodes:
            if self.graph.levels[node.id] and (finals_too or not node.final):
                self._reject(node.id, reason, blocks=finals_too)
        for id in self._undecided:
            if id not in self.skipped:  # a final node right after the first steps
                self._decide(self.graph.by_id[id])

    def _give_up_waiting(self) -> None:
        """Skips nodes whose events can no longer come. One at a time: a skip may be the event of another node."""
        while self._awaited and not self._ready and not self.held:
            name, node = next(
                (n, node) for n, nodes in self._awaited.items() for node in nodes if self._missing[node] == 1
            )
            self._awaited[name].remove(node)
            if not self._awaited[name]:
                del self._awaited[name]
            self._reject(node, f"`{name}` never happened")
            self._fold_rejected()


class _Stages:
    """Holds nodes back until all of the earlier levels have ended."""

    def __init__(self, graph: Graph) -> None:
        self._levels = graph.levels
        self._left = [0] * (max(graph.levels.values()) + 1)
        for level in graph.levels.values():
            self._left[level] += 1
        self._parked: list[list[Node]] = [[] for _ in self._left]
        self._open = 0

    def admits(self, node: Node) -> bool:
        """Else the node is kept and comes back from `close`."""
        level = self._levels[node.id]
        if level > self._open:
            self._parked[level].append(node)
        return level <= self._open

    def close(self, node: NodeId) -> Iterator[Node]:
        """A node has ended; the nodes that this sets free."""
        self._left[self._levels[node]] -= 1
        while not self._left[self._open] and self._open + 1 < len(self._left):
            self._open += 1
            yield from self._parked[self._open]

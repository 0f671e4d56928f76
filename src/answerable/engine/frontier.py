"""Decides which nodes of a graph may start, and what the end of a node means for the others. Pure: no clock, no I/O.

The rules are the same for every strategy. A node's parents are the nodes in its `after`.

- A node is decided on when all its parents have ended (and, with `on`, when its event has happened).
- A node is skipped if a critical parent failed, or if a parent was skipped for this reason.
- Parents that failed without being critical hand on null. So do parents that were not taken: their condition did not
  hold, or their event never happened. A node is not taken if none of its parents was taken.
- An event can no longer happen once no node runs, no node may start and no node waits for a person.

A decision depends only on how the parents ended, not on the order in which they ended. So all strategies lead to the
same outcome, and so does a run that is continued after a crash.
"""

from collections import deque
from collections.abc import Iterator, Mapping, Sequence

from answerable.core.errors import AnswerableError
from answerable.core.ids import NodeId
from answerable.core.records import dataclass
from answerable.core.values import Json
from answerable.engine.conditions import holds, is_empty
from answerable.engine.graph import Graph, Node

STOPPED_EARLY = "stopped early"
"""Prefix of a skip's reason if the whole graph was stopped early."""


@dataclass(frozen=True, slots=True)
class Missing:
    """A node without an output."""

    kind: str
    failed: bool
    """False if the node was skipped."""
    reason: str


class Frontier:
    def __init__(self, graph: Graph) -> None:
        self.graph = graph
        self.outputs: dict[NodeId, Json] = {}
        self.errors: dict[NodeId, AnswerableError] = {}
        self.skipped: dict[NodeId, str] = {}
        self.held: set[NodeId] = set()
        """The nodes that wait for a person."""
        self.partial = False
        """Whether a node did only a part of its work, or failed without being critical."""
        self.happened: dict[str, Json] = {}
        """The data of the events that nodes waited for."""
        self._left = len(graph.nodes)
        self._running = 0
        self._limit = 1 if graph.strategy == "sequential" else graph.concurrency or self._left
        self._missing = dict(graph.waits)
        """How many parents and events each node still waits for."""
        self._blocked: set[NodeId] = set()
        """Nodes whose failure or skip also skips the nodes after them."""
        self._ready: deque[Node] = deque()
        self._rejected: deque[NodeId] = deque()
        """Skipped nodes whose effect on other nodes is not worked out yet."""
        self._verdicts: list[tuple[NodeId, str]] = []
        """Skipped nodes that are not reported by `take_skipped` yet."""
        self._awaited = {name: list(nodes) for name, nodes in graph.awaited.items()}
        self._stages = _Stages(graph) if graph.strategy == "levels" else None
        self._first = sum(level == 0 for level in graph.levels.values()) if graph.early_stop else 0
        """For an early stop: the number of first nodes that have not ended. Later nodes are decided on when it is 0."""
        self._undecided: list[NodeId] = []
        """Later nodes whose parents have ended, while other first nodes still run."""
        for node in graph.nodes:
            if not self._missing[node.id]:
                self._admit(node)

    @property
    def ended(self) -> bool:
        """Whether no node runs, and no node will start unless a person decides something."""
        return not self._running and not self._ready and (not self._left or bool(self.held))

    @property
    def idle(self) -> bool:
        """Whether no node runs."""
        return not self._running

    @property
    def complete(self) -> bool:
        """Whether every node has ended or was skipped."""
        return not self._left

    def take(self) -> Sequence[Node]:
        """The nodes to start now. They count as running until they finish, fail or are held."""
        # Only now is it certain that awaited events cannot happen: a running node could still cause them.
        if not self._running and not self._ready:
            self._give_up_waiting()
        free = self._limit - self._running
        if len(self._ready) <= free:
            taken = list(self._ready)
            self._ready.clear()
        else:
            taken = [self._ready.popleft() for _ in range(free)]
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
        """The parents of a node that failed or were skipped."""
        if not self.errors and not self.skipped:
            return {}  # the usual case, and this is called for every node
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
        """Marks a node as waiting for a person. The others go on as far as they can without it."""
        self.held.add(node)
        self._running -= 1

    def signal(self, name: str, data: Json) -> None:
        """Reports that a named event happened. Only its first occurrence counts."""
        self._hear(name, data)
        self._fold_rejected()

    def _end(self, node: NodeId, how: str, data: Json) -> None:
        self._fold(node, how, data)
        if self._rejected:
            self._fold_rejected()

    def _fold_rejected(self) -> None:
        # A loop, not a recursion: one failure may skip a chain that is longer than Python's stack.
        while self._rejected:
            node = self._rejected.popleft()
            self._fold(node, "skipped", self.skipped[node])

    def _fold(self, node: NodeId, how: str, data: Json) -> None:
        self._left -= 1
        # The children first: they collect in `_undecided`, which the end of the last first node then works off.
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
        """Counts down what each of these nodes waits for, and decides on those that wait for no more."""
        missing = self._missing
        for node in nodes:
            missing[node] -= 1
            # A node may already be skipped: an early stop, or an event that can no longer happen, skips it in advance.
            if not missing[node] and node not in self.skipped:
                if self._first and self.graph.levels[node]:
                    self._undecided.append(node)
                else:
                    self._decide(self.graph.by_id[node])

    def _decide(self, node: Node) -> None:
        if self._blocked or self.skipped:  # spares most graphs, in which all goes well, the loops over parents
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
        """Counts a first node as ended. After the last one, decides on the other nodes, or stops the graph early."""
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
        """Skips all later nodes. After a failure these include the final ones, because the run has no answer to show;
        if only no rows were found, the final ones run and say so."""
        self._awaited.clear()  # so that no node is taken later because of an event
        for node in self.graph.nodes:
            if self.graph.levels[node.id] and (finals_too or not node.final):
                self._reject(node.id, reason, blocks=finals_too)
        for id in self._undecided:
            if id not in self.skipped:  # a final node right after the first steps
                self._decide(self.graph.by_id[id])

    def _give_up_waiting(self) -> None:
        """Skips nodes whose event can no longer happen. One node at a time, because another node may wait for the event
        that this one was skipped."""
        while self._awaited and not self._ready and not self.held:
            # A node that waits for its event alone. One exists: nodes with an open parent wait for another such node.
            name, node = next(
                (n, node) for n, nodes in self._awaited.items() for node in nodes if self._missing[node] == 1
            )
            self._awaited[name].remove(node)
            if not self._awaited[name]:
                del self._awaited[name]
            self._reject(node, f"`{name}` never happened")
            self._fold_rejected()


class _Stages:
    """Strategy `levels`: holds nodes back until all nodes of earlier levels have ended."""

    def __init__(self, graph: Graph) -> None:
        self._levels = graph.levels
        self._left = [0] * (max(graph.levels.values()) + 1)
        for level in graph.levels.values():
            self._left[level] += 1
        self._parked: list[list[Node]] = [[] for _ in self._left]
        self._open = 0

    def admits(self, node: Node) -> bool:
        """Whether the node may start now. If not, it is held back, and `close` returns it later."""
        level = self._levels[node.id]
        if level > self._open:
            self._parked[level].append(node)
        return level <= self._open

    def close(self, node: NodeId) -> Iterator[Node]:
        """Marks a node as ended, and yields the nodes that may start because of it."""
        self._left[self._levels[node]] -= 1
        # A loop, because all nodes of the next level may have been skipped already.
        while not self._left[self._open] and self._open + 1 < len(self._left):
            self._open += 1
            yield from self._parked[self._open]

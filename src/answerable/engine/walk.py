"""The engine's loop: starts the nodes that the frontier admits, and updates the frontier when their end is stored.

Everything else that a run can do is a step kind, a guard around a step, or a listener of events. If the journal already
holds the end of a node, the walk takes it from there; otherwise it runs the node and records its end. So a continued
run is the same walk over a graph of which a part is known, and a sub-graph is the same walk inside a step.
"""

import asyncio
import logging

from answerable.core.errors import LimitError, kind_of
from answerable.core.events import Event, StepFailed, StepFinished, StepOutput, StepSkipped
from answerable.core.ids import NodeId
from answerable.engine.dependencies import EngineDependencies, as_stored, typed
from answerable.engine.frontier import Frontier
from answerable.engine.graph import Graph, Node
from answerable.engine.journal import Journal, Past
from answerable.engine.outcome import Outcome, error_in, reached
from answerable.engine.steps.base import Step, Suspended

DEEPEST = 8
"""How deep sub-graphs may be nested. A graph that a model writes could otherwise nest without end."""
GRACE = 10.0
"""Seconds that a cancelled step has to clean up."""

_ENDINGS = (asyncio.CancelledError, KeyboardInterrupt, SystemExit, GeneratorExit)
"""What ends the task or the process itself."""

_log = logging.getLogger("answerable.engine")


class Walk:
    def __init__(self, dependencies: EngineDependencies, graph: Graph, journal: Journal, inside: str = "") -> None:
        dependencies.check(graph)  # before the first node runs, rather than when an unknown kind is reached
        self.frontier = Frontier(graph)
        self._dependencies = dependencies
        self._journal = journal
        self._prefix = inside and f"{inside}/"
        self._loop = asyncio.get_running_loop()
        self._tasks: dict[NodeId, asyncio.Task[None]] = {}
        self._ended: asyncio.Future[None] = self._loop.create_future()

    async def to_end(self) -> Frontier:
        """Returns when no more nodes can run. If the run is cancelled or fails, it first stops the running steps."""
        try:
            if self.frontier.graph.awaited:
                self._listen()
            self._advance()
            await self._ended
        finally:
            await self._stop()
        return self.frontier

    def give_up(self, error: Exception) -> None:
        if not self._ended.done():
            self._ended.set_exception(error)

    def _advance(self, event: Event | None = None) -> None:
        """Updates the frontier with a stored event, and starts the nodes that may start now."""
        frontier = self.frontier
        try:
            if event is not None:
                self._fold(event)
            pausing = self._journal.pausing.is_set()
            while not pausing and (nodes := frontier.take()):
                for node in nodes:
                    self._start(node)
                if not self._journal.past:
                    break  # only ends that were recorded earlier can admit more nodes within this loop
            if frontier.skipped:
                self._record_skipped()
            if (frontier.ended or (pausing and frontier.idle)) and not self._ended.done():
                self._ended.set_result(None)
        except Exception as error:  # a defect of ours must not leave the run waiting for ever
            self.give_up(error)

    def _fold(self, event: Event) -> None:
        match event:
            case StepFinished():
                self.frontier.finish(self._local(event.node), event.output, event.partial)
            case StepFailed():
                self.frontier.fail(self._local(event.node), error_in(event))
            case StepOutput():
                self.frontier.signal(event.channel, event.data)

    def _local(self, id: NodeId) -> NodeId:
        node = NodeId(id[len(self._prefix) :])
        self._tasks.pop(node, None)
        return node

    def _start(self, node: Node) -> None:
        frontier, journal = self.frontier, self._journal
        id = NodeId(self._prefix + node.id)
        past = journal.past.get(id)
        # An end that is recorded stands, also a failure: a continued run must not act twice.
        if past is not None and isinstance(past.ended, StepFinished | StepFailed):
            self._fold(past.ended)
            return
        if past is not None and past.approval == "asked" and not self._is_due(past):  # nobody has decided yet
            if past.until is not None:
                journal.wakes[id] = past.until
            frontier.hold(node.id)
            return

        event = frontier.happened.get(node.on) if node.on else None
        inputs = frontier.inputs(node) if node.after else {}
        step = Step(node, inputs, journal, self, id, event, past, frontier.missing(node) if inputs else None)
        self._tasks[node.id] = self._loop.create_task(self._run(step))

    def _is_due(self, past: Past) -> bool:
        """Whether the time has come at which a node goes on without a decision."""
        return past.until is not None and past.until <= self._dependencies.clock.now().timestamp()

    async def _run(self, step: Step) -> None:
        journal, clock = self._journal, self._dependencies.clock
        began = clock.monotonic()
        try:
            output = as_stored(await self._dependencies.guarded(step.node)(step), step)
        except Suspended:
            self.frontier.hold(step.node.id)
            self._advance()
        except _ENDINGS:
            raise
        except BaseException as failure:
            # Of a step or a guard, which plugins may bring: it fails the step, not the run. Libraries written in Rust
            # raise what is no `Exception` when they panic; passed on, it would leave the run waiting for ever.
            error, took = typed(failure, step), (clock.monotonic() - began) * 1000
            reason = (kind_of(error), error.stable_code, error.message, error.hint)
            # The walk goes on only when the end is stored, so no later step acts on an end that a crash could undo.
            journal.record_then(self._advance, StepFailed, step.id, *reason, step.attempt, took)
        else:
            took = (clock.monotonic() - began) * 1000
            computed = journal.durable and self._dependencies.is_computed(step.node)
            end = journal.defer_and if computed else journal.record_then
            end(self._advance, StepFinished, step.id, output, step.attempt, took, step.partial)

    async def nested(self, step: Step, graph: Graph) -> Outcome:
        """Runs a graph inside a step. If one of its nodes waits for a person, the step waits too."""
        if self._prefix.count("/") >= DEEPEST:
            message = f"Step `{step.id}`: sub-graphs lie in each other more than {DEEPEST} deep."
            raise LimitError(message, code="subgraph_depth")
        frontier = await Walk(self._dependencies, graph, self._journal, step.inside).to_end()
        if self._journal.pausing.is_set() and not frontier.complete:
            raise Suspended
        outcome = reached(self._journal.context.run, frontier)
        if outcome.status == "waiting":
            raise Suspended
        return outcome

    def _record_skipped(self) -> None:
        for node, reason in self.frontier.take_skipped():
            id = NodeId(self._prefix + node)
            past = self._journal.past.get(id)
            if past is None or past.ended is None:  # a continued run skips the same nodes again
                self._journal.record(StepSkipped, id, reason)

    def _listen(self) -> None:
        """Hears the output of this graph's steps: first the output recorded before the run was continued, then new."""
        for event in self._journal.signals:
            self._hear(event)
        self._journal.listeners.append(self._hear)

    def _hear(self, event: Event) -> None:
        # Only from nodes directly in this graph: nested graphs have walks and events of their own.
        if isinstance(event, StepOutput) and event.node.rpartition("/")[0] == self._prefix[:-1]:
            self._advance(event)

    async def _stop(self) -> None:
        # The listener goes first: a step that is being cancelled may still write output, which must start no node.
        if self._hear in self._journal.listeners:
            self._journal.listeners.remove(self._hear)
        running = [task for task in self._tasks.values() if not task.done()]
        for task in running:
            task.cancel()
        if running:
            _, stuck = await asyncio.wait(running, timeout=GRACE)
            if stuck:  # they keep running; the run ends all the same, because its caller must not wait for ever
                fields = {"run": self._journal.context.run, "nodes": sorted(self._tasks)}
                _log.error("steps did not stop when they were cancelled", extra={"fields": fields})

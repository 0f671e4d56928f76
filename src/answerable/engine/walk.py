"""The loop: starts what the frontier says may start, and folds in the end of each node once it is stored.

Whatever else a run can do is a step kind, a guard around a step, or a listener of events. A node is a chain: recorded
already? then that; else run it and record it. So a run that is continued is the same walk, over a graph of which a part
is known; and a sub-graph is the same walk again, inside a step.
"""

import asyncio
import logging

from answerable.core.errors import LimitError, kind_of
from answerable.core.events import Event, StepFailed, StepFinished, StepOutput, StepSkipped
from answerable.core.ids import NodeId
from answerable.engine.dependencies import EngineDependencies, as_kept, typed
from answerable.engine.frontier import Frontier
from answerable.engine.graph import Graph, Node
from answerable.engine.journal import Journal
from answerable.engine.outcome import Outcome, error_in, reached
from answerable.engine.steps.base import Step, Suspended

DEEPEST = 8
"""How many sub-graphs may lie in each other."""
GRACE = 10.0
"""Seconds that a cancelled step has to clean up."""

_log = logging.getLogger("answerable.engine")


class Walk:
    def __init__(self, dependencies: EngineDependencies, graph: Graph, journal: Journal, inside: str = "") -> None:
        dependencies.check(graph)
        self.frontier = Frontier(graph)
        self._dependencies = dependencies
        self._journal = journal
        self._prefix = inside and f"{inside}/"
        self._loop = asyncio.get_running_loop()
        self._tasks: dict[NodeId, asyncio.Task[None]] = {}
        self._ended: asyncio.Future[None] = self._loop.create_future()

    async def to_end(self) -> Frontier:
        """Returns when nothing more can run. Cancelled, or given up, it first stops all that runs."""
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
        """Folds in what has happened, and starts what may start now."""
        frontier = self.frontier
        try:
            if event is not None:
                self._fold(event)
            while nodes := frontier.take():
                for node in nodes:
                    self._start(node)
                if not self._journal.past:
                    break
            if frontier.skipped:
                self._tell_skipped()
            if frontier.ended and not self._ended.done():
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
        if past is not None and isinstance(past.ended, StepFinished | StepFailed):
            self._fold(past.ended)
            return
        event = frontier.happened.get(node.on) if node.on else None
        step = Step(node, frontier.inputs(node), journal, self, id, event, past, frontier.missing(node))
        self._tasks[node.id] = self._loop.create_task(self._run(step))

    async def _run(self, step: Step) -> None:
        journal, clock = self._journal, self._dependencies.clock
        began = clock.monotonic()
        try:
            output = as_kept(await self._dependencies.guarded(step.node)(step), step)
        except Suspended:
            self.frontier.hold(step.node.id)
            self._advance()
        except Exception as failure:  # also of a guard, which is as foreign as a kind: it fails the step, not the run
            error, took = typed(failure, step), (clock.monotonic() - began) * 1000
            reason = (kind_of(error), error.stable_code, error.message, error.hint)
            journal.record_then(self._advance, StepFailed, step.id, *reason, step.attempt, took)
        else:
            took = (clock.monotonic() - began) * 1000
            journal.record_then(self._advance, StepFinished, step.id, output, step.attempt, took, step.partial)

    async def nested(self, step: Step, graph: Graph) -> Outcome:
        """A graph inside a step. If something in it waits for a person, so does the step."""
        if self._prefix.count("/") >= DEEPEST:
            message = f"Step `{step.id}`: sub-graphs lie in each other more than {DEEPEST} deep."
            raise LimitError(message, code="subgraph_depth")
        frontier = await Walk(self._dependencies, graph, self._journal, step.inside).to_end()
        outcome = reached(self._journal.context.run, frontier)
        if outcome.status == "waiting":
            raise Suspended
        return outcome

    def _tell_skipped(self) -> None:
        for node, reason in self.frontier.take_skipped():
            id = NodeId(self._prefix + node)
            past = self._journal.past.get(id)
            if past is None or past.ended is None:
                self._journal.record(StepSkipped, id, reason)

    def _listen(self) -> None:
        """Takes part in what the steps of this graph say, from before the run was taken up and from now on."""
        for event in self._journal.signals:
            self._hear(event)
        self._journal.listeners.append(self._hear)

    def _hear(self, event: Event) -> None:
        if isinstance(event, StepOutput) and event.node.rpartition("/")[0] == self._prefix[:-1]:
            self._advance(event)

    async def _stop(self) -> None:
        if self._hear in self._journal.listeners:
            self._journal.listeners.remove(self._hear)
        running = [task for task in self._tasks.values() if not task.done()]
        for task in running:
            task.cancel()
        if running:
            _, stuck = await asyncio.wait(running, timeout=GRACE)
            if stuck:
                fields = {"run": self._journal.context.run, "nodes": sorted(self._tasks)}
                _log.error("steps did not stop when they were cancelled", extra={"fields": fields})

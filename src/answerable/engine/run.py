"""The engine: runs a graph, or continues a run from its stored events. The loop itself is in `walk.py`."""

import asyncio
from collections.abc import Coroutine, Iterable, Mapping, Sequence
from typing import Any

from answerable.core.clock import Clock, SystemClock
from answerable.core.context import RunContext
from answerable.core.errors import InternalError, NotFoundError, OperatorError, UserError, kind_of
from answerable.core.events import (
    ApprovalDecided,
    Event,
    RunCancelled,
    RunFailed,
    RunFinished,
    RunResumed,
    RunStarted,
)
from answerable.core.ids import NodeId, RunId
from answerable.engine.dependencies import EngineDependencies
from answerable.engine.graph import Graph
from answerable.engine.guards import Guard, default_guards
from answerable.engine.handle import Handle
from answerable.engine.journal import Journal, Listener
from answerable.engine.outcome import Outcome, reached, told
from answerable.engine.steps.base import StepKind
from answerable.engine.walk import Walk
from answerable.store.base import Events

__all__ = ["Engine", "Handle", "Listener", "Outcome"]


class Engine:
    """Without `events` a run lives in memory only. Guards are applied from the first, innermost, to the last."""

    def __init__(
        self,
        kinds: Mapping[str, StepKind],
        events: Events | None = None,
        clock: Clock | None = None,
        guards: Sequence[Guard] | None = None,
    ) -> None:
        clock = clock or SystemClock()
        self._dependencies = EngineDependencies(kinds, default_guards(clock) if guards is None else guards, clock)
        self._events = events
        self._live: dict[RunId, Handle] = {}

    async def run(
        self, graph: Graph, context: RunContext, *, question: str | None = None, listeners: Iterable[Listener] = ()
    ) -> Outcome:
        return await self.start(graph, context, question=question, listeners=listeners)

    async def resume(self, context: RunContext, *, listeners: Iterable[Listener] = ()) -> Outcome:
        return await self.restart(context, listeners=listeners)

    def start(
        self, graph: Graph, context: RunContext, *, question: str | None = None, listeners: Iterable[Listener] = ()
    ) -> Handle:
        """Starts a run: await the handle for its outcome, or iterate over its events."""
        self._dependencies.check(graph)
        handle = Handle(context, self._events, listeners)
        return self._carried(handle, self._begin(handle, graph, question))

    def restart(self, context: RunContext, *, listeners: Iterable[Listener] = ()) -> Handle:
        """Continues a run that another process left, from its events alone. One that has ended is only looked up."""
        handle = Handle(context, self._events, listeners)
        return self._carried(handle, self._continue(handle))

    async def cancel(self, run: RunId, reason: str = "cancelled") -> bool:
        """Cancels a run of this process and waits until it has stopped; false if there is no such run."""
        if (handle := self._live.get(run)) is None:
            return False
        handle.cancel(reason)
        await asyncio.wait((handle.task,))
        return True

    async def decide(
        self, context: RunContext, node: NodeId, *, approved: bool, by: str, note: str | None = None
    ) -> None:
        """Answers what a run asked, once nothing of it runs here any more; `resume` then goes on with it."""
        if (handle := self._live.get(context.run)) is not None:
            await asyncio.wait((handle.task,))
        past = await self._past(context)
        journal = Journal(context, self._dependencies.clock, self._events, past=past)
        if node not in journal.past or journal.past[node].approval != "asked":
            raise UserError(f"Step `{node}` of {context.run} waits for no decision.", code="approval_not_asked")
        journal.record(ApprovalDecided, node, approved, by, note)
        await journal.close()

    def _carried(self, handle: Handle, run: Coroutine[Any, Any, Outcome]) -> Handle:
        id = handle.context.run
        if id in self._live:
            run.close()
            raise InternalError(f"The run {id} is being carried out already.", code="run_exists")
        self._live[id] = handle
        handle.task = asyncio.get_running_loop().create_task(run, name=id)
        handle.task.add_done_callback(lambda _: self._live.pop(id))
        return handle

    async def _begin(self, handle: Handle, graph: Graph, question: str | None) -> Outcome:
        journal = Journal(handle.context, self._dependencies.clock, self._events, handle.listeners)
        journal.record(RunStarted, graph.document, question)
        return await self._carry_out(handle, graph, journal)

    async def _continue(self, handle: Handle) -> Outcome:
        past = await self._past(handle.context)
        ended = told(past)
        if ended is not None:
            return ended
        journal = Journal(handle.context, self._dependencies.clock, self._events, handle.listeners, past)
        journal.record(RunResumed)
        return await self._carry_out(handle, _graph(past[0]), journal)

    async def _past(self, context: RunContext) -> Sequence[Event]:
        past = await self._events.read(context.principal, context.run) if self._events else ()
        if not past:
            raise NotFoundError(
                f"The run {context.run} stopped before it began: nothing of it is stored.",
                code="run_not_begun",
                hint="Ask again.",
            )
        if past[-1].seq != len(past):
            raise OperatorError(
                f"Events of {context.run} are missing.", code="store_corrupt", hint="Restore the store from a backup."
            )
        return past

    async def _carry_out(self, handle: Handle, graph: Graph, journal: Journal) -> Outcome:
        walk = Walk(self._dependencies, graph, journal)
        try:
            handle.set_out()
            await journal.flush()  # the run is known before it acts, and of two processes only one gets past this
            journal.on_failure = walk.give_up
            outcome = reached(journal.context.run, await walk.to_end())
        except asyncio.CancelledError:
            return await self._cancelled(handle, walk, journal)
        handle.arrive()
        _tell_end(journal, outcome)
        await journal.close()
        return outcome

    async def _cancelled(self, handle: Handle, walk: Walk, journal: Journal) -> Outcome:
        """A person cancels a run for good. A process that stops leaves a stored run as it is, to be continued."""
        if handle.reason is not None or not journal.durable:
            journal.record(RunCancelled, handle.reason or "cancelled")
        await journal.close()
        if handle.reason is None:
            raise asyncio.CancelledError
        return reached(journal.context.run, walk.frontier, "cancelled")


def _graph(started: Event) -> Graph:
    if not isinstance(started, RunStarted):
        raise OperatorError(f"The first event of {started.run} is not its start.", code="store_corrupt")
    return Graph.parse(started.graph)


def _tell_end(journal: Journal, outcome: Outcome) -> None:
    error = outcome.error
    if error is not None:
        reason = (kind_of(error), error.stable_code, error.message, error.hint)
        journal.record(RunFailed, *reason, outcome.failed)
    elif outcome.status != "waiting":
        journal.record(RunFinished, outcome.status, outcome.output)

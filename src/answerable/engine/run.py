"""The engine: runs a graph, or continues a run from its stored events. The loop itself is in `walk.py`."""

import asyncio
from collections.abc import Coroutine, Iterable, Mapping, Sequence
from typing import Any

from answerable.core.clock import Clock, SystemClock
from answerable.core.context import RunContext
from answerable.core.errors import AnswerableError, NotFoundError, OperatorError, UserError, kind_of
from answerable.core.events import (
    ApprovalDecided,
    Event,
    RunCancelled,
    RunFailed,
    RunFinished,
    RunPaused,
    RunResumed,
    RunStarted,
    Verdict,
)
from answerable.core.ids import NodeId
from answerable.core.values import Json
from answerable.engine.dependencies import EngineDependencies
from answerable.engine.graph import Graph
from answerable.engine.guards import Guard, default_guards
from answerable.engine.journal import Journal, Listener, asks
from answerable.engine.live import LiveRun
from answerable.engine.outcome import Outcome, outcome_of, reached
from answerable.engine.steps.base import StepKind
from answerable.engine.turns import Turns
from answerable.engine.walk import Walk
from answerable.store.base import Events, Lease

__all__ = ["Engine", "Listener", "LiveRun", "Outcome"]


class Engine:
    """Runs graphs. Without `events` a run lives in memory only. Guards are applied from the first, innermost, to the
    last."""

    def __init__(
        self,
        kinds: Mapping[str, StepKind],
        events: Events | None = None,
        clock: Clock | None = None,
        guards: Sequence[Guard] | None = None,
        turns: Turns | None = None,
    ) -> None:
        clock = clock or SystemClock()
        self._dependencies = EngineDependencies(kinds, default_guards(clock) if guards is None else guards, clock)
        self._events = events
        self._turns = turns or Turns()

    async def run(
        self,
        graph: Graph,
        context: RunContext,
        *,
        lease: Lease | None = None,
        question: str | None = None,
        listeners: Iterable[Listener] = (),
    ) -> Outcome:
        return await self.start(graph, context, lease=lease, question=question, listeners=listeners)

    async def resume(
        self, context: RunContext, *, lease: Lease | None = None, listeners: Iterable[Listener] = ()
    ) -> Outcome:
        return await self.restart(context, lease=lease, listeners=listeners)

    def start(
        self,
        graph: Graph,
        context: RunContext,
        *,
        lease: Lease | None = None,
        question: str | None = None,
        listeners: Iterable[Listener] = (),
    ) -> LiveRun:
        """Starts a run. A stored run needs its lease, because the store accepts writes only from the lease's owner."""
        self._dependencies.check(graph)
        live = self.live(context, lease, listeners)
        return self._started(live, self.begin(live, graph, question))

    def restart(
        self, context: RunContext, *, lease: Lease | None = None, listeners: Iterable[Listener] = ()
    ) -> LiveRun:
        """Continues a run that another process left, from its events alone. A run that has ended is not run again; its
        outcome is read from the events."""
        live = self.live(context, lease, listeners)
        return self._started(live, self.go_on(live))

    def live(self, context: RunContext, lease: Lease | None, listeners: Iterable[Listener]) -> LiveRun:
        """A run without a task yet, for callers that run `begin` or `go_on` in a task of their own."""
        return LiveRun(context, self._events, listeners, lease)

    def started(self, context: RunContext, graph: Graph, question: str | None, taken: Json = None) -> RunStarted:
        """The first event of a run, for callers that store it together with the run. `taken`: what a run that was
        forked takes over."""
        return RunStarted(context.run, 1, self._dependencies.clock.now().timestamp(), graph.document, question, taken)

    async def begin(
        self, live: LiveRun, graph: Graph, question: str | None = None, *, started: RunStarted | None = None
    ) -> Outcome:
        """`started`: the first event, if it is stored already."""
        self._dependencies.check(graph)
        journal = self._journal(live, () if started is None else (started,))
        if started is None:
            journal.record(RunStarted, graph.document, question)
        else:
            journal.show(started)
        return await self._carry_out(live, graph, journal)

    async def fail(self, live: LiveRun, error: AnswerableError) -> None:
        """Ends a run that no process carries out: stores that it failed."""
        past = await self._past(live.context)
        if outcome_of(past) is None:
            await self._journal(live, past).conclude(RunFailed, *_reason(error), None)

    async def go_on(self, live: LiveRun, past: Sequence[Event] | None = None) -> Outcome:
        """`past`: its stored events, if they are known."""
        past = past or await self._past(live.context)
        ended = outcome_of(past)
        if ended is not None:  # another process may have ended it meanwhile
            return ended
        journal = self._journal(live, past)
        # A run that was only queued: the claim has shown whose it is, and this is stored with its first steps.
        (journal.defer if len(past) == 1 else journal.record)(RunResumed)
        return await self._carry_out(live, _graph(past[0]), journal)

    async def decide(
        self,
        context: RunContext,
        node: NodeId,
        *,
        verdict: Verdict,
        by: str,
        note: str | None = None,
        data: Json = None,
        lease: Lease | None = None,
    ) -> None:
        """Stores a person's decision for a run that no process carries out. `resume` then continues the run."""
        past = await self._past(context)
        journal = Journal(context, self._dependencies.clock, self._events, past=past, lease=lease)
        if not asks(past, node):
            raise UserError(f"Step `{node}` of {context.run} waits for no decision.", code="approval_not_asked")
        journal.record(ApprovalDecided, node, verdict != "reject", by, note, verdict, data)
        await journal.close()

    def _started(self, live: LiveRun, run: Coroutine[Any, Any, Outcome]) -> LiveRun:
        live.carry(asyncio.get_running_loop().create_task(run, name=live.context.run))
        return live

    def _journal(self, live: LiveRun, past: Sequence[Event] = ()) -> Journal:
        journal = Journal(
            live.context, self._dependencies.clock, self._events, live.listeners, past=past, lease=live.lease
        )
        journal.on_piece = live.piece  # streamed text reaches followers before it is stored
        journal.end_of = live.end_of
        journal.pausing = live.pausing
        return journal

    async def _past(self, context: RunContext) -> Sequence[Event]:
        past = await self._events.read(context.principal, context.run) if self._events else ()
        if not past:
            raise NotFoundError(
                f"The run {context.run} stopped before it began: nothing of it is stored.",
                code="run_not_begun",
                hint="Ask again.",
            )
        # Events are numbered from 1 without gaps, so a missing one shows here.
        if past[-1].seq != len(past):
            raise OperatorError(
                f"Events of {context.run} are missing.", code="store_corrupt", hint="Restore the store from a backup."
            )
        return past

    async def _carry_out(self, live: LiveRun, graph: Graph, journal: Journal) -> Outcome:
        journal.bound_by(graph.budget)
        walk = Walk(self._dependencies, graph, journal)
        try:
            live.set_out()
            # The start of the run is stored before its first step. Of two processes that start or continue the same
            # run, only the one whose lease is valid gets past this line.
            await (journal.flush() if journal.urgent else journal.still_ours())
            # Only from here on: the line above raises its own failure, and the walk has not begun.
            journal.on_failure = walk.give_up
            async with self._turns.turn(live.place):
                frontier = await walk.to_end()
            if journal.pausing.is_set() and not frontier.complete:
                return await self._paused(live, walk, journal)
            outcome = reached(journal.context.run, frontier, wake_at=min(journal.wakes.values(), default=None))
        except asyncio.CancelledError:
            return await self._cancelled(live, walk, journal)
        # No cancellation between here and the end: a run must not be stored as both finished and cancelled.
        live.arrive()
        await _conclude(journal, outcome)
        return outcome

    async def _paused(self, live: LiveRun, walk: Walk, journal: Journal) -> Outcome:
        live.arrive()
        journal.record(RunPaused, live.paused_by or "")
        await journal.close()
        return reached(journal.context.run, walk.frontier, "paused")

    async def _cancelled(self, live: LiveRun, walk: Walk, journal: Journal) -> Outcome:
        """Ends a run that a person has cancelled. If the process stops, a stored run is left as it is, so that another
        process can continue it."""
        # A run in memory cannot be continued by anyone, so it always ends here.
        if live.reason is not None or not journal.durable:
            await journal.conclude(RunCancelled, live.reason or "cancelled")
        else:
            await journal.close()
        if live.reason is None:
            raise asyncio.CancelledError
        return reached(journal.context.run, walk.frontier, "cancelled")


def _graph(started: Event) -> Graph:
    if not isinstance(started, RunStarted):
        raise OperatorError(f"The first event of {started.run} is not its start.", code="store_corrupt")
    return Graph.parse(started.graph)


async def _conclude(journal: Journal, outcome: Outcome) -> None:
    error = outcome.error
    if error is not None:
        await journal.conclude(RunFailed, *_reason(error), outcome.failed)
    elif outcome.status != "waiting":
        await journal.conclude(RunFinished, outcome.status, outcome.output)
    else:
        await journal.close()


def _reason(error: AnswerableError) -> tuple[str, str, str, str | None]:
    return kind_of(error), error.stable_code, error.message, error.hint

"""Runs: carried out, followed, cancelled, decided, continued and listed.

This is the only file that knows which runs are alive in this process.
"""

import asyncio
import logging
from collections.abc import AsyncIterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import TYPE_CHECKING

from answerable.answers.answer import Answer
from answerable.answers.capsule import read_capsule
from answerable.answers.unanswered import cancelled, failed
from answerable.core.clock import Clock
from answerable.core.context import Principal, RunContext
from answerable.core.errors import AnswerableError, NotFoundError, OperatorError, UserError, restored
from answerable.core.events import TERMINAL, Event, RunCancelled, RunFailed, RunStarted
from answerable.core.ids import NodeId, RunId, ThreadId, new_message_id
from answerable.engine.graph import Graph
from answerable.engine.live import LiveRun
from answerable.engine.run import Engine, Listener
from answerable.engine.step_records import step_records
from answerable.engine.steps.present import usage_in
from answerable.logs import about
from answerable.store.base import Message, RunFilter, RunRecord, RunResult, RunStatus, Store
from answerable.store.conversation import title_of

if TYPE_CHECKING:
    from answerable.engine.timeline import Timeline

_log = logging.getLogger("answerable.runs")
EVENTS_PER_READ = 1_000
"""How many stored events are read at once for a client that catches up."""


@dataclass(frozen=True, slots=True)
class Subject:
    """What a run is about, as listings show it."""

    question: str | None
    sources: tuple[str, ...]
    mode: str | None


class RunService:
    def __init__(self, store: Store, engine: Engine, clock: Clock, listeners: Sequence[Listener] = ()) -> None:
        self._store = store
        self._engine = engine
        self._clock = clock
        self._listeners = tuple(listeners)
        self._live: dict[RunId, LiveRun] = {}

    # Carrying out

    async def start(self, graph: Graph, subject: Subject, context: RunContext) -> RunId:
        """Starts a run that goes on whether or not anybody waits for it. The run is stored when this returns."""
        if context.thread is not None and subject.question is not None:
            await self._store.threads.ensure(context.principal, context.thread, title=title_of(subject.question))
            await self._say(context, "user", subject.question)
        await self._store.runs.create(context, subject.question, sources=subject.sources, mode=subject.mode)
        live = self._live[context.run] = LiveRun()
        live.task = asyncio.create_task(self._carry_out(context, graph, subject.question, live))
        await live.beyond(0)  # whoever learns of a run may rely on its being stored
        return context.run

    async def first_graph(self, run: RunId, principal: Principal) -> Graph:
        """The graph that a run began with."""
        first = await self._store.events.read(principal, run, limit=1)
        if not first or not isinstance(first[0], RunStarted):
            raise UserError(f"The run {run} was given up before it began.", code="run_not_started", hint="Ask again.")
        return Graph.parse(first[0].graph)

    async def _carry_out(self, context: RunContext, graph: Graph | None, question: str | None, live: LiveRun) -> None:
        """Runs to the end, or (without a graph) continues where an earlier process stopped."""
        listeners: tuple[Listener, ...] = (*self._listeners, live)
        with about(run=context.run, thread=context.thread, request=context.request_id):
            try:
                if graph is None:
                    outcome = await self._engine.resume(context, listeners=listeners)
                else:
                    outcome = await self._engine.run(graph, context, question=question, listeners=listeners)
                await self._conclude(context, outcome.status, question)
            except AnswerableError as error:
                live.failure = error
                await self._give_up(context, error)
            finally:
                self._live.pop(context.run, None)
                live.end()

    async def _give_up(self, context: RunContext, error: AnswerableError) -> None:
        """The run cannot even be recorded to its end: the store is full or gone, or nothing of the run was stored."""
        _log.error("run given up", extra={"fields": {"code": error.stable_code, "reason": str(error)}})
        try:
            await self._store.runs.finish(context.run, "failed", error.stable_code)
        except OperatorError as failure:
            _log.error("store failed", extra={"fields": {"code": failure.stable_code, "reason": str(failure)}})

    async def _conclude(self, context: RunContext, status: RunStatus, question: str | None) -> None:
        if status == "waiting":
            await self._store.runs.finish(context.run, status)
            return
        answer = await self.answer(context.run, context.principal)
        if context.thread is not None and question is not None:
            with suppress(NotFoundError):  # the thread was deleted meanwhile; the run keeps its answer
                await self._say(context, "assistant", answer.text)
        error = answer.provenance.error
        await self._store.runs.finish(context.run, status, error.code if error else None, _result(answer))

    async def _say(self, context: RunContext, role: str, content: str) -> None:
        assert context.thread is not None
        message = Message(
            message=new_message_id(),
            thread=context.thread,
            role="user" if role == "user" else "assistant",
            content=content,
            created_at=self._clock.now(),
            run=context.run,
        )
        await self._store.threads.add_message(context.principal, message)

    # Looking

    async def list(
        self,
        principal: Principal,
        *,
        limit: int = 50,
        before: RunId | None = None,
        thread: ThreadId | None = None,
        only: RunFilter | None = None,
    ) -> Sequence[RunRecord]:
        """Recorded runs, newest first; `before` continues a listing."""
        return await self._store.runs.recent(principal, limit=limit, before=before, thread=thread, only=only)

    async def count(
        self, principal: Principal, *, thread: ThreadId | None = None, only: RunFilter | None = None
    ) -> int:
        """How many runs `list` would give without a limit."""
        return await self._store.runs.count(principal, thread=thread, only=only)

    async def get(self, run: RunId, principal: Principal) -> RunRecord:
        return await self._store.runs.get(principal, run)

    async def wait(self, run: RunId, principal: Principal) -> Answer:
        """Waits for the end of a run and gives its answer."""
        live = self._live.get(run)
        if live is not None and live.task is not None:
            await asyncio.shield(live.task)
            if live.failure is not None:
                return failed(run, live.failure)
        return await self.answer(run, principal)

    async def answer(self, run: RunId, principal: Principal) -> Answer:
        """The answer of a finished run; for one that failed or was cancelled, an account of that."""
        record = await self._store.runs.get(principal, run)
        events = await self._store.events.read(principal, run)
        match events[-1:]:
            case [RunFailed(kind=kind, code=code, message=message, hint=hint, node=node)]:
                error, steps = restored(kind, code, message, hint), step_records(events)
                return failed(run, error, step=node, steps=steps, usage=usage_in(events))
            case [RunCancelled(reason=reason)]:
                return cancelled(run, reason, usage_in(events), step_records(events))
        if record.error_code is not None:
            lost = OperatorError("The run could not be recorded to its end.", code=record.error_code, hint="Ask again.")
            return failed(run, lost)
        return read_capsule((await self._store.capsules.get(principal, run)).body).answer

    async def journal(self, run: RunId, principal: Principal) -> Sequence[Event]:
        """Every event of a run that is stored by now."""
        await self._store.runs.get(principal, run)
        return await self._store.events.read(principal, run)

    async def events(self, run: RunId, principal: Principal, after: int = 0) -> AsyncIterator[Event]:
        """Every event of a run with a higher number than `after`: the stored ones, then the others as they happen."""
        await self._store.runs.get(principal, run)
        while True:
            live = self._live.get(run)
            seen = live.mark() if live else None
            page = await self._store.events.read(principal, run, after=after, limit=EVENTS_PER_READ)
            for event in page:
                after = event.seq
                if isinstance(event, TERMINAL) and live is not None and live.task is not None:
                    await asyncio.shield(live.task)  # its status and messages are stored before its end is told
                yield event
                if isinstance(event, TERMINAL):
                    return
            if len(page) == EVENTS_PER_READ:
                continue
            if live is None or seen is None:
                return
            await live.beyond(seen)

    async def timeline(self, run: RunId, principal: Principal) -> "Timeline":
        """When each step of a run began and ended."""
        from answerable.engine.timeline import timeline

        return timeline(await self._store.events.read(principal, run))

    # Acting on a run

    async def cancel(self, run: RunId, principal: Principal, reason: str = "cancelled by the user") -> None:
        """Stops a run. A run that has ended already stays as it is."""
        await self._store.runs.get(principal, run)
        live = self._live.get(run)
        if live is not None:
            await self._engine.cancel(run, reason)

    async def decide(
        self, run: RunId, step: str, principal: Principal, *, approved: bool, note: str | None = None
    ) -> None:
        """Answers what a waiting run asked, and lets it go on."""
        record = await self._store.runs.get(principal, run)
        await self._engine.decide(_context(record), NodeId(step), approved=approved, by=principal.user, note=note)
        self._continue(record)

    async def resume_unfinished(self) -> int:
        """Continues what an earlier process left behind; gives the number of such runs. What calls of models held in
        budgets when their process died counts as spent: they may have been paid for."""
        await self._store.budgets.reconcile()
        found = [record for record in await self._store.runs.unfinished() if record.run not in self._live]
        unfinished = [record for record in found if await self._store.runs.claim(record)]
        for record in unfinished:
            self._continue(record)
        return len(unfinished)

    def _continue(self, record: RunRecord) -> None:
        live = self._live[record.run] = LiveRun()
        live.task = asyncio.create_task(self._carry_out(_context(record), None, record.question, live))

    async def idle(self) -> None:
        """Waits until nothing runs."""
        while tasks := [live.task for live in self._live.values() if live.task is not None]:
            await asyncio.gather(*tasks)

    async def close(self) -> None:
        """Stops running work without marking it as ended: the next process continues it."""
        for live in list(self._live.values()):
            if live.task is not None:
                live.task.cancel()
        await asyncio.gather(*(live.task for live in self._live.values() if live.task), return_exceptions=True)


def ended(record: RunRecord) -> bool:
    return record.status not in ("running", "waiting")


def _context(record: RunRecord) -> RunContext:
    """On behalf of the person who started the run, whoever continues it."""
    return RunContext(record.run, record.principal, record.thread, record.request_id)


def _result(answer: Answer) -> RunResult:
    """What listings show."""
    usage, kind = answer.usage, answer.kind if answer.status not in ("failed", "cancelled") else None
    rows = answer.row_count if answer.provenance.artifact is not None else None
    return RunResult(kind, rows, usage.input_tokens + usage.output_tokens, usage.cost_usd)

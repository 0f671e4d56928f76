"""The runs that this process carries out: begun, continued, adopted from processes that died, and given up.

A run belongs to the store. One process at a time carries it out, with a lease. This is the only file that knows which
runs are alive in this process.
"""

import asyncio
import logging
from collections.abc import Coroutine, Mapping, Sequence
from contextlib import suppress
from random import shuffle
from typing import Any, Literal

from answerable.answers.capsule import read_capsule
from answerable.core.clock import Clock
from answerable.core.context import RunContext
from answerable.core.errors import AnswerableError, InternalError, OperatorError, UserError
from answerable.core.events import Event, RunFinished, RunStarted
from answerable.core.hidden_paths import HiddenPaths
from answerable.core.ids import MessageId, NodeId, RunId, new_message_id
from answerable.core.records import dataclass
from answerable.core.values import Json
from answerable.engine.graph import Graph
from answerable.engine.live import LiveRun
from answerable.engine.run import Engine, Listener, Outcome
from answerable.engine.steps.descriptor import StepDescriptor
from answerable.engine.turns import Turns
from answerable.logs import about
from answerable.service.process_role import COMMAND, ProcessRole
from answerable.service.run_endings import account_of, process_stopping, result_of, run_quarantined, status_of
from answerable.service.suspects import MOST_DEATHS, Suspects
from answerable.store.base import Lease, LeaseLostError, Message, RunBeginning, RunEnd, RunRecord, RunRequest, Store
from answerable.store.conversation import title_of
from answerable.store.leases import LEASE_SECONDS
from answerable.store.runs import QUEUE

_log = logging.getLogger("answerable.runs")
REQUESTS_SECONDS = 0.5
"""How often a process looks for requests to its runs."""
ADOPT_SECONDS = 1.0
"""How often a server looks for runs that nobody carries out any more."""
MIXED = 3
"""Of so many runs for each place of a worker it takes any, not the first."""
ROOM_SECONDS = 0.02
"""A worker that has room for a run, and is at work, waits so long for more room, so that it takes several at once."""
GRAPH_MODE = "graph"
"""The mode of runs of graphs that users drew."""


@dataclass(frozen=True, slots=True)
class Subject:
    """What a run is about, as listings show it."""

    question: str | None
    sources: tuple[str, ...]
    mode: str | None
    graph_version: int | None = None
    """Of a run of a stored graph."""
    at_once: int | None = None
    """How many runs of the same graph may be carried out at the same time. None: any number."""
    priority: int = 0


class RunCarrier:
    def __init__(
        self,
        store: Store,
        engine: Engine,
        clock: Clock,
        step_kinds: Mapping[str, StepDescriptor],
        listeners: Sequence[Listener] = (),
        *,
        turns: Turns | None = None,
        hidden: HiddenPaths | None = None,
        role: ProcessRole = COMMAND,
        most_of_tenant: int | None = None,
    ) -> None:
        """`hidden`: what the errors of runs leave out. `role`: if it is patient, the engine must use the patient store,
        too. `most_of_tenant`: how many runs of graphs are carried out for one tenant, by all processes together."""
        self._store = store
        self._most_of_tenant = most_of_tenant
        self.patient = store.patient if role.patient and store.patient is not None else store
        """The store, as runs use it."""
        self._engine = engine
        self._clock = clock
        self._step_kinds = step_kinds
        self._listeners = tuple(listeners)
        self._turns = turns or Turns()
        self._hidden = hidden or HiddenPaths()
        self._leaves_runs = role.leaves_runs
        self._most = role.carried_at_once
        self._room = asyncio.Event()
        """Set when a run has ended, so that another may be taken."""
        self._suspects = Suspects(self._room.set)
        self._live: dict[RunId, LiveRun] = {}
        self._attending: asyncio.Task[None] | None = None
        self._adopting: asyncio.Task[None] | None = None
        self._unsure: set[asyncio.Task[None]] = set()
        self.leaving = asyncio.Event()
        """Set when this process is about to end."""
        self.ended_any = False
        """Whether a run has ended in this process."""
        self._one_adopts = asyncio.Lock()
        self._adopt_from = 0.0
        """Until this moment of the monotonic clock nobody's runs are adopted."""

    async def start(self, graph: Graph, subject: Subject, context: RunContext, taken: Json = None) -> RunId:
        """Starts a run that goes on whether or not anybody waits for it. The run is stored when this returns.
        In a crowd that would make it wait too long, it is refused before anything is stored. `taken`: what it takes
        over from the run that it was forked from."""
        if self.leaving.is_set():
            raise process_stopping()
        place = self._turns.admit()
        limited = subject.mode == GRAPH_MODE and (subject.at_once or self._most_of_tenant) is not None
        try:
            started = self._engine.started(context, graph, subject.question, taken)
            record = await self._created(context, subject, started, queued=self._leaves_runs or limited)
        except BaseException:
            place.leave()
            raise
        if record is None or record.owner is None:
            place.leave()
            if record is not None:
                await self.adopt(context.run)  # at once if there is room for it, else when there is
            return context.run
        live = self._live_run(context, record.lease, subject.question)
        live.place = place
        self._carry(live, self._engine.begin(live, graph, started=started))
        return context.run

    async def _created(
        self, context: RunContext, subject: Subject, started: RunStarted, *, queued: bool
    ) -> RunRecord | None:
        """The new run; None for one that was started already, by the same request."""
        question, beginning = subject.question, RunBeginning(started)
        if context.thread is not None and question is not None:
            message = self._message(context, "user", question, new_message_id())
            beginning = RunBeginning(started, message, title_of(question))
        try:
            return await self._store.runs.create(
                context,
                question,
                sources=subject.sources,
                mode=subject.mode,
                beginning=beginning,
                queued=queued,
                graph_version=subject.graph_version,
                at_once=subject.at_once,
                priority=subject.priority,
            )
        except InternalError as error:
            if error.stable_code != "run_exists":
                raise
            # The same request once more, by its key. A run of another tenant is not found.
            await self._store.runs.get(context.principal, context.run)
            return None
        except OperatorError:
            if queued:  # a worker takes it up if it was stored
                raise
            task = asyncio.create_task(self._take_up_if_stored(context), name=context.run)
            self._unsure.add(task)
            task.add_done_callback(self._unsure.discard)
            raise

    async def _take_up_if_stored(self, context: RunContext) -> None:
        """The store failed when a run was created, perhaps after it had stored the run: then somebody must carry it
        out, because others see that its owner lives."""
        with suppress(AnswerableError):
            record = await self.patient.runs.get(context.principal, context.run)
            await self._claim(record)

    def _live_run(self, context: RunContext, lease: Lease, question: str | None) -> LiveRun:
        live = self._engine.live(context, lease, self._listeners)
        live.end_of = lambda last: self._end(live, question, last)
        return live

    def _carry(self, live: LiveRun, run: Coroutine[Any, Any, Outcome]) -> None:
        self._live[live.context.run] = live
        live.carry(asyncio.create_task(self._carry_out(live, run), name=live.context.run))
        if self._attending is None or self._attending.done():
            self._attending = asyncio.create_task(self._attend(), name="requests")

    async def _carry_out(self, live: LiveRun, run: Coroutine[Any, Any, Outcome]) -> None:
        context, waits, recorded = live.context, False, False
        with about(run=context.run, thread=context.thread, request=context.request_id):
            try:
                outcome = await run
                waits = outcome.status in ("waiting", "paused")
                if waits:
                    await self._leave_waiting(live, outcome)
                recorded = True
            except LeaseLostError:  # the process that has the run now records its end, and waiters wait for that
                _log.warning("run taken over by another process", extra={"fields": {"token": live.lease.token}})
            except AnswerableError as error:
                live.failure = error
                await self._give_up(live, error)
            finally:
                if not recorded:
                    live.answer = None  # another process may record another end
                self.ended_any = self.ended_any or not waits
                if live.place is not None:
                    live.place.leave()
                if self._live.get(context.run) is live:
                    del self._live[context.run]
                self._suspects.clear(live)
                self._room.set()
        if waits:
            await self.adopt(context.run)  # the decision may have come before the run waited for it

    async def _leave_waiting(self, live: LiveRun, outcome: Outcome) -> None:
        asked = [each for each in await self.patient.runs.requests() if each.run == live.context.run]
        await self.patient.runs.finish(live.lease, RunEnd(outcome.status, wake_at=outcome.wake_at))
        for request in asked:
            # Only now: a process that dies before must not lose the wish.
            if request.kind == "pause" and outcome.status == "paused":
                await self.patient.runs.take(request)

    async def _give_up(self, live: LiveRun, error: AnswerableError) -> None:
        """Ends a run that could not be carried out to its end, for example because its answer cannot be read."""
        _log.error("run given up", extra={"fields": {"code": error.stable_code, "reason": str(error)}})
        self._hidden.of(error)
        try:
            try:
                await self._engine.fail(live, error)
            except LeaseLostError:
                return
            except AnswerableError:  # its journal is empty or damaged, but everybody must see that it is over
                await self.patient.runs.finish(live.lease, RunEnd("failed", error.stable_code))
        except AnswerableError as failure:
            _log.error("store failed", extra={"fields": {"code": failure.stable_code, "reason": str(failure)}})

    async def _end(self, live: LiveRun, question: str | None, last: Event) -> RunEnd:
        """What is stored about a run together with its last event."""
        context = live.context
        if isinstance(last, RunFinished):
            answer = read_capsule((await self.patient.capsules.get(context.principal, context.run)).body).answer
        else:
            events = await self.patient.events.read(context.principal, context.run)
            answer = account_of([*events, last], self._step_kinds)
        live.answer = answer
        message = None
        if context.thread is not None and question is not None:
            # The id is the run's, so that a process that ends the run once more says nothing twice.
            message_id = MessageId("msg_" + context.run.removeprefix("run_"))
            message = self._message(context, "assistant", answer.text, message_id)
        error = answer.provenance.error
        return RunEnd(status_of(last), error.code if error else None, result_of(answer), message)

    def _message(self, context: RunContext, role: Literal["user", "assistant"], text: str, id: MessageId) -> Message:
        assert context.thread is not None
        return Message(id, context.thread, role, text, self._clock.now(), context.run)

    # Which runs are alive

    def live(self, run: RunId) -> LiveRun | None:
        """The run, if this process carries it out now."""
        return self._live.get(run)

    def running(self) -> int:
        """How many runs this process carries out now."""
        return len(self._live)

    def leave(self) -> None:
        """This process is about to end: nobody waits for a run here any more, and no run is begun."""
        self.leaving.set()

    async def done_or_leaving(self, run: RunId, task: asyncio.Task[Any]) -> None:
        leaving = asyncio.create_task(self.leaving.wait())
        await asyncio.wait((task, leaving), return_when=asyncio.FIRST_COMPLETED)
        leaving.cancel()
        if not task.done():
            raise process_stopping(run)

    async def idle(self) -> None:
        """Waits until nothing runs."""
        while tasks := [live.task for live in self._live.values()]:
            await asyncio.gather(*tasks)

    async def close(self) -> None:
        """Stops running work without marking it as ended: the next process continues it."""
        self._store.stop_waiting()  # another process continues the runs when the store is back
        tasks = [live.task for live in self._live.values()]
        tasks += self._unsure
        tasks += [task for task in (self._attending, self._adopting) if task is not None]
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)

    # Runs of other processes

    async def resume_unfinished(self) -> int:
        """Continues runs that no process carries out any more; returns their number. What calls of models held in
        budgets when their process died counts as spent: they may have been paid for."""
        await self._store.budgets.reconcile()
        return await self.adopt()

    def keep_adopting(self) -> None:
        """Continues the runs of processes that died from now on, and carries out those that servers leave to workers.
        For a process that stays, such as a server."""
        if self._leaves_runs:
            return
        self._adopting = asyncio.create_task(self._adopt_for_ever(), name="adopt runs")

    async def _adopt_for_ever(self) -> None:
        looked = -ADOPT_SECONDS
        while True:
            began = self._clock.monotonic()
            self._room.clear()
            try:
                mark = await self._store.news.mark(QUEUE)
                if began - looked >= ADOPT_SECONDS:
                    looked = began
                    await self.resume_unfinished()
                elif not await self._take_queued() and len(self._live) < (self._most or 0):
                    await self.adopt()
            except AnswerableError as error:  # the store may be back the next time
                mark = -1
                _log.warning("runs not adopted", extra={"fields": {"code": error.stable_code, "reason": str(error)}})
                self._grant_grace()
            if self._clock.monotonic() - began > LEASE_SECONDS / 2:
                self._grant_grace()
            if self._most is None:
                await asyncio.sleep(ADOPT_SECONDS)
            else:
                await self._work_or_time(mark)

    async def _work_or_time(self, mark: int) -> None:
        """Returns when a run may wait for a worker, when this worker has room for another, or after a while."""
        waits = [
            asyncio.ensure_future(self._store.news.beyond(QUEUE, mark, ADOPT_SECONDS)),
            asyncio.ensure_future(self._room.wait()),
        ]
        try:
            await asyncio.wait(waits, return_when=asyncio.FIRST_COMPLETED)
            if self._live and self._room.is_set():
                await asyncio.sleep(ROOM_SECONDS)
        finally:
            for wait in waits:
                wait.cancel()
            await asyncio.gather(*waits, return_exceptions=True)

    def _grant_grace(self) -> None:
        """The store was away or stood still, so the others could not renew their leases: they get the time to."""
        self._adopt_from = self._clock.monotonic() + LEASE_SECONDS

    async def _take_queued(self) -> int:
        """Takes as many new runs as this worker has room for, in one go. How many of a tenant are carried out is not
        counted here: with such a limit each run is claimed for itself."""
        free = 0 if self._most is None else self._most - len(self._live)
        if free <= 0 or self._most_of_tenant is not None:
            return 0
        async with self._one_adopts:
            return await asyncio.shield(self._claim_queued(free))

    async def _claim_queued(self, free: int) -> int:
        # Not patiently: the store must be asked what it has done, not to do it again.
        queued = await self._store.runs.claim_queued(free)
        for each in queued:
            live = self._live_run(_context(each.record), each.record.lease, each.record.question)
            self._carry(live, self._engine.go_on(live, (each.started,)))
        return len(queued)

    async def adopt(self, only: RunId | None = None) -> int:
        adopted = 0
        if self._leaves_runs:
            return adopted
        in_batches = self._most is not None and self._most_of_tenant is None and only is None
        async with self._one_adopts:
            full: set[tuple[str, str | None]] = set()
            """Tenants, and graphs of tenants, for which no more runs may be carried out now."""
            for record in self._in_turn(await self._store.runs.adoptable(queued=not in_batches)):
                if self._most is not None and len(self._live) >= self._most:
                    break
                if record.run in self._live or only not in (None, record.run):
                    continue
                # A run that waits for a decision has no owner who might be alive.
                if record.owner is not None and self._clock.monotonic() < self._adopt_from:
                    continue
                if self._suspects.must_wait(record):
                    continue
                group = (record.principal.tenant, record.question if record.at_once is not None else None)
                if record.mode == GRAPH_MODE and group in full:
                    continue
                of_tenant = self._most_of_tenant if record.mode == GRAPH_MODE else None
                # Goes on if whoever asked for it is cancelled meanwhile: a claim is stored before it is known here.
                if await asyncio.shield(self._claim(record, of_tenant)):
                    adopted += 1
                elif record.at_once is not None or of_tenant is not None:
                    full.add(group)
        return adopted + (await self._take_queued() if in_batches else 0)

    async def end_if_unowned(self, record: RunRecord) -> None:
        """Takes up a run that somebody asked to cancel, if no process carries it out. It ends before its next step, so
        it needs no room: a process that leaves runs to workers ends it too."""
        async with self._one_adopts:
            if record.owner is not None and self._clock.monotonic() < self._adopt_from:
                return
            if record.run not in self._live:
                await asyncio.shield(self._claim(record, to_end_it=True))

    def _in_turn(self, records: Sequence[RunRecord]) -> Sequence[RunRecord]:
        """The runs that wait, in their order. A worker mixes the first of them: all workers hear of a run at once, and
        if all ask for the same one first, all but one ask in vain."""
        if self._most is None:
            return records
        first = [record for record in records[: MIXED * self._most] if record.priority == records[0].priority]
        shuffle(first)
        return [*first, *records[len(first) :]]

    async def _claim(self, record: RunRecord, most_of_tenant: int | None = None, *, to_end_it: bool = False) -> bool:
        """Goes on with a run if this process gets it. Nothing may come between the claim and the carrying out: a run
        that is claimed and not carried out belongs to a living process, so nobody would ever adopt it."""
        lease = await self.patient.runs.claim(record, most_of_tenant=most_of_tenant, to_end_it=to_end_it)
        if lease is None:
            return False
        live = self._live_run(_context(record), lease, record.question)
        self._suspects.watch(live, record.deaths + (record.owner is not None))
        self._carry(live, self._go_on(live, record))
        return True

    async def _pause_or_resume(self, live: LiveRun, wishes: Sequence[RunRequest]) -> None:
        """The last wish counts. A run that is to pause does so before its first step."""
        if wishes and wishes[-1].kind == "pause":
            live.pause(wishes[-1].body["by"])
            wishes = wishes[:-1]  # it is taken when the run has paused
        for wish in wishes:
            await self.patient.runs.take(wish)

    async def _go_on(self, live: LiveRun, record: RunRecord) -> Outcome:
        """Does what was asked of the run while nobody carried it out, then continues it."""
        # Only a run that somebody had carried out can have lost a process since it was read.
        new = record.owner is None and not record.deaths
        if not new and (await self.patient.runs.get(record.principal, record.run)).deaths >= MOST_DEATHS:
            error = run_quarantined(record.run)
            await self._give_up(live, error)
            return Outcome(record.run, "failed", error=error)
        requests = [request for request in await self.patient.runs.requests() if request.run == record.run]
        for request in requests:
            if request.kind == "decide":
                await self._decide(record, live.lease, request)
        await self._pause_or_resume(live, [each for each in requests if each.kind in ("pause", "resume")])
        for request in requests:
            if request.kind == "cancel":
                live.cancel(request.body["reason"])
                await self.patient.runs.take(request)
        outcome = await self._engine.go_on(live)
        if outcome.status in ("waiting", "paused"):
            return outcome
        if not ended(await self.patient.runs.get(record.principal, record.run)):
            # Earlier versions stored the last event and the status one after the other; a crash could part them.
            last = (await self.patient.events.read(record.principal, record.run))[-1]
            await self.patient.runs.finish(live.lease, await self._end(live, record.question, last))
        return outcome

    async def _decide(self, record: RunRecord, lease: Lease, request: RunRequest) -> None:
        body = request.body
        try:
            await self._engine.decide(
                _context(record),
                NodeId(body["step"]),
                verdict=body.get("verdict") or ("approve" if body["approved"] else "reject"),
                by=body["by"],
                note=body["note"],
                data=body.get("data"),
                lease=lease,
            )
        except UserError:  # somebody else was quicker with a decision
            _log.info("decision came too late", extra={"fields": {"run": record.run, "step": body["step"]}})
        await self.patient.runs.take(request)

    async def _attend(self) -> None:
        """Carries out what other processes ask of the runs of this one, for as long as there are any."""
        while self._live:
            await asyncio.sleep(REQUESTS_SECONDS)
            try:
                for request in await self._store.runs.requests():
                    live = self._live.get(request.run)
                    if live is not None and request.kind == "cancel":
                        live.cancel(request.body["reason"])
                        await self._store.runs.take(request)
                    elif live is not None and request.kind == "pause":
                        live.pause(request.body["by"])
                    elif live is not None and request.kind == "resume" and not live.pausing.is_set():
                        await self._store.runs.take(request)
            except AnswerableError as error:
                _log.warning("requests not read", extra={"fields": {"code": error.stable_code, "reason": str(error)}})


def ended(record: RunRecord) -> bool:
    return record.status not in ("running", "waiting", "paused")


def _context(record: RunRecord) -> RunContext:
    """The context of a run: it acts on behalf of the person who started it, whoever continues it."""
    return RunContext(record.run, record.principal, record.thread, record.request_id)

"""Runs: listed, followed, awaited, cancelled and decided, whichever process carries them out."""

import asyncio
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import suppress
from typing import TYPE_CHECKING

from answerable.answers.answer import Answer
from answerable.answers.capsule import read_capsule
from answerable.answers.unanswered import failed
from answerable.core.context import Principal
from answerable.core.errors import OperatorError, UserError
from answerable.core.events import TERMINAL, Event, RunCancelled, RunFailed, RunStarted, Verdict
from answerable.core.ids import NodeId, RunId, ThreadId, new_run_id
from answerable.core.values import Json
from answerable.engine.graph import Graph
from answerable.engine.journal import last_question
from answerable.engine.live import EVENTS_PER_READ
from answerable.engine.open_questions import OpenQuestion, open_questions
from answerable.engine.steps.descriptor import StepDescriptor
from answerable.service.personal import PersonalData
from answerable.service.run_carrier import RunCarrier, ended
from answerable.service.run_endings import account_of, process_stopping
from answerable.store.base import RunFilter, RunRecord, RunStatus, Store
from answerable.store.leases import LEASE_SECONDS

if TYPE_CHECKING:
    from answerable.engine.timeline import Timeline

NEWS_SECONDS = 1.0
"""How long a follower of another process's run relies on hearing of news before it looks by itself."""
END_SECONDS = 20.0
"""How long to wait for a run of another process to end that was cancelled: longer than it takes to adopt such a run."""


class RunService:
    def __init__(
        self,
        store: Store,
        carrier: RunCarrier,
        step_kinds: Mapping[str, StepDescriptor],
        personal: PersonalData | None = None,
    ) -> None:
        """`personal`: what answers and events leave out; None for nothing."""
        self._store = store
        self._personal = personal or PersonalData()
        self._step_kinds = step_kinds
        self.carrier = carrier
        """The runs of this process."""

    async def id_for(self, key: str, fingerprint: str, principal: Principal) -> RunId:
        """The id of the run that a client's key stands for. `fingerprint`: of the request that it came with."""
        return await self._store.keys.run_for(principal, key, fingerprint, new_run_id())

    async def first_graph(self, run: RunId, principal: Principal) -> Graph:
        """The graph that a run began with."""
        first = await self._store.events.read(principal, run, limit=1)
        if not first or not isinstance(first[0], RunStarted):
            raise UserError(f"The run {run} was given up before it began.", code="run_not_started", hint="Ask again.")
        return Graph.parse(first[0].graph)

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
        """Waits for the end of a run, whichever process carries it out, and returns its answer. A run that waits for a
        decision has none."""
        while True:
            live = self.carrier.live(run)
            if live is not None:
                await self.carrier.done_or_leaving(run, live.task)
                if live.failure is not None:
                    return self._personal.answer(failed(run, live.failure), principal)
                if live.answer is not None and live.context.principal == principal:
                    return self._personal.answer(live.answer, principal)
            mark = await self._store.news.mark(run)
            record = await self.carrier.patient.runs.get(principal, run)
            if record.status != "running":
                return await self.answer(run, principal)
            if self.carrier.leaving.is_set():
                raise process_stopping(run)
            if self.carrier.live(run) is None:
                await self._store.news.beyond(run, mark, NEWS_SECONDS)

    async def answer(self, run: RunId, principal: Principal) -> Answer:
        """The answer of a finished run; for one that failed or was cancelled, an account of that."""
        record = await self._store.runs.get(principal, run)
        if record.status in ("waiting", "paused"):
            raise await self._no_answer_yet(record)
        answer = await self._ended(run, principal, record.status, record.error_code)
        return self._personal.answer(answer, principal)

    async def waits(self, run: RunId, principal: Principal) -> Sequence[OpenQuestion]:
        """What a run waits for: questions to people, effects in doubt, and events. Each is decided by its node."""
        record = await self._store.runs.get(principal, run)
        return [] if ended(record) else open_questions(await self.journal(run, principal))

    async def _no_answer_yet(self, record: RunRecord) -> UserError:
        if record.status == "paused":
            resume = f"`answerable runs resume {record.run}` lets it go on."
            return UserError(f"{record.run} is paused.", code="run_waiting", hint=resume)
        nodes = [each.node for each in await self.waits(record.run, record.principal)]
        wanted = ", ".join(f"`{node}`" for node in nodes) or "its time"
        hint = f"Decide it: `answerable runs approve {record.run} {nodes[0]}`." if nodes else None
        return UserError(f"{record.run} waits for {wanted}.", code="run_waiting", hint=hint)

    async def _ended(
        self, run: RunId, principal: Principal, status: RunStatus, error_code: str | None = None
    ) -> Answer:
        """The journal is read only for a run without an answer of its own, to say what became of it."""
        if status in ("refused", "failed", "cancelled"):
            events = await self._store.events.read(principal, run)
            if isinstance(events[-1], RunFailed | RunCancelled):
                return account_of(events, self._step_kinds)
        if error_code is not None:
            lost = OperatorError("The run could not be recorded to its end.", code=error_code, hint="Ask again.")
            return failed(run, lost)
        return read_capsule((await self._store.capsules.get(principal, run)).body).answer

    async def journal(self, run: RunId, principal: Principal) -> Sequence[Event]:
        """Every event of a run that is stored by now."""
        await self._store.runs.get(principal, run)
        return self._personal.journal(await self._store.events.read(principal, run), principal)

    async def events(self, run: RunId, principal: Principal, after: int = 0) -> AsyncIterator[Event]:
        """Every event of a run with a higher number than `after`, until it ends or waits for a decision: the stored
        ones, then the others as they happen, whichever process carries the run out."""
        await self._store.runs.get(principal, run)
        hidden = after > 0 and self._personal.hides("events", principal)
        before = (
            [event for event in await self._store.events.read(principal, run) if event.seq <= after] if hidden else []
        )
        async for event in self._personal.events(self._followed(run, principal, after), principal, before):
            yield event

    async def _followed(self, run: RunId, principal: Principal, after: int) -> AsyncIterator[Event]:
        while True:
            live = self.carrier.live(run)
            mark = await self._store.news.mark(run) if live is None else 0
            record = await self.carrier.patient.runs.get(principal, run)
            news = live.events(after) if live is not None else self._stored(record, after)
            async for event in news:
                after = event.seq or after  # a piece of text has no number
                yield event
                if isinstance(event, TERMINAL):
                    return
            if live is None:
                if record.status != "running":
                    return
                if record.owner is None:
                    await self.carrier.adopt(run)  # it waited for room, and there may be some now
                if self.carrier.live(run) is None:
                    await self._store.news.beyond(run, mark, NEWS_SECONDS)

    async def _stored(self, record: RunRecord, after: int) -> AsyncIterator[Event]:
        """What is stored now of a run that another process carries out."""
        while True:
            page = await self.carrier.patient.events.read(
                record.principal, record.run, after=after, limit=EVENTS_PER_READ
            )
            for event in page:
                after = event.seq
                yield event
            if len(page) < EVENTS_PER_READ:
                return

    async def timeline(self, run: RunId, principal: Principal) -> "Timeline":
        """When each step of a run began and ended."""
        from answerable.engine.timeline import timeline

        return timeline(await self._store.events.read(principal, run))

    # Acting on a run

    async def cancel(self, run: RunId, principal: Principal, reason: str = "cancelled by the user") -> None:
        """Stops a run, whichever process carries it out, and waits until it has stopped. A run that no process carries
        out ends here. A run that has ended already stays as it is."""
        record = await self._store.runs.get(principal, run)
        if ended(record):
            return
        if self.carrier.live(run) is None:
            await self._store.runs.request(principal, run, "cancel", {"reason": reason})
            await self.carrier.end_if_unowned(record)
        if (live := self.carrier.live(run)) is None:
            await self._concluded(record)
        else:
            live.cancel(reason)
            await asyncio.wait((live.task,))

    async def pause(self, run: RunId, principal: Principal) -> None:
        """Has a run wait, whichever process carries it out: the steps that are under way end, and no other starts until
        somebody resumes it. It stays paused through restarts. A decision that is made meanwhile counts later."""
        record = await self._store.runs.get(principal, run)
        if ended(record):
            raise _ended_already(record)
        if record.status == "paused":
            return
        await self._store.runs.request(principal, run, "pause", {"by": principal.user})
        if (live := self.carrier.live(run)) is not None:
            live.pause(principal.user)
        else:
            await self.carrier.adopt(run)  # in case nobody carries it out
            if (live := self.carrier.live(run)) is not None:
                await asyncio.wait((live.task,))  # it pauses before its first step

    async def resume(self, run: RunId, principal: Principal) -> None:
        """Lets a run that was paused go on: here if this process carries runs out, else at another."""
        record = await self._store.runs.get(principal, run)
        if ended(record):
            raise _ended_already(record)
        await self._store.runs.request(principal, run, "resume", {"by": principal.user})
        await self.carrier.adopt(run)

    async def _concluded(self, record: RunRecord) -> None:
        """Waits until a run of another process has ended. If that process dies meanwhile, the run ends here."""
        with suppress(TimeoutError):  # its process lives and does not react
            async with asyncio.timeout(END_SECONDS):
                while not ended(record):
                    mark = await self._store.news.mark(record.run)
                    record = await self._store.runs.get(record.principal, record.run)
                    if not ended(record):
                        await self._store.news.beyond(record.run, mark, NEWS_SECONDS)
                        await self.carrier.end_if_unowned(record)

    async def decide(
        self,
        run: RunId,
        step: str,
        principal: Principal,
        *,
        verdict: Verdict,
        note: str | None = None,
        data: Json = None,
        patient: bool = True,
    ) -> None:
        """Answers what a run asked, and lets it go on: here if nobody carries it out, else where it is. `approve` and
        `reject` need nothing more. `edit` goes on with `data` instead of what was shown; `respond` gives `data` as the
        answer, or as the result of an effect that has happened. Of several decisions on one question the first counts;
        the same one once more changes nothing. `patient`: whether to wait for other steps of the run that this process
        carries out just now."""
        await self._store.runs.get(principal, run)
        if verdict in ("approve", "reject") and data is not None:
            raise UserError(f"`{verdict}` takes no data.", code="decision_invalid", hint="Use `edit` or `respond`.")
        asked, decided = last_question(await self._store.events.read(principal, run), NodeId(step))
        if asked is None:
            raise UserError(f"Step `{step}` of {run} waits for no decision.", code="approval_not_asked")
        body = {"step": step, "verdict": verdict, "by": principal.user, "note": note, "data": data}
        # The id belongs to the question, so the store keeps one decision on it, whoever else decides at the same time.
        request = f"{run}:{asked.seq}"
        first = await self._store.runs.requested(principal, request)
        if first is None and decided is not None:
            raise _decided_already(run, step, decided.by)
        if first is None and not await self._store.runs.request(principal, run, "decide", body, request=request):
            first = await self._store.runs.requested(principal, request)
        if first is not None and first.body != body:
            raise _decided_already(run, step, first.body["by"])
        if (live := self.carrier.live(run)) is not None:
            if not patient:
                return  # the run finds the decision when its other steps have ended
            await asyncio.wait((live.task,))  # other steps of the run are still under way
        await self.carrier.adopt(run)

    async def resume_patiently(self, principal: Principal) -> int:
        """Continues unfinished runs, for somebody who waits for the runs of a process that was killed a moment ago. Its
        lease may not have lapsed yet, so runs of other processes are looked at again after that time."""
        adopted = await self.carrier.resume_unfinished()
        under_way = await self.count(principal, only=RunFilter(statuses=("running",)))
        if under_way > self.carrier.running():
            await asyncio.sleep(LEASE_SECONDS)
            adopted += await self.carrier.resume_unfinished()
        return adopted


def _ended_already(record: RunRecord) -> UserError:
    hint = "A run of a graph can be begun again from a node: `answerable graph fork RUN`."
    return UserError(f"{record.run} has ended ({record.status}).", code="run_ended", hint=hint)


def _decided_already(run: RunId, step: str, by: str) -> UserError:
    return UserError(f"Step `{step}` of {run} was decided by {by} already.", code="approval_decided")

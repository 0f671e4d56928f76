"""What Answerable does for its users. The command line, the HTTP edge and the library call this and nothing else."""

import asyncio
import logging
from collections.abc import AsyncIterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from datetime import date, timedelta
from pathlib import Path
from typing import TYPE_CHECKING

from answerable.agents.asking import Asking
from answerable.agents.graphs import QueryType, direct_graph
from answerable.agents.readers import Readers
from answerable.agents.routing import graph_of
from answerable.answers.answer import Answer
from answerable.answers.capsule import read_capsule
from answerable.answers.unanswered import cancelled, failed
from answerable.core.clock import Clock
from answerable.core.context import LOCAL, Principal, RunContext
from answerable.core.errors import AnswerableError, NotFoundError, OperatorError, UserError, restored
from answerable.core.events import TERMINAL, Event, RunCancelled, RunFailed, RunStarted
from answerable.core.ids import MessageId, NodeId, RunId, ThreadId, new_message_id, new_run_id, new_thread_id
from answerable.core.values import Json
from answerable.engine.graph import Graph
from answerable.engine.live import LiveRun
from answerable.engine.run import Engine, Listener
from answerable.engine.steps.combine import CombineStep
from answerable.engine.steps.present import usage_in
from answerable.engine.steps.produced import Produced
from answerable.engine.steps.python import PythonStep
from answerable.engine.steps.sql import SqlConfig, SqlStep
from answerable.engine.steps.understand import Question
from answerable.logs import about
from answerable.sources.registry import SourceRegistry
from answerable.store.base import Message, RunRecord, RunResult, RunStatus, Store
from answerable.store.conversation import fork, title_of

if TYPE_CHECKING:
    from answerable.answers.replay import Replay
    from answerable.engine.timeline import Timeline

_log = logging.getLogger("answerable.runs")
MOST_SOURCES = 10
RESTORABLE = timedelta(days=30)
"""For so long a deleted thread can be had back."""
PAGE = 1_000
"""How many stored events are read at once for a client that catches up."""


@dataclass(frozen=True, slots=True)
class Subject:
    """What a run is about, as listings show it."""

    question: str | None
    sources: tuple[str, ...]
    mode: str | None


class Service:
    def __init__(
        self,
        *,
        store: Store,
        engine: Engine,
        sources: SourceRegistry,
        sql: SqlStep,
        combine: CombineStep,
        python: PythonStep,
        readers: Readers,
        clock: Clock,
        default_source: str,
        listeners: Sequence[Listener] = (),
    ) -> None:
        self.store = store
        self.sources = sources
        self._engine = engine
        self._sql = sql
        self._combine = combine
        self._python = python
        self._readers = readers
        self._clock = clock
        self.default_source = default_source
        self._listeners = tuple(listeners)
        self._live: dict[RunId, LiveRun] = {}

    # Asking

    async def ask(self, asking: Asking, principal: Principal = LOCAL) -> Answer:
        """Asks and waits. A run that fails is an answer too, with its error in the provenance."""
        return await self.finished(await self.begin(asking, principal), principal)

    async def begin(self, asking: Asking, principal: Principal = LOCAL, request: str | None = None) -> RunId:
        """Starts a run that goes on whether or not anybody waits for it."""
        sources = self._known(asking.sources)
        graph, mode = graph_of(asking, sources)
        context = RunContext(new_run_id(), principal, asking.thread or new_thread_id(), request)
        return await self._start(graph, Subject(asking.message, sources, mode), context)

    def _known(self, sources: Sequence[str]) -> tuple[str, ...]:
        named = tuple(dict.fromkeys(self.sources.known_as(name) for name in sources or [self.default_source]))
        if len(named) > MOST_SOURCES:
            raise UserError(
                f"A question can be about {MOST_SOURCES} sources at most; {len(named)} were named.",
                code="sources_too_many",
            )
        return named

    async def carry_out(self, graph: Graph, question: str, *, principal: Principal = LOCAL) -> Answer:
        """Runs any graph that ends in an answer, in no thread."""
        run = await self._start(graph, Subject(question, (), None), RunContext(new_run_id(), principal))
        return await self.finished(run, principal)

    async def begin_query(
        self,
        query_type: QueryType,
        code: Json,
        *,
        source: str | None = None,
        thread: ThreadId | None = None,
        principal: Principal = LOCAL,
        request: str | None = None,
    ) -> RunId:
        named = self.sources.known_as(source or self.default_source)
        graph = direct_graph(query_type, self._recordable(code), (named,))
        return await self._start(
            graph, Subject(None, (named,), query_type), RunContext(new_run_id(), principal, thread, request)
        )

    def _recordable(self, plan: Json) -> Json:
        """A plan that names databases by URL, without the passwords in them."""
        if not isinstance(plan, dict):
            return plan
        if isinstance(plan.get("source"), str):
            plan = plan | {"source": self.sources.known_as(plan["source"])}
        if isinstance(plan.get("steps"), list):
            plan = plan | {"steps": [self._recordable(step) for step in plan["steps"]]}
        return plan

    async def retry(self, run: RunId, principal: Principal = LOCAL, request: str | None = None) -> RunId:
        """The same question or query once more, in the same thread, as a run of its own."""
        record = await self.store.runs.get(principal, run)
        first = await self.store.events.read(principal, run, limit=1)
        if not first or not isinstance(first[0], RunStarted):
            raise UserError(f"The run {run} was given up before it began.", code="run_not_started", hint="Ask again.")
        subject = Subject(record.question, record.sources, record.mode)
        context = RunContext(new_run_id(), principal, record.thread, request)
        return await self._start(Graph.parse(first[0].graph), subject, context)

    async def _start(self, graph: Graph, subject: Subject, context: RunContext) -> RunId:
        if context.thread is not None and subject.question is not None:
            await self.store.threads.ensure(context.principal, context.thread, title=title_of(subject.question))
            await self._say(context, "user", subject.question)
        await self.store.runs.create(context, subject.question, sources=subject.sources, mode=subject.mode)
        live = self._live[context.run] = LiveRun()
        live.task = asyncio.create_task(self._carry_out(context, graph, subject.question, live))
        await live.beyond(0)  # whoever learns of a run may rely on its being stored
        return context.run

    async def _carry_out(self, context: RunContext, graph: Graph | None, question: str | None, live: LiveRun) -> None:
        """Runs to the end, or (without a graph) continues where an earlier process stopped."""
        listeners: tuple[Listener, ...] = (*self._listeners, live)
        with about(run=context.run, thread=context.thread, request=context.request):
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
            await self.store.runs.finish(context.run, "failed", error.stable_code)
        except OperatorError as failure:
            _log.error("store failed", extra={"fields": {"code": failure.stable_code, "reason": str(failure)}})

    async def _conclude(self, context: RunContext, status: RunStatus, question: str | None) -> None:
        if status == "waiting":
            await self.store.runs.finish(context.run, status)
            return
        answer = await self.answer(context.run, context.principal)
        if context.thread is not None and question is not None:
            with suppress(NotFoundError):  # the thread was deleted meanwhile; the run keeps its answer
                await self._say(context, "assistant", answer.text)
        error = answer.provenance.error
        await self.store.runs.finish(context.run, status, error.code if error else None, _result(answer))

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
        await self.store.threads.add_message(context.principal, message)

    async def fork(
        self, thread: ThreadId, message: MessageId, principal: Principal = LOCAL, *, include: bool = True
    ) -> ThreadId:
        """A new thread that begins like another one: up to a message, or up to just before it."""
        return await fork(self.store.threads, principal, thread, message, include=include)

    async def purge(self) -> None:
        """Removes for good what was deleted long ago."""
        await self.store.threads.purge(self._clock.now() - RESTORABLE)

    # Looking

    async def finished(self, run: RunId, principal: Principal = LOCAL) -> Answer:
        """Waits for the end of a run and gives its answer."""
        live = self._live.get(run)
        if live is not None and live.task is not None:
            await asyncio.shield(live.task)
            if live.failure is not None:
                return failed(run, live.failure)
        return await self.answer(run, principal)

    async def answer(self, run: RunId, principal: Principal = LOCAL) -> Answer:
        """The answer of a finished run; for one that failed or was cancelled, an account of that."""
        record = await self.store.runs.get(principal, run)
        events = await self.store.events.read(principal, run)
        match events[-1:]:
            case [RunFailed(kind=kind, code=code, message=message, hint=hint, node=node)]:
                return failed(run, restored(kind, code, message, hint), step=node, usage=usage_in(events))
            case [RunCancelled(reason=reason)]:
                return cancelled(run, reason, usage_in(events))
        if record.error_code is not None:
            lost = OperatorError("The run could not be recorded to its end.", code=record.error_code, hint="Ask again.")
            return failed(run, lost)
        return read_capsule((await self.store.capsules.get(principal, run)).body).answer

    async def rows_path(self, answer: Answer, principal: Principal = LOCAL) -> Path:
        """The Arrow file with all rows of an answer."""
        if answer.provenance.artifact is None:
            raise NotFoundError(f"The answer of {answer.run_id} has no rows.", code="rows_missing")
        return await self.store.artifacts.path(principal, answer.provenance.artifact)

    async def with_rows(self, answer: Answer, most: int, principal: Principal = LOCAL) -> Answer:
        """The same answer with up to `most` rows in it."""
        if answer.provenance.artifact is None:
            return answer
        from answerable.answers import frame

        rows = await asyncio.to_thread(frame.rows, await self.rows_path(answer, principal), 0, most)
        provenance = answer.provenance.model_copy(update={"truncated": len(rows) < answer.row_count})
        return answer.model_copy(update={"rows": tuple(rows), "provenance": provenance})

    async def events(self, run: RunId, principal: Principal = LOCAL, after: int = 0) -> AsyncIterator[Event]:
        """Every event of a run with a higher number than `after`: the stored ones, then the others as they happen."""
        await self.store.runs.get(principal, run)
        while True:
            live = self._live.get(run)
            seen = live.mark() if live else None
            page = await self.store.events.read(principal, run, after=after, limit=PAGE)
            for event in page:
                after = event.seq
                if isinstance(event, TERMINAL) and live is not None and live.task is not None:
                    await asyncio.shield(live.task)  # its status and messages are stored before its end is told
                yield event
                if isinstance(event, TERMINAL):
                    return
            if len(page) == PAGE:
                continue
            if live is None or seen is None:
                return
            await live.beyond(seen)

    async def query(self, config: SqlConfig, principal: Principal = LOCAL) -> Produced:
        """Runs one query beside any run: nothing is recorded but its rows."""
        return await self._sql.query(config, principal)

    async def explain(self, question: str, *, source: str | None = None, today: date | None = None) -> Json:
        """How the reader reads a question, stage by stage."""
        return await self._readers.explain(Question(text=question, source=source or self.default_source, today=today))

    async def replay(self, run: RunId, principal: Principal = LOCAL) -> "Replay":
        """Runs the deterministic steps of an answer again and says whether the rows are the same."""
        from answerable.answers.replay import replay
        from answerable.engine.again import Again

        capsule = read_capsule((await self.store.capsules.get(principal, run)).body)
        again = Again(self._sql, self._combine, self._python, self.store.artifacts)
        return await replay(capsule, lambda step: again.run(step, principal))

    async def timeline(self, run: RunId, principal: Principal = LOCAL) -> "Timeline":
        """When each step of a run began and ended."""
        from answerable.engine.timeline import timeline

        return timeline(await self.store.events.read(principal, run))

    async def cancel(self, run: RunId, principal: Principal = LOCAL, reason: str = "cancelled by the user") -> None:
        await self.store.runs.get(principal, run)
        live = self._live.get(run)
        if live is not None:
            await self._engine.cancel(run, reason)

    async def decide(
        self, run: RunId, step: str, *, approved: bool, note: str | None = None, principal: Principal = LOCAL
    ) -> None:
        """Answers what a waiting run asked, and lets it go on."""
        record = await self.store.runs.get(principal, run)
        context = RunContext(run=run, principal=record.principal, thread=record.thread, request=record.request)
        await self._engine.decide(context, NodeId(step), approved=approved, by=principal.user, note=note)
        self._continue(record)

    async def resume_unfinished(self) -> int:
        """Continues what an earlier process left behind; gives the number of such runs. What calls of models held in
        budgets when their process died counts as spent: they may have been paid for."""
        await self.store.budgets.reconcile()
        found = [record for record in await self.store.runs.unfinished() if record.run not in self._live]
        unfinished = [record for record in found if await self.store.runs.claim(record)]
        for record in unfinished:
            self._continue(record)
        return len(unfinished)

    def _continue(self, record: RunRecord) -> None:
        context = RunContext(run=record.run, principal=record.principal, thread=record.thread, request=record.request)
        live = self._live[record.run] = LiveRun()
        live.task = asyncio.create_task(self._carry_out(context, None, record.question, live))

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
        await self.sources.close()
        await self.store.close()


def _result(answer: Answer) -> RunResult:
    """What listings show."""
    usage, kind = answer.usage, answer.kind if answer.status not in ("failed", "cancelled") else None
    rows = answer.row_count if answer.provenance.artifact is not None else None
    return RunResult(kind, rows, usage.input_tokens + usage.output_tokens, usage.cost_usd)

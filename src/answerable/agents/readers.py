"""The readers of all sources. Each reader reads questions about one source, or about several sources as one."""

import asyncio
from collections import defaultdict
from collections.abc import Sequence
from datetime import date
from typing import TYPE_CHECKING, Any

from answerable.agents.dry_run import DryRun, dry_run
from answerable.agents.federation import Readable, SourceLookup
from answerable.agents.other_sources import KnownWords, sources_that_know
from answerable.answers.answer import Choice
from answerable.answers.chart_request import chart_request
from answerable.computing.job import Job
from answerable.computing.processes import ComputingProcesses
from answerable.core.catalog import Catalog, ValueLookup
from answerable.core.clock import Clock, today
from answerable.core.context import Principal, Visibility
from answerable.core.errors import NotFoundError, RefusedError, UserError, not_visible
from answerable.core.progress import Progress, no_progress
from answerable.core.values import Json
from answerable.core.words import name_words, singular, stem, words
from answerable.engine.steps.understand import Question
from answerable.query.compiling import compiled
from answerable.query.plan import QueryPlan
from answerable.reader.reading import Read, Reading, Reply, Unsure

if TYPE_CHECKING:
    from answerable.query.merged import Merged
    from answerable.reader.experience import Example
    from answerable.reader.graph_words import PathAnswer
    from answerable.reader.learned_questions import LearnedAnswer
    from answerable.reader.reader import Reader


def live_source(name: str) -> str:
    """What the source is called that asks live what another one holds as synced."""
    return f"{name}_live"


SUGGESTED = 3
"""How many questions are suggested to somebody whose question the data cannot answer."""


class Readers:
    def __init__(self, sources: SourceLookup, clock: Clock, processes: ComputingProcesses | None = None) -> None:
        self._sources = sources
        self._clock = clock
        self._processes = processes or ComputingProcesses()
        self._readers: dict[tuple[Visibility, str], Reader] = {}
        self._building: defaultdict[tuple[Visibility, str], asyncio.Lock] = defaultdict(asyncio.Lock)

    async def source_of(self, question: Question, principal: Principal) -> Readable:
        """The source that the question is about, or all of them as one."""
        if question.sources:
            return await self._sources.federated(question.sources, principal)
        return await self._sources.get(question.source, principal)

    async def merged(self, question: Question, principal: Principal) -> "Merged | None":
        """The merged catalog of several sources, or None for a question about a single source."""
        return await (await self._sources.federated(question.sources, principal)).merged() if question.sources else None

    async def read(
        self,
        question: Question,
        principal: Principal,
        previous: QueryPlan | None = None,
        progress: Progress = no_progress,
    ) -> Reply:
        """How the reader reads a question. `previous` is the plan that a follow-up refers to. A plan over tables of
        another source is ignored: of this source, nothing was talked about yet."""
        from answerable.reader.jobs import ReadJob

        source = await self.source_of(question, principal)
        reader = await self.reader(source, principal, progress)
        run = dry_run(source, reader.catalog)
        day = self.today(question.today, reader.catalog)
        if previous is not None and not is_over(reader.catalog, previous):
            previous = None
        job = ReadJob(
            _without_chart(question.text, reader.catalog), day, previous, question.force, dry_run=run is not None
        )
        reply: Reply = await self._computed(job, reader, run)
        if not isinstance(reply, Read):
            _refuse_hidden(question.text, reader.catalog)
        merged = await self.merged(question, principal)
        # Other replies are never answered as they are. Only a sure reading could silently take the wrong table.
        if merged is None or not isinstance(reply, Read):
            return reply
        from answerable.agents.ambiguous_names import with_same_named_tables

        return with_same_named_tables(reply, question, merged)

    async def with_bindings(self, reply: Unsure, question: Question, principal: Principal) -> Unsure:
        """The same readings with their bindings: the table, column or value that each phrase of the question means."""
        readings = [
            reading.model_copy(update={"bindings": await self._bindings(question, reading.plan, principal)})
            for reading in reply.readings
        ]
        return reply.model_copy(update={"readings": tuple(readings)})

    async def chosen(self, choice: Choice, question: Question, principal: Principal) -> Reading:
        """The reading behind a choice that has a plan."""
        plan = QueryPlan.model_validate(choice.plan)
        bindings = await self._bindings(question, plan, principal)
        return Reading(plan=plan, sentence=choice.label, confidence=1.0, bindings=bindings)

    async def other_sources(
        self, question: Question, unknown: Sequence[str], principal: Principal
    ) -> Sequence[KnownWords]:
        """Other sources that know words of the question which its own source does not."""
        others = self._sources.instead_of(question.sources or (question.source,), principal) if unknown else ()
        return await sources_that_know(question.text, unknown, {name: self._named(name, principal) for name in others})

    async def by_analogy(self, question: Question, example: "Example", principal: Principal) -> Reading | None:
        """The question read like a saved one, or None if they differ in more than a value or a period."""
        from answerable.reader.jobs import AnalogyJob

        reader = await self.reader(await self.source_of(question, principal), principal)
        job = AnalogyJob(question.text, self.today(question.today, reader.catalog), example)
        reading: Reading | None = await self._computed(job, reader)
        return reading

    async def learned(self, question: Question, principal: Principal) -> "LearnedAnswer | None":
        """The statement of the source's `semantic.yaml` that answers the question, or None."""
        from answerable.reader.jobs import LearnedJob

        source = await self.source_of(question, principal)
        if question.sources or not (await source.describe()).questions:
            return None
        reader = await self.reader(source, principal)
        day = self.today(question.today, reader.catalog)
        has_live = any(each.live for each in reader.catalog.questions) and await self._has_live(question, principal)
        now = self._clock.now() if day == today(self._clock) else None
        found: LearnedAnswer | None = await self._computed(LearnedJob(question.text, day, has_live, now), reader)
        return found

    async def _has_live(self, question: Question, principal: Principal) -> bool:
        try:
            await self._sources.get(live_source(question.source), principal)
        except (NotFoundError, RefusedError):  # there is none, or this person may not ask it
            return False
        return True

    async def paths(self, question: Question, principal: Principal) -> "PathAnswer | None":
        """The query for a question about ways through a graph, or None."""
        source = await self.source_of(question, principal)
        if question.sources or not any(table.connections for table in (await source.describe()).tables):
            return None
        from answerable.reader.jobs import PathsJob

        found: PathAnswer | None = await self._computed(PathsJob(question.text), await self.reader(source, principal))
        return found

    async def learned_like(self, question: Question, principal: Principal) -> tuple[str, ...]:
        """Questions of the source's `semantic.yaml` that come near to this one."""
        if question.sources:
            return ()
        reader = await self.reader(await self.source_of(question, principal), principal)
        return reader.learned_like(question.text, SUGGESTED) if reader.catalog.questions else ()

    async def answerable_questions(self, question: Question, principal: Principal) -> tuple[str, ...]:
        """A few questions that the data behind this question can answer; each was tried."""
        from answerable.reader.jobs import SuggestJob

        source = await self.source_of(question, principal)
        reader = await self.reader(source, principal)
        run = dry_run(source, reader.catalog)
        job = SuggestJob(self.today(question.today, reader.catalog), SUGGESTED, dry_run=run is not None)
        found: tuple[str, ...] = await self._computed(job, reader, run)
        return found

    async def explain(self, question: Question, principal: Principal) -> Json:
        """The stages of reading a question, for `answerable eval --explain`."""
        from answerable.reader.jobs import ExplainJob

        source = await self.source_of(question, principal)
        reader = await self.reader(source, principal)
        run = dry_run(source, reader.catalog)
        job = ExplainJob(question.text, self.today(question.today, reader.catalog), dry_run=run is not None)
        stages: Json = await self._computed(job, reader, run)
        return stages

    async def reader(self, source: Readable, principal: Principal, progress: Progress = no_progress) -> "Reader":
        """The reader of a source as this principal may see it, built again only when its catalog has changed."""
        catalog = await source.describe(progress)
        key = (self._sources.visibility(principal), source.name)
        if not self._is_current(key, catalog):
            async with self._building[key]:  # else each of those who ask at first would build one
                if not self._is_current(key, catalog):
                    values = await source.values(progress)
                    self._readers[key] = await asyncio.to_thread(_built, catalog, values)
        return self._readers[key]

    def _is_current(self, key: tuple[Visibility, str], catalog: Catalog) -> bool:
        # A source returns the same catalog object until its data changes, so identity is enough and costs nothing.
        return key in self._readers and self._readers[key].catalog is catalog

    async def _named(self, name: str, principal: Principal) -> "Reader":
        return await self.reader(await self._sources.get(name, principal), principal)

    async def _bindings(self, question: Question, plan: QueryPlan, principal: Principal) -> Json:
        from answerable.reader.jobs import BindingsJob

        reader = await self.reader(await self.source_of(question, principal), principal)
        bindings: Json = await self._computed(
            BindingsJob(question.text, self.today(question.today, reader.catalog), plan), reader
        )
        return bindings

    async def _computed(self, job: Job, reader: "Reader", run: DryRun | None = None) -> Any:
        return await self._processes.compute(job, reader, *([run] if run is not None else []))

    def today(self, asked_on: date | None, catalog: Catalog) -> date:
        """The day from which a question counts: the one it names, the last of the data, or the real one."""
        return asked_on or catalog.as_of or today(self._clock)


def is_over(catalog: Catalog, plan: QueryPlan) -> bool:
    """Whether the catalog has every table and column of the plan. Sources may have tables of the same name."""
    try:
        compiled(plan, catalog)
    except UserError:
        return False
    return True


def _refuse_hidden(text: str, catalog: Catalog) -> None:
    """Raises `RefusedError` for a question whose words name something that exists and may not be seen, so that it is
    not taken for something that does not exist. A visible thing of the same name is what the question may mean."""
    asked = set(map(singular, words(text)))
    visible = [set(map(singular, name_words(table.name))) for table in catalog.tables]
    visible += [set(map(singular, name_words(column.name))) for table in catalog.tables for column in table.columns]
    for hidden in catalog.hidden:
        named = set(map(singular, name_words(hidden.column or hidden.table)))
        if named and named <= asked and named not in visible:
            column = f"the column {hidden.column!r} of {hidden.table}"
            raise not_visible(column if hidden.column else f"the table {hidden.table!r}", hidden.rule, catalog.contact)


def _without_chart(question: str, catalog: Catalog) -> str:
    """The question without its request for a chart, unless the data itself is about charts or plots."""
    request = chart_request(question)
    names = [name for table in catalog.tables for name in (table.name, *(column.name for column in table.columns))]
    if request is None or any(stem(word) in _DRAWN for name in names for word in name_words(name)):
        return question
    return request.rest


_DRAWN = frozenset(map(stem, ("chart", "plot", "graph", "diagram")))


def _built(catalog: Catalog, values: ValueLookup) -> "Reader":
    """Builds the reader. Runs in a thread, because the first time it imports the reader, which takes long."""
    from answerable.reader.jobs import today_of_job
    from answerable.reader.reader import Reader

    return Reader(catalog, values, today=today_of_job)

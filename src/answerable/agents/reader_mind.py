"""The reader as a mind: its reply becomes a graph."""

import asyncio
from collections.abc import Callable, Iterable, Sequence
from contextvars import ContextVar
from dataclasses import asdict
from datetime import date
from typing import TYPE_CHECKING

from answerable.agents.dry_run import dry_run
from answerable.agents.execution_plan import plan_graph
from answerable.agents.federation import Readable, SourcesTogether, reading_plan, unrelated_note
from answerable.agents.graphs import clarify_graph, query_graph
from answerable.agents.other_sources import Knowing, knowing
from answerable.answers.answer import Choice
from answerable.answers.capsule import read_capsule
from answerable.core.catalog import Catalog
from answerable.core.clock import Clock, today
from answerable.core.context import Principal, RunContext, Visibility
from answerable.core.errors import UserError
from answerable.core.values import Json
from answerable.engine.graph import Graph
from answerable.engine.steps.present import Presentation
from answerable.engine.steps.sql import SqlConfig
from answerable.engine.steps.understand import Conversation, Question, Tell, Understanding
from answerable.query.plan import QueryPlan
from answerable.reader.reading import Read, Reading, Reply, Unreadable, Unsure

if TYPE_CHECKING:
    from answerable.query.merged import Merged
    from answerable.reader.reader import Reader

MAX_QUESTION = 10_000
SURE, FAIRLY_SURE = 0.85, 0.6

asked_on: ContextVar[date | None] = ContextVar("asked_on", default=None)
"""The day on which the question that is being read is to be taken as asked, where that is not today."""


class ReaderMind:
    def __init__(self, sources: SourcesTogether, clock: Clock) -> None:
        self._sources = sources
        self._clock = clock
        self._readers: dict[tuple[Visibility, str], Reader] = {}

    async def understand(
        self, question: Question, context: RunContext, before: Conversation, tell: Tell
    ) -> Understanding:
        principal = context.principal
        _acceptable(question.text)
        chosen = chosen_reading(question, before.last)
        if chosen is not None and chosen.plan is None:
            question = stands_for(chosen, question)
        elif chosen is not None:
            merged = await self.merged(question, principal)
            return understood(
                question, await self._reading_of(chosen, question, principal), "You chose this reading.", merged
            )
        reply = await self.reply(question, before, principal)
        return await self.understanding(question, reply, principal)

    async def understanding(self, question: Question, reply: Reply, principal: Principal) -> Understanding:
        """What becomes of the reader's reply."""
        source, merged = await self.asked(question, principal), await self.merged(question, principal)
        if isinstance(reply, Unsure) and merged is None:
            reply = await self._with_bindings(reply, question, source, principal)
        elsewhere = () if isinstance(reply, Read) else await self._elsewhere(question, reply.unknown, principal)
        return _understanding(question, reply, await source.describe(), merged, elsewhere)

    async def _elsewhere(self, question: Question, unknown: Sequence[str], principal: Principal) -> Sequence[Knowing]:
        others = self._sources.instead_of(question.sources or (question.source,), principal) if unknown else ()
        return await knowing(question.text, unknown, {name: self._reader_named(name, principal) for name in others})

    async def _reader_named(self, name: str, principal: Principal) -> "Reader":
        return await self.reader(await self._sources.get(name, principal), principal)

    async def asked(self, question: Question, principal: Principal) -> Readable:
        """What the question is about: one source, or several as one."""
        if question.sources:
            return await self._sources.federated(question.sources, principal)
        return await self._sources.get(question.source, principal)

    async def merged(self, question: Question, principal: Principal) -> "Merged | None":
        """How several sources were made one; nothing for a single one."""
        return await (await self._sources.federated(question.sources, principal)).merged() if question.sources else None

    async def reply(self, question: Question, before: Conversation, principal: Principal) -> Reply:
        """How the reader reads a question; of what it may mean, only a few rows are looked at."""
        source = await self.asked(question, principal)
        reader = await self.reader(source, principal)
        asked_on.set(question.today)
        reply = await asyncio.to_thread(
            reader.read,
            question.text,
            previous=_last_plan(before.last),
            force=question.force,
            run=dry_run(source, reader.catalog),
        )
        merged = await self.merged(question, principal)
        if merged is None or not isinstance(reply, Read):
            return reply
        from answerable.agents.ambiguous_names import with_namesakes

        return with_namesakes(reply, question, merged)

    async def _with_bindings(self, reply: Unsure, question: Question, source: Readable, principal: Principal) -> Unsure:
        """The readings to choose from, each with what the phrases of the question would become."""
        reader = await self.reader(source, principal)
        asked_on.set(question.today)
        bound = [
            reading.model_copy(
                update={"bindings": await asyncio.to_thread(reader.bindings, question.text, reading.plan)}
            )
            for reading in reply.readings
        ]
        return reply.model_copy(update={"readings": tuple(bound)})

    async def _reading_of(self, choice: Choice, question: Question, principal: Principal) -> Reading:
        plan = QueryPlan.model_validate(choice.plan)
        reader = await self.reader(await self.asked(question, principal), principal)
        asked_on.set(question.today)
        bindings = await asyncio.to_thread(reader.bindings, question.text, plan)
        return Reading(plan=plan, sentence=choice.label, confidence=1.0, bindings=bindings)

    async def explain(self, question: Question, principal: Principal) -> Json:
        """The stages of reading a question, for `answerable eval --explain`."""
        source = await self.asked(question, principal)
        reader = await self.reader(source, principal)
        asked_on.set(question.today)
        run = dry_run(source, reader.catalog)
        return asdict(await asyncio.to_thread(reader.explain_stages, question.text, run=run))

    async def reader(self, source: Readable, principal: Principal) -> "Reader":
        """The reader of a source, or of several, as this principal may see it. It is made again only when the data or
        what is said about the data has changed."""
        catalog = await source.describe()
        from answerable.reader.reader import Reader  # meanwhile, the source's worker starts

        key = (principal.visibility, source.name)
        known = self._readers.get(key)
        if known is None or known.catalog is not catalog:
            known = self._readers[key] = Reader(catalog, await source.values(), today=self._today(catalog))
        return known

    def _today(self, catalog: Catalog) -> Callable[[], date]:
        return lambda: asked_on.get() or catalog.as_of or today(self._clock)


def _acceptable(text: str) -> None:
    if not text.strip():
        raise UserError(
            "The question is empty.", code="question_empty", hint="Ask, for example: how many orders per month?"
        )
    if len(text) > MAX_QUESTION:
        raise UserError(
            f"The question has {len(text):,} characters; at most {MAX_QUESTION:,} are read.",
            code="question_too_long",
            hint="Ask for one thing at a time.",
        )


def _understanding(
    question: Question, reply: Reply, catalog: Catalog, merged: "Merged | None", elsewhere: Sequence[Knowing]
) -> Understanding:
    if isinstance(reply, Read):
        return understood(question, reply.best, _reason(reply.best.confidence), merged)
    if isinstance(reply, Unsure):
        choices = _choices(reply.readings, catalog if merged is None else None)
        places = _places(elsewhere)
        all_known = bool(elsewhere) and len(elsewhere[0].words) == len(set(reply.unknown))
        choices = _numbered((*places, *choices) if all_known else (*choices, *places))
        return _asked(clarify_graph(question.text, reply.question + unrelated_note(merged), choices))
    text = _unreadable(reply, catalog) + unrelated_note(merged)
    return _asked(clarify_graph(question.text, text, _numbered(_places(elsewhere))))


def _choices(readings: Sequence[Reading], catalog: Catalog | None) -> tuple[Choice, ...]:
    """With a catalog, names of one source: each says what could be remembered of choosing it."""
    from answerable.reader.explaining.learned_synonyms import synonyms

    told = synonyms(readings, catalog) if catalog is not None else (None,) * len(readings)
    return tuple(
        Choice(
            id=0,
            label=reading.sentence,
            plan=reading.plan.model_dump(mode="json"),
            code=reading.sql,
            synonym=synonym,
        )
        for reading, synonym in zip(readings, told, strict=True)
    )


def _places(elsewhere: Sequence[Knowing]) -> tuple[Choice, ...]:
    return tuple(
        Choice(id=0, label=f"{at.source} may know this ({_quoted(at.words)}): ask there", source=at.source)
        for at in elsewhere
    )


def _numbered(choices: Iterable[Choice]) -> tuple[Choice, ...]:
    return tuple(choice.model_copy(update={"id": number}) for number, choice in enumerate(choices, 1))


def _quoted(words: Sequence[str]) -> str:
    return ", ".join(f"“{word}”" for word in words)


def understood(question: Question, reading: Reading, reason: str, merged: "Merged | None") -> Understanding:
    presentation = Presentation(
        question=question.text,
        understood=reading.sentence,
        bindings=reading.bindings,
        confidence=_level(reading.confidence),
        confidence_reason=reason,
        plan=reading.plan,
    )
    if merged is None:
        graph = query_graph(SqlConfig(source=question.source, plan=reading.plan), presentation)
    else:
        graph = plan_graph(reading_plan(question, reading, merged), question.source, presentation)
    return Understanding(graph=graph.model_dump(mode="json"), sentence=reading.sentence)


def _asked(graph: Graph) -> Understanding:
    return Understanding(graph=graph.model_dump(mode="json"))


def _unreadable(reply: Unreadable, catalog: Catalog) -> str:
    known = ", ".join(table.label or table.name for table in catalog.tables[:8])
    more = ", …" if len(catalog.tables) > 8 else ""
    return f"{reply.message} This data is about: {known}{more}."


def _level(confidence: float) -> str:
    return "high" if confidence >= SURE else "medium" if confidence >= FAIRLY_SURE else "low"


def _reason(confidence: float) -> str:
    if confidence >= SURE:
        return "Every word was understood and no other reading comes close."
    if confidence >= FAIRLY_SURE:
        return "Every word was understood; another reading is possible."
    return "This is only the best of several readings."


def best_of(reply: Reply) -> Reading | None:
    """The reading that comes first, sure or not."""
    if isinstance(reply, Read):
        return reply.best
    return reply.readings[0] if isinstance(reply, Unsure) and reply.readings else None


def chosen_reading(question: Question, previous: Json | None) -> Choice | None:
    """The reading that the user picked from the last question back, by number."""
    if question.choice is None:
        return None
    choices = read_capsule(previous).answer.choices if previous else ()
    match = next((choice for choice in choices if choice.id == question.choice), None)
    if match is None:
        offered = f"1 to {len(choices)}" if choices else "none"
        raise UserError(
            f"There is no choice {question.choice} to take.",
            code="choice_unknown",
            hint=f"The last answer of this thread offered: {offered}.",
        )
    return match


def stands_for(chosen: Choice, question: Question) -> Question:
    """The question behind a choice without a plan: the same of another source, or one that a model wrote, to be read
    by itself."""
    asked = {"source": chosen.source, "sources": ()} if chosen.source is not None else {"text": chosen.label}
    return question.model_copy(update={**asked, "choice": None})


def _last_plan(previous: Json | None) -> QueryPlan | None:
    plan = read_capsule(previous).answer.provenance.plan if previous else None
    return QueryPlan.model_validate(plan) if plan else None

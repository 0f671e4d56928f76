"""The reader's side of routing: graphs for readings, built without a model."""

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

from answerable.agents.execution_plan import ExecutionPlan, PlanStep, plan_graph
from answerable.agents.federation import reading_plan, unrelated_note
from answerable.agents.graphs import clarify_graph, cypher_graph, query_graph
from answerable.agents.other_sources import KnownWords
from answerable.agents.readers import live_source
from answerable.answers.answer import Choice
from answerable.core.catalog import Catalog
from answerable.engine.graph import Graph
from answerable.engine.steps.cypher import CypherConfig
from answerable.engine.steps.present import Advice, Confidence, Presentation
from answerable.engine.steps.sql import SqlConfig
from answerable.engine.steps.understand import Question, RoutedGraph
from answerable.reader.explaining.bindings import UNUSED
from answerable.reader.learned_questions import LearnedAnswer
from answerable.reader.reading import Read, Reading, Reply, Unreadable, Unsure

if TYPE_CHECKING:
    from answerable.query.merged import Merged
    from answerable.reader.graph_words import PathAnswer

SYNCED, LIVE = "synced", "live"
"""The steps of a question about right now, and the rows that its statements may name."""
NOT_LIVE = "The question is about right now; this is what the last sync found. Nothing was asked live."
MOST_CHOICES = 4
SURE, FAIRLY_SURE = 0.85, 0.6
"""From these confidences on, the reader counts as sure, or as fairly sure."""


def reading_graph(
    question: Question, reading: Reading, reason: str | None = None, *, note: str | None = None
) -> RoutedGraph:
    """One query to the only source of the question. `reason` says why the reading is trusted; if it is None, the reason
    follows from the reading's confidence. `note` is said after the answer."""
    query = SqlConfig(source=question.source, plan=reading.plan)
    return RoutedGraph(query_graph(query, _presentation(question, reading, reason, note)), reading.sentence)


def learned_graph(question: Question, learned: LearnedAnswer) -> RoutedGraph:
    """The statement that somebody has written down or accepted for this question. Never sure: somebody else may mean
    the same words in another way. Its live part, if it has one, is asked of the live source beside this one."""
    presentation = Presentation(
        question=question.text,
        understood=f"Answered like “{learned.question}” in semantic.yaml.",
        confidence="medium",
        confidence_reason="The question and its statement were accepted by somebody who knows the data."
        if learned.same_values
        else "The same question with another value was accepted by somebody who knows the data.",
        findings=(NOT_LIVE,) if learned.asks_now and learned.live is None else (),
        path=learned.path,
    )
    if learned.live is None:
        return RoutedGraph(query_graph(SqlConfig(source=question.source, sql=learned.sql), presentation))
    steps = (
        PlanStep(id=SYNCED, tool="sql", source=question.source, code=learned.sql),
        PlanStep(id=LIVE, tool="sql", source=live_source(question.source), code=learned.live.sql, after=(SYNCED,)),
        PlanStep(id="together", tool="combine", code=learned.live.together, after=(SYNCED, LIVE)),
    )
    plan = ExecutionPlan(question=question.text, source=question.source, steps=steps)
    return RoutedGraph(plan_graph(plan, question.source, presentation, one_query=True))


def paths_graph(question: Question, paths: "PathAnswer") -> RoutedGraph:
    """One query of a graph, whose paths are shown."""
    presentation = Presentation(
        question=question.text,
        understood=paths.sentence,
        confidence="high",
        confidence_reason=paths.reason,
    )
    return RoutedGraph(cypher_graph(CypherConfig(source=question.source, cypher=paths.cypher), presentation))


def federated_reading_graph(
    question: Question, reading: Reading, merged: "Merged", reason: str | None = None, *, note: str | None = None
) -> RoutedGraph:
    """One query for each table of several sources, and a step that combines their rows."""
    plan = reading_plan(question, reading, merged)
    graph = plan_graph(plan, question.source, _presentation(question, reading, reason, note), one_query=True)
    return RoutedGraph(graph, reading.sentence)


def question_back_graph(
    question: Question,
    reply: Unsure | Unreadable,
    catalog: Catalog,
    merged: "Merged | None",
    others: Sequence[KnownWords],
    answerable: Sequence[str] = (),
    learned: Sequence[str] = (),
    note: str = "",
) -> Graph:
    """Asks which reading was meant, or says which words could not be read. Also offers sources that know the words.
    `answerable` are questions that the data can answer, for a question that it cannot; `learned` are questions of
    `semantic.yaml` that come near to this one. The text begins with `note`."""
    places = _places(others)
    near = tuple(Choice(id=0, label=text_of_question) for text_of_question in learned)
    if near:
        readings = _choices(reply.readings, None) if isinstance(reply, Unsure) else ()
        choices = _numbered((*near, *readings[: max(1, MOST_CHOICES - len(near))]))
        return clarify_graph(question.text, f"{note}Which of these do you mean?", choices)
    if isinstance(reply, Unreadable):
        text = note + _unreadable(reply, catalog) + unrelated_note(merged)
        text += " It can answer, for example:" if answerable else ""
        suggestions = (Choice(id=0, label=text_of_question) for text_of_question in answerable)
        return clarify_graph(question.text, text, _numbered((*places, *suggestions)))
    choices = _choices(reply.readings, catalog if merged is None else None)
    if (word := _only_unknown_word(choices, reply.unknown)) is not None:
        # The readings differ in what the word means, so the word is what to ask about.
        asked = f"{note}What is “{word}” here?" + unrelated_note(merged)
        return clarify_graph(question.text, asked, _numbered(choice for choice in choices if choice.synonym))
    # A source that knows every unknown word is a better guess than readings that leave these words out.
    all_known = bool(others) and len(others[0].words) == len(set(reply.unknown))
    choices = _numbered((*places, *choices) if all_known else (*choices, *places))
    return clarify_graph(question.text, note + reply.question + unrelated_note(merged), choices)


def best_of(reply: Reply) -> Reading | None:
    """The first reading, whether or not the reader is sure of it."""
    if isinstance(reply, Read):
        return reply.best
    return reply.readings[0] if isinstance(reply, Unsure) and reply.readings else None


def _presentation(question: Question, reading: Reading, reason: str | None, note: str | None) -> Presentation:
    unused = [binding.phrase for binding in reading.bindings if binding.meaning == UNUSED]
    return Presentation(
        question=question.text,
        understood=reading.sentence,
        bindings=reading.bindings,
        confidence=_level(reading.confidence) if reason or not unused else _lowered(reading.confidence),
        confidence_reason=reason
        or (f"{_quoted(unused)}: no part of this answer." if unused else None)
        or _reason(reading.confidence),
        plan=reading.plan,
        reviewed=Advice(findings=(note,), doubt=note) if note else None,
    )


def _choices(readings: Sequence[Reading], catalog: Catalog | None) -> tuple[Choice, ...]:
    """The readings as choices. With the catalog of a single source, each choice also holds the synonym that choosing
    it would teach. A synonym belongs to one source, so `catalog` is None for a question about several."""
    from answerable.reader.learned_synonyms import synonyms

    taught = synonyms(readings, catalog) if catalog is not None else (None,) * len(readings)
    return tuple(
        Choice(
            id=0,  # numbered later, when the order of all choices is known
            label=reading.sentence,
            plan=reading.plan.model_dump(mode="json"),
            code=reading.sql,
            example=reading.example,
            synonym=synonym,
        )
        for reading, synonym in zip(readings, taught, strict=True)
    )


def _only_unknown_word(choices: Sequence[Choice], unknown: Sequence[str]) -> str | None:
    """The word that alone was not understood, if at least two choices take it for different columns."""
    taught = [choice.synonym for choice in choices if choice.synonym is not None]
    columns = {(synonym.table, synonym.column) for synonym in taught}
    words = {synonym.phrase for synonym in taught}
    if len(columns) < 2 or len(words) != 1:
        return None
    (word,) = words
    return word if {one.casefold() for one in unknown} <= {word.casefold()} else None


def _places(others: Sequence[KnownWords]) -> tuple[Choice, ...]:
    return tuple(
        Choice(id=0, label=f"{at.source} may know this ({_quoted(at.words)}): ask there", source=at.source)
        for at in others
    )


def _numbered(choices: Iterable[Choice]) -> tuple[Choice, ...]:
    return tuple(choice.model_copy(update={"id": number}) for number, choice in enumerate(choices, 1))


def _quoted(words: Sequence[str]) -> str:
    return ", ".join(f"“{word}”" for word in words)


def _unreadable(reply: Unreadable, catalog: Catalog) -> str:
    # Eight names show what the data is about; a source may have thousands of tables.
    known = ", ".join(table.label or table.name for table in catalog.tables[:8])
    more = ", …" if len(catalog.tables) > 8 else ""
    return f"{reply.message} This data is about: {known}{more}."


def _lowered(confidence: float) -> Confidence:
    """A word that has no part in the plan keeps an answer from being sure."""
    return "medium" if confidence >= FAIRLY_SURE else "low"


def _level(confidence: float) -> Confidence:
    return "high" if confidence >= SURE else "medium" if confidence >= FAIRLY_SURE else "low"


def _reason(confidence: float) -> str:
    if confidence >= SURE:
        return "Every word was understood and no other reading comes close."
    if confidence >= FAIRLY_SURE:
        return "Every word was understood; another reading is possible."
    return "This is only the best of several readings."

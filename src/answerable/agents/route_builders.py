"""The facts and builders of the routing table. Each builder gives the graph of one route, or refuses the question."""

from dataclasses import dataclass, replace

from answerable.agents.dependencies import AgentDependencies
from answerable.agents.federation import reading_plan
from answerable.agents.graphs import cannot_tell_graph, preplan_graph, react_graph, readings_graph, shown_graph
from answerable.agents.reader_graphs import federated_reading_graph, question_back_graph, reading_graph
from answerable.agents.situation import MAX_QUESTION, Situation, previous_plan
from answerable.answers.answer import Choice
from answerable.answers.capsule import read_capsule
from answerable.core.context import RunContext
from answerable.core.errors import OperatorError, UserError
from answerable.core.progress import Progress
from answerable.engine.steps.present import MODEL, READER
from answerable.engine.steps.understand import Question, RoutedGraph, Tell
from answerable.reader.reading import Read, Reading, Unreadable, Unsure

YOURS = "You chose this reading."
CHOSEN = "The user chose this reading from several; do not ask once more."


@dataclass(frozen=True, slots=True)
class Workshop:
    """What facts and builders work with."""

    dependencies: AgentDependencies
    context: RunContext
    tell: Tell
    progress: Progress
    """For reading the data of a source that is new or has changed."""


# Refusals


async def refuse_mode(situation: Situation, _: Workshop) -> RoutedGraph:
    raise OperatorError(
        f"The mode {situation.question.mode} needs a language model.",
        code="model_missing",
        hint="Set ANSWERABLE_MODEL=provider:name; see docs/agents.md.",
    )


async def refuse_empty(_: Situation, __: Workshop) -> RoutedGraph:
    raise UserError(
        "The question is empty.", code="question_empty", hint="Ask, for example: how many orders per month?"
    )


async def refuse_length(situation: Situation, _: Workshop) -> RoutedGraph:
    raise UserError(
        f"The question has {len(situation.question.text):,} characters; at most {MAX_QUESTION:,} are read.",
        code="question_too_long",
        hint="Ask for one thing at a time.",
    )


# A choice


async def find_choice(situation: Situation, _: Workshop) -> Situation:
    """Looks up the number that the user picked among the choices of the last answer."""
    number, last = situation.question.choice, situation.conversation.last
    if number is None:
        return situation
    choices = read_capsule(last).answer.choices if last else ()
    chosen = next((choice for choice in choices if choice.id == number), None)
    if chosen is None:
        offered = f"1 to {len(choices)}" if choices else "none"
        raise UserError(
            f"There is no choice {number} to take.",
            code="choice_unknown",
            hint=f"The last answer of this thread offered: {offered}.",
        )
    return replace(situation, chosen=chosen)


async def chosen_reading(situation: Situation, workshop: Workshop) -> RoutedGraph:
    assert situation.chosen is not None
    readers, question, principal = workshop.dependencies.readers, situation.question, workshop.context.principal
    reading = await readers.chosen(situation.chosen, question, principal)
    merged = await readers.merged(question, principal)
    if merged is None:
        return reading_graph(question, reading, YOURS)
    return federated_reading_graph(question, reading, merged, YOURS)


async def take_chosen_question(situation: Situation, _: Workshop) -> Situation:
    """A choice without a plan stands for another question: the same one at another source, or one that a model wrote
    and that is now asked by itself."""
    chosen = situation.chosen
    return situation if chosen is None else replace(situation, question=_question_of(chosen, situation.question))


def _question_of(chosen: Choice, question: Question) -> Question:
    if chosen.source is not None:
        return question.model_copy(update={"source": chosen.source, "sources": (), "choice": None})
    return question.model_copy(update={"text": chosen.label, "choice": None, "hint": CHOSEN})


# The reader


async def find_previous_plan(situation: Situation, _: Workshop) -> Situation:
    return replace(situation, previous=previous_plan(situation.conversation))


async def read_question(situation: Situation, workshop: Workshop) -> Situation:
    reply = await workshop.dependencies.readers.read(
        situation.question, workshop.context.principal, situation.previous, workshop.progress
    )
    return replace(situation, reply=reply)


async def shown_reading(situation: Situation, workshop: Workshop) -> RoutedGraph:
    merged = await workshop.dependencies.readers.merged(situation.question, workshop.context.principal)
    plan = reading_plan(situation.question, _sure_reading(situation), merged)
    return RoutedGraph(shown_graph(plan, mind=READER))


async def federated_reading(situation: Situation, workshop: Workshop) -> RoutedGraph:
    merged = await workshop.dependencies.readers.merged(situation.question, workshop.context.principal)
    assert merged is not None
    return federated_reading_graph(situation.question, _sure_reading(situation), merged)


async def single_reading(situation: Situation, _: Workshop) -> RoutedGraph:
    return reading_graph(situation.question, _sure_reading(situation))


async def question_back(situation: Situation, workshop: Workshop) -> RoutedGraph:
    """The reader is not sure, and there is no model to ask: the user is."""
    question, reply = situation.question, situation.reply
    readers, principal = workshop.dependencies.readers, workshop.context.principal
    assert isinstance(reply, Unsure | Unreadable)
    source, merged = await readers.source_of(question, principal), await readers.merged(question, principal)
    if isinstance(reply, Unsure) and merged is None:
        reply = await readers.with_bindings(reply, question, principal)
    others = await readers.other_sources(question, reply.unknown, principal)
    return RoutedGraph(question_back_graph(question, reply, await source.describe(), merged, others))


def _sure_reading(situation: Situation) -> Reading:
    assert isinstance(situation.reply, Read)
    return situation.reply.best


# A model


async def first_look(situation: Situation, _: Workshop) -> RoutedGraph:
    return RoutedGraph(preplan_graph(situation.question))


async def exploration(situation: Situation, _: Workshop) -> RoutedGraph:
    return RoutedGraph(react_graph(situation.question))


async def plan_question(situation: Situation, workshop: Workshop) -> Situation:
    from answerable.agents.planner import plan  # builds the prompt context, which is slow to load

    planned = await plan(situation, workshop.dependencies, workshop.context, workshop.tell)
    return replace(situation, planned=planned)


async def offered_readings(situation: Situation, _: Workshop) -> RoutedGraph:
    assert situation.planned is not None
    return RoutedGraph(readings_graph(situation.question.text, situation.planned.ask))


async def cannot_tell(situation: Situation, _: Workshop) -> RoutedGraph:
    assert situation.planned is not None
    reason = situation.planned.cannot or "the question could not be planned."
    return RoutedGraph(cannot_tell_graph(situation.question.text, reason))


async def shown_plan(situation: Situation, _: Workshop) -> RoutedGraph:
    from answerable.agents.planner import execution_plan

    return RoutedGraph(shown_graph(execution_plan(situation), mind=MODEL))


async def planned_steps(situation: Situation, workshop: Workshop) -> RoutedGraph:
    from answerable.agents.planner import planned_graph

    assert situation.planned is not None
    merged = await workshop.dependencies.readers.merged(situation.question, workshop.context.principal)
    return RoutedGraph(planned_graph(situation, merged), situation.planned.reasoning or None)

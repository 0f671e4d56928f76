"""The facts and builders of the routing table. Each builder returns the graph of one route, or refuses the question."""

from dataclasses import replace

from answerable.agents.dependencies import AgentDependencies
from answerable.agents.federation import reading_plan
from answerable.agents.graphs import (
    cannot_tell_graph,
    preplan_graph,
    react_graph,
    readings_graph,
    shown_graph,
    text_graph,
)
from answerable.agents.reader_graphs import (
    FAIRLY_SURE,
    federated_reading_graph,
    learned_graph,
    paths_graph,
    question_back_graph,
    reading_graph,
)
from answerable.agents.situation import MAX_QUESTION, Situation, follows_a_question_back, previous_plan
from answerable.agents.small_talk import names_a_thing, small_talk_answer, topic_of
from answerable.answers.answer import Choice
from answerable.answers.capsule import read_capsule
from answerable.core.context import RunContext
from answerable.core.errors import AnswerableError, NotFoundError, OperatorError, RefusedError, UserError
from answerable.core.ids import RunId
from answerable.core.progress import Progress
from answerable.core.records import dataclass
from answerable.engine.steps.base import OutputSink
from answerable.engine.steps.present import MODEL, READER
from answerable.engine.steps.understand import Question, RoutedGraph
from answerable.query.plan import QueryPlan
from answerable.reader.experience import MOST_EXAMPLES, Example, are_alike
from answerable.reader.reading import Read, Reading, Unreadable, Unsure

YOURS = "You chose this reading."
CHOSEN = "The user chose this reading from several; do not ask once more."


@dataclass(frozen=True, slots=True)
class RouteContext:
    """The dependencies of facts and builders, and the run that they work for."""

    dependencies: AgentDependencies
    context: RunContext
    output: OutputSink
    progress: Progress
    """For reading the data of a source that is new or has changed."""


# Refusals


async def refuse_mode(situation: Situation, _: RouteContext) -> RoutedGraph:
    raise OperatorError(
        f"The mode {situation.question.mode} needs a language model.",
        code="model_missing",
        hint="Set ANSWERABLE_MODEL=provider:name; see docs/agents.md.",
    )


async def refuse_empty(_: Situation, __: RouteContext) -> RoutedGraph:
    raise UserError(
        "The question is empty.", code="question_empty", hint="Ask, for example: how many orders per month?"
    )


async def refuse_length(situation: Situation, _: RouteContext) -> RoutedGraph:
    raise UserError(
        f"The question has {len(situation.question.text):,} characters; at most {MAX_QUESTION:,} are read.",
        code="question_too_long",
        hint="Ask for one thing at a time.",
    )


# A choice


async def find_choice(situation: Situation, _: RouteContext) -> Situation:
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


async def chosen_reading(situation: Situation, route_context: RouteContext) -> RoutedGraph:
    assert situation.chosen is not None
    readers, question, principal = (
        route_context.dependencies.readers,
        situation.question,
        route_context.context.principal,
    )
    reading = await readers.chosen(situation.chosen, question, principal)
    merged = await readers.merged(question, principal)
    if merged is None:
        return reading_graph(question, reading, YOURS)
    return federated_reading_graph(question, reading, merged, YOURS)


async def take_chosen_question(situation: Situation, _: RouteContext) -> Situation:
    """Replaces the question by the one that the choice stands for. A choice without a plan is the same question to
    another source, or a question that a model wrote."""
    chosen = situation.chosen
    return situation if chosen is None else replace(situation, question=_question_of(chosen, situation.question))


def _question_of(chosen: Choice, question: Question) -> Question:
    if chosen.source is not None:
        return question.model_copy(update={"source": chosen.source, "sources": (), "choice": None})
    return question.model_copy(update={"text": chosen.label, "choice": None, "hint": CHOSEN})


# Small talk


async def find_small_talk(situation: Situation, route_context: RouteContext) -> Situation:
    topic = topic_of(situation.question.text)
    if topic is None or situation.chosen is not None:
        return situation
    source = await route_context.dependencies.readers.source_of(situation.question, route_context.context.principal)
    catalog = await source.describe(route_context.progress)
    return situation if names_a_thing(situation.question.text, catalog) else replace(situation, topic=topic)


async def small_talk(situation: Situation, route_context: RouteContext) -> RoutedGraph:
    assert situation.topic is not None
    dependencies, principal = route_context.dependencies, route_context.context.principal
    question, readers = situation.question, dependencies.readers
    catalog = await (await readers.source_of(question, principal)).describe()
    others = dependencies.sources.instead_of(question.sources or (question.source,), principal)
    examples = await readers.answerable_questions(question, principal)
    text = small_talk_answer(situation.topic, catalog, others, has_examples=bool(examples))
    return RoutedGraph(text_graph(question.text, text, mind=READER, questions=examples))


# The reader


async def find_learned(situation: Situation, route_context: RouteContext) -> Situation:
    readers, principal = route_context.dependencies.readers, route_context.context.principal
    return replace(situation, learned=await readers.learned(situation.question, principal))


async def learned_answer(situation: Situation, _: RouteContext) -> RoutedGraph:
    assert situation.learned is not None
    return learned_graph(situation.question, situation.learned)


async def find_paths(situation: Situation, route_context: RouteContext) -> Situation:
    readers, principal = route_context.dependencies.readers, route_context.context.principal
    return replace(situation, paths=await readers.paths(situation.question, principal))


async def paths_answer(situation: Situation, _: RouteContext) -> RoutedGraph:
    assert situation.paths is not None
    return paths_graph(situation.question, situation.paths)


async def find_previous_plan(situation: Situation, _: RouteContext) -> Situation:
    # Of another source, nothing was talked about yet.
    other_source = situation.chosen is not None and situation.chosen.source is not None
    return replace(situation, previous=None if other_source else previous_plan(situation.conversation))


async def read_question(situation: Situation, route_context: RouteContext) -> Situation:
    readers, principal = route_context.dependencies.readers, route_context.context.principal
    question, previous = situation.question, situation.previous
    reply = await readers.read(question, principal, previous, route_context.progress)
    if isinstance(reply, Read) and previous is not None and follows_a_question_back(situation.conversation):
        # It may go on from a reading that was offered, but not chosen. Then it is not sure.
        alone = await readers.read(question, principal)
        if not isinstance(alone, Read) or alone.best.sql != reply.best.sql:
            best = reply.best.model_copy(update={"confidence": min(reply.best.confidence, FAIRLY_SURE)})
            reply = reply.model_copy(update={"best": best})
    return replace(situation, reply=reply)


async def read_by_analogy(situation: Situation, route_context: RouteContext) -> Situation:
    """Reads the question like a saved one of this source that differs from it in nothing but a value or a period."""
    if not situation.may_use_experience():
        return situation
    store, principal = route_context.dependencies.store, route_context.context.principal
    question = situation.question
    saved = [case for case in await store.evals.cases(principal) if case.body["source"] == question.source and case.run]
    # A question that was asked before itself was a choice between readings; any other lead makes it a follow-up.
    alone = [case for case in saved if {*case.body["lead"]} <= {case.body["question"]}]
    alike = [case for case in alone if are_alike(case.body["question"], question.text)]
    for case in reversed(alike[-MOST_EXAMPLES:]):
        assert case.run is not None
        plan = await _recorded_plan(case.run, route_context)
        if plan is None:
            continue
        example = Example(question=case.body["question"], plan=plan)
        reading = await route_context.dependencies.readers.by_analogy(question, example, principal)
        if reading is not None:
            return replace(situation, reply=Read(best=reading), example=example.question)
    return situation


async def _recorded_plan(run: RunId, route_context: RouteContext) -> QueryPlan | None:
    try:
        capsule = await route_context.dependencies.store.capsules.get(route_context.context.principal, run)
    except NotFoundError:
        return None  # the run was removed, and its plan with it
    plan = read_capsule(capsule.body).answer.provenance.plan
    return QueryPlan.model_validate(plan) if plan else None


async def shown_reading(situation: Situation, route_context: RouteContext) -> RoutedGraph:
    merged = await route_context.dependencies.readers.merged(situation.question, route_context.context.principal)
    plan = reading_plan(situation.question, _sure_reading(situation), merged)
    return RoutedGraph(shown_graph(plan, mind=READER))


async def federated_reading(situation: Situation, route_context: RouteContext) -> RoutedGraph:
    merged = await route_context.dependencies.readers.merged(situation.question, route_context.context.principal)
    assert merged is not None
    return federated_reading_graph(situation.question, _sure_reading(situation), merged)


async def single_reading(situation: Situation, _: RouteContext) -> RoutedGraph:
    reason = f"Read like the saved question “{situation.example}”." if situation.example else None
    return reading_graph(situation.question, _sure_reading(situation), reason)


async def question_back(situation: Situation, route_context: RouteContext, note: str = "") -> RoutedGraph:
    """Asks the user, because the reader is not sure and there is no model. `note` is said before the question back."""
    question, reply = situation.question, situation.reply
    readers, principal = route_context.dependencies.readers, route_context.context.principal
    assert isinstance(reply, Unsure | Unreadable)
    source, merged = await readers.source_of(question, principal), await readers.merged(question, principal)
    if isinstance(reply, Unsure) and merged is None:
        reply = await readers.with_bindings(reply, question, principal)
    others = await readers.other_sources(question, reply.unknown, principal)
    nothing_fits = isinstance(reply, Unreadable) and merged is None
    learned = await readers.learned_like(question, principal)
    questions = await readers.answerable_questions(question, principal) if nothing_fits and not learned else ()
    catalog = await source.describe()
    return RoutedGraph(question_back_graph(question, reply, catalog, merged, others, questions, learned, note))


def _sure_reading(situation: Situation) -> Reading:
    assert isinstance(situation.reply, Read)
    return situation.reply.best


# A model


async def first_look(situation: Situation, _: RouteContext) -> RoutedGraph:
    return RoutedGraph(preplan_graph(situation.question))


async def exploration(situation: Situation, _: RouteContext) -> RoutedGraph:
    return RoutedGraph(react_graph(situation.question))


async def plan_question(situation: Situation, route_context: RouteContext) -> Situation:
    from answerable.agents.planner import plan  # builds the prompt context, which is slow to load

    try:
        planned = await plan(situation, route_context.dependencies, route_context.context, route_context.output)
    except AnswerableError as error:
        if not may_stand_in(situation.question, error):
            raise
        return replace(situation, failure=error.message)
    return replace(situation, planned=planned)


def may_stand_in(question: Question, error: AnswerableError) -> bool:
    """Whether the reader takes over after this error. What a model refuses to do, and what nobody has a budget for, is
    not done in another way."""
    return question.stand_in and error.stable_code.startswith("model_") and not isinstance(error, RefusedError)


async def stand_in(situation: Situation, route_context: RouteContext) -> RoutedGraph:
    """The reader's answer if it is sure, else its question back. Either says that the model failed, and why."""
    reply, note = situation.reply, f"The model could not answer this. {situation.failure}"
    if not isinstance(reply, Read):
        return await question_back(situation, route_context, f"{note} ")
    if situation.question.plan_only:
        return await shown_reading(situation, route_context)
    note = f"{note} This is the reader's answer."
    merged = await route_context.dependencies.readers.merged(situation.question, route_context.context.principal)
    if merged is None:
        return reading_graph(situation.question, reply.best, note=note)
    return federated_reading_graph(situation.question, reply.best, merged, note=note)


async def offered_readings(situation: Situation, _: RouteContext) -> RoutedGraph:
    assert situation.planned is not None
    return RoutedGraph(readings_graph(situation.question.text, situation.planned.ask))


async def cannot_tell(situation: Situation, _: RouteContext) -> RoutedGraph:
    assert situation.planned is not None
    reason = situation.planned.cannot or "the question could not be planned."
    return RoutedGraph(cannot_tell_graph(situation.question.text, reason))


async def shown_plan(situation: Situation, route_context: RouteContext) -> RoutedGraph:
    from answerable.agents.planner import execution_plan

    apis = await _apis(situation, route_context)
    return RoutedGraph(shown_graph(execution_plan(situation, apis), mind=MODEL))


async def planned_steps(situation: Situation, route_context: RouteContext) -> RoutedGraph:
    from answerable.agents.planner import planned_graph

    assert situation.planned is not None
    merged = await route_context.dependencies.readers.merged(situation.question, route_context.context.principal)
    graph = planned_graph(situation, merged, await _apis(situation, route_context))
    return RoutedGraph(graph, situation.planned.reasoning or None)


async def _apis(situation: Situation, route_context: RouteContext) -> dict[str, str]:
    """The APIs that steps of the plan may call, by the name that a model knows."""
    return await route_context.dependencies.apis.by_label(situation.question, route_context.context.principal)

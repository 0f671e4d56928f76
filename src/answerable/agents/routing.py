"""Routing: from a question to the graph that answers it, as one table.

A query that the user wrote becomes a graph directly. Any other message becomes a run whose first step, `understand`,
goes through `ROUTES` from top to bottom. A `Fact` finds out something that the tests below it need. The first `Route`
whose test holds builds the graph. Tests are pure methods of `Situation`; only facts and builders have effects.
"""

from collections.abc import Awaitable, Callable
from dataclasses import replace

from answerable.agents import route_builders as build
from answerable.agents.dependencies import AgentDependencies
from answerable.agents.graphs import direct_graph, direct_query, question_graph
from answerable.agents.question_request import QuestionRequest
from answerable.agents.route_builders import RouteContext
from answerable.agents.situation import Situation
from answerable.core.context import RunContext
from answerable.core.progress import Progress
from answerable.core.records import dataclass
from answerable.engine.graph import Graph
from answerable.engine.steps.base import OutputSink
from answerable.engine.steps.understand import Conversation, Question, RoutedGraph


@dataclass(frozen=True, slots=True)
class Route:
    """A test, and the builder of the graph for situations in which the test holds."""

    name: str
    applies: Callable[[Situation], bool]
    build: Callable[[Situation, RouteContext], Awaitable[RoutedGraph]]


@dataclass(frozen=True, slots=True)
class Fact:
    """A function that adds one piece of knowledge to the situation. Some are slow, so they stand as late as possible:
    a question that an earlier route answers does not pay for them."""

    name: str
    learn: Callable[[Situation, RouteContext], Awaitable[Situation]]


ROUTES: tuple[Route | Fact, ...] = (
    # Can it be asked at all?
    Route("mode without a model", Situation.lacks_its_model, build.refuse_mode),
    Route("empty question", Situation.is_empty, build.refuse_empty),
    Route("too long a question", Situation.is_too_long, build.refuse_length),
    # Was a reading chosen earlier?
    Fact("choice", build.find_choice),
    Route("chosen reading", Situation.chose_a_plan, build.chosen_reading),
    Fact("question behind the choice", build.take_chosen_question),
    # Greetings, thanks, and questions about Answerable or its data as a whole need neither the reader nor a model.
    Fact("topic", build.find_small_talk),
    Route("small talk", Situation.is_small_talk, build.small_talk),
    # Exploration that was asked for does not wait for the reader.
    Route("exploration on request", Situation.asks_to_explore, build.exploration),
    # A question that somebody has written down with its answer.
    Fact("learned question", build.find_learned),
    Route("learned question", Situation.was_learned, build.learned_answer),
    Fact("ways through a graph", build.find_paths),
    Route("ways through a graph", Situation.asks_for_paths, build.paths_answer),
    # The reader, if it is sure.
    Fact("follow-up", build.find_previous_plan),
    Fact("reading", build.read_question),
    Fact("saved question like it", build.read_by_analogy),
    Route("reading to be shown", Situation.is_read_to_be_shown, build.shown_reading),
    Route("reading of several sources", Situation.is_read_across_sources, build.federated_reading),
    Route("reading of one source", Situation.is_read, build.single_reading),
    Route("question back", Situation.has_no_model, build.question_back),
    # Else a model.
    Route("first look", Situation.needs_first_look, build.first_look),
    Fact("plan of a model", build.plan_question),
    Route("reading in place of a model", Situation.is_left_to_the_reader, build.stand_in),
    Route("exploration", Situation.is_planned_to_explore, build.exploration),
    Route("readings of a model", Situation.has_offered_readings, build.offered_readings),
    Route("not in the data", Situation.has_no_steps, build.cannot_tell),
    Route("plan to be shown", Situation.is_planned_to_be_shown, build.shown_plan),
    Route("plan", Situation.is_planned, build.planned_steps),
)


def graph_of(request: QuestionRequest, sources: tuple[str, ...]) -> tuple[Graph, str]:
    """The graph of a request, and the name under which its run is listed: a query language, or a question's mode."""
    # A choice refers to the readings of the last answer, so its message is never a new query.
    direct = direct_query(request.message) if request.choice is None else None
    if direct is not None:
        return direct_graph(*direct, sources), direct[0]
    question = Question(
        text=request.message,
        source=sources[0],
        sources=sources if len(sources) > 1 else (),
        choice=request.choice,
        force=request.force,
        today=request.today,
        mode=request.mode,
        plan_only=request.plan_only,
        experience=request.experience,
        stand_in=request.stand_in,
    )
    return question_graph(question), request.mode


class RoutingTable:
    """Puts questions through `ROUTES`."""

    def __init__(self, dependencies: AgentDependencies) -> None:
        self._dependencies = dependencies

    async def route(
        self,
        question: Question,
        conversation: Conversation,
        context: RunContext,
        output: OutputSink,
        progress: Progress,
    ) -> RoutedGraph:
        situation = Situation(
            question,
            conversation,
            has_model=self._dependencies.agents.available,
            wants_first_look=self._dependencies.preplan,
        )
        route_context = RouteContext(self._dependencies, context, output, progress)
        for row in ROUTES:
            if isinstance(row, Fact):
                situation = await row.learn(situation, route_context)
            elif row.applies(situation):
                routed = await row.build(situation, route_context)
                return replace(routed, graph=self._dependencies.policy.applied(routed.graph))
        raise AssertionError("the last routes cover every situation")

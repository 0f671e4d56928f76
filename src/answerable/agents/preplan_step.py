"""Kind `preplan`: before planning, a model says what is asked, how hard it is, and whether the data can answer it.

Questions that the data cannot answer, or that can be read in several ways, end here. All others go on to the planner
with a hint.
"""

from answerable.agents.dependencies import AgentDependencies
from answerable.agents.graphs import cannot_tell_graph, question_graph, react_graph, readings_graph
from answerable.agents.question_context import question_context
from answerable.agents.reader_graphs import best_of
from answerable.agents.replies import Preplanned
from answerable.agents.route_builders import may_stand_in
from answerable.agents.runtime import Mistake
from answerable.agents.situation import previous_plan
from answerable.core.errors import AnswerableError
from answerable.core.values import Json
from answerable.engine.graph import Graph
from answerable.engine.steps.base import Step
from answerable.engine.steps.understand import Question, RoutedGraph

_UNSEEN = "Nobody could look at it first."
_EFFORT = {"easy": "One query should do.", "steps": "It takes several steps.", "explore": "It may take exploring."}


class PreplanStep:
    def __init__(self, dependencies: AgentDependencies) -> None:
        self._dependencies = dependencies

    async def run(self, step: Step) -> Json:
        question, dependencies = step.config_as(Question), self._dependencies
        conversation = await dependencies.conversation(step.context)
        best = best_of(await dependencies.readers.read(question, step.context.principal, previous_plan(conversation)))
        prompt = await question_context(question, conversation, best, dependencies, step.context.principal)
        try:
            reply = await dependencies.agents.ask(
                "preplan", prompt, Preplanned, step.context, step.output, check=_check
            )
        except AnswerableError as error:
            if not may_stand_in(question, error):
                raise
            step.output("fallback", {"code": error.stable_code, "message": error.message})
            reply = Preplanned(asked="", hint=_UNSEEN)  # the look is optional, and planning may still work
        graph = dependencies.policy.applied(graph_after_first_look(question, reply))
        return RoutedGraph(graph, reply.asked or None).as_json()


async def _check(reply: Preplanned) -> None:
    if len(reply.readings) == 1:
        raise Mistake("one reading is no choice: give two to five, or none and say in `hint` which you took")
    if reply.missing and reply.readings:
        raise Mistake("either something is missing, or there are readings to choose from")


def graph_after_first_look(question: Question, reply: Preplanned) -> Graph:
    if reply.missing:
        return cannot_tell_graph(question.text, reply.missing)
    if reply.readings and not question.force:  # with `force` the user wants an answer, not a question back
        return readings_graph(question.text, reply.readings)
    if reply.difficulty == "explore" and question.mode == "auto" and not question.plan_only:
        return react_graph(question)
    # Never None, so that the question, when it is routed again, gets no second first look.
    hint = " ".join(filter(None, (reply.asked, reply.hint, _EFFORT[reply.difficulty])))
    return question_graph(question.model_copy(update={"hint": hint}))

"""A model plans: the steps, what each must give, and beside them what makes their answer surer."""

from answerable.agents.dependencies import AgentDependencies
from answerable.agents.execution_plan import AdviceConfig, ExecutionPlan, PlanStep, plan_graph
from answerable.agents.federation import by_label, reading_plan
from answerable.agents.graphs import cannot_tell_graph, react_graph, readings_graph, shown_graph
from answerable.agents.prompt_context import question_context
from answerable.agents.reader_mind import best_of
from answerable.agents.replies import Planned
from answerable.agents.runtime import Mistake
from answerable.core.context import Principal, RunContext
from answerable.core.errors import AnswerableError
from answerable.core.ids import NodeId
from answerable.engine.graph import Graph
from answerable.engine.steps.present import MODEL, Presentation
from answerable.engine.steps.understand import Conversation, Question, Tell, Understanding
from answerable.reader.reading import Read, Reading, Reply

SECOND, CRITIC, FORMAT = NodeId("second_opinion"), NodeId("critic"), NodeId("format")


class Planner:
    def __init__(self, dependencies: AgentDependencies) -> None:
        self._dependencies = dependencies

    async def understand(
        self, question: Question, context: RunContext, before: Conversation, reply: Reply, tell: Tell
    ) -> Understanding:
        best = best_of(reply)
        planned = await self._plan(question, context, before, best, tell)
        if planned.explore and question.mode == "auto":
            return Understanding(graph=react_graph(question).model_dump(mode="json"))
        if not planned.steps:
            return Understanding(graph=_asked_back(question, planned).model_dump(mode="json"))
        plan = execution_plan(question, planned, follows=before.last is not None)
        if question.plan_only:
            shown = shown_graph(plan, mind=MODEL)
            return Understanding(graph=shown.model_dump(mode="json"))
        second = (
            await self._second(question, best, context.principal)
            if best is not None and len(planned.steps) == 1
            else None
        )
        presentation = Presentation(
            question=question.text,
            mind=MODEL,
            understood=planned.reasoning or None,
            second_opinion=SECOND if second is not None else None,
            opinion_is_sure=isinstance(reply, Read),
        )
        graph = _with_advice(plan, question.source, presentation, second)
        return Understanding(graph=graph.model_dump(mode="json"), sentence=planned.reasoning or None)

    async def _second(self, question: Question, best: Reading, principal: Principal) -> PlanStep | None:
        """The reader's own query, where it is a single one."""
        steps = reading_plan(question, best, await self._dependencies.mind.merged(question, principal)).steps
        return steps[0] if len(steps) == 1 else None

    async def _plan(
        self, question: Question, context: RunContext, before: Conversation, best: Reading | None, tell: Tell
    ) -> Planned:
        given = {
            **await question_context(question, before, best, self._dependencies, context.principal),
            "hint": question.hint or "",
        }

        async def check(planned: Planned) -> None:
            """A plan that cannot become a graph is handed back."""
            if planned.ask and question.force:
                raise Mistake("the user wants no question back; plan the meaning that is the most likely")
            if not planned.steps:
                return
            names = by_label(question)
            known = {None, *names} if len(names) == 1 else set(names)
            wrong = next((step for step in planned.steps if step.tool == "sql" and step.source not in known), None)
            if wrong is not None:
                raise Mistake(f"step {wrong.id}: there is no source {wrong.source!r}; there is {', '.join(names)}")
            try:
                plan_graph(execution_plan(question, planned), question.source)
            except (AnswerableError, ValueError) as error:
                raise Mistake(str(error)) from error

        return await self._dependencies.agents.ask("plan", given, Planned, context, tell, check=check)


def execution_plan(question: Question, planned: Planned, *, follows: bool = False) -> ExecutionPlan:
    """`follows`: it may go on from an earlier question, which those who work on the steps do not see."""
    text = f"{question.text} ({planned.reasoning})" if follows and planned.reasoning else question.text
    steps = tuple(
        PlanStep(
            id=step.id,
            tool=step.tool,
            source=by_label(question).get(step.source or "") if step.tool == "sql" else None,
            context=step.context,
            after=tuple(step.after),
            critical=step.critical,
            reasoning=step.reasoning or None,
        )
        for step in planned.steps
    )
    return ExecutionPlan(
        question=text, source=question.source, steps=steps, today=question.today, reasoning=planned.reasoning
    )


def _asked_back(question: Question, planned: Planned) -> Graph:
    if planned.ask:
        return readings_graph(question.text, planned.ask)
    return cannot_tell_graph(question.text, planned.cannot or "the question could not be planned.")


def _with_advice(plan: ExecutionPlan, source: str, presentation: Presentation, opinion: PlanStep | None) -> Graph:
    """The plan's graph, and beside it what makes its answer better or surer; if any of that fails, nothing is lost.

    The reader's own query is the second opinion on a single query. Where the reader has none, or is not sure of it, a
    critic writes checks, each a query at the one source that was asked.
    """
    answering = plan.answer or plan.steps[-1].id
    asked = tuple(dict.fromkeys(step.source or source for step in plan.steps if step.tool == "sql"))
    settled = opinion is not None and presentation.opinion_is_sure
    advisers = (FORMAT,) if settled or len(asked) != 1 else (FORMAT, CRITIC)
    presentation = presentation.model_copy(update={"advice": advisers})
    document = plan_graph(plan, source, presentation).model_dump(mode="json")
    advised = AdviceConfig(question=plan.question, source=asked[0] if asked else source, today=plan.today)
    config = advised.model_dump(mode="json")
    beside = [
        {"id": adviser, "kind": adviser, "config": config, "after": [answering], "critical": False}
        for adviser in advisers
    ]
    if opinion is not None and opinion.query is not None:
        query = {"source": opinion.source, "plan": opinion.query.model_dump(mode="json", exclude_none=True)}
        beside.append({"id": SECOND, "kind": "sql", "config": query, "critical": False})
    document["nodes"][-1:-1] = beside
    document["nodes"][-1]["after"][:0] = [node["id"] for node in beside]
    return Graph.parse(document)

"""The planner's side of routing: a model plans the steps, and the graph gets further steps that check the answer."""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from answerable.agents.conversation_text import earlier_frames
from answerable.agents.data_text import as_data, optional_data
from answerable.agents.dependencies import AgentDependencies
from answerable.agents.execution_plan import ExecutionPlan, PlanStep, asks_source, kind_of, plan_graph, writer_of
from answerable.agents.federation import by_label, reading_plan
from answerable.agents.looks import Looks, reason_of
from answerable.agents.model_descriptors import FORMAT, AdviceConfig
from answerable.agents.query_text import CYPHER, check_query
from answerable.agents.question_context import question_context
from answerable.agents.reader_graphs import best_of
from answerable.agents.replies import Planned, PlannedQueries, PlannedStep
from answerable.agents.runtime import Mistake
from answerable.agents.situation import Situation
from answerable.core.context import RunContext
from answerable.core.errors import AnswerableError, UserError
from answerable.core.ids import NodeId
from answerable.engine.graph import Graph
from answerable.engine.steps.base import OutputSink
from answerable.engine.steps.present import MODEL, Presentation
from answerable.engine.steps.understand import Question
from answerable.reader.reading import Read

if TYPE_CHECKING:
    from answerable.query.merged import Merged

SECOND = NodeId("second_opinion")
API = "api"
"""The tool of steps that call an API."""


async def plan(
    situation: Situation, dependencies: AgentDependencies, context: RunContext, output: OutputSink
) -> Planned:
    """Asks a model for a plan. A plan that cannot become a graph is sent back to the model with the reason."""
    question = situation.question
    best = best_of(situation.reply) if situation.reply is not None else None
    prompt = await question_context(question, situation.conversation, best, dependencies, context.principal)
    apis = await dependencies.apis.by_label(question, context.principal)

    graphs = await _graphs(question, dependencies, context)
    # Fields that only graphs and APIs need are not described where there are none: each request carries them.
    form: type[PlannedQueries] = Planned if graphs or apis else PlannedQueries

    async def check(reply: PlannedQueries) -> None:
        planned = _as_planned(reply)
        if planned.ask and question.force:
            raise Mistake("the user wants no question back; plan the meaning that is the most likely")
        if not planned.steps:
            return
        for step in planned.steps:
            _require_known(step, list(by_label(question)), list(apis))
        try:
            plan_graph(_execution_plan(question, planned, question.text, apis), question.source)
            for step in planned.steps:
                await _check_code(step, question, dependencies, context)
        except (AnswerableError, ValueError) as error:  # ValueError: pydantic, for an id that is no name
            raise Mistake(reason_of(error)) from error

    variables = {
        **prompt,
        "libraries": dependencies.python.libraries(),
        "graphs": graphs,
        "apis": await dependencies.apis.overview(question, context.principal),
        "hint": optional_data(question.hint),
    }
    looks = Looks(question, dependencies, context, output, earlier=earlier_frames(situation.conversation))
    return _as_planned(
        await dependencies.agents.ask("plan", variables, form, context, output, tools=looks.tools(), check=check)
    )


def _as_planned(reply: PlannedQueries) -> Planned:
    return Planned.model_validate(reply.model_dump())


async def _graphs(question: Question, dependencies: AgentDependencies, context: RunContext) -> str:
    """The names of the sources that are graphs."""
    sources = [
        (label, await dependencies.sources.get(name, context.principal)) for label, name in by_label(question).items()
    ]
    return ", ".join(as_data(label) for label, source in sources if source.languages[0] == CYPHER)


def _require_known(step: PlannedStep, sources: Sequence[str], apis: Sequence[str]) -> None:
    """Raises a `Mistake` for a source or an API that is not there."""
    if not asks_source(step.tool) and step.tool != API:
        return
    what, names = ("API", apis) if step.tool == API else ("source", sources)
    # With a single one a step need not name it; with several, a guess could ask the wrong one.
    if step.source not in names and not (len(names) == 1 and step.source is None):
        raise Mistake(f"step {step.id}: there is no {what} {step.source!r}; there is {', '.join(names) or 'none'}")


async def _check_code(
    step: PlannedStep, question: Question, dependencies: AgentDependencies, context: RunContext
) -> None:
    """Checks the query of a step as it would run. Ids of earlier steps are not there yet: none stand in for them."""
    if not asks_source(step.tool):
        return
    name = by_label(question).get(step.source or "", question.source)
    source = await dependencies.sources.get(name, context.principal)
    speaks_cypher = source.languages[0] == CYPHER
    if (step.tool == CYPHER) != speaks_cypher:
        tool = "cypher" if speaks_cypher else "sql"
        raise UserError(f"step {step.id}: the source {step.source or ''} is asked with the tool {tool}")
    if code := step.code.strip():
        if not speaks_cypher and step.after:
            from answerable.query.sql.earlier_ids import named_ids, with_ids

            dialect = source.languages[0]
            code = with_ids(code, dialect, dict.fromkeys(named_ids(code, dialect, step.after), ()))
        await check_query(code, source)


def execution_plan(situation: Situation, apis: Mapping[str, str]) -> ExecutionPlan:
    question, planned = situation.question, situation.planned
    assert planned is not None
    # The models that write the steps do not see the conversation. The planner's reasoning says what a follow-up means.
    follows = situation.conversation.last is not None and planned.reasoning
    text = f"{question.text} ({planned.reasoning})" if follows else question.text
    return _execution_plan(question, planned, text, apis)


def planned_graph(situation: Situation, merged: "Merged | None", apis: Mapping[str, str]) -> Graph:
    """The steps of the model's plan, its presentation, and the steps that check or word the answer."""
    planned = situation.planned
    assert planned is not None
    # The reader's query can be compared only with a single query: a plan of several steps goes further than it can.
    opinion = _second_opinion(situation, merged) if len(planned.steps) == 1 else None
    presentation = Presentation(
        question=situation.question.text,
        mind=MODEL,
        understood=planned.reasoning or None,
        second_opinion=SECOND if opinion is not None else None,
    )
    return _with_advice(execution_plan(situation, apis), situation.question.source, presentation, opinion)


def _second_opinion(situation: Situation, merged: "Merged | None") -> PlanStep | None:
    """The reader's own query, if it is sure of a reading that is a single query. A guess is not asked: it may share a
    mistake with the model, such as a unit that both overlook."""
    best = best_of(situation.reply) if isinstance(situation.reply, Read) else None
    steps = reading_plan(situation.question, best, merged).steps if best is not None else ()
    return steps[0] if len(steps) == 1 else None


def _execution_plan(question: Question, planned: Planned, text: str, apis: Mapping[str, str]) -> ExecutionPlan:
    """`apis`: the APIs that steps may call, by the name that the model knows."""
    only = next(iter(apis.values()), None)
    steps = tuple(
        PlanStep(
            id=step.id,
            tool=step.tool,
            # The model knows sources by label only; the plan needs the source itself.
            source=by_label(question).get(step.source or "") if asks_source(step.tool) else None,
            context=step.context or step.code,
            # Programs are written when the rows that they work on are there to be seen.
            code=(step.code.strip() or None) if asks_source(step.tool) else None,
            after=tuple(step.after),
            critical=step.critical,
            entity=step.entity or None,
            operation=step.operation or None,
            api=apis.get(step.source or "", only) if step.tool == API else None,
            partial=step.partial and step.tool == API,
        )
        for step in planned.steps
    )
    return ExecutionPlan(
        question=text, source=question.source, steps=steps, today=question.today, reasoning=planned.reasoning
    )


def _with_advice(plan: ExecutionPlan, source: str, presentation: Presentation, opinion: PlanStep | None) -> Graph:
    """The plan's graph with advice beside it: a review by a model, and a second opinion. Neither is critical, so the
    answer is shown even if they fail. The second opinion on a single query is the reader's own query."""
    answering = next(step for step in plan.steps if step.id == (plan.answer or plan.steps[-1].id))
    asked = tuple(dict.fromkeys(step.source or source for step in plan.steps if asks_source(step.tool)))
    presentation = presentation.model_copy(update={"advice": (NodeId(FORMAT.name),)})
    document = plan_graph(plan, source, presentation, mended=True).model_dump(mode="json", exclude_defaults=True)
    config = AdviceConfig(
        question=plan.question,
        source=(answering.source or source) if asks_source(answering.tool) else asked[0] if asked else source,
        sources=asked if len(asked) > 1 else (),
        today=plan.today,
        task=answering.context or "",
        writer=writer_of(answering.tool).name,
    )
    # The last node presents the answer, and gets the rows of all steps; those of its last input are the answer's.
    shown = document["nodes"][-1]["after"]
    review = {"id": FORMAT.name, "kind": FORMAT.name, "config": config.model_dump(mode="json"), "after": [*shown]}
    beside = [{**review, "critical": False}]
    if opinion is not None and opinion.query is not None:
        query = {"source": opinion.source, "plan": opinion.query.model_dump(mode="json", exclude_none=True)}
        beside.append({"id": SECOND, "kind": kind_of(opinion).name, "config": query, "critical": False})
    document["nodes"][-1:-1] = beside
    shown[:0] = [node["id"] for node in beside]
    return Graph.parse(document)

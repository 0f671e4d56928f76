"""Who understands a question: the reader where it is sure, a model where there is one and it is needed.

Whatever either of them decides becomes a graph, so that everything after this knows no difference.
"""

import yaml

from answerable.agents.context import earlier_text, tables_text, touched, values_text
from answerable.agents.execution_plan import ExecutionPlan, PlanStep, plan_graph
from answerable.agents.graphs import clarify_graph, react_graph, text_graph
from answerable.agents.reader_mind import ReaderMind, chosen_reading, understanding
from answerable.agents.replies import Planned
from answerable.agents.runtime import Agents, Mistake
from answerable.answers.answer import Choice
from answerable.core.context import RunContext
from answerable.core.errors import AnswerableError, OperatorError
from answerable.core.ids import NodeId
from answerable.engine.graph import Graph
from answerable.engine.steps.present import MODEL, Presentation
from answerable.engine.steps.sql import Sources
from answerable.engine.steps.understand import Conversation, Question, Tell, Understanding
from answerable.reader.reading import Read, Reading, Reply, Unsure

SECOND = NodeId("second_opinion")


class Minds:
    def __init__(self, reader: ReaderMind, agents: Agents, sources: Sources, *, share_rows: bool) -> None:
        self._reader = reader
        self._agents = agents
        self._sources = sources
        self._share_rows = share_rows

    async def understand(
        self, question: Question, context: RunContext, before: Conversation, tell: Tell
    ) -> Understanding:
        if question.mode != "auto" and not self._agents.available:
            raise OperatorError(
                f"The mode {question.mode} needs a language model.",
                code="model_missing",
                hint="Set ANSWERABLE_MODEL=provider:name; see docs/agents.md.",
            )
        chosen = chosen_reading(question, before.last)
        if (not self._agents.available and not question.plan_only) or (chosen is not None and chosen.plan is not None):
            return await self._reader.understand(question, context, before, tell)
        if chosen is not None:
            question = question.model_copy(update={"text": chosen.label, "choice": None})
        if question.mode == "react":
            return Understanding(graph=react_graph(question).model_dump(mode="json"))
        reply = await self._reader.reply(question, before)
        if not self._agents.available and not isinstance(reply, Read):
            return await self._reader.understand(question, context, before, tell)
        if question.mode == "auto" and isinstance(reply, Read):
            if question.plan_only:
                return _shown(_read_plan(question, reply.best), "reader")
            catalog = await (await self._sources.get(question.source)).describe()
            return understanding(question, reply, catalog)
        return await self._planned(question, context, before, reply, tell)

    async def _planned(
        self, question: Question, context: RunContext, before: Conversation, reply: Reply, tell: Tell
    ) -> Understanding:
        best = _best(reply)
        planned = await self._plan(question, context, before, best, tell)
        if planned.explore and question.mode == "auto":
            return Understanding(graph=react_graph(question).model_dump(mode="json"))
        if not planned.steps:
            return Understanding(graph=_asked_back(question, planned).model_dump(mode="json"))
        if question.plan_only:
            return _shown(execution_plan(question, planned), MODEL)
        presentation = Presentation(
            question=question.text,
            mind=MODEL,
            understood=planned.reasoning or None,
            second_opinion=SECOND if best is not None and len(planned.steps) == 1 else None,
        )
        graph = plan_graph(execution_plan(question, planned), question.source, presentation)
        if presentation.second_opinion is not None and best is not None:
            graph = _with_second_opinion(graph, question.source, best)
        return Understanding(graph=graph.model_dump(mode="json"), sentence=planned.reasoning or None)

    async def _plan(
        self, question: Question, context: RunContext, before: Conversation, best: Reading | None, tell: Tell
    ) -> Planned:
        reader = await self._reader.reader(await self._sources.get(question.source))
        found = touched(reader, question.text)
        given = {
            "question": question.text,
            "today": (question.today or reader.today()).isoformat(),
            "sources": f"source {question.source}\n{tables_text(found, share_rows=self._share_rows)}",
            "values": values_text(found, share_rows=self._share_rows),
            "earlier": earlier_text(before),
            "reading": best.sentence if best is not None else "",
        }

        async def check(planned: Planned) -> None:
            """A plan that cannot become a graph is handed back."""
            if not planned.steps:
                return
            known = {None, question.source}
            wrong = next((step for step in planned.steps if step.tool == "sql" and step.source not in known), None)
            if wrong is not None:
                raise Mistake(f"step {wrong.id}: there is no source {wrong.source!r}; there is {question.source!r}")
            try:
                plan_graph(execution_plan(question, planned), question.source)
            except (AnswerableError, ValueError) as error:
                raise Mistake(str(error)) from error

        return await self._agents.ask("plan", given, Planned, context, tell, check=check)


def execution_plan(question: Question, planned: Planned) -> ExecutionPlan:
    steps = tuple(
        PlanStep(
            id=step.id,
            tool=step.tool,
            source=step.source if step.tool == "sql" else None,
            context=step.context,
            after=tuple(step.after),
            critical=step.critical,
            reasoning=step.reasoning or None,
        )
        for step in planned.steps
    )
    return ExecutionPlan(
        question=question.text, source=question.source, steps=steps, today=question.today, reasoning=planned.reasoning
    )


def _best(reply: Reply) -> Reading | None:
    if isinstance(reply, Read):
        return reply.best
    return reply.readings[0] if isinstance(reply, Unsure) and reply.readings else None


def _asked_back(question: Question, planned: Planned) -> Graph:
    if planned.ask:
        choices = tuple(Choice(id=number, label=label) for number, label in enumerate(planned.ask, 1))
        return clarify_graph(question.text, "This can be read in more than one way. Which do you mean?", choices)
    missing = planned.cannot or "the question could not be planned."
    return text_graph(question.text, f"This data cannot tell: {missing}", mind=MODEL)


def _read_plan(question: Question, reading: Reading) -> ExecutionPlan:
    step = PlanStep(id="rows", tool="sql", source=question.source, query=reading.plan, context=reading.sentence)
    return ExecutionPlan(question=question.text, source=question.source, steps=(step,), reasoning=reading.sentence)


def _shown(plan: ExecutionPlan, mind: str) -> Understanding:
    """The plan as text that can be edited and run again."""
    document = plan.model_dump(mode="json", exclude_none=True)
    text = yaml.safe_dump(document, sort_keys=False, allow_unicode=True, width=100)
    graph = text_graph(plan.question, text, mind=mind)
    return Understanding(graph=graph.model_dump(mode="json"))


def _with_second_opinion(graph: Graph, source: str, best: Reading) -> Graph:
    """The reader's query runs beside the model's; if it fails, nothing is lost."""
    document = graph.model_dump(mode="json")
    config = {"source": source, "plan": best.plan.model_dump(mode="json", exclude_none=True)}
    document["nodes"].insert(0, {"id": SECOND, "kind": "sql", "config": config, "critical": False})
    document["nodes"][-1]["after"].insert(0, SECOND)
    return Graph.parse(document)

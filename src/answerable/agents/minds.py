"""Who understands a question: the reader where it is sure, a model where there is one and it is needed.

Whatever either of them decides becomes a graph, so that everything after this knows no difference.
"""

from answerable.agents.dependencies import AgentDependencies
from answerable.agents.federation import reading_plan
from answerable.agents.graphs import preplan_graph, react_graph, shown_graph
from answerable.agents.reader_mind import chosen_reading, stands_for
from answerable.core.context import RunContext
from answerable.core.errors import OperatorError
from answerable.engine.steps.understand import Conversation, Question, Tell, Understanding
from answerable.reader.reading import Read

CHOSEN = "The user chose this reading from several; do not ask once more."


class Minds:
    def __init__(self, dependencies: AgentDependencies) -> None:
        self._dependencies = dependencies

    async def understand(
        self, question: Question, context: RunContext, before: Conversation, tell: Tell
    ) -> Understanding:
        mind, has_model = self._dependencies.mind, self._dependencies.agents.available
        if question.mode != "auto" and not has_model:
            raise OperatorError(
                f"The mode {question.mode} needs a language model.",
                code="model_missing",
                hint="Set ANSWERABLE_MODEL=provider:name; see docs/agents.md.",
            )
        chosen = chosen_reading(question, before.last)
        if (not has_model and not question.plan_only) or (chosen is not None and chosen.plan is not None):
            return await mind.understand(question, context, before, tell)
        if chosen is not None:
            question = stands_for(chosen, question)
            question = question.model_copy(update={"hint": CHOSEN if chosen.source is None else None})
        if question.mode == "react":
            return Understanding(graph=react_graph(question).model_dump(mode="json"))
        reply = await mind.reply(question, before, context.principal)
        if not has_model and not isinstance(reply, Read):
            return await mind.understand(question, context, before, tell)
        if question.mode == "auto" and isinstance(reply, Read):
            if question.plan_only:
                plan = reading_plan(question, reply.best, await mind.merged(question, context.principal))
                return Understanding(graph=shown_graph(plan, mind="reader").model_dump(mode="json"))
            return await mind.understanding(question, reply, context.principal)
        if self._dependencies.preplan and question.hint is None:
            return Understanding(graph=preplan_graph(question).model_dump(mode="json"))
        from answerable.agents.planner import Planner  # brings what tells a model of the data

        return await Planner(self._dependencies).understand(question, context, before, reply, tell)

"""Kind `react`: a model explores with tools until it can answer. Its queries and programs become the answer's steps.

The tools are the looks that every agent has (`looks.py`), and some that keep their rows under a name: these can be the
answer, and programs can work on them. Before the answer is shown it is reviewed like every other: if a check does not
hold, the model gets the evidence, once, and may look again. If the model fails or comes to no end, what it has found so
far is the answer, and says so.
"""

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any

from answerable.agents.conversation_text import conversation_text, earlier_frames
from answerable.agents.data_text import as_data
from answerable.agents.dependencies import AgentDependencies
from answerable.agents.execution_plan import ANSWER
from answerable.agents.graphs import cannot_tell_graph, readings_graph
from answerable.agents.looks import Looks
from answerable.agents.question_context import links_between_sources, schema_links_by_source
from answerable.agents.replies import Explored
from answerable.agents.review import Review, Reviewer, declined, without_review
from answerable.agents.route_builders import RouteContext, may_stand_in, stand_in
from answerable.agents.runtime import Mistake
from answerable.agents.schema_links import SchemaLinks
from answerable.agents.schema_text import known_values_text, schema_texts
from answerable.agents.situation import Situation, previous_plan
from answerable.core.context import Principal
from answerable.core.errors import AnswerableError, RefusedError, UserError
from answerable.core.ids import NodeId
from answerable.core.values import Json
from answerable.engine.graph import Graph, Node
from answerable.engine.steps.base import Step
from answerable.engine.steps.literal import LiteralStep
from answerable.engine.steps.present import MODEL, Advice, Presentation, PresentStep
from answerable.engine.steps.produced import Produced
from answerable.engine.steps.python import PythonConfig
from answerable.engine.steps.understand import Conversation, Question, RoutedGraph
from answerable.query.plan import QueryPlan

MOST_LOOKS = 12
"""Looks in one exploration. The limit stops a model that is lost: each look costs a call."""
_FEDERATED = "Name a table as source.table. SQL over tables of more than one source is that of duckdb."


class ReactStep:
    def __init__(self, dependencies: AgentDependencies) -> None:
        self._dependencies = dependencies

    async def run(self, step: Step) -> Json:
        question, dependencies, principal = step.config_as(Question), self._dependencies, step.context.principal
        found = await schema_links_by_source(question, dependencies, principal)
        schemas = schema_texts(found, share_rows=dependencies.share_rows)
        conversation = await dependencies.conversation(step.context)
        exploration = Exploration(step, question, dependencies, earlier=earlier_frames(conversation))
        reader = await dependencies.readers.reader(await dependencies.readers.source_of(question, principal), principal)
        prompt_context = {
            "question": as_data(question.text),
            "today": dependencies.readers.today(question.today, reader.catalog).isoformat(),
            "datasets": await self._datasets(question, found, schemas, principal),
            "values": known_values_text(found, share_rows=dependencies.share_rows),
            "earlier": conversation_text(conversation, dependencies),
            "libraries": dependencies.python.libraries(),
        }
        try:
            reply = await dependencies.agents.ask(
                "react",
                prompt_context,
                Explored,
                step.context,
                step.output,
                tools=[*exploration.tools(), *exploration.keeping_tools(schemas)],
                needs_tools=True,
                check=exploration.check,
            )
            graph = _asked(question, reply, exploration) or exploration.graph(reply)
        except AnswerableError as error:
            if not may_stand_in(question, error):
                raise
            if not exploration.produced:
                return await self._left_to_the_reader(question, conversation, error, step)
            graph = exploration.unfinished_graph(error)
        return RoutedGraph(dependencies.policy.applied(graph)).as_json()

    async def _left_to_the_reader(
        self, question: Question, conversation: Conversation, error: AnswerableError, step: Step
    ) -> Json:
        dependencies = self._dependencies
        reply = await dependencies.readers.read(question, step.context.principal, previous_plan(conversation))
        situation = Situation(question, conversation, reply=reply, failure=error.message)
        routed = await stand_in(situation, RouteContext(dependencies, step.context, step.output, step.reporter()))
        return replace(routed, graph=dependencies.policy.applied(routed.graph)).as_json()

    async def _datasets(
        self, question: Question, found: Mapping[str, SchemaLinks], schemas: Mapping[str, str], principal: Principal
    ) -> str:
        texts = [
            f"source {as_data(label)}, in the SQL of {each.catalog.dialect}\n{schemas[label]}"
            for label, each in found.items()
        ]
        if len(texts) > 1:
            texts += [await links_between_sources(question, self._dependencies, principal), _FEDERATED]
        return "\n".join(filter(None, texts))


class Exploration(Looks):
    """Looks that keep their rows, by the name that the model chose."""

    def __init__(self, step: Step, question: Question, dependencies: AgentDependencies, **more: Any) -> None:
        super().__init__(question, dependencies, step.context, step.output, most=MOST_LOOKS, **more)
        self._step = step
        self.produced: dict[NodeId, Produced] = {}
        self.asked: tuple[str, tuple[str, ...]] | None = None
        """A question back to the user with its choices, if the model has asked one."""
        self._review: Review | None = None
        self._review_failure: AnswerableError | None = None

    def keeping_tools(self, schemas: Mapping[str, str]) -> list[Callable[..., Any]]:
        async def list_datasets() -> list[str]:
            """The names of the datasets that can be queried."""
            return list(schemas)

        async def get_dataset_schema(dataset: str) -> str:
            """The tables of a dataset with their columns, types, joins and measures."""
            there = " and ".join(map(repr, schemas))
            return schemas.get(dataset) or f"There is no dataset {dataset!r}; there is {there}."

        async def execute_sql(name: str, sql: str) -> str:
            """Runs one SELECT statement; its rows stay under `name`."""
            return await self._stored_look(name, lambda: self.query(sql, name))

        async def execute_query_plan(name: str, plan: dict[str, Any]) -> str:
            """Runs a query plan (entity, select, where, group_by, order_by, limit); its rows stay under `name`."""
            return await self._stored_look(name, lambda: self.query_plan(QueryPlan.model_validate(plan), name))

        async def execute_python(name: str, code: str, inputs: list[str]) -> str:
            """Runs a polars program over the rows of the looks named in `inputs`; its `result` stays under `name`."""
            return await self._stored_look(name, lambda: self._program(code, inputs))

        async def ask_user(question: str, choices: list[str]) -> str:
            """Asks the user what is meant, with two to five choices. Reply after this with everything empty."""
            # The question becomes the answer of this run. The user's choice comes with the next message.
            self.asked = (question, tuple(choices[:5]))
            return "The user will be asked. End now."

        return [list_datasets, get_dataset_schema, execute_sql, execute_query_plan, execute_python, ask_user]

    async def check(self, reply: Explored) -> None:
        if reply.show and reply.show not in self.produced:
            names = ", ".join(self.produced) or "none yet"
            raise Mistake(f"there is no look named {reply.show!r}; there are: {names}")
        if not reply.show and not reply.cannot and self.asked is None:
            raise Mistake("name the look to show, or say in `cannot` what is missing")
        if reply.show:
            await self._reviewed(NodeId(reply.show))

    async def _reviewed(self, shown: NodeId) -> None:
        """Reviews the rows to be shown. If something speaks against them, the model may look again, once."""
        again = self._review is not None
        reviewer = Reviewer(self._question, self._dependencies, self._step)
        found = self.fetched | self.produced
        programs = {name: found[name] for name in self._order(shown)}
        try:
            self._review = await reviewer.review(programs)
        except AnswerableError as error:
            if isinstance(error, RefusedError) and not declined(error):
                raise
            self._review_failure = error  # the rows are there; they are shown without a review
            return
        if self._review.is_doubtful and not again:
            raise Mistake(f"a check speaks against it: {self._review.evidence}")

    def graph(self, reply: Explored) -> Graph:
        shown = NodeId(reply.show)
        presentation = Presentation(question=self._question.text, mind=MODEL, prose=reply.text or None)
        if self._review_failure is not None:
            advice = without_review(self._review_failure)
        elif self._review is not None:
            advice = self._review.advice().model_copy(update={"prose": None})
        else:
            return self._presented(shown, presentation)
        return self._presented(shown, presentation.model_copy(update={"reviewed": advice}))

    def unfinished_graph(self, error: AnswerableError) -> Graph:
        """What was found before the model failed."""
        note = "The exploration did not come to an end; this is what was found so far."
        advice = Advice(confidence="low", reason=note, findings=(error.message,), doubt=note)
        presentation = Presentation(question=self._question.text, mind=MODEL, reviewed=advice, incomplete=True)
        return self._presented(list(self.produced)[-1], presentation)

    def _presented(self, shown: NodeId, presentation: Presentation) -> Graph:
        """A graph whose nodes hold the rows of all looks, because the answer shows the code of each."""
        found, order = self.fetched | self.produced, self._order(shown)
        # The rows are there already, so the nodes hold them as literals and nothing runs twice.
        literal = LiteralStep.descriptor.name
        nodes = [Node(id=name, kind=literal, config=found[name].model_dump(mode="json")) for name in order]
        config = presentation.model_dump(mode="json", exclude_none=True)
        answer = Node(id=ANSWER, kind=PresentStep.descriptor.name, config=config, after=order)
        return Graph(nodes=(*nodes, answer), output=ANSWER)

    def _order(self, shown: NodeId) -> tuple[NodeId, ...]:
        """All looks that kept rows. The one to show comes last, since `present` takes the rows of its last input."""
        return (*self.fetched, *(name for name in self.produced if name != shown), shown)

    async def _stored_look(self, name: str, run: Callable[[], Any]) -> str:
        # `__` is refused because it separates a look from its tables in `fetched`.
        if not name.isidentifier() or "__" in name or name == ANSWER or name in self.produced:
            return f"{name!r} cannot be the name of a look: use a new name of letters, digits and single _."

        async def see() -> str:
            self.produced[NodeId(name)] = produced = await run()
            return await self.seen(name, produced.frame)

        return await self.look("rows", see)

    async def _program(self, code: str, inputs: list[str]) -> Produced:
        unknown = [name for name in inputs if name not in self.produced]
        if unknown:
            raise UserError(f"There is no look named {unknown[0]!r}.")
        earlier = {NodeId(name): self.produced[NodeId(name)] for name in inputs}
        config, python = PythonConfig(code=code), self._dependencies.python
        await python.check(config, earlier)  # cheap, and its messages are clearer than those of a failed run
        return await python.produce(config, earlier, self._context.principal, self._output)


def _asked(question: Question, reply: Explored, exploration: Exploration) -> Graph | None:
    if exploration.asked is not None:
        text, labels = exploration.asked
        return readings_graph(question.text, labels, text)
    if not reply.show:
        return cannot_tell_graph(question.text, reply.cannot or "no look was shown.")
    return None

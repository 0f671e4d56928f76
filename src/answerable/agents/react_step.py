"""Kind `react`: a model explores with tools until it can answer. Its queries and programs become the answer's steps.

One call of a tool that gives rows is a "look". The tools can only read: their code goes through the same checks, limits
and sandboxes as every other program.
"""

import asyncio
from collections.abc import Callable, Mapping
from typing import Any

from answerable.agents.data_text import as_data
from answerable.agents.dependencies import AgentDependencies
from answerable.agents.execution_plan import ANSWER
from answerable.agents.graphs import cannot_tell_graph, readings_graph
from answerable.agents.prompt_context import (
    SchemaLinks,
    earlier_text,
    frame_text,
    known_values_text,
    links_between_sources,
    schema_links_by_source,
    schema_texts,
)
from answerable.agents.replies import Explored
from answerable.agents.runtime import Mistake
from answerable.agents.write_steps import error_text
from answerable.core.context import Principal
from answerable.core.errors import AnswerableError, UserError
from answerable.core.ids import NodeId
from answerable.core.values import FrameRef, Json
from answerable.engine.graph import Graph, Node
from answerable.engine.steps.base import Step
from answerable.engine.steps.combine import CombineConfig
from answerable.engine.steps.literal import LiteralStep
from answerable.engine.steps.present import MODEL, Presentation, PresentStep
from answerable.engine.steps.produced import Produced
from answerable.engine.steps.python import PythonConfig
from answerable.engine.steps.sql import SqlConfig
from answerable.engine.steps.understand import Question, RoutedGraph
from answerable.query.plan import QueryPlan
from answerable.query.sql.split import Together, split
from answerable.query.sql.split_sql import split_sql

MOST_LOOKS = 12
"""Successful looks in one exploration. The limit stops a model that is lost: each look costs a call."""
ROWS_SEEN = 20
"""Rows of a look that the model sees."""
_SEVERAL = "Name a table as source.table. SQL over tables of more than one source is that of duckdb."


class ReactStep:
    def __init__(self, dependencies: AgentDependencies) -> None:
        self._dependencies = dependencies

    async def run(self, step: Step) -> Json:
        question, dependencies, principal = step.config_as(Question), self._dependencies, step.context.principal
        found = await schema_links_by_source(question, dependencies, principal)
        schemas = schema_texts(found, share_rows=dependencies.share_rows)
        looks = _Looks(step, question, dependencies)
        reader = await dependencies.readers.reader(await dependencies.readers.source_of(question, principal), principal)
        prompt_context = {
            "question": as_data(question.text),
            "today": dependencies.readers.today(question.today, reader.catalog).isoformat(),
            "datasets": await self._datasets(question, found, schemas, principal),
            "values": known_values_text(found, share_rows=dependencies.share_rows),
            "earlier": earlier_text(await dependencies.conversation(step.context)),
        }
        reply = await dependencies.agents.ask(
            "react", prompt_context, Explored, step.context, step.output, tools=looks.tools(schemas), check=looks.check
        )
        graph = _asked(question, reply, looks) or looks.graph(reply)
        return RoutedGraph(dependencies.policy.applied(graph)).as_json()

    async def _datasets(
        self, question: Question, found: Mapping[str, SchemaLinks], schemas: Mapping[str, str], principal: Principal
    ) -> str:
        texts = [
            f"source {as_data(label)}, in the SQL of {each.catalog.dialect}\n{schemas[label]}"
            for label, each in found.items()
        ]
        if len(texts) > 1:
            texts += [await links_between_sources(question, self._dependencies, principal), _SEVERAL]
        return "\n".join(filter(None, texts))


class _Looks:
    """The rows of all looks so far, by the name that the model chose."""

    def __init__(self, step: Step, question: Question, dependencies: AgentDependencies) -> None:
        self._step = step
        self._question = question
        self._dependencies = dependencies
        self.produced: dict[NodeId, Produced] = {}
        self.fetched: dict[NodeId, Produced] = {}
        """The rows that each source returned for a look over more than one source, by `look__table`."""
        self.asked: tuple[str, tuple[str, ...]] | None = None
        """A question back to the user with its choices, if the model has asked one."""

    # The docstrings of these functions are part of the prompt: pydantic-ai sends them as descriptions of the tools.
    def tools(self, schemas: Mapping[str, str]) -> list[Callable[..., Any]]:
        async def list_datasets() -> list[str]:
            """The names of the datasets that can be queried."""
            return list(schemas)

        async def get_dataset_schema(dataset: str) -> str:
            """The tables of a dataset with their columns, types, joins and measures."""
            there = " and ".join(map(repr, schemas))
            return schemas.get(dataset) or f"There is no dataset {dataset!r}; there is {there}."

        async def execute_sql(name: str, sql: str) -> str:
            """Runs one SELECT statement; its rows stay under `name`."""
            return await self._look(name, lambda: self._statement(name, sql))

        async def execute_query_plan(name: str, plan: dict[str, Any]) -> str:
            """Runs a query plan (entity, select, filters, group_by, order_by, limit); its rows stay under `name`."""
            return await self._look(name, lambda: self._plan(name, QueryPlan.model_validate(plan)))

        async def execute_python(name: str, code: str, inputs: list[str]) -> str:
            """Runs a polars program over the rows of the looks named in `inputs`; its `result` stays under `name`."""
            return await self._look(name, lambda: self._program(code, inputs))

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

    def graph(self, reply: Explored) -> Graph:
        """A graph whose nodes hold the rows of all looks, because the answer shows the code of each. The look that the
        model wants to show comes last, since `present` takes the rows of its last input."""
        shown = NodeId(reply.show)
        order = (*self.fetched, *(name for name in self.produced if name != shown), shown)
        found = self.fetched | self.produced
        # The rows are there already, so the nodes hold them as literals and nothing runs twice.
        literal = LiteralStep.descriptor.name
        nodes = [Node(id=name, kind=literal, config=found[name].model_dump(mode="json")) for name in order]
        presentation = Presentation(question=self._question.text, mind=MODEL, prose=reply.text or None)
        config = presentation.model_dump(mode="json", exclude_none=True)
        answer = Node(id=ANSWER, kind=PresentStep.descriptor.name, config=config, after=order)
        return Graph(nodes=(*nodes, answer), output=ANSWER)

    async def _look(self, name: str, run: Callable[[], Any]) -> str:
        """The text that the model gets for a look: columns and first rows, or the reason why it failed."""
        # `__` is refused because it separates a look from its tables in `fetched`.
        if not name.isidentifier() or "__" in name or name == ANSWER or name in self.produced:
            return f"{name!r} cannot be the name of a look: use a new name of letters, digits and single _."
        if len(self.produced) >= MOST_LOOKS:
            return f"No more than {MOST_LOOKS} looks. Reply now with what you know."
        try:
            produced = await run()
        except (AnswerableError, ValueError) as error:
            # A failed look is information for the model, not a failure of the step. ValueError: a malformed plan.
            reason = error_text(error) if isinstance(error, AnswerableError) else str(error)
            return f"It failed: {as_data(reason)}"
        self.produced[NodeId(name)] = produced
        return await self._seen(name, produced.frame)

    async def _seen(self, name: str, result: FrameRef) -> str:
        from answerable.answers import frame

        path = await self._dependencies.store.artifacts.path(self._step.context.principal, result.artifact)
        names = [column.name for column in result.columns]
        records = [dict(zip(names, row, strict=True)) for row in frame.rows(path, 0, ROWS_SEEN)]
        dependencies = self._dependencies
        return frame_text(
            name,
            result,
            share_rows=dependencies.share_rows,
            share_personal=dependencies.share_personal,
            records=records,
        )

    async def _statement(self, name: str, sql: str) -> Produced:
        merged = await self._dependencies.readers.merged(self._question, self._step.context.principal)
        if merged is None:
            return await self._query(SqlConfig(source=self._question.source, sql=sql))
        parts = split_sql(sql, merged)
        if isinstance(parts, Together):
            return await self._together(name, parts)
        return await self._query(SqlConfig(source=parts.source, sql=parts.sql))

    async def _plan(self, name: str, plan: QueryPlan) -> Produced:
        merged = await self._dependencies.readers.merged(self._question, self._step.context.principal)
        if merged is None:
            return await self._query(SqlConfig(source=self._question.source, plan=plan))
        parts = split(plan, merged)
        if isinstance(parts, Together):
            return await self._together(name, parts)
        return await self._query(SqlConfig(source=parts.source, plan=parts.plan))

    async def _together(self, name: str, parts: Together) -> Produced:
        """Queries all sources at the same time, then combines their rows."""
        asked = [self._query(SqlConfig(source=each.source, plan=each.plan)) for each in parts.fetches]
        rows = dict(zip((NodeId(each.name) for each in parts.fetches), await asyncio.gather(*asked), strict=True))
        step = self._step
        combined = await self._dependencies.combine.produce(
            CombineConfig(sql=parts.sql), rows, step.context.principal, step.output
        )
        self.fetched |= {NodeId(f"{name}__{table}"): each for table, each in rows.items()}
        return combined

    async def _query(self, config: SqlConfig) -> Produced:
        step = self._step
        return await self._dependencies.sql.query(
            config, step.context.principal, lambda code: step.output("code", code)
        )

    async def _program(self, code: str, inputs: list[str]) -> Produced:
        unknown = [name for name in inputs if name not in self.produced]
        if unknown:
            raise UserError(f"There is no look named {unknown[0]!r}.")
        earlier = {NodeId(name): self.produced[NodeId(name)] for name in inputs}
        config, python = PythonConfig(code=code), self._dependencies.python
        await python.check(config, earlier)  # cheap, and its messages are clearer than those of a failed run
        return await python.produce(config, earlier, self._step.context.principal, self._step.output)


def _asked(question: Question, reply: Explored, looks: _Looks) -> Graph | None:
    if looks.asked is not None:
        text, labels = looks.asked
        return readings_graph(question.text, labels, text)
    if not reply.show:
        return cannot_tell_graph(question.text, reply.cannot or "no look was shown.")
    return None

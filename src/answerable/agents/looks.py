"""Looks: what a model may see of the data before it commits itself. Every agent that decides something gets them.

    search_schema    tables and columns by words, for what the prompt only names
    column_values    the values of one column, the most frequent first, or those that contain a text
    probe            one query, of which the first rows are seen
    earlier_rows     more rows of an earlier step, or of the last answer of the conversation

A look only reads: its query goes through the same checks and limits as every other. Looks are counted, and after
`most` of them the model must reply with what it knows.
"""

import asyncio
from collections.abc import Awaitable, Callable, Mapping
from typing import Any

from answerable.agents.data_text import as_data
from answerable.agents.dependencies import AgentDependencies
from answerable.agents.federation import by_label
from answerable.agents.query_text import CYPHER
from answerable.agents.rows_text import frame_text
from answerable.agents.schema_links import schema_links
from answerable.agents.schema_text import tables_text
from answerable.core.context import RunContext
from answerable.core.errors import AnswerableError, UserError
from answerable.core.ids import NodeId
from answerable.core.values import FrameRef
from answerable.engine.steps.base import OutputSink
from answerable.engine.steps.combine import CombineConfig
from answerable.engine.steps.cypher import CypherConfig
from answerable.engine.steps.produced import Produced
from answerable.engine.steps.sql import SqlConfig
from answerable.engine.steps.understand import Question
from answerable.query.plan import Aggregate, ColumnRef, OrderItem, QueryPlan, SelectItem, TextMatch
from answerable.query.sql.split import Together, split
from answerable.query.sql.split_sql import split_sql

MOST_LOOKS = 3
"""Looks of an agent that plans or writes. Each costs a call of the model."""
ROWS_SEEN = 20
"""Rows of a look that the model sees."""
_SEARCHED_TOKENS = 1_500
_VALUES = 20


class Looks:
    def __init__(
        self,
        question: Question,
        dependencies: AgentDependencies,
        context: RunContext,
        output: OutputSink,
        *,
        earlier: Mapping[str, FrameRef] | None = None,
        most: int = MOST_LOOKS,
    ) -> None:
        """`question` names the sources; `earlier` are rows that are there already, by name."""
        self._question = question
        self._dependencies = dependencies
        self._context = context
        self._output = output
        self._earlier = earlier or {}
        self._most = most
        self.taken = 0
        self.fetched: dict[NodeId, Produced] = {}
        """The rows that each source returned for a query over more than one source, by `name__table`."""

    # The docstrings of these functions are part of the prompt: pydantic-ai sends them as descriptions of the tools.
    def tools(self) -> list[Callable[..., Any]]:
        async def search_schema(words: str) -> str:
            """Tables and columns whose names or values match these words, with types, examples and joins."""
            return await self.look("search_schema", lambda: self.search(words))

        async def column_values(table: str, column: str, contains: str = "") -> str:
            """Values of a column with the number of their rows, the most frequent first; only those with this text in
            them, if one is given."""
            return await self.look("column_values", lambda: self._values(table, column, contains))

        async def probe(sql: str) -> str:
            """Runs one query in the language of the source and shows its first 20 rows, to learn how it is stored."""
            return await self.look("probe", lambda: self._probe(sql))

        async def earlier_rows(name: str, first: int = 1) -> str:
            """Twenty rows of an earlier result, from row `first` on."""
            return await self.look("earlier_rows", lambda: self._more_rows(name, first))

        tools: list[Callable[..., Any]] = [search_schema]
        if self._dependencies.share_rows:
            tools += [column_values, probe]
            tools += [earlier_rows] if self._earlier else []
        return tools

    async def look(self, kind: str, see: Callable[[], Awaitable[str]]) -> str:
        """What the model is told: what it asked to see, or why it cannot be seen."""
        if self.taken >= self._most:
            return f"No more than {self._most} looks. Reply now with what you know."
        self.taken += 1
        self._output("look", {"kind": kind, "number": self.taken, "most": self._most})
        try:
            self._dependencies.sources.require_tool(kind, self._context.principal)
            return await see()
        except (AnswerableError, ValueError) as error:
            # A failed look is information for the model, not a failure of the step. ValueError: a malformed plan.
            return f"It failed: {as_data(reason_of(error))}"

    async def query(self, sql: str, name: str = "look") -> Produced:
        """The rows of a statement over the sources of the question."""
        merged = await self._dependencies.readers.merged(self._question, self._context.principal)
        if merged is None:
            return await self._ask(SqlConfig(source=self._question.source, sql=sql))
        parts = split_sql(sql, merged)
        if isinstance(parts, Together):
            return await self._together(name, parts)
        return await self._ask(SqlConfig(source=parts.source, sql=parts.sql))

    async def query_plan(self, plan: QueryPlan, name: str = "look") -> Produced:
        merged = await self._dependencies.readers.merged(self._question, self._context.principal)
        if merged is None:
            return await self._ask(SqlConfig(source=self._question.source, plan=plan))
        parts = split(plan, merged)
        if isinstance(parts, Together):
            return await self._together(name, parts)
        return await self._ask(SqlConfig(source=parts.source, plan=parts.plan))

    async def seen(self, name: str, result: FrameRef, first: int = 1) -> str:
        """A result as a model sees it: its columns, and twenty of its rows."""
        from answerable.answers import frame

        path = await self._dependencies.store.artifacts.path(self._context.principal, result.artifact)
        names = [column.name for column in result.columns]
        found = await asyncio.to_thread(frame.rows, path, max(0, first - 1), ROWS_SEEN)
        return frame_text(
            name,
            result,
            share_rows=self._dependencies.share_rows,
            share_personal=self._dependencies.share_personal,
            records=[dict(zip(names, row, strict=True)) for row in found],
            first=first,
        )

    async def search(self, words: str) -> str:
        """Tables and columns whose names or values match the words."""
        dependencies, principal = self._dependencies, self._context.principal
        texts = []
        for label, name in by_label(self._question).items():
            reader = await dependencies.readers.reader(await dependencies.sources.get(name, principal), principal)
            found = schema_links(reader, words, share_personal=dependencies.share_personal)
            text = tables_text(found.touched_alone(), share_rows=dependencies.share_rows, room=_SEARCHED_TOKENS)
            texts.append(f"source {as_data(label)}\n{text or 'nothing matches'}")
        return "\n".join(texts)

    async def _values(self, table: str, column: str, contains: str) -> str:
        found = await self.query_plan(values_plan(table, column, contains))
        return await self.seen("values", found.frame)

    async def _probe(self, sql: str) -> str:
        from answerable.query.sql.check import checked

        if not self._question.sources:
            source = await self._dependencies.sources.get(self._question.source, self._context.principal)
            catalog = await source.describe()
            sql = sql if catalog.dialect == CYPHER else checked(sql, catalog, max_rows=ROWS_SEEN).text
        return await self.seen("probe", (await self.query(sql)).frame)

    async def _more_rows(self, name: str, first: int) -> str:
        if name not in self._earlier:
            raise UserError(f"There are no earlier rows named {name!r}; there are: {', '.join(self._earlier)}.")
        return await self.seen(name, self._earlier[name], first)

    async def _together(self, name: str, parts: Together) -> Produced:
        """Queries all sources at the same time, then combines their rows."""
        asked = [self._ask(SqlConfig(source=each.source, plan=each.plan)) for each in parts.fetches]
        rows = dict(zip((NodeId(each.name) for each in parts.fetches), await asyncio.gather(*asked), strict=True))
        combined = await self._dependencies.combine.produce(
            CombineConfig(sql=parts.sql), rows, self._context.principal, self._output
        )
        self.fetched |= {NodeId(f"{name}__{table}"): each for table, each in rows.items()}
        return combined

    async def _ask(self, config: SqlConfig) -> Produced:
        principal = self._context.principal
        if config.sql is not None and await self._dependencies.cypher.asks(config.source, principal):
            written = CypherConfig(source=config.source, cypher=config.sql)
            return await self._dependencies.cypher.query(written, principal, lambda code: self._output("code", code))
        return await self._dependencies.sql.query(
            config, self._context.principal, lambda code: self._output("code", code)
        )


def values_plan(table: str, column: str, contains: str = "") -> QueryPlan:
    """The most frequent values of a column with the number of their rows."""
    value = ColumnRef(table=table, column=column)
    return QueryPlan(
        entity=table,
        select=(SelectItem(expr=value, label=column), SelectItem(expr=Aggregate(function="count"), label="rows")),
        where=TextMatch(left=value, how="contains", pattern=contains) if contains else None,
        group_by=(value,),
        order_by=(OrderItem(expr=Aggregate(function="count"), descending=True), OrderItem(expr=value)),
        limit=_VALUES,
    )


def reason_of(error: Exception) -> str:
    """The message of an error with its hint, for a model that can act on it."""
    hint = error.hint if isinstance(error, AnswerableError) else None
    return f"{error} {hint}" if hint else str(error)

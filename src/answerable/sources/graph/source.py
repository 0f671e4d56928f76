"""A source that is a graph: asked in Cypher, by worker processes that open it read-only."""

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

from answerable.core.catalog import Catalog, Table
from answerable.core.errors import AnswerableError, UserError
from answerable.core.progress import Progress
from answerable.query.checked import CheckedQuery
from answerable.query.cypher.check import checked
from answerable.sources.base import Limits, QueryResult
from answerable.sources.classing import classed_table
from answerable.sources.graph import browse
from answerable.sources.graph.structure import connected, relationships_of
from answerable.sources.graph.values import CypherValueReader
from answerable.sources.pool import WorkerPool
from answerable.sources.sql.statements import Sql
from answerable.sources.statistics import RelationshipCheck, TableStatistics
from answerable.sources.value_index import ValueIndex
from answerable.sources.worker_source import WorkerSource

if TYPE_CHECKING:
    from answerable.access.graph_shape import GraphRules


class GraphSource(WorkerSource):
    _rules: "GraphRules | None" = None

    async def rows(self, statement: Sql) -> list[tuple[Any, ...]]:
        """Small questions that describing the graph asks."""
        return [tuple(row) for row in await self._ask("rows", {"sql": self._shaped(statement)}, self._probing())]

    async def _ask(self, do: str, what: Mapping[str, Any], limits: Limits) -> Any:
        with self._in_words_of_its_own():
            return await super()._ask(do, what, limits)

    async def _written(
        self, statement: str, into: Path, limits: Limits, progress: Progress, pool: WorkerPool
    ) -> QueryResult:
        with self._in_words_of_its_own():
            return await super()._written(statement, into, limits, progress, pool)

    @contextmanager
    def _in_words_of_its_own(self) -> Iterator[None]:
        """The engine quotes what it cannot type. Of a rewritten query that would show the rules, and the secret of
        hashed values."""
        try:
            yield
        except AnswerableError as error:
            if self._access is None or error.stable_code != "cypher_invalid":
                raise
            raise UserError(
                "The query compares or computes with values of the wrong type.",
                code="cypher_invalid",
                hint="Check the types that are compared. A property that a rule masks may have become text.",
            ) from None

    async def first_rows(self, table: Table, offset: int, limit: int) -> list[tuple[Any, ...]]:
        return await self.rows(browse.first_rows(table, offset, limit))

    async def statistics(self, table: Table) -> TableStatistics:
        return await browse.table_statistics(self, table)

    async def relationship_checks(self, catalog: Catalog) -> list[RelationshipCheck]:
        """A relationship of a graph always leads to a node."""
        return [RelationshipCheck(relationship=each, orphan_rows=0) for each in catalog.relationships]

    async def _value_index(self, catalog: Catalog) -> ValueIndex:
        return await ValueIndex.open(self._cache, catalog, self, progress=self._progress, reader=CypherValueReader)

    async def _know_tables(self) -> None:
        if self._access is not None and self._found is None:
            await self.describe()

    def _statement(self, query: CheckedQuery) -> str:
        """Checked once more against what the person may see, whoever checked it before."""
        if self._access is None:
            return query.text
        assert self._found is not None
        return self._shaped(checked(query.text, self._found[1]).text)

    def _shaped(self, cypher: str) -> str:
        """Every statement passes here on its way to a worker: queries, dry runs, and all that describes the data."""
        return cypher if self._access is None else self._rewriting().shape(cypher)

    def _rewriting(self) -> "GraphRules":
        from answerable.access.graph_shape import GraphRules

        assert self._access is not None
        assert self._description is not None
        structure = self._description.structure
        assert structure is not None
        if self._rules is None or self._rules.catalog is not structure:
            self._access.view.check_names({table.name: table for table in structure.tables})
            self._rules = GraphRules(self._access.view, structure, self._access.secret)
        return self._rules

    async def _profiled(self, bare: Catalog, keys: Sequence[Mapping[str, Any]]) -> Catalog:
        self._progress("Reading the graph", 0, len(bare.tables))
        if self._access is not None:
            bare = connected(bare)
            rules = self._rewriting()
            # The worker has counted all rows. Of tables that are seen in part the figures are taken anew.
            seen = [await browse.counted(self, table) if rules.is_cut(table.name) else table for table in bare.tables]
            bare = bare.model_copy(update={"tables": tuple(seen)})
        tables = tuple(map(classed_table, bare.tables))
        catalog = bare.model_copy(update={"tables": tables})
        return catalog.model_copy(update={"relationships": relationships_of(tables)})

    def _seen(self, catalog: Catalog) -> Catalog:
        return connected(super()._seen(catalog))

"""A source that is a graph: asked in Cypher, by worker processes that open it read-only."""

from collections.abc import Mapping, Sequence
from typing import Any

from answerable.core.catalog import Catalog, Table
from answerable.query.checked import CheckedQuery
from answerable.query.cypher.check import checked
from answerable.sources.classing import classed_table
from answerable.sources.graph import browse
from answerable.sources.graph.structure import connected, refuse_unsupported, relationships_of
from answerable.sources.graph.values import CypherValueReader
from answerable.sources.sql.statements import Sql
from answerable.sources.statistics import RelationshipCheck, TableStatistics
from answerable.sources.value_index import ValueIndex
from answerable.sources.worker_source import WorkerSource


class GraphSource(WorkerSource):
    async def rows(self, statement: Sql) -> list[tuple[Any, ...]]:
        """Small questions that describing the graph asks."""
        return [tuple(row) for row in await self._ask("rows", {"sql": statement}, self._probing())]

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
        return checked(query.text, self._found[1]).text

    async def _profiled(self, bare: Catalog, keys: Sequence[Mapping[str, Any]]) -> Catalog:
        self._progress("Reading the graph", 0, len(bare.tables))
        if self._access is not None:
            assert self._description is not None
            assert self._description.structure is not None
            self._access.view.check_names({table.name: table for table in self._description.structure.tables})
            refuse_unsupported(self._access.view, self._description.structure.tables, self.name)
        tables = tuple(map(classed_table, bare.tables))
        catalog = bare.model_copy(update={"tables": tables})
        return catalog.model_copy(update={"relationships": relationships_of(tables)})

    def _seen(self, catalog: Catalog) -> Catalog:
        return connected(super()._seen(catalog))

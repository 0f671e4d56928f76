"""A source that is asked in SQL, by worker processes. What differs from kind to kind is its backend."""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from answerable.core.catalog import Catalog, Table, Warning
from answerable.query.checked import CheckedQuery
from answerable.query.sql.dialects import DIALECTS
from answerable.sources.classing import classed_table
from answerable.sources.sql import browse
from answerable.sources.sql.addresses import addressed, addresses_of
from answerable.sources.sql.inspected import declared_relationships
from answerable.sources.sql.statements import Sql
from answerable.sources.statistics import RelationshipCheck, TableStatistics
from answerable.sources.value_index import ValueIndex
from answerable.sources.worker_source import WorkerSource

if TYPE_CHECKING:
    from answerable.access.shape import Shaping


class SqlSource(WorkerSource):
    _shaping: "Shaping | None" = None

    async def rows(self, statement: Sql) -> list[tuple[Any, ...]]:
        """Makes the source the probe of its own description."""
        await self._know_tables()
        return [tuple(row) for row in await self._ask("rows", {"sql": self._shaped(statement)}, self._probing())]

    async def first_rows(self, table: Table, offset: int, limit: int) -> list[tuple[Any, ...]]:
        return await browse.first_rows(self, self.dialect, table, offset, limit)

    async def statistics(self, table: Table) -> TableStatistics:
        return await browse.table_statistics(self, self.dialect, table)

    async def relationship_checks(self, catalog: Catalog) -> list[RelationshipCheck]:
        return await browse.relationship_checks(self, self.dialect, catalog)

    async def _value_index(self, catalog: Catalog) -> ValueIndex:
        return await ValueIndex.open(self._cache, catalog, self, progress=self._progress)

    async def _know_tables(self) -> None:
        """The catalog says which schema each table is in, and which tables may be seen."""
        if self._description is None and (self._access is not None or DIALECTS[self.dialect].needs_schema):
            await self.describe_plainly()

    def _statement(self, query: CheckedQuery) -> str:
        """The text of the query as the worker gets it."""
        return self._shaped(self._checked_text(query) if self._access is not None else query.text)

    def _checked_text(self, query: CheckedQuery) -> str:
        """An operator's own text is checked like any other once rules apply to whoever runs it."""
        from answerable.query.sql.check import checked
        from answerable.query.sql.operator import OperatorSql

        assert self._description is not None
        if isinstance(query, OperatorSql):
            return checked(query.text, self._description.catalog).text
        return query.text

    def _shaped(self, sql: str) -> str:
        """Every statement passes here on its way to a worker: queries, dry runs, and all that describes the data."""
        if self._access is not None:
            sql = self._rewriting().shaped(sql)
        return addressed(sql, self.dialect, self._description.addresses if self._description else {})

    def _rewriting(self) -> "Shaping":
        from answerable.access.shape import Shaping

        assert self._access is not None
        assert self._description is not None
        structure = self._description.structure
        if self._shaping is None or self._shaping.catalog is not structure:
            assert structure is not None
            self._access.view.check_names({table.name: table for table in structure.tables})
            self._shaping = Shaping(self._access.view, structure, self._access.secret)
        return self._shaping

    def _addresses(self, found: Sequence[Mapping[str, Any]]) -> Mapping[str, tuple[str, str]]:
        return addresses_of(found, self.dialect)

    async def _profiled(self, bare: Catalog, keys: Sequence[Mapping[str, Any]]) -> Catalog:
        # Imported here: a command about data that is described already needs neither.
        from answerable.sources.sql.profile import profile
        from answerable.sources.sql.relationships import relate

        notices: list[Warning] = []
        open_to_all = self._access is None
        tables = await profile(
            self, self.dialect, bare.tables, notices=notices, progress=self._progress, estimates=open_to_all
        )
        tables = tuple(map(classed_table, tables))
        relationships = await relate(self, self.dialect, tables, declared_relationships(keys, tables))
        warnings = (*bare.warnings, *notices)
        return bare.model_copy(update={"tables": tables, "relationships": relationships, "warnings": warnings})

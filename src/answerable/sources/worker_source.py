"""A source that worker processes read: looked at, described, cached, asked. What it is asked in, a subclass says."""

import asyncio
import json
import os
from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence, Set
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from answerable.core.catalog import Catalog, Table, ValueLookup
from answerable.core.errors import SourceError
from answerable.core.progress import Progress, SharedProgress, no_progress
from answerable.core.values import Frozen, Language, OutputColumn
from answerable.query.checked import CheckedQuery
from answerable.sources.base import Limits, QueryResult, require_language
from answerable.sources.classing import without_secrets
from answerable.sources.fingerprints import digest, identity
from answerable.sources.pool import WorkerPool
from answerable.sources.sql.backend import Snapshot, SourceOptions, SqlBackend
from answerable.sources.sql.inspected import reported_table, tables_left_out
from answerable.sources.sql.worker_result import (
    check_file,
    created,
    executed_query,
    plain_rows,
    removed,
    reporting_size,
)
from answerable.sources.value_index import ValueIndex
from answerable.store.whole_files import cache_file

if TYPE_CHECKING:
    from answerable.access.view import SourceAccess

_FORMAT = "7"
"""Version of cached descriptions: raised whenever describing the same data gives another catalog."""
_TABLES_BEFORE = "tables-before.json"


class WorkerSource(ABC):
    def __init__(
        self, name: str, backend: SqlBackend, cache: Path, options: SourceOptions, access: "SourceAccess | None" = None
    ) -> None:
        """`access`: what the person for whom the source is opened may see; None for all of it."""
        self.name = name
        self._access = access
        self.kind = backend.kind
        self.dialect: Language = backend.dialect
        self.languages: tuple[Language, ...] = (backend.dialect,)
        self.is_local = backend.is_local
        self.semantic_files = tuple(backend.semantic_files)
        self._backend = backend
        self._progress = SharedProgress()
        self._cache = cache
        self._options = options
        self._lock = asyncio.Lock()
        self._looks = 0
        """How many looks for `describe` have begun."""
        self._found: tuple[int, Catalog] | None = None
        """The number of the last look that succeeded, and the catalog that it found."""
        self._pool: WorkerPool | None = None
        self._spec: Mapping[str, Any] | None = None
        self._description: _Description | None = None
        self._meant: tuple[str, Catalog] | None = None
        self._values: list[tuple[Catalog, ValueIndex]] = []
        """The current one first; the one before it may still be in use."""

    @property
    def isolation(self) -> Mapping[str, str]:
        """Which walls stand around the workers, by what they guard; empty until the first one has started."""
        return self._pool.isolation if self._pool is not None else {}

    async def describe(self, progress: Progress = no_progress) -> Catalog:
        with self._progress.reporting_to(progress):
            looks_before = self._looks
            async with self._lock:
                # Those who waited together share one look. It began after each of them had asked, so none of them gets
                # a catalog from before a change that they know of.
                if self._found is None or self._found[0] <= looks_before:
                    self._looks += 1
                    self._found = (self._looks, await self._with_meaning(await self._plain()))
                return self._found[1]

    async def describe_plainly(self) -> Catalog:
        """Describes the source without what its `semantic.yaml` says."""
        async with self._lock:
            return await self._plain()

    async def _plain(self) -> Catalog:
        snapshot = await self._look()
        known = self._description
        if known is None or known.catalog.fingerprint != snapshot.fingerprint:
            known = await self._described(snapshot)
            # Not part of what is cached: the operator may change it while the data stays as it is.
            functions = tuple(self._backend.functions) if self._access is None else ()
            catalog = known.catalog.model_copy(update={"functions": functions})
            self._description = known = known.model_copy(update={"catalog": catalog})
            self._meant = None
        return known.catalog

    async def values(self, progress: Progress = no_progress) -> ValueLookup:
        with self._progress.reporting_to(progress):
            catalog = await self.describe()
            async with self._lock:
                if not self._values or self._values[0][0] is not catalog:
                    index = await self._value_index(catalog)
                    self._values.insert(0, (catalog, index))
                    for _catalog, unused in self._values[2:]:
                        unused.close()
                    del self._values[2:]
                return self._values[0][1]

    async def check(self, query: CheckedQuery) -> None:
        require_language(self, query)
        await self._know_tables()
        await self._ask("check", {"sql": self._statement(query)}, self._probing())

    async def execute(
        self, query: CheckedQuery, into: Path, limits: Limits, progress: Progress = no_progress
    ) -> QueryResult:
        require_language(self, query)
        await self._know_tables()
        return await self._written(self._statement(query), into, limits, progress, await self._ready())

    async def _written(
        self, statement: str, into: Path, limits: Limits, progress: Progress, pool: WorkerPool
    ) -> QueryResult:
        """Runs the statement in a worker of the pool, which writes its rows to the path `into`."""
        output = created(into)
        try:
            # Not asked again: the engine repeats the step, and tells whoever asked.
            async with reporting_size(output, progress), pool.worker(limits.memory_mb) as worker:
                done = await worker.ask("execute", _request({"sql": statement}, limits), output=output)
            executed = executed_query(done, os.fstat(output).st_size)
            await asyncio.to_thread(check_file, into, executed)
        except BaseException:
            removed(into)
            raise
        finally:
            os.close(output)
        columns = tuple(OutputColumn(name=name, type=kind) for name, kind in executed.columns)
        plain = plain_rows(executed.plain_rows, executed.rows, len(columns))
        return QueryResult(columns, executed.rows, executed.bytes, executed.milliseconds, plain)

    async def peek(self, queries: Sequence[CheckedQuery], limits: Limits) -> list[list[tuple[Any, ...]] | None]:
        for query in queries:
            require_language(self, query)
        await self._know_tables()
        asked = {"statements": [self._statement(query) for query in queries]}
        found = await self._ask("rows_of_each", asked, limits)
        return [None if rows is None else [tuple(row) for row in rows] for rows in found]

    async def close(self) -> None:
        for _catalog, index in self._values:
            index.close()
        self._values.clear()
        if self._pool is not None:
            await self._pool.close()

    @abstractmethod
    async def _value_index(self, catalog: Catalog) -> ValueIndex: ...

    @abstractmethod
    async def _know_tables(self) -> None:
        """Called before each statement. A source that needs its catalog to write one describes itself here."""

    @abstractmethod
    def _statement(self, query: CheckedQuery) -> str:
        """The text of the query as the worker gets it."""

    @abstractmethod
    async def _profiled(self, bare: Catalog, keys: Sequence[Mapping[str, Any]]) -> Catalog:
        """The catalog with figures, classes and relationships. `keys`: foreign keys that the worker reports."""

    def _addresses(self, found: Sequence[Mapping[str, Any]]) -> Mapping[str, tuple[str, str]]:
        """Schema and table of those names that need both, by what the worker reports about the tables."""
        return {}

    def _probing(self) -> Limits:
        options = self._options
        return Limits(seconds=options.probe_seconds, memory_mb=options.memory_mb, rows=options.probe_rows)

    async def _ask(self, do: str, what: Mapping[str, Any], limits: Limits) -> Any:
        pool = await self._ready()
        return await pool.ask_again(do, _request(what, limits), limits.memory_mb)

    async def _ready(self) -> WorkerPool:
        if self._pool is None:
            async with self._lock:
                await self._look()
        assert self._pool is not None
        return self._pool

    async def _look(self) -> Snapshot:
        """Data that has changed gets workers of its own: an open reader would go on seeing the old."""
        snapshot = await self._backend.look(self._progress)
        if self._pool is None or snapshot.spec != self._spec:
            if self._pool is not None:
                await self._pool.close()
            self._pool, self._spec = (
                WorkerPool(snapshot.spec, self._options.workers, self._options.places),
                snapshot.spec,
            )
            self._pool.warm()
        if snapshot.fingerprint is not None:
            return snapshot
        tables = (await self._ask("fingerprint", {}, self._probing()))["tables"]
        of_each = {name: digest(figures) for name, figures in tables.items()}
        whole = digest(*(part for pair in of_each.items() for part in pair))
        return replace(snapshot, fingerprint=whole, table_fingerprints=of_each)

    async def _described(self, snapshot: Snapshot) -> "_Description":
        assert snapshot.fingerprint is not None
        file = self._cache / "catalogs" / f"{digest(_FORMAT, self.kind, self.name, snapshot.fingerprint)[7:39]}.json"
        with suppress(OSError, ValueError):  # a file that is missing, damaged or of an older form is written again
            return _Description.model_validate_json(file.read_bytes())
        description = await self._read(snapshot, snapshot.fingerprint)
        with cache_file(file) as partial:
            partial.write_bytes(description.model_dump_json().encode())
        self._remember(description.catalog.tables)
        return description

    def _remember(self, tables: Sequence[Table]) -> None:
        """Which tables there were, so that one that is gone later is not taken for a mistake in a `semantic.yaml`."""
        names = self._tables_before() | {table.name for table in tables}
        with cache_file(self._cache / _TABLES_BEFORE) as partial:
            partial.write_bytes(json.dumps(sorted(names)).encode())

    def _tables_before(self) -> frozenset[str]:
        try:
            return frozenset(map(str, json.loads((self._cache / _TABLES_BEFORE).read_bytes())))
        except (OSError, ValueError, TypeError):  # without it, such a table counts as a mistake in the file
            return frozenset()

    async def _read(self, snapshot: Snapshot, fingerprint: str) -> "_Description":
        found = await self._ask("inspect", {}, self._probing())
        bare = Catalog(
            source=self.name,
            dialect=self.dialect,
            tables=tuple(reported_table(table, snapshot.table_fingerprints) for table in found["tables"]),
            fingerprint=fingerprint,
            last_sync=snapshot.last_sync,
            warnings=(*snapshot.warnings, *tables_left_out(found["left_out"])),
        )
        addresses, structure = self._addresses(found["tables"]), None
        if self._access is not None:
            from answerable.access.catalogs import visible

            structure, bare = bare, visible(bare, self._access.view)
        # The addresses and the rules are needed while the tables are profiled.
        self._description = _Description(catalog=bare, addresses=addresses, structure=structure)
        try:
            return self._description.model_copy(update={"catalog": await self._profiled(bare, found["relationships"])})
        finally:
            # If profiling failed, `describe` must not take the bare catalog for the description.
            self._description = None

    async def _with_meaning(self, catalog: Catalog) -> Catalog:
        """Applies the `semantic.yaml` to the catalog. A file with errors raises, and its result is not remembered."""
        path, state = await asyncio.to_thread(_first_existing, self.semantic_files)
        if self._meant is None or self._meant[0] != state:
            # In a thread: the first time this imports the parser of SQL, and a file may be long.
            whole = catalog if self._access is None else self._completed(catalog)
            meant = whole if path is None else await asyncio.to_thread(_meant, whole, path, self._tables_before())
            self._meant = (state, self._seen(without_secrets(meant)))
        return self._meant[1]

    def _completed(self, catalog: Catalog) -> Catalog:
        """The catalog with hidden parts, which a `semantic.yaml` may name. They have no figures."""
        assert self._description is not None
        assert self._description.structure is not None
        described = {table.name: table for table in catalog.tables}
        tables = [_with_hidden(table, described.get(table.name)) for table in self._description.structure.tables]
        return catalog.model_copy(update={"tables": tuple(tables)})

    def _seen(self, catalog: Catalog) -> Catalog:
        """What the person may see of the catalog."""
        if self._access is None:
            return catalog
        from answerable.access.catalogs import visible

        return visible(catalog, self._access.view)


def _request(what: Mapping[str, Any], limits: Limits) -> Mapping[str, Any]:
    return {
        **what,
        "seconds": limits.seconds,
        "memory_mb": limits.memory_mb,
        "rows": limits.rows,
        "bytes": limits.result_mb * 1_000_000,
    }


class _Description(Frozen):
    """The part of a description that is cached until the data changes."""

    catalog: Catalog
    addresses: Mapping[str, tuple[str, str]]
    """Schema and table of those names that need both."""
    structure: Catalog | None = None
    """All tables and columns, if the catalog shows only what somebody may see of them."""


def _with_hidden(table: Table, described: Table | None) -> Table:
    if described is None:
        return table
    columns = tuple(described.column(column.name) or column for column in table.columns)
    return described.model_copy(update={"columns": columns})


def _meant(catalog: Catalog, path: Path, before: Set[str]) -> Catalog:
    """`before`: the tables that were there at one time or another."""
    from answerable.sources import semantic  # brings the SQL parser, which most sources do not need for this

    said = semantic.load(path)
    now = {table.name.casefold() for table in catalog.tables}
    gone = [name for name in said.tables if name in before and name.casefold() not in now]
    if gone:
        raise SourceError(
            f"The table {gone[0]!r} is no longer in {catalog.source}: it was deleted, moved or renamed.",
            code="table_missing",
            hint=f"Put it back, or take what {path.name} says about it out of that file.",
        )
    return semantic.apply(catalog, said)


def _first_existing(paths: Sequence[Path]) -> tuple[Path | None, str]:
    path = next((path for path in paths if path.is_file()), None)
    return path, identity(path) if path else ""

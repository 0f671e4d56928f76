"""A source that is asked in SQL, by worker processes. What differs from kind to kind is its backend."""

import asyncio
import json
import os
from collections.abc import AsyncIterator, Iterator, Mapping, Sequence, Set
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, field, replace
from datetime import datetime
from pathlib import Path
from typing import Any, Protocol

from pydantic import Field, ValidationError

from answerable.core.catalog import Catalog, Column, Relationship, Table, ValueLookup, Warning
from answerable.core.errors import InternalError, OperatorError, SourceError
from answerable.core.file_errors import no_descriptors
from answerable.core.progress import Progress, SharedProgress, no_progress
from answerable.core.values import ColumnType, Frozen, Language, OutputColumn, Scalar
from answerable.query.checked import CheckedQuery
from answerable.query.sql.dialects import DIALECTS
from answerable.sources.base import Limits, QueryResult, require_language
from answerable.sources.classing import classed_table, without_secrets
from answerable.sources.fingerprints import digest, identity
from answerable.sources.pool import WorkerPool
from answerable.sources.result_files import check_result_file
from answerable.sources.sql import browse
from answerable.sources.sql.statements import Sql, literal, quoted
from answerable.sources.statistics import RelationshipCheck, TableStatistics
from answerable.sources.value_index import ValueIndex
from answerable.sources.worker_places import WorkerPlaces
from answerable.store.whole_files import cache_file

_FORMAT = "7"
"""Version of cached descriptions: raised whenever describing the same data gives another catalog."""
_TABLES_BEFORE = "tables-before.json"
_SCALARS = frozenset({str, int, float, bool, type(None)})
"""What a plain row can hold."""
_REPORT_SECONDS = 0.5
"""Between two reports of how much a query has written."""


@dataclass(frozen=True, slots=True)
class SourceOptions:
    """What a source may use besides the limits of a single query."""

    workers: int = 2
    threads: int = field(default_factory=lambda: min(8, os.cpu_count() or 1))
    """Of one worker."""
    memory_mb: int = 2048
    probe_seconds: float = 30.0
    probe_rows: int = 1_000_000
    max_files: int = 10_000
    max_mb: int = 20_000
    """Of files that are not Parquet, together; and of one such file when unpacked."""
    postgres_functions: tuple[str, ...] = ()
    """Functions that queries may call besides those of the system: `schema.name`."""
    places: WorkerPlaces = field(default_factory=WorkerPlaces)
    """Where the workers of this source run, beside those of other sources."""


@dataclass(frozen=True, slots=True)
class Snapshot:
    """The data as it is now: how a worker opens it, and by what it is known to have changed."""

    spec: Mapping[str, Any] = field(repr=False)
    """May hold a password."""
    fingerprint: str | None
    """None if only the engine can compute it."""
    last_sync: datetime | None = None
    warnings: tuple[Warning, ...] = ()
    table_fingerprints: Mapping[str, str] = field(default_factory=dict)
    """The fingerprint of each table, if the backend knows them; else empty."""


class SqlBackend(Protocol):
    """What one kind of SQL source knows: where its data is, how a worker opens it, which dialect it speaks."""

    kind: str
    dialect: Language
    is_local: bool
    """Whether the data is on this machine."""
    semantic_files: Sequence[Path]
    """Where a `semantic.yaml` is looked for; the first that exists counts."""
    functions: Sequence[str]
    """Functions of the database's own schemas that queries may call: `schema.name`."""

    async def look(self, progress: Progress) -> Snapshot:
        """Quick if nothing has changed since the last look."""
        ...


class SqlSource:
    def __init__(self, name: str, backend: SqlBackend, cache: Path, options: SourceOptions) -> None:
        self.name = name
        self.kind = backend.kind
        self.dialect = backend.dialect
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
        """Without what a `semantic.yaml` says."""
        async with self._lock:
            return await self._plain()

    async def _plain(self) -> Catalog:
        snapshot = await self._look()
        known = self._description
        if known is None or known.catalog.fingerprint != snapshot.fingerprint:
            known = await self._described(snapshot)
            # Not part of what is cached: the operator may change it while the data stays as it is.
            catalog = known.catalog.model_copy(update={"functions": tuple(self._backend.functions)})
            self._description = known = known.model_copy(update={"catalog": catalog})
            self._meant = None
        return known.catalog

    async def values(self, progress: Progress = no_progress) -> ValueLookup:
        with self._progress.reporting_to(progress):
            catalog = await self.describe()
            async with self._lock:
                if not self._values or self._values[0][0] is not catalog:
                    index = await ValueIndex.open(self._cache, catalog, self, progress=self._progress)
                    self._values.insert(0, (catalog, index))
                    for _catalog, unused in self._values[2:]:
                        unused.close()
                    del self._values[2:]
                return self._values[0][1]

    async def check(self, query: CheckedQuery) -> None:
        require_language(self, query)
        await self._know_addresses()
        await self._ask("check", {"sql": self._addressed(query.text)}, self._probing())

    async def execute(
        self, query: CheckedQuery, into: Path, limits: Limits, progress: Progress = no_progress
    ) -> QueryResult:
        require_language(self, query)
        await self._know_addresses()
        output = _created(into)
        try:
            async with _reporting_size(output, progress):
                done = await self._ask("execute", {"sql": self._addressed(query.text)}, limits, output)
            executed = _executed(done, os.fstat(output).st_size)
            await asyncio.to_thread(_check_file, into, executed)
        except BaseException:
            _removed(into)
            raise
        finally:
            os.close(output)
        columns = tuple(OutputColumn(name=name, type=kind) for name, kind in executed.columns)
        plain = _plain_rows(executed.plain_rows, executed.rows, len(columns))
        return QueryResult(columns, executed.rows, executed.bytes, executed.milliseconds, plain)

    async def rows(self, statement: Sql) -> list[tuple[Any, ...]]:
        """Makes the source the probe of its own description."""
        await self._know_addresses()
        return [tuple(row) for row in await self._ask("rows", {"sql": self._addressed(statement)}, self._probing())]

    async def peek(self, queries: Sequence[CheckedQuery], limits: Limits) -> list[list[tuple[Any, ...]] | None]:
        for query in queries:
            require_language(self, query)
        await self._know_addresses()
        asked = {"statements": [self._addressed(query.text) for query in queries]}
        found = await self._ask("rows_of_each", asked, limits)
        return [None if rows is None else [tuple(row) for row in rows] for rows in found]

    async def first_rows(self, table: Table, offset: int, limit: int) -> list[tuple[Any, ...]]:
        return await browse.first_rows(self, self.dialect, table, offset, limit)

    async def statistics(self, table: Table) -> TableStatistics:
        return await browse.table_statistics(self, self.dialect, table)

    async def relationship_checks(self, catalog: Catalog) -> list[RelationshipCheck]:
        return await browse.relationship_checks(self, self.dialect, catalog)

    async def close(self) -> None:
        for _catalog, index in self._values:
            index.close()
        self._values.clear()
        if self._pool is not None:
            await self._pool.close()

    def _probing(self) -> Limits:
        options = self._options
        return Limits(seconds=options.probe_seconds, memory_mb=options.memory_mb, rows=options.probe_rows)

    async def _know_addresses(self) -> None:
        """The catalog says which schema each table is in."""
        if self._description is None and DIALECTS[self.dialect].needs_schema:
            await self.describe_plainly()

    def _addressed(self, sql: str) -> str:
        return addressed(sql, self.dialect, self._description.addresses if self._description else {})

    async def _ask(self, do: str, what: Mapping[str, Any], limits: Limits, output: int | None = None) -> Any:
        request = {
            **what,
            "seconds": limits.seconds,
            "memory_mb": limits.memory_mb,
            "rows": limits.rows,
            "bytes": limits.result_mb * 1_000_000,
        }
        pool = await self._ready()
        if output is None:
            return await pool.ask_again(do, request, limits.memory_mb)
        # The engine repeats the step, and tells whoever asked.
        async with pool.worker(limits.memory_mb) as worker:
            return await worker.ask(do, request, output=output)

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
            tables=tuple(_table(table, snapshot.table_fingerprints) for table in found["tables"]),
            fingerprint=fingerprint,
            last_sync=snapshot.last_sync,
            warnings=(*snapshot.warnings, *_left_out(found["left_out"])),
        )
        # The addresses are needed while the tables are profiled.
        self._description = _Description(catalog=bare, addresses=_addresses(found["tables"], self.dialect))
        try:
            return self._description.model_copy(update={"catalog": await self._profiled(bare, found["relationships"])})
        finally:
            # If profiling failed, `describe` must not take the bare catalog for the description.
            self._description = None

    async def _profiled(self, bare: Catalog, keys: Sequence[Mapping[str, Any]]) -> Catalog:
        # Imported here: a command about data that is described already needs neither.
        from answerable.sources.sql.profile import profile
        from answerable.sources.sql.relationships import relate

        notices: list[Warning] = []
        tables = await profile(self, self.dialect, bare.tables, notices=notices, progress=self._progress)
        tables = tuple(map(classed_table, tables))
        relationships = await relate(self, self.dialect, tables, _relationships(keys, tables))
        warnings = (*bare.warnings, *notices)
        return bare.model_copy(update={"tables": tables, "relationships": relationships, "warnings": warnings})

    async def _with_meaning(self, catalog: Catalog) -> Catalog:
        """Applies the `semantic.yaml` to the catalog. A file with errors raises, and its result is not remembered."""
        path, state = await asyncio.to_thread(_first_existing, self.semantic_files)
        if self._meant is None or self._meant[0] != state:
            # In a thread: the first time this imports the parser of SQL, and a file may be long.
            meant = catalog if path is None else await asyncio.to_thread(_meant, catalog, path, self._tables_before())
            self._meant = (state, without_secrets(meant))
        return self._meant[1]


class _Description(Frozen):
    """The part of a description that is cached until the data changes."""

    catalog: Catalog
    addresses: Mapping[str, tuple[str, str]]
    """Schema and table of those names that need both."""


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


def addressed(sql: str, dialect: Language, addresses: Mapping[str, tuple[str, str]]) -> str:
    """The statement with schema and name of each table that needs both. The catalog calls a table of another schema
    `schema.table`, as one name. Only the names change: writing the statement anew could change its meaning."""
    if not any(name.casefold() in sql.casefold() for name in addresses):
        return sql
    if isinstance(sql, Sql):
        # The server's estimates are asked for by the name of a table as text.
        for table_name, parts in addresses.items():
            as_text = literal(quoted(table_name, dialect), dialect)
            sql = Sql(sql.replace(as_text, literal(".".join(quoted(part, dialect) for part in parts), dialect)))
    import sqlglot
    from sqlglot import exp

    from answerable.query.sql.names import folded

    try:
        statement = sqlglot.parse_one(sql, dialect=dialect)
    except sqlglot.ParseError:
        return sql  # an operator's own text; the engine says what is wrong with it
    defined = {cte.alias for cte in statement.find_all(exp.CTE)}
    places: list[tuple[int, int, str]] = []
    for table in statement.find_all(exp.Table):
        name = folded(table.this, dialect) if isinstance(table.this, exp.Identifier) else table.name
        address = None if table.db or table.name in defined else addresses.get(name) or addresses.get(table.name)
        if address:
            written = ".".join(quoted(part, dialect) for part in address)
            if name != address[-1] and not table.alias:
                written += f" AS {quoted('.'.join(address), dialect)}"
            places.append((table.this.meta["start"], table.this.meta["end"] + 1, written))
    # From the end to the start, so that no change moves a place that is still to come.
    for start, end, written in sorted(places, reverse=True):
        sql = sql[:start] + written + sql[end:]
    return sql


def _addresses(tables: Sequence[Mapping[str, Any]], dialect: Language) -> dict[str, tuple[str, str]]:
    needs_all = DIALECTS[dialect].needs_schema
    return {
        table["name"]: tuple(table["address"]) for table in tables if needs_all or table["name"] != table["address"][-1]
    }


def _table(found: Mapping[str, Any], fingerprints: Mapping[str, str]) -> Table:
    return Table(
        name=found["name"],
        columns=tuple(Column(**column) for column in found["columns"]),
        primary_key=tuple(found["primary_key"]),
        fingerprint=fingerprints.get(found["name"], ""),
        description=found.get("description"),
    )


def _left_out(found: Sequence[tuple[str, str]]) -> Iterator[Warning]:
    for name, reason in found:
        yield Warning(subject=name, message=f"is left out, because the database cannot read it: {reason}")


def _relationships(keys: Sequence[Mapping[str, Any]], tables: Sequence[Table]) -> tuple[Relationship, ...]:
    """The foreign keys that lead to columns that exist. A key that names no column of the other table points to its
    primary key."""
    by_name = {table.name.casefold(): table for table in tables}
    found: dict[str, Relationship] = {}
    for key in keys:
        source, target = by_name.get(key["from_table"].casefold()), by_name.get(key["to_table"].casefold())
        if source is None or target is None:
            continue
        own = _real_names(source, key["from_columns"])
        other = _real_names(target, key["to_columns"] or target.primary_key)
        if own and len(own) == len(other):
            relationship = _declared(source.name, own, target.name, other)
            found[relationship.name] = relationship
    return tuple(found.values())


def _real_names(table: Table, names: Sequence[str]) -> tuple[str, ...]:
    """The columns as the source writes them; empty if one does not exist. Keys may name them in another case."""
    by_name = {column.name.casefold(): column.name for column in table.columns}
    real = [by_name[name.casefold()] for name in names if name.casefold() in by_name]
    return tuple(real) if len(real) == len(names) else ()


def _declared(from_table: str, own: tuple[str, ...], to_table: str, other: tuple[str, ...]) -> Relationship:
    from answerable.sources.sql.relationships import relationship_name

    return Relationship(
        name=relationship_name(from_table, own, to_table, other),
        from_table=from_table,
        from_columns=own,
        to_table=to_table,
        to_columns=other,
        origin="declared",
    )


@asynccontextmanager
async def _reporting_size(output: int, progress: Progress) -> AsyncIterator[None]:
    """Reports how much a worker has written. The size of the file tells, so the worker is not asked."""
    if progress is no_progress:
        yield
        return

    async def report() -> None:
        while True:
            await asyncio.sleep(_REPORT_SECONDS)
            if written := os.fstat(output).st_size:
                progress(f"{written / 1_000_000:,.1f} MB of rows written", written, None)

    reporting = asyncio.create_task(report())
    try:
        yield
    finally:
        reporting.cancel()


class _Executed(Frozen):
    """What a worker says about the file that it wrote."""

    columns: tuple[tuple[str, ColumnType], ...]
    rows: int = Field(ge=0)
    bytes: int
    milliseconds: float
    plain_rows: list[list[Any]] | None


def _executed(reply: object, written: int) -> _Executed:
    """Checks the reply against the size of the file, because a worker that was taken over can send anything."""
    try:
        executed = _Executed.model_validate(reply)
    except ValidationError as error:
        raise InternalError("A worker described its result in an unknown way.", code="worker_failed") from error
    if executed.bytes != written:
        raise InternalError("A worker wrote another result than it described.", code="worker_failed")
    return executed


def _check_file(file: Path, executed: "_Executed") -> None:
    try:
        check_result_file(file, executed.columns, executed.rows)
    except ValueError as error:
        raise InternalError(f"A worker wrote rows that cannot be read: {error}.", code="worker_failed") from error


def _plain_rows(rows: Any, count: int, width: int) -> tuple[tuple[Scalar, ...], ...] | None:
    """The rows that a worker sent beside the file, or None if it sent none. They are looked at, because a worker that
    was taken over can send anything."""
    if rows is None:
        return None
    if len(rows) != count or not all(len(row) == width and _SCALARS.issuperset(map(type, row)) for row in rows):
        raise InternalError("A worker sent rows that are none.", code="worker_failed")
    return tuple(map(tuple, rows))


def _removed(path: Path) -> None:
    with suppress(OSError):
        path.unlink()


def _created(path: Path) -> int:
    try:
        return os.open(path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_CLOEXEC, 0o600)
    except OSError as error:
        raise no_descriptors(error) or OperatorError(
            f"The result cannot be written to {path}: {error.strerror}.",
            code="result_unwritable",
            hint="Check that the folder exists, may be written to, and has room.",
        ) from error

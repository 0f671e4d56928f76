"""A source whose statements run in worker processes. What differs from kind to kind is the place the data is in."""

import asyncio
import hashlib
import os
import secrets
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path
from typing import Any, Protocol

from answerable.core.catalog import Catalog, Column, Relationship, Table, ValueLookup, Warning
from answerable.core.errors import OperatorError
from answerable.core.values import Dialect, Frozen, OutputColumn
from answerable.sources.base import Limits, Result
from answerable.sources.pool import WorkerPool
from answerable.sources.profile import profile
from answerable.sources.relationships import relate, relationship_name
from answerable.sources.value_index import ValueIndex

_FORMAT = "1"
"""Of cached catalogs: raised whenever describing the same data gives another catalog."""


@dataclass(frozen=True, slots=True)
class Options:
    """What a source may use besides the limits of a single query."""

    workers: int = 2
    threads: int = 2
    memory_mb: int = 2048
    probe_seconds: float = 30.0
    probe_rows: int = 1_000_000
    max_files: int = 10_000
    max_mb: int = 20_000
    """Of files that are not Parquet, together; and of one such file when unpacked."""


@dataclass(frozen=True, slots=True)
class Snapshot:
    """The data as it is now: how a worker opens it, and by what it is known to have changed."""

    spec: Mapping[str, Any]
    fingerprint: str
    last_sync: datetime | None = None
    warnings: tuple[Warning, ...] = ()
    table_fingerprints: Mapping[str, str] = field(default_factory=dict)
    """Where tables can be told apart."""


class Place(Protocol):
    kind: str
    dialect: Dialect
    semantic_files: Sequence[Path]
    """Where a `semantic.yaml` is looked for, the first that exists counts."""

    async def look(self) -> Snapshot:
        """Quick when nothing has changed since the last look."""
        ...

    async def close(self) -> None: ...


class ServedSource:
    def __init__(self, name: str, place: Place, cache: Path, options: Options) -> None:
        self.name = name
        self.kind = place.kind
        self.dialect: Dialect = place.dialect
        self._place = place
        self._cache = cache
        self._options = options
        self._lock = asyncio.Lock()
        self._pool: WorkerPool | None = None
        self._snapshot: Snapshot | None = None
        self._description: _Description | None = None
        self._values: tuple[Catalog, ValueIndex] | None = None

    @property
    def isolation(self) -> Mapping[str, str]:
        """Which walls stand around the workers, by what they guard; empty until the first one has started."""
        return self._pool.isolation if self._pool is not None else {}

    async def describe(self) -> Catalog:
        async with self._lock:
            snapshot = await self._look()
            known = self._description
            if known is None or known.catalog.fingerprint != snapshot.fingerprint:
                self._description = known = await self._described(snapshot)
            return known.catalog

    async def values(self) -> ValueLookup:
        catalog = await self.describe()
        async with self._lock:
            if self._values is None or self._values[0] is not catalog:
                if self._values is not None:
                    self._values[1].close()
                self._values = (catalog, await ValueIndex.open(self._cache, catalog, self))
            return self._values[1]

    async def check(self, sql: str) -> None:
        await self._ask("check", sql, self._probing())

    async def execute(self, sql: str, into: Path, limits: Limits) -> Result:
        output = _created(into)
        try:
            done = await self._ask("execute", sql, limits, output)
        except BaseException:
            _removed(into)
            raise
        finally:
            os.close(output)
        columns = tuple(OutputColumn(name=name, type=kind) for name, kind in done["columns"])
        return Result(columns, done["rows"], done["bytes"], done["milliseconds"])

    async def rows(self, sql: str) -> list[tuple[Any, ...]]:
        """Makes the source the probe of its own description."""
        return [tuple(row) for row in await self._ask("rows", sql, self._probing())]

    async def close(self) -> None:
        await self._place.close()
        if self._values is not None:
            self._values[1].close()
        if self._pool is not None:
            await self._pool.close()

    async def _ask(self, do: str, sql: str, limits: Limits, output: int | None = None) -> Any:
        request = {
            "sql": sql,
            "seconds": limits.seconds,
            "memory_mb": limits.memory_mb,
            "rows": limits.rows,
            "bytes": limits.result_mb * 1_000_000,
        }
        pool = await self._ready()
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
        snapshot = await self._place.look()
        if self._snapshot is None or snapshot.spec != self._snapshot.spec:
            if self._pool is not None:
                await self._pool.close()
            self._pool = WorkerPool(snapshot.spec, self._options.workers)
            self._pool.warm()
        self._snapshot = snapshot
        return snapshot

    async def _described(self, snapshot: Snapshot) -> "_Description":
        digest = hashlib.sha256("\0".join((_FORMAT, self.kind, self.name, snapshot.fingerprint)).encode()).hexdigest()
        kept = self._cache / "catalogs" / f"{digest[:32]}.json"
        with suppress(OSError, ValueError):  # one that is missing, damaged or of an older form is made again
            return _Description.model_validate_json(kept.read_bytes())
        description = await self._read(snapshot)
        write_whole(kept, description.model_dump_json().encode())
        return description

    async def _read(self, snapshot: Snapshot) -> "_Description":
        inspected = await self._inspected()
        notices: list[Warning] = []
        tables = tuple(_table(table, snapshot.table_fingerprints) for table in inspected["tables"])
        tables = await profile(self, self.dialect, tables, notices=notices)
        declared = _relationships(inspected["relationships"], tables)
        relationships = await relate(self, self.dialect, tables, declared)
        catalog = Catalog(
            source=self.name,
            dialect=self.dialect,
            tables=tables,
            relationships=relationships,
            fingerprint=snapshot.fingerprint,
            last_sync=snapshot.last_sync,
            warnings=(*snapshot.warnings, *notices),
        )
        return _Description(catalog=catalog, addresses=_addresses(inspected["tables"]))

    async def _inspected(self) -> Mapping[str, Any]:
        found: Mapping[str, Any] = await self._ask("inspect", "", self._probing())
        return found

    def _probing(self) -> Limits:
        options = self._options
        return Limits(seconds=options.probe_seconds, memory_mb=options.memory_mb, rows=options.probe_rows)


class _Description(Frozen):
    """What is kept of a description while the data stays as it is."""

    catalog: Catalog
    addresses: Mapping[str, tuple[str, str]]
    """Schema and table of those names that need both."""


def _addresses(tables: Sequence[Mapping[str, Any]]) -> dict[str, tuple[str, str]]:
    return {table["name"]: tuple(table["address"]) for table in tables if [table["name"]] != table["address"][-1:]}


def _table(found: Mapping[str, Any], fingerprints: Mapping[str, str]) -> Table:
    columns = tuple(Column(**column) for column in found["columns"])
    name, key = found["name"], tuple(found["primary_key"])
    return Table(name=name, columns=columns, primary_key=key, fingerprint=fingerprints.get(name, ""))


def _relationships(found: Sequence[Mapping[str, Any]], tables: Sequence[Table]) -> tuple[Relationship, ...]:
    """Those that lead to a table and columns that exist; a key that names no columns means the primary key."""
    by_name = {table.name.casefold(): table for table in tables}
    relationships = []
    for key in found:
        target = by_name.get(key["to_table"].casefold())
        if target is None:
            continue
        ends = (key["from_table"], key["from_columns"], target.name, key["to_columns"] or target.primary_key)
        if len(ends[1]) == len(ends[3]):
            relationships.append(_declared(*ends))
    return tuple(relationships)


def _declared(from_table: str, from_columns: Sequence[str], to_table: str, to_columns: Sequence[str]) -> Relationship:
    return Relationship(
        name=relationship_name(from_table, from_columns, to_table, to_columns),
        from_table=from_table,
        from_columns=tuple(from_columns),
        to_table=to_table,
        to_columns=tuple(to_columns),
        origin="declared",
    )


def write_whole(path: Path, content: bytes) -> None:
    """All of it or nothing: a reader never sees half a file."""
    path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
    partial = path.with_name(f".{path.name}.{secrets.token_hex(8)}")
    try:
        partial.write_bytes(content)
        partial.replace(path)
    finally:
        partial.unlink(missing_ok=True)


def _removed(path: Path) -> None:
    with suppress(OSError):
        path.unlink()


def _created(path: Path) -> int:
    try:
        return os.open(path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_CLOEXEC, 0o600)
    except OSError as error:
        raise OperatorError(
            f"The result cannot be written to {path}: {error.strerror}.",
            code="result_unwritable",
            hint="Check that the folder exists, may be written to, and has room.",
        ) from error

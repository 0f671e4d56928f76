"""What is known of an API's data between two questions: its endpoints, and the first rows of its entities.

The rows are a copy that describes the tables: their columns, values and relationships. Questions are answered from rows
that are fetched for them (`source.py`).
"""

import asyncio
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from datetime import UTC, datetime, timedelta
from functools import cached_property
from pathlib import Path

from answerable.apis.broker import Broker
from answerable.apis.call import RequestRecord
from answerable.apis.openapi.document import read_document
from answerable.apis.openapi.endpoints import ApiEndpoint, EndpointCatalog, endpoint_catalog
from answerable.apis.openapi.entities import singular
from answerable.apis.session import ApiSession
from answerable.core.catalog import Warning
from answerable.core.errors import AnswerableError, NotFoundError, UserError
from answerable.core.file_errors import cannot_read
from answerable.core.progress import Progress
from answerable.core.values import Frozen, Json, Language, Scalar
from answerable.sources.api.fetching import FetchedRows, columns_for, fetched, with_key
from answerable.sources.api.location import ApiLocation
from answerable.sources.fingerprints import beside, digest, identity
from answerable.sources.sql.backend import Snapshot, SourceOptions
from answerable.sources.sql.duckdb import DuckDbBackend
from answerable.store.whole_files import cache_file

_FORMAT = "1"
"""Version of the copy: raised whenever the same document and rows give another one."""
_FRESH = timedelta(minutes=5)
_DESCRIBING_CALLS = 100
_MOST_PAGES = 5
_MOST_CHILDREN = 20
_SESSION_SECONDS = 120.0


class ApiTable(Frozen):
    """An entity as a table: the endpoint that lists it, and the one that gets a row by its id."""

    endpoint: ApiEndpoint
    by_id: ApiEndpoint | None = None

    @property
    def name(self) -> str:
        return self.endpoint.entity

    @property
    def key(self) -> str | None:
        """The column with the id of the parent, for rows that are asked for by it."""
        parent = self.endpoint.parent
        if parent is None:
            return None
        return f"{singular(parent.entity)}_{parent.column}"


class _Copy(Frozen):
    """One table of the copy."""

    name: str
    file: str
    complete: bool
    fingerprint: str


class _Copies(Frozen):
    fetched_at: datetime
    tables: tuple[_Copy, ...]
    warnings: tuple[Warning, ...]


class ApiBackend:
    kind = "api"
    dialect: Language = DuckDbBackend.dialect
    is_local = False
    functions: Sequence[str] = ()

    def __init__(self, location: ApiLocation, cache: Path, options: SourceOptions) -> None:
        self.location = location
        self.cache = cache
        self.options = options
        self._document = Path(location.document)
        self._broker: Broker | None = None
        self.partly: frozenset[str] = frozenset()
        """The tables of which the copy has the first rows only. Questions fetch what they need."""
        self.semantic_files: Sequence[Path] = beside(self._document)
        if not self._document.is_file():
            raise NotFoundError(f"There is no OpenAPI document at {self._document}.", code="source_missing")

    @cached_property
    def endpoints(self) -> EndpointCatalog:
        """Read once and cached by the document's identity: a large document takes seconds."""
        file = self.cache / "endpoints" / f"{digest(_FORMAT, identity(self._document))[7:39]}.json"
        with suppress(OSError, ValueError):
            return EndpointCatalog.model_validate_json(file.read_bytes())
        try:
            content = self._document.read_bytes()
        except OSError as error:
            raise cannot_read(self._document, error) from error
        catalog = endpoint_catalog(read_document(content, self._document.name), self._document.name)
        with cache_file(file) as partial:
            partial.write_bytes(catalog.model_dump_json().encode())
        return catalog

    @cached_property
    def tables(self) -> Mapping[str, ApiTable]:
        """The entities that can be listed: by themselves, or for each id of another entity."""
        catalog = self.endpoints
        found: dict[str, ApiTable] = {}
        for endpoint in catalog.endpoints:
            needs = set(endpoint.needs) - ({endpoint.parent.parameter} if endpoint.parent else set())
            is_row_by_id = endpoint.operation == "get" and "{" in endpoint.path
            if needs or is_row_by_id or endpoint.entity in found:
                continue
            by_id = next((e for e in catalog.find(endpoint.entity, "get") if len(e.needs) == 1), None)
            found[endpoint.entity] = ApiTable(endpoint=endpoint, by_id=by_id)
        found = {name: t for name, t in found.items() if t.endpoint.parent is None or t.endpoint.parent.entity in found}
        return self._chosen(found)

    def _chosen(self, tables: Mapping[str, ApiTable]) -> Mapping[str, ApiTable]:
        wanted = self.location.entities
        unknown = [name for name in wanted if name not in tables]
        if unknown or not tables:
            there = ", ".join(list(tables)[:30]) or "none"
            what = f"no entity {unknown[0]!r} that can be listed" if unknown else "no entity that can be listed"
            raise UserError(f"The API has {what}.", code="api_entity_unknown", hint=f"There are: {there}.")
        if not wanted:
            return tables
        parents = {parent.entity for name in wanted if (parent := tables[name].endpoint.parent)}
        return {name: table for name, table in tables.items() if name in wanted or name in parents}

    def session(
        self, record: Callable[[RequestRecord], None] = lambda _record: None, seconds: float = _SESSION_SECONDS
    ) -> ApiSession:
        if self._broker is None:
            self._broker = Broker({"api": self.location.target(self.endpoints)})
        return self._broker.session("api", record, seconds=seconds)

    async def close(self) -> None:
        if self._broker is not None:
            await self._broker.close()

    async def look(self, progress: Progress) -> Snapshot:
        tables = await asyncio.to_thread(lambda: self.tables)
        key = digest(_FORMAT, identity(self._document), self.location.text)[7:39]
        file = self.cache / "copies" / f"{key}.json"
        copies = _stored(file)
        if copies is None or datetime.now(UTC) - copies.fetched_at > _FRESH:
            copies = await self._fetched_copies(tables, progress)
            with cache_file(file) as partial:
                partial.write_bytes(copies.model_dump_json().encode())
        return self._snapshot(copies)

    def _snapshot(self, copies: _Copies) -> Snapshot:
        views = {copy.name: Path(copy.file) for copy in copies.tables}
        fingerprints = {copy.name: digest(copy.fingerprint, str(copy.complete)) for copy in copies.tables}
        whole = digest(*(part for pair in sorted(fingerprints.items()) for part in pair))
        self.partly = frozenset(copy.name for copy in copies.tables if not copy.complete)
        warnings = (*self.endpoints.warnings[:20], *copies.warnings)
        return Snapshot(self.spec(views, whole), whole, copies.fetched_at, warnings, fingerprints)

    def spec(self, views: Mapping[str, Path], generation: str) -> Mapping[str, Json]:
        """How a worker opens files of rows as tables."""
        return {
            "engine": DuckDbBackend.kind,
            "views": [{"name": name, "files": [str(file)]} for name, file in views.items()],
            "files": [str(file) for file in views.values()],
            "threads": self.options.threads,
            "memory_mb": self.options.memory_mb,
            "generation": generation,
        }

    async def _fetched_copies(self, tables: Mapping[str, ApiTable], progress: Progress) -> _Copies:
        session = self.session()
        roots = [table for table in tables.values() if table.endpoint.parent is None][:_DESCRIBING_CALLS]
        children = [table for table in tables.values() if table.endpoint.parent is not None][:_MOST_CHILDREN]
        most_pages = max(1, min(_MOST_PAGES, _DESCRIBING_CALLS // max(1, len(roots))))
        warnings: list[Warning] = []
        failures: list[AnswerableError] = []

        async def first_rows(table: ApiTable, ids: Mapping[str, Scalar]) -> FetchedRows | None:
            """None for an entity that cannot be read: it is left out, with a warning."""
            try:
                return await fetched(session, table.endpoint, ids=ids, most_pages=most_pages, progress=progress)
            except AnswerableError as error:
                failures.append(error)
                warnings.append(Warning(subject=table.name, message=f"is left out: {error.message}"))
                return None

        read = await asyncio.gather(*(first_rows(table, {}) for table in roots))
        found = [(table, rows) for table, rows in zip(roots, read, strict=True) if rows is not None]
        rows_by_name = {table.name: rows.rows for table, rows in found}
        ids = [(table, value) for table in children if (value := _first_id(table, rows_by_name)) is not None]
        read = await asyncio.gather(*(first_rows(table, _ids(table, value)) for table, value in ids))
        for (table, value), rows in zip(ids, read, strict=True):
            if rows is not None and table.key is not None:
                found.append((table, FetchedRows(with_key(rows.rows, table.key, value), rows.pages, complete=False)))
        if not found and failures:
            raise failures[0]
        # Entities that were not tried are tables by what the document says of them.
        tried = {table.name for table, _rows in found} | {warning.subject for warning in warnings}
        found += [(table, FetchedRows(complete=False)) for name, table in tables.items() if name not in tried]
        copies = [self._copy(table, rows, warnings) for table, rows in found]
        known = [copy for copy in copies if copy is not None]
        if not known:
            raise UserError("Neither the document nor the API tells what its rows hold.", code="api_entity_unknown")
        return _Copies(fetched_at=datetime.now(UTC), tables=tuple(known), warnings=tuple(warnings))

    def _copy(self, table: ApiTable, rows: FetchedRows, warnings: list[Warning]) -> _Copy | None:
        file, fingerprint = self.stored(table, rows)
        if file is None:
            warnings.append(
                Warning(subject=table.name, message="is left out: neither the document nor a row tells its columns")
            )
            return None
        return _Copy(name=table.name, file=str(file), complete=rows.complete, fingerprint=fingerprint)

    def stored(self, table: ApiTable, fetched_rows: FetchedRows) -> tuple[Path | None, str]:
        """The rows as a file that is named by its content, and their fingerprint. None if no column is known."""
        import orjson

        from answerable.sources.api.rows_file import write_rows  # brings polars

        columns = columns_for(table.endpoint, fetched_rows.rows, table.key)
        content = orjson.dumps([[column.name, column.type] for column in columns]) + orjson.dumps(fetched_rows.rows)
        fingerprint = digest(_FORMAT, content.decode())
        file = self.cache / "rows" / f"{table.name}-{fingerprint[7:39]}.parquet"
        if not columns:
            return None, fingerprint
        if not file.is_file():
            with cache_file(file) as partial:
                write_rows(fetched_rows.rows, columns, partial)
        return file, fingerprint


def _stored(file: Path) -> _Copies | None:
    try:
        copies = _Copies.model_validate_json(file.read_bytes())
    except (OSError, ValueError):
        return None
    return copies if all(Path(copy.file).is_file() for copy in copies.tables) else None


def _ids(table: ApiTable, value: Scalar) -> Mapping[str, Scalar]:
    assert table.endpoint.parent is not None
    return {table.endpoint.parent.parameter: value}


def _first_id(table: ApiTable, rows: Mapping[str, list[Json]]) -> Scalar:
    """An id of the parent to ask with; None if the parent has no rows."""
    parent = table.endpoint.parent
    assert parent is not None
    found = rows.get(parent.entity) or []
    values = [row.get(parent.column) for row in found if isinstance(row, dict)]
    return next((value for value in values if isinstance(value, str | int)), None)

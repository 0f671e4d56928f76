"""An API that is asked in SQL: the rows that a statement needs are fetched, and the statement runs over them."""

import asyncio
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import TYPE_CHECKING, Any

from answerable.apis.call import RequestRecord
from answerable.apis.openapi.endpoints import ApiEndpoint, EndpointCatalog, id_column
from answerable.apis.openapi.entities import singular
from answerable.apis.session import ApiSession
from answerable.core.catalog import Catalog, Column, Table
from answerable.core.errors import NotFoundError, RefusedError, SourceError
from answerable.core.progress import Progress, no_progress
from answerable.core.values import Json, Scalar
from answerable.query.checked import CheckedQuery
from answerable.sources.api.backend import ApiBackend, ApiTable
from answerable.sources.api.fetching import FetchedRows, fetched, for_each, with_key
from answerable.sources.api.narrowing import NeededRows, needed_rows
from answerable.sources.api.program_calls import ProgramCalls
from answerable.sources.base import Limits, LiveCalls, QueryResult, require_language
from answerable.sources.fingerprints import digest
from answerable.sources.pool import WorkerPool
from answerable.sources.sql.source import SqlSource

if TYPE_CHECKING:
    from answerable.access.view import SourceAccess

_FIRST_YEAR, _LAST_YEAR = 1970, 9000
"""Times outside of these stand for no bound at all."""


class ApiSource(SqlSource):
    def __init__(self, name: str, backend: ApiBackend, cache: Path, access: "SourceAccess | None" = None) -> None:
        super().__init__(name, backend, cache, backend.options, access)
        self._api = backend

    async def execute(
        self, query: CheckedQuery, into: Path, limits: Limits, progress: Progress = no_progress
    ) -> QueryResult:
        require_language(self, query)
        await self._know_tables()
        statement = self._statement(query)
        needed = needed_rows(statement, self.dialect, list(self._api.tables))
        fetching = _Fetching(self._api, self._api.session(), needed, progress)
        found = await fetching.all()
        views: dict[str, Path] = {}
        fingerprints: list[str] = []
        for name, rows in found.items():
            file, fingerprint = await asyncio.to_thread(self._api.stored, self._api.tables[name], rows)
            if file is None:
                raise SourceError(f"No row of {name} tells which columns it has.", code="api_columns_unknown")
            views[name] = file
            fingerprints += [name, fingerprint]
        counted = self.may_be_called
        live = LiveCalls(
            at=datetime.now(UTC),
            calls=fetching.session.requests if counted else None,
            pages=sum(rows.pages for rows in found.values()) if counted else None,
            fingerprint=digest(*fingerprints),
            notes=(*_notes(found, counted), *_open_periods(self._api.tables, needed)),
        )
        pool = WorkerPool(self._api.spec(views, live.fingerprint), 1, self._options.places)
        try:
            return replace(await self._written(statement, into, limits, progress, pool), live=live)
        finally:
            await pool.close()

    @property
    def may_be_called(self) -> bool:
        return self._access is None or self._access.view.is_whole

    async def endpoints(self) -> EndpointCatalog:
        return await asyncio.to_thread(lambda: self._api.endpoints)

    async def program_calls(self, record: Callable[[RequestRecord], None], seconds: float) -> ProgramCalls:
        """Raises `RefusedError` for a person to whom rules apply: they shape statements, and a call is none."""
        catalog = await self.describe()
        if not self.may_be_called:
            raise RefusedError(
                f"Access rules apply to {self.name}, so programs may not call it.",
                code="api_rules_apply",
                hint="Ask it in SQL or in plain words: the rules shape what a query returns.",
            )
        session = self._api.session(record, seconds)
        return ProgramCalls(session, await self.endpoints(), catalog)

    async def close(self) -> None:
        await super().close()
        await self._api.close()

    async def _profiled(self, bare: Catalog, keys: Sequence[Mapping[str, Any]]) -> Catalog:
        catalog = await super()._profiled(bare, [*keys, *_keys(self._api.tables)])
        api = self._api
        tables = tuple(_documented(table, api.tables[table.name], table.name in api.partly) for table in catalog.tables)
        return catalog.model_copy(update={"tables": tables})


class _Fetching:
    """The calls of one statement."""

    def __init__(
        self, api: ApiBackend, session: ApiSession, needed: Mapping[str, NeededRows], progress: Progress
    ) -> None:
        self.session = session
        self._api = api
        self._needed = needed
        self._progress = progress
        self._found: dict[str, FetchedRows] = {}

    async def all(self) -> Mapping[str, FetchedRows]:
        # Parents first: their ids are asked with.
        names = sorted(self._needed, key=lambda name: self._api.tables[name].endpoint.parent is not None)
        for name in names:
            self._found[name] = await self._rows(self._api.tables[name], self._needed[name])
        return {name: self._found[name] for name in self._needed}

    async def _rows(self, table: ApiTable, needed: NeededRows) -> FetchedRows:
        parent = table.endpoint.parent
        if parent is not None:
            return await self._of_parents(table, await self._parent_ids(table, needed))
        ids = _ids_demanded(table, needed)
        if ids is not None and table.by_id is not None:
            endpoint, parameter = table.by_id, table.by_id.needs[0]
            return _together(await for_each(ids, lambda value: fetched(self.session, endpoint, ids={parameter: value})))
        filters = {
            column: values[0]
            for column, values in needed.demands.items()
            if len(values) == 1 and _is_filter(table.endpoint, column, values[0])
        }
        filters |= _time_filters(table.endpoint, needed)
        return await fetched(self.session, table.endpoint, filters=filters, progress=self._progress)

    async def _parent_ids(self, table: ApiTable, needed: NeededRows) -> list[Scalar]:
        """The ids for which the rows of a table are asked: those that the statement demands, else all."""
        parent, key = table.endpoint.parent, table.key
        assert parent is not None
        assert key is not None
        if key in needed.demands:
            return list(needed.demands[key])
        joined = needed.joined_to.get(key)
        demanded = self._needed.get(parent.entity)
        if parent.entity not in self._found:
            owner = self._api.tables[parent.entity]
            self._found[parent.entity] = await self._rows(owner, NeededRows(owner.name))
        rows = self._found[parent.entity].rows
        if demanded is not None and joined == (parent.entity, parent.column):
            rows = [row for row in rows if _meets(row, demanded)]
        values = [row.get(parent.column) for row in rows if isinstance(row, dict)]
        return list(dict.fromkeys(value for value in values if isinstance(value, str | int)))

    async def _of_parents(self, table: ApiTable, ids: Sequence[Scalar]) -> FetchedRows:
        parent, key = table.endpoint.parent, table.key
        assert parent is not None
        assert key is not None
        parameter = parent.parameter

        missing: list[NotFoundError] = []

        async def of_one(value: Scalar) -> FetchedRows:
            try:
                found = await fetched(self.session, table.endpoint, ids={parameter: value})
            except NotFoundError as error:
                missing.append(error)
                return FetchedRows(pages=1, gone=1)
            return replace(found, rows=with_key(found.rows, key, value))

        whole = _together(await for_each(ids, of_one))
        # One may be deleted between two calls. If all are gone, the path is wrong.
        if missing and whole.gone == len(ids):
            raise missing[0]
        return whole


def _together(parts: Sequence[FetchedRows]) -> FetchedRows:
    whole = FetchedRows()
    for part in parts:
        whole.add(part)
    return whole


def _ids_demanded(table: ApiTable, needed: NeededRows) -> Sequence[Scalar] | None:
    """The ids that are demanded, if rows can be had by their id and few are needed."""
    by_id = table.by_id
    if by_id is None or len(by_id.needs) != 1:
        return None
    column = id_column(by_id.needs[0], table.name, table.endpoint.columns or by_id.columns)
    values = needed.demands.get(column) if column is not None else None
    return values if values is not None and len(values) <= 20 else None


def _is_filter(endpoint: ApiEndpoint, column: str, value: Scalar) -> bool:
    """Whether the API itself can leave out rows whose column holds something else."""
    parameter = endpoint.query_parameter(column)
    leads_to_page = getattr(endpoint.pages.pages, "parameter", None)
    if parameter is None or parameter.name in (endpoint.pages.size_parameter, leads_to_page):
        return False
    return not parameter.values or str(value) in parameter.values


def _time_filters(endpoint: ApiEndpoint, needed: NeededRows) -> dict[str, Scalar]:
    """`since` and `until` of an endpoint that has both, if its rows have one time only. They may let in more than the
    statement needs, and never less."""
    times = [column.name for column in endpoint.columns if column.type == "datetime"]
    if len(times) != 1 or any(endpoint.query_parameter(name) is None for name in ("since", "until")):
        return {}
    bounds = zip(("since", "until"), needed.bounds.get(times[0], (None, None)), strict=True)
    return {name: moment for name, text in bounds if text is not None and (moment := _moment(text, name)) is not None}


def _moment(text: str, bound: str) -> str | None:
    """A time as APIs write it, to the second; a later bound is rounded up. None if it is none, or not of this age."""
    try:
        found = datetime.fromisoformat(text)
    except ValueError:
        return None
    found = found.replace(tzinfo=UTC) if found.tzinfo is None else found.astimezone(UTC)
    if not _FIRST_YEAR <= found.year <= _LAST_YEAR:
        return None
    return (found + timedelta(seconds=bound == "until")).strftime("%Y-%m-%dT%H:%M:%S.000Z")


def _meets(row: Json, needed: NeededRows) -> bool:
    """Whether a row may be one that the statement demands. Nested columns are not judged."""
    if not isinstance(row, dict):
        return True
    return all(column not in row or str(row[column]) in map(str, values) for column, values in needed.demands.items())


def _notes(found: Mapping[str, FetchedRows], counted: bool) -> list[str]:
    """`counted`: whether numbers may be told. They are of all rows, hidden ones too."""
    full = [
        f"{name}: the API may have more rows. Its last page was full, and it named no next one."
        for name, rows in found.items()
        if rows.may_lack_rows
    ]
    gone = [
        f"{name}: {f'{rows.gone:,}' if counted else 'some'} of those whose rows were asked for are no longer there."
        for name, rows in found.items()
        if rows.gone
    ]
    return full + gone


def _open_periods(tables: Mapping[str, ApiTable], needed: Mapping[str, NeededRows]) -> list[str]:
    """What is said of a list that begins where the API wants it to, such as a log: no earliest time was asked for."""
    return [
        f"{name}: no earliest time was asked for, so the API decides how far back its rows go."
        for name, rows in needed.items()
        if (endpoint := tables[name].endpoint).query_parameter("since") is not None
        and "since" not in _time_filters(endpoint, rows)
        and _ids_demanded(tables[name], rows) is None
    ]


def _keys(tables: Mapping[str, ApiTable]) -> list[Mapping[str, Any]]:
    """How entities belong together: by the ids in their paths, and by columns that are called after another entity."""
    found = []
    for name, table in tables.items():
        parent = table.endpoint.parent
        if parent is not None and table.key is not None:
            found.append(_key(name, table.key, parent.entity, parent.column))
        names = {column.name.casefold(): column.name for column in table.endpoint.columns}
        for other, owner in tables.items():
            for own_id in ("id", "gid", "uuid", "key"):
                wanted = (f"{singular(other)}_{own_id}", f"{singular(other)}{own_id}")
                column = next((names[each] for each in wanted if each in names), None)
                has_id = any(column.name.casefold() == own_id for column in owner.endpoint.columns)
                if column is not None and has_id and owner.endpoint.parent is None and other != name:
                    found.append(_key(name, column, other, own_id))
    return found


def _key(from_table: str, from_column: str, to_table: str, to_column: str) -> Mapping[str, Any]:
    return {
        "from_table": from_table,
        "from_columns": [from_column],
        "to_table": to_table,
        "to_columns": [to_column],
    }


def _documented(table: Table, api: ApiTable, partly: bool) -> Table:
    """The table with what the document says about it. Of a table that was read in part, the figures are not known."""
    said = {column.name: column.description for column in api.endpoint.columns}
    columns: list[Column] = []
    for column in table.columns:
        known = {"distinct_count": None, "null_count": None, "minimum": None, "maximum": None} if partly else {}
        columns.append(column.model_copy(update={**known, "description": said.get(column.name)}))
    changes = {"columns": tuple(columns), "description": table.description or api.endpoint.summary}
    return table.model_copy(update={**changes, **({"row_count": None} if partly else {})})

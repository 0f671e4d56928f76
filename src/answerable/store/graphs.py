"""Graphs that users drew: one row for each graph, and one for each of its versions."""

from collections.abc import Sequence

import orjson

from answerable.core.clock import Clock
from answerable.core.context import Principal
from answerable.core.errors import NotFoundError, UserError
from answerable.core.ids import TenantId, UserId
from answerable.store.database import (
    NothingChangedError,
    Row,
    RowExistsError,
    SqlDatabase,
    Statement,
    at_most,
    time_of,
    time_text,
)
from answerable.store.protocols.graphs import GraphRecord, GraphVersion

_GRAPH = "SELECT name, tenant_id, owner_id, tags, version, created_at, updated_at FROM graphs"
_VERSION = "SELECT name, version, tenant_id, user_id, made_at, note, body FROM graph_versions"
_INSERT_GRAPH = (
    "INSERT INTO graphs (tenant_id, name, owner_id, tags, version, created_at, updated_at) VALUES (?, ?, ?, ?, ?, ?, ?)"
)
_UPDATE_GRAPH = (
    "UPDATE graphs SET version = ?, tags = ?, updated_at = ? WHERE tenant_id = ? AND name = ? AND version = ?"
)
_INSERT_VERSION = (
    "INSERT INTO graph_versions (tenant_id, name, version, user_id, made_at, note, body) VALUES (?, ?, ?, ?, ?, ?, ?)"
)


class SqlGraphs:
    def __init__(self, database: SqlDatabase, clock: Clock) -> None:
        self._database = database
        self._clock = clock

    async def save(
        self,
        principal: Principal,
        name: str,
        text: str,
        *,
        note: str,
        tags: Sequence[str] | None = None,
        expected: int | None = None,
    ) -> GraphVersion:
        known = await self._find(principal, name)
        number = known.version if known is not None else 0
        if expected is not None and expected != number:
            raise _changed(name, number)
        new_tags = tuple(tags) if tags is not None else known.tags if known is not None else ()
        now = self._clock.now()
        moment, labels = time_text(now), orjson.dumps(list(new_tags)).decode()
        new = number + 1
        graph: Statement
        if known is not None:
            current = await self.version(principal, name, number)
            if current.text == text:
                if new_tags != known.tags:
                    row = (number, labels, moment, principal.tenant, name, number)
                    await self._database.write((_UPDATE_GRAPH, row))
                return current
            graph = (_UPDATE_GRAPH, (new, labels, moment, principal.tenant, name, number))
        else:
            graph = (_INSERT_GRAPH, (principal.tenant, name, principal.user, labels, new, moment, moment))
        version = (_INSERT_VERSION, (principal.tenant, name, new, principal.user, moment, note, text))
        try:
            await self._database.write(graph, version, required=(0,))
        except (RowExistsError, NothingChangedError) as error:  # somebody else was quicker
            raise _changed(name, number) from error
        return GraphVersion(name, new, Principal(principal.tenant, principal.user), now, note, text)

    async def get(self, principal: Principal, name: str) -> GraphRecord:
        found = await self._find(principal, name)
        if found is None:
            raise NotFoundError(
                f"There is no graph {name!r}.", code="graph_not_found", hint="See `answerable graph list`."
            )
        return found

    async def list(self, principal: Principal, *, tag: str | None = None) -> Sequence[GraphRecord]:
        rows = await self._database.rows(f"{_GRAPH} WHERE tenant_id = ? ORDER BY name", principal.tenant)
        return [found for found in map(_record, rows) if tag is None or tag in found.tags]

    async def version(self, principal: Principal, name: str, version: int | None = None) -> GraphVersion:
        number = version if version is not None else (await self.get(principal, name)).version
        where = "WHERE tenant_id = ? AND name = ? AND version = ?"
        rows = await self._database.rows(f"{_VERSION} {where}", principal.tenant, name, number)
        if not rows:
            newest = (await self.get(principal, name)).version
            raise NotFoundError(
                f"The graph {name!r} has no version {number}; the newest is {newest}.", code="graph_version_not_found"
            )
        return _version(rows[0])

    async def versions(self, principal: Principal, name: str, *, limit: int = 100) -> Sequence[GraphVersion]:
        await self.get(principal, name)
        where = "WHERE tenant_id = ? AND name = ? ORDER BY version DESC LIMIT ?"
        rows = await self._database.rows(f"{_VERSION} {where}", principal.tenant, name, at_most(limit))
        return [_version(row) for row in rows]

    async def delete(self, principal: Principal, name: str) -> None:
        await self.get(principal, name)
        await self._database.write(
            ("DELETE FROM graph_versions WHERE tenant_id = ? AND name = ?", (principal.tenant, name)),
            ("DELETE FROM graphs WHERE tenant_id = ? AND name = ?", (principal.tenant, name)),
        )

    async def _find(self, principal: Principal, name: str) -> GraphRecord | None:
        rows = await self._database.rows(f"{_GRAPH} WHERE tenant_id = ? AND name = ?", principal.tenant, name)
        return _record(rows[0]) if rows else None


def _changed(name: str, version: int) -> UserError:
    return UserError(
        f"The graph {name!r} was changed meanwhile: version {version} counts now.",
        code="graph_changed",
        hint="Look at the new version, then save yours again.",
    )


def _record(row: Row) -> GraphRecord:
    name, tenant, owner, tags, version, created_at, updated_at = row
    principal = Principal(TenantId(tenant), UserId(owner))
    return GraphRecord(name, principal, tuple(orjson.loads(tags)), version, time_of(created_at), time_of(updated_at))


def _version(row: Row) -> GraphVersion:
    name, version, tenant, user, made_at, note, body = row
    return GraphVersion(name, version, Principal(TenantId(tenant), UserId(user)), time_of(made_at), note, body)

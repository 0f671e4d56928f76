"""The history of the access rules, and what people ask to be allowed."""

from collections.abc import Sequence
from datetime import datetime

from answerable.core.ids import TenantId
from answerable.store.database import Row, RowExistsError, SqlDatabase, at_most, time_of, time_text
from answerable.store.protocols.access_records import AccessRequest, AccessVersion

_VERSION = "SELECT version, user_id, seen_at, note, body FROM access_versions"
_INSERT_VERSION = (
    "INSERT INTO access_versions (tenant_id, version, user_id, seen_at, note, body) VALUES (?, ?, ?, ?, ?, ?)"
)
_REQUEST = (
    "SELECT request_id, user_id, wanted, reason, asked_at, state, decided_by, decided_at, role, expires_at, note"
    " FROM access_requests"
)
_INSERT_REQUEST = (
    "INSERT INTO access_requests (tenant_id, request_id, user_id, wanted, reason, asked_at, state, note)"
    " VALUES (?, ?, ?, ?, ?, ?, 'open', '')"
)
_DECIDE = (
    "UPDATE access_requests SET state = ?, decided_by = ?, decided_at = ?, role = ?, expires_at = ?, note = ?"
    " WHERE tenant_id = ? AND request_id = ? AND state = 'open'"
)


class SqlAccessRecords:
    def __init__(self, database: SqlDatabase) -> None:
        self._database = database

    async def versions(self, tenant: TenantId, *, limit: int = 100) -> Sequence[AccessVersion]:
        where = "WHERE tenant_id = ? ORDER BY version DESC LIMIT ?"
        rows = await self._database.rows(f"{_VERSION} {where}", tenant, at_most(limit))
        return [AccessVersion(int(row[0]), row[1], time_of(row[2]), row[3], row[4]) for row in rows]

    async def add_version(self, tenant: TenantId, version: AccessVersion) -> bool:
        values = (tenant, version.version, version.user, time_text(version.seen_at), version.note, version.body)
        try:
            await self._database.write((_INSERT_VERSION, values))
        except RowExistsError:
            return False
        return True

    async def add_request(self, tenant: TenantId, request: AccessRequest) -> None:
        values = (request.request_id, request.user, request.wanted, request.reason, time_text(request.asked_at))
        await self._database.write((_INSERT_REQUEST, (tenant, *values)))

    async def request(self, tenant: TenantId, request_id: str) -> AccessRequest | None:
        rows = await self._database.rows(f"{_REQUEST} WHERE tenant_id = ? AND request_id = ?", tenant, request_id)
        return _request(rows[0]) if rows else None

    async def requests(self, tenant: TenantId, user: str | None, *, limit: int = 200) -> Sequence[AccessRequest]:
        where = "WHERE tenant_id = ? AND user_id = COALESCE(?, user_id) ORDER BY asked_at DESC, request_id LIMIT ?"
        rows = await self._database.rows(f"{_REQUEST} {where}", tenant, user, at_most(limit))
        return [_request(row) for row in rows]

    async def decide(self, tenant: TenantId, request: AccessRequest) -> bool:
        values = (
            request.state,
            request.decided_by,
            time_text(request.decided_at) if request.decided_at else None,
            request.role,
            time_text(request.expires_at) if request.expires_at else None,
            request.note,
        )
        [decided] = await self._database.write((_DECIDE, (*values, tenant, request.request_id)))
        return decided == 1

    async def given(self, tenant: TenantId, at: datetime) -> Sequence[tuple[str, str]]:
        sql = "SELECT user_id, role FROM access_requests WHERE tenant_id = ? AND state = 'approved' AND expires_at > ?"
        return [(row[0], row[1]) for row in await self._database.rows(sql, tenant, time_text(at))]


def _request(row: Row) -> AccessRequest:
    request_id, user, wanted, reason, asked_at, state, decided_by, decided_at, role, expires_at, note = row
    return AccessRequest(
        request_id,
        user,
        wanted,
        reason,
        time_of(asked_at),
        state,
        decided_by,
        time_of(decided_at) if decided_at else None,
        role,
        time_of(expires_at) if expires_at else None,
        note,
    )

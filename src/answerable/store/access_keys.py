"""Keys with which programs ask as somebody."""

from collections.abc import Sequence
from datetime import datetime

import orjson

from answerable.core.clock import Clock
from answerable.core.ids import TenantId
from answerable.store.database import NothingChangedError, Parameter, Row, SqlDatabase, time_of, time_text
from answerable.store.protocols.access_keys import KeyRecord

_KEY = "SELECT key_id, user_id, name, scopes, created_at, expires_at, used_at, revoked_at FROM access_keys"
_COUNTING = (
    "WHERE tenant_id = ? AND digest = ? AND revoked_at IS NULL AND expires_at > ? AND NOT EXISTS (SELECT 1 FROM users"
    " WHERE users.tenant_id = ? AND users.name = access_keys.user_id AND users.disabled_at IS NOT NULL)"
)
_INSERT = (
    "INSERT INTO access_keys (digest, tenant_id, key_id, user_id, name, scopes, created_at, expires_at)"
    " VALUES (?, ?, ?, ?, ?, ?, ?, ?)"
)
_SHORTEN = (
    "UPDATE access_keys SET expires_at = CASE WHEN expires_at < ? THEN expires_at ELSE ? END"
    " WHERE tenant_id = ? AND key_id = ? AND revoked_at IS NULL AND expires_at > ?"
)
_REVOKE = (
    "UPDATE access_keys SET revoked_at = ? WHERE tenant_id = ? AND user_id = COALESCE(?, user_id)"
    " AND key_id = COALESCE(?, key_id) AND revoked_at IS NULL AND expires_at > ?"
)


class SqlAccessKeys:
    def __init__(self, database: SqlDatabase, clock: Clock) -> None:
        self._database = database
        self._clock = clock

    async def add(self, tenant: TenantId, digest: str, key: KeyRecord) -> None:
        await self._database.write((_INSERT, _values(tenant, digest, key)))

    async def find(self, tenant: TenantId, digest: str) -> KeyRecord | None:
        rows = await self._database.rows(f"{_KEY} {_COUNTING}", tenant, digest, self._now(), tenant)
        return _key(rows[0]) if rows else None

    async def get(self, tenant: TenantId, key_id: str) -> KeyRecord | None:
        rows = await self._database.rows(f"{_KEY} WHERE tenant_id = ? AND key_id = ?", tenant, key_id)
        return _key(rows[0]) if rows else None

    async def list(self, tenant: TenantId, user: str | None) -> Sequence[KeyRecord]:
        where = "WHERE tenant_id = ? AND user_id = COALESCE(?, user_id) ORDER BY created_at DESC, key_id"
        return [_key(row) for row in await self._database.rows(f"{_KEY} {where}", tenant, user)]

    async def note_use(self, tenant: TenantId, digest: str, used_at: datetime) -> None:
        sql = "UPDATE access_keys SET used_at = ? WHERE tenant_id = ? AND digest = ?"
        await self._database.write((sql, (time_text(used_at), tenant, digest)))

    async def replace(self, tenant: TenantId, old: str, until: datetime, digest: str, key: KeyRecord) -> bool:
        end = time_text(until)
        try:
            await self._database.write(
                (_SHORTEN, (end, end, tenant, old, self._now())),
                (_INSERT, _values(tenant, digest, key)),
                required=(0,),
            )
        except NothingChangedError:
            return False
        return True

    async def revoke(self, tenant: TenantId, user: str | None, key_id: str | None) -> int:
        now = self._now()
        [revoked] = await self._database.write((_REVOKE, (now, tenant, user, key_id, now)))
        return revoked

    def _now(self) -> str:
        return time_text(self._clock.now())


def _values(tenant: TenantId, digest: str, key: KeyRecord) -> tuple[Parameter, ...]:
    scopes = orjson.dumps(list(key.scopes)).decode()
    times = (time_text(key.created_at), time_text(key.expires_at))
    return (digest, tenant, key.key_id, key.user, key.name, scopes, *times)


def _key(row: Row) -> KeyRecord:
    key_id, user, name, scopes, created_at, expires_at, used_at, revoked_at = row
    return KeyRecord(
        key_id=key_id,
        user=user,
        name=name,
        scopes=tuple(orjson.loads(scopes)),
        created_at=time_of(created_at),
        expires_at=time_of(expires_at),
        used_at=time_of(used_at) if used_at else None,
        revoked_at=time_of(revoked_at) if revoked_at else None,
    )

"""Schedules of graphs: one row for each."""

from collections.abc import Sequence
from datetime import datetime

import orjson

from answerable.core import codec
from answerable.core.context import Principal
from answerable.core.errors import NotFoundError
from answerable.core.ids import TenantId, UserId
from answerable.core.values import Json
from answerable.store.database import Row, SqlDatabase, time_of, time_text
from answerable.store.protocols.schedules import ScheduleRecord

_SCHEDULE = "SELECT name, tenant_id, user_id, graph, body, next_at, created_at FROM schedules"
_PUT = (
    "INSERT INTO schedules (name, tenant_id, user_id, graph, body, next_at, created_at) VALUES (?, ?, ?, ?, ?, ?, ?)"
    " ON CONFLICT (tenant_id, name) DO UPDATE SET user_id = excluded.user_id, graph = excluded.graph,"
    " body = excluded.body, next_at = excluded.next_at"
)
_ADVANCE = "UPDATE schedules SET next_at = ?, body = ? WHERE tenant_id = ? AND name = ? AND next_at = ? AND body = ?"


class SqlSchedules:
    def __init__(self, database: SqlDatabase) -> None:
        self._database = database

    async def put(self, record: ScheduleRecord) -> None:
        owner = record.principal
        times = (time_text(record.next_at), time_text(record.created_at))
        row = (record.name, owner.tenant, owner.user, record.graph, _text(record.body), *times)
        await self._database.write((_PUT, row))

    async def list(self, principal: Principal) -> Sequence[ScheduleRecord]:
        rows = await self._database.rows(f"{_SCHEDULE} WHERE tenant_id = ? ORDER BY name", principal.tenant)
        return [_record(row) for row in rows]

    async def remove(self, principal: Principal, name: str) -> None:
        statement = "DELETE FROM schedules WHERE tenant_id = ? AND name = ?"
        [removed] = await self._database.write((statement, (principal.tenant, name)))
        if not removed:
            hint = "See `answerable graph schedule list`."
            raise NotFoundError(f"There is no schedule {name!r}.", code="schedule_not_found", hint=hint)

    async def due(self, now: datetime) -> Sequence[ScheduleRecord]:
        rows = await self._database.rows(f"{_SCHEDULE} WHERE next_at <= ? ORDER BY next_at", time_text(now))
        return [_record(row) for row in rows]

    async def advance(self, record: ScheduleRecord, next_at: datetime, body: Json) -> bool:
        known = (record.principal.tenant, record.name, time_text(record.next_at), _text(record.body))
        [changed] = await self._database.write((_ADVANCE, (time_text(next_at), _text(body), *known)))
        return bool(changed)


def _text(body: Json) -> str:
    return codec.json_bytes(body, "The schedule").decode()


def _record(row: Row) -> ScheduleRecord:
    name, tenant, user, graph, body, next_at, created_at = row
    principal = Principal(TenantId(tenant), UserId(user))
    return ScheduleRecord(name, principal, graph, orjson.loads(body), time_of(next_at), time_of(created_at))

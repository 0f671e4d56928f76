"""Groups of people that a provider's directory sends."""

from collections.abc import Sequence
from dataclasses import replace

import orjson

from answerable.core.errors import UserError
from answerable.core.ids import TenantId
from answerable.store.database import NothingChangedError, Row, RowExistsError, SqlDatabase
from answerable.store.protocols.groups import GroupRecord

_GROUP = "SELECT group_id, name, external_id, members, version FROM user_groups"
_INSERT = "INSERT INTO user_groups (name, external_id, members, version, tenant_id, group_id) VALUES (?, ?, ?, ?, ?, ?)"
_UPDATE = (
    "UPDATE user_groups SET name = ?, external_id = ?, members = ?, version = ?"
    " WHERE tenant_id = ? AND group_id = ? AND version = ?"
)


class SqlGroups:
    def __init__(self, database: SqlDatabase) -> None:
        self._database = database

    async def list(self, tenant: TenantId) -> Sequence[GroupRecord]:
        rows = await self._database.rows(f"{_GROUP} WHERE tenant_id = ? ORDER BY name, group_id", tenant)
        return [_group(row) for row in rows]

    async def find(self, tenant: TenantId, group_id: str) -> GroupRecord | None:
        rows = await self._database.rows(f"{_GROUP} WHERE tenant_id = ? AND group_id = ?", tenant, group_id)
        return _group(rows[0]) if rows else None

    async def save(self, tenant: TenantId, group: GroupRecord) -> GroupRecord:
        members = orjson.dumps(list(group.members)).decode()
        values = (group.name, group.external_id, members, group.version + 1, tenant, group.group_id)
        try:
            if group.version == 0:
                await self._database.write((_INSERT, values))
            else:
                await self._database.write((_UPDATE, (*values, group.version)), required=(0,))
        except (RowExistsError, NothingChangedError) as error:
            raise UserError(
                f"Somebody else has just changed the group {group.name!r}.", code="group_changed"
            ) from error
        return replace(group, version=group.version + 1)

    async def remove(self, tenant: TenantId, group_id: str) -> bool:
        sql = "DELETE FROM user_groups WHERE tenant_id = ? AND group_id = ?"
        [removed] = await self._database.write((sql, (tenant, group_id)))
        return removed == 1


def _group(row: Row) -> GroupRecord:
    group_id, name, external_id, members, version = row
    return GroupRecord(group_id, name, external_id, tuple(orjson.loads(members)), int(version))

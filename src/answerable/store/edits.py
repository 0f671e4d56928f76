"""The history of what is said about sources."""

from collections.abc import Sequence

from answerable.core.clock import Clock
from answerable.core.context import Principal
from answerable.core.errors import NotFoundError
from answerable.core.ids import EditId, TenantId, UserId, new_edit_id
from answerable.store.base import EditRecord
from answerable.store.database import Row, SqlDatabase, at_most, time_of, time_text

_EDIT = "SELECT edit_id, tenant_id, user_id, source, made_at, note, before_text, after_text FROM semantic_edits"
_INSERT = (
    "INSERT INTO semantic_edits (edit_id, tenant_id, user_id, source, made_at, note, before_text, after_text)"
    " VALUES (?, ?, ?, ?, ?, ?, ?, ?)"
)


class SqlEdits:
    def __init__(self, database: SqlDatabase, clock: Clock) -> None:
        self._database = database
        self._clock = clock

    async def add(self, principal: Principal, source: str, *, before: str, after: str, note: str) -> EditRecord:
        edit = EditRecord(new_edit_id(), principal, source, self._clock.now(), note, before, after)
        row = (edit.edit, principal.tenant, principal.user, source, time_text(edit.made_at), note, before, after)
        await self._database.write((_INSERT, row))
        return edit

    async def get(self, principal: Principal, edit: EditId) -> EditRecord:
        rows = await self._database.rows(f"{_EDIT} WHERE edit_id = ? AND tenant_id = ?", edit, principal.tenant)
        if not rows:
            raise NotFoundError(f"There is no change {edit}.", code="edit_not_found")
        return _record(rows[0])

    async def of_source(self, principal: Principal, source: str, *, limit: int = 100) -> Sequence[EditRecord]:
        where = "WHERE tenant_id = ? AND source = ? ORDER BY made_at DESC, edit_id DESC LIMIT ?"
        rows = await self._database.rows(f"{_EDIT} {where}", principal.tenant, source, at_most(limit))
        return [_record(row) for row in rows]


def _record(row: Row) -> EditRecord:
    edit, tenant, user, source, made_at, note, before, after = row
    return EditRecord(edit, Principal(TenantId(tenant), UserId(user)), source, time_of(made_at), note, before, after)

"""The history of what is said about sources: edits of semantic files."""

from collections.abc import Sequence

from answerable.core.clock import Clock
from answerable.core.context import Principal
from answerable.core.errors import NotFoundError
from answerable.core.ids import EditId, TenantId, UserId, new_edit_id
from answerable.store.database import Row, SqlDatabase, at_most, time_of, time_text
from answerable.store.leases import Leases
from answerable.store.protocols.edits import EditRecord

_EDIT = "SELECT edit_id, tenant_id, user_id, source, made_at, note, before_text, after_text FROM semantic_edits"
_INSERT = (
    "INSERT INTO semantic_edits"
    " (edit_id, tenant_id, user_id, source, made_at, note, before_text, after_text, owner, position)"
    " SELECT ?, ?, ?, ?, ?, ?, ?, ?, ?, coalesce(max(position), 0) + 1 FROM semantic_edits"
    " WHERE tenant_id = ? AND source = ?"
)
_SETTLE = "UPDATE semantic_edits SET owner = NULL WHERE edit_id = ?"
_WITHDRAW = "DELETE FROM semantic_edits WHERE edit_id = ? AND owner IS NOT NULL"


class SqlEdits:
    def __init__(self, database: SqlDatabase, clock: Clock, leases: Leases) -> None:
        self._database = database
        self._clock = clock
        self._leases = leases

    async def begin(
        self, principal: Principal, source: str, *, before: str, after: str, note: str, edit: EditId | None = None
    ) -> EditRecord:
        record = EditRecord(edit or new_edit_id(), principal, source, self._clock.now(), note, before, after)
        row = (record.edit, principal.tenant, principal.user, source, time_text(record.made_at), note, before, after)
        await self._database.write(
            self._leases.renewal(), (_INSERT, (*row, self._leases.owner, principal.tenant, source))
        )
        self._leases.hold(record.edit)
        return record

    async def settle(self, edit: EditRecord) -> None:
        self._leases.drop(edit.edit)
        await self._database.write((_SETTLE, (edit.edit,)))

    async def withdraw(self, edit: EditRecord) -> None:
        self._leases.drop(edit.edit)
        await self._database.write((_WITHDRAW, (edit.edit,)))

    async def unsettled(self, principal: Principal, source: str) -> Sequence[EditRecord]:
        # Those of this process too: it may have written the file when the store could not be written any more.
        left = f"owner IS NOT NULL AND (owner = ? OR NOT {self._leases.lives('semantic_edits.owner')})"
        where = f"WHERE tenant_id = ? AND source = ? AND {left} ORDER BY position, edit_id"
        rows = await self._database.rows(f"{_EDIT} {where}", principal.tenant, source, self._leases.owner)
        return [_record(row) for row in rows]

    async def get(self, principal: Principal, edit: EditId) -> EditRecord:
        where = "WHERE edit_id = ? AND tenant_id = ? AND owner IS NULL"
        rows = await self._database.rows(f"{_EDIT} {where}", edit, principal.tenant)
        if not rows:
            raise NotFoundError(f"There is no change {edit}.", code="edit_not_found")
        return _record(rows[0])

    async def of_source(self, principal: Principal, source: str, *, limit: int = 100) -> Sequence[EditRecord]:
        where = "WHERE tenant_id = ? AND source = ? AND owner IS NULL ORDER BY position DESC, edit_id DESC LIMIT ?"
        rows = await self._database.rows(f"{_EDIT} {where}", principal.tenant, source, at_most(limit))
        return [_record(row) for row in rows]


def _record(row: Row) -> EditRecord:
    edit, tenant, user, source, made_at, note, before, after = row
    return EditRecord(edit, Principal(TenantId(tenant), UserId(user)), source, time_of(made_at), note, before, after)

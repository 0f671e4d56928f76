"""The journal: the hot path of the store. The engine waits for `append` before it starts what comes next."""

from collections.abc import Sequence

from answerable.core.codec import decode_body, encode_body
from answerable.core.context import Principal
from answerable.core.errors import InternalError
from answerable.core.events import Event
from answerable.core.ids import RunId
from answerable.store.base import Lease, LeaseLostError
from answerable.store.database import Condition, Insert, RowExistsError, SqlDatabase, at_most
from answerable.store.leases import Leases
from answerable.store.outbox import INSERT as INSERT_NOTICES
from answerable.store.outbox import notices_of
from answerable.store.runs import run_not_found

_INSERT = Insert(
    into="INSERT INTO events (run_id, seq, tenant_id, user_id, at, type, body)",
    types=("TEXT", "BIGINT", "TEXT", "TEXT", "DOUBLE PRECISION", "TEXT", "TEXT"),
)
_SELECT = (
    "SELECT type, run_id, seq, at, body FROM events WHERE run_id = ? AND tenant_id = ? AND seq > ? ORDER BY seq LIMIT ?"
)
_OWNER = "SELECT tenant_id, user_id FROM runs WHERE run_id = ?"
_REMEMBERED = 4096


class SqlEvents:
    def __init__(self, database: SqlDatabase, leases: Leases) -> None:
        self._database = database
        self._leases = leases
        self._owners: dict[RunId, tuple[str, str]] = {}
        """The owner of a run never changes, so it is looked up once and not with every append."""

    async def append(self, events: Sequence[Event], lease: Lease) -> None:
        if not events:
            return
        run = events[0].run
        tenant, user = self._owners.get(run) or await self._owner(run)
        rows = [(run, e.seq, tenant, user, float(e.at), e.type, encode_body(e)) for e in events if e.run == run]
        if len(rows) != len(events) or lease.run != run:
            raise InternalError("Events of several runs cannot be appended together.", code="events_mixed")
        try:
            notices = notices_of(events, rows)
            also = [(INSERT_NOTICES, notices)] if notices else []
            stored = await self._database.insert_fenced(_fence(lease), (_INSERT, rows), *also)
        except RowExistsError as error:
            raise InternalError(
                f"The run {run} has an event numbered {events[0].seq} to {events[-1].seq} already.",
                code="event_exists",
                hint="Two processes may be working on the same run.",
            ) from error
        if not stored:
            self._leases.drop(lease)
            raise LeaseLostError(lease.run)
        self._database.announce(run)

    async def read(
        self, principal: Principal, run: RunId, *, after: int = 0, limit: int | None = None
    ) -> Sequence[Event]:
        tenant, _ = self._owners.get(run) or await self._owner(run)
        if tenant != principal.tenant:
            raise run_not_found(run)
        rows = await self._database.rows(_SELECT, run, principal.tenant, after, at_most(limit))
        if not rows:
            await self._owner(run)  # the remembered owner says nothing about a run that was pruned since
        return [decode_body(*row) for row in rows]

    async def _owner(self, run: RunId) -> tuple[str, str]:
        rows = await self._database.rows(_OWNER, run)
        if not rows:
            raise run_not_found(run)
        if len(self._owners) >= _REMEMBERED:
            self._owners.clear()
        tenant, user = rows[0]
        self._owners[run] = (tenant, user)
        return tenant, user


def _fence(lease: Lease) -> Condition:
    return "run_id = ? AND token = ?", (lease.run, lease.token)

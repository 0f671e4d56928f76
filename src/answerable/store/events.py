"""The journal: the hot path of the store. The engine waits for `append` before it starts what comes next."""

from collections.abc import Sequence

from answerable.core.codec import decode_body
from answerable.core.context import Principal
from answerable.core.errors import InternalError
from answerable.core.events import Event
from answerable.core.ids import RunId, TenantId, UserId
from answerable.store.base import Lease, LeaseLostError, RunEnd
from answerable.store.database import Condition, NothingChangedError, RowExistsError, SqlDatabase, at_most
from answerable.store.event_rows import event_inserts, event_statements, moment_of
from answerable.store.leases import Leases
from answerable.store.runs import end_statements, run_not_found

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

    async def append(self, events: Sequence[Event], lease: Lease, end: RunEnd | None = None) -> None:
        if not events:
            return
        run = lease.run
        if any(event.run != run for event in events):
            raise InternalError("Events of several runs cannot be appended together.", code="events_mixed")
        tenant, user = self._owners.get(run) or await self._owner(run)
        try:
            if end is None:
                inserts = event_inserts(events, tenant, user)
                stored = await self._database.insert_fenced(_fence(lease), *inserts)
            else:
                stored = await self._end(events, lease, end, Principal(TenantId(tenant), UserId(user)))
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

    async def _end(self, events: Sequence[Event], lease: Lease, end: RunEnd, principal: Principal) -> bool:
        # By the journal's clock, which never goes back: the run would else seem to end before it began.
        ending = end_statements(principal, lease, end, moment_of(events[-1]), self._leases.owner)
        try:
            await self._database.write(
                *ending, *event_statements(events, principal.tenant, principal.user), required=(0,)
            )
        except NothingChangedError:
            return False
        self._leases.drop(lease)
        return True

    async def read(
        self, principal: Principal, run: RunId, *, after: int = 0, limit: int | None = None
    ) -> Sequence[Event]:
        tenant, user = self._owners.get(run) or await self._owner(run)
        if tenant != principal.tenant or (principal.own_only and user != principal.user):
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

"""The journal: the hot path of the store. The engine waits for `append` before it starts what comes next."""

from collections.abc import Sequence

from answerable.core.codec import decode_body
from answerable.core.context import Principal
from answerable.core.errors import InternalError
from answerable.core.events import Event
from answerable.core.ids import RunId, TenantId, UserId
from answerable.store.base import Lease, LeaseLostError, RunEnd
from answerable.store.database import Condition, NothingChangedError, RowExistsError, SqlDatabase, Statement, at_most
from answerable.store.event_rows import Rows, event_inserts, insert_statements, moment_of
from answerable.store.leases import Leases
from answerable.store.run_owners import RunOwners
from answerable.store.runs import end_statements, run_not_found

_SELECT = (
    "SELECT type, run_id, seq, at, body FROM events WHERE run_id = ? AND tenant_id = ? AND seq > ? ORDER BY seq LIMIT ?"
)


class SqlEvents:
    def __init__(self, database: SqlDatabase, leases: Leases, owners: RunOwners) -> None:
        self._database = database
        self._leases = leases
        self._owners = owners

    async def append(self, events: Sequence[Event], lease: Lease, end: RunEnd | None = None) -> None:
        if not events:
            return
        run = lease.run
        if any(event.run != run for event in events):
            raise InternalError("Events of several runs cannot be appended together.", code="events_mixed")
        tenant, user = await self._owner(run)
        asked = self._leases.moment()
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
        self._leases.known(lease, asked)
        self._database.announce(run)

    async def still_ours(self, lease: Lease) -> None:
        while not self._leases.keeps(lease):
            # First the lease, then the token: a claim from before the renewal has raised it by then.
            await self._leases.renew(self._database)
            asked = self._leases.moment()
            if not await self._database.insert_fenced(_fence(lease)):
                self._leases.drop(lease)
                raise LeaseLostError(lease.run)
            self._leases.known(lease, asked)

    async def _end(self, events: Sequence[Event], lease: Lease, end: RunEnd, principal: Principal) -> bool:
        # By the journal's clock, which never goes back: the run would else seem to end before it began.
        finish, *messages = end_statements(principal, lease, end, moment_of(events[-1]), self._leases.owner)
        inserts = event_inserts(events, principal.tenant, principal.user)
        if not messages:
            stored = await self._database.change_fenced(finish, *inserts)
        else:
            stored = await self._with_messages(finish, messages, inserts)
        if stored:
            self._leases.drop(lease)
        return stored

    async def _with_messages(self, finish: Statement, messages: Sequence[Statement], inserts: Sequence[Rows]) -> bool:
        try:
            await self._database.write(finish, *messages, *insert_statements(inserts), required=(0,))
        except NothingChangedError:
            return False
        return True

    async def read(
        self, principal: Principal, run: RunId, *, after: int = 0, limit: int | None = None
    ) -> Sequence[Event]:
        tenant, user = await self._owner(run)
        if tenant != principal.tenant or (principal.own_only and user != principal.user):
            raise run_not_found(run)
        rows = await self._database.rows(_SELECT, run, principal.tenant, after, at_most(limit))
        if not rows and await self._owners.stored(run, self._database) is None:
            raise run_not_found(run)  # it was pruned
        return [decode_body(*row) for row in rows]

    async def _owner(self, run: RunId) -> tuple[str, str]:
        owner = await self._owners.of(run, self._database)
        if owner is None:
            raise run_not_found(run)
        return owner


def _fence(lease: Lease) -> Condition:
    return "run_id = ? AND token = ?", (lease.run, lease.token)

"""Which processes are alive: each that holds something renews one row, and a row that is not renewed lapses.

A run, a reservation or a delivery names the process that holds it (`owner`). Others may take it over once that
process's row has lapsed. A process that was only slow may not know that it lost a run; what it then writes is refused
by the run's fencing token (`Lease`), so that a lapsed row is never more than a reason to look.

Time is the database's, never a machine's wall clock: on PostgreSQL the clock of the server, on SQLite (one machine) the
clock that counts from the start of the system. A row whose time lies in the future comes from before a restart, or the
clock was set back; beyond `seconds` in either direction it has lapsed.
"""

# ruff: noqa: S608 - statements are put together from constants of this module; values are always parameters

import asyncio
import logging
import math
import secrets
import time
from collections.abc import Hashable
from contextlib import suppress

from answerable.core.errors import AnswerableError
from answerable.core.records import dataclass
from answerable.store.database import SqlDatabase, Statement

LEASE_SECONDS = 7.0
"""How long a process may be silent. With the time it takes to look, a dead process's run is adopted within 10 s."""
_BEATS = 3.5
"""Renewals within a lease: one may fail, and the next may be late."""
_FORGOTTEN = 86_400.0
_log = logging.getLogger("answerable.store")


def _since_boot() -> float:
    """Counts also while the machine sleeps, when the database's clock goes on."""
    return time.clock_gettime(time.CLOCK_BOOTTIME) if hasattr(time, "CLOCK_BOOTTIME") else time.monotonic()


@dataclass(frozen=True, slots=True)
class Renewals:
    """Since when others have found this process alive without a gap. Pure: moments of this machine's clock come in."""

    asked: float = -math.inf
    """When the last renewal that succeeded was asked for. The database carried it out then or later."""
    unbroken_since: float = math.inf

    def renewed(self, asked: float, done: float, seconds: float) -> "Renewals":
        """After one more, with the moments at which it was asked for and answered."""
        # The database may have renewed as late as `done`, and counted the one before from as early as `self.asked`.
        unbroken = done - self.asked < seconds
        return Renewals(max(self.asked, asked), self.unbroken_since if unbroken else done)

    def keep(self, known: float, now: float, seconds: float) -> bool:
        """Whether a run that was this process's at `known` is so still, and for as long again as half a lease."""
        return self.unbroken_since <= known and now - self.asked < seconds / 2


class Leases:
    def __init__(self, database: SqlDatabase, seconds: float = LEASE_SECONDS) -> None:
        self.owner = secrets.token_hex(8)
        """The name of this process among those that share the database."""
        self.seconds = seconds
        self._database = database
        self._held: dict[Hashable, float] = {}
        """What is held, with the last moment at which this was known."""
        self._renewals = Renewals()
        self._task: asyncio.Task[None] | None = None

    def renewal(self) -> Statement:
        """The statement that renews the lease, for the commit in which this process takes hold of something."""
        now = self._database.now
        return (
            f"INSERT INTO owners (owner, renewed, seconds) VALUES (?, {now}, ?)"
            f" ON CONFLICT (owner) DO UPDATE SET renewed = {now}, seconds = excluded.seconds",
            (self.owner, self.seconds),
        )

    def lives(self, owner: str) -> str:
        """The SQL condition that the process named by a column holds its lease.

        While the database was away nobody could renew. For as long as a lease lasts after it has come up, everybody
        counts as alive who has not released its lease, so that a process that starts just then takes no living one's
        runs.
        """
        now, up_since = self._database.now, self._database.up_since
        silent = f"abs({now} - o.renewed)"
        if up_since is not None:
            silent = f"least({silent}, abs({now} - {up_since}))"
        return f"EXISTS (SELECT 1 FROM owners o WHERE o.owner = {owner} AND {silent} < o.seconds)"

    def forgotten(self) -> Statement:
        """Removes the rows of processes that ended long ago. A process that was only stopped makes its row again."""
        silent = f"abs({self._database.now} - renewed)"
        return f"DELETE FROM owners WHERE owner <> ? AND (seconds <= 0 OR {silent} > ?)", (self.owner, _FORGOTTEN)

    def hold(self, what: Hashable) -> None:
        """Renews the lease from now on, until all that is held was dropped."""
        self._held[what] = -math.inf
        if self._task is None or self._task.done():
            self._task = asyncio.get_running_loop().create_task(self._renew(), name="lease")

    def renewed(self, asked: float | None) -> None:
        """After a commit that renewed the lease, with the moment before it was asked for; None if it did not."""
        if asked is not None:
            self._renewals = self._renewals.renewed(asked, self.moment(), self.seconds)

    def took(self, what: Hashable) -> None:
        """Like `hold`, after a commit that took hold of it while the lease was valid."""
        self.hold(what)
        self.known(what, self.moment())

    def holds(self, what: Hashable) -> bool:
        return what in self._held

    def drop(self, what: Hashable) -> None:
        self._held.pop(what, None)

    moment = staticmethod(_since_boot)

    def known(self, what: Hashable, moment: float) -> None:
        """The store has shown that this process still holds it. `moment`: before the store was asked."""
        if what in self._held:
            self._held[what] = moment

    @property
    def fresh(self) -> bool:
        """Whether others find this process alive for half a lease from now on."""
        return self._renewals.keep(math.inf, self.moment(), self.seconds)

    def keeps(self, what: Hashable) -> bool:
        """Whether nobody can have taken it over, nor can in the next moments."""
        return self._renewals.keep(self._held.get(what, -math.inf), self.moment(), self.seconds)

    async def renew(self, database: SqlDatabase | None = None) -> None:
        asked = self.moment()
        await (database or self._database).write(self.renewal())
        self.renewed(asked)

    async def _renew(self) -> None:
        while self._held:
            await asyncio.sleep(self.seconds / _BEATS)
            try:
                # Abandons a renewal that is still waiting when the next one is due: the next may get a new connection.
                async with asyncio.timeout(self.seconds / _BEATS):
                    await self.renew()
            except (AnswerableError, TimeoutError) as error:  # a store that fails for a moment: the next may be in time
                code = error.stable_code if isinstance(error, AnswerableError) else "store_unavailable"
                _log.warning("lease not renewed", extra={"fields": {"code": code, "reason": str(error)}})

    async def release(self) -> None:
        """Others may take over at once what is still held."""
        task, self._task, self._renewals = self._task, None, Renewals()
        if task is not None and not task.done() and task.get_loop() is asyncio.get_running_loop():
            task.cancel()
            await asyncio.wait((task,))
        if task is not None:
            with suppress(AnswerableError):  # a store that cannot be written is left to lapse
                await self._database.write(("UPDATE owners SET seconds = 0 WHERE owner = ?", (self.owner,)))

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
import secrets
from collections.abc import Hashable
from contextlib import suppress

from answerable.core.errors import AnswerableError
from answerable.store.database import SqlDatabase, Statement

LEASE_SECONDS = 7.0
"""How long a process may be silent. With the time it takes to look, a dead process's run is adopted within 10 s."""
_BEATS = 3.5
"""Renewals within a lease: one may fail, and the next may be late."""
_FORGOTTEN = 86_400.0
_log = logging.getLogger("answerable.store")


class Leases:
    def __init__(self, database: SqlDatabase, seconds: float = LEASE_SECONDS) -> None:
        self.owner = secrets.token_hex(8)
        """The name of this process among those that share the database."""
        self.seconds = seconds
        self._database = database
        self._held: set[Hashable] = set()
        self._task: asyncio.Task[None] | None = None

    def renewal(self) -> Statement:
        """To be written in one commit with whatever this process takes hold of."""
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
        self._held.add(what)
        if self._task is None or self._task.done():
            self._task = asyncio.get_running_loop().create_task(self._renew(), name="lease")

    def holds(self, what: Hashable) -> bool:
        return what in self._held

    def drop(self, what: Hashable) -> None:
        self._held.discard(what)

    async def _renew(self) -> None:
        while self._held:
            await asyncio.sleep(self.seconds / _BEATS)
            try:
                # Abandons a renewal that is still waiting when the next one is due: the next may get a new connection.
                async with asyncio.timeout(self.seconds / _BEATS):
                    await self._database.write(self.renewal())
            except (AnswerableError, TimeoutError) as error:  # a store that fails for a moment: the next may be in time
                code = error.stable_code if isinstance(error, AnswerableError) else "store_unavailable"
                _log.warning("lease not renewed", extra={"fields": {"code": code, "reason": str(error)}})

    async def release(self) -> None:
        """Others may take over at once what is still held."""
        task, self._task = self._task, None
        if task is not None and not task.done() and task.get_loop() is asyncio.get_running_loop():
            task.cancel()
            await asyncio.wait((task,))
        if task is not None:
            with suppress(AnswerableError):  # a store that cannot be written is left to lapse
                await self._database.write(("UPDATE owners SET seconds = 0 WHERE owner = ?", (self.owner,)))

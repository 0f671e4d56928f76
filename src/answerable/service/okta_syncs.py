"""Syncs that nobody waits for: begun by hand on the page, or by the schedule of a tenant."""

import asyncio
import logging
from collections.abc import Awaitable, Callable, Iterator
from pathlib import Path
from urllib.parse import unquote

from answerable.core.clock import Clock
from answerable.core.context import HOME_TENANT, Principal
from answerable.core.errors import AnswerableError
from answerable.core.ids import TenantId, UserId
from answerable.okta.schedule import FILE, store_schedule, stored_schedule
from answerable.okta.tenant_names import tenant_folder
from answerable.sources.added import tenant_home

LOOK_SECONDS = 5.0
"""How often a server looks for syncs that are due."""
_log = logging.getLogger("answerable.okta")

SyncOf = Callable[[str, Principal], Awaitable[object]]
"""Syncs the tenant of that name."""


class BackgroundSyncs:
    def __init__(self, home: Path, clock: Clock, sync: SyncOf) -> None:
        self._home = home
        self._clock = clock
        self._sync = sync
        self._under_way: dict[tuple[TenantId, str], asyncio.Task[None]] = {}
        self._problems: dict[tuple[TenantId, str], str] = {}
        self._looking: asyncio.Task[None] | None = None

    def begin(self, name: str, principal: Principal, sync: SyncOf | None = None) -> None:
        """Begins a sync unless this process is at it already."""
        key = (principal.tenant, name)
        if key not in self._under_way:
            self._problems.pop(key, None)
            work = self._synced(name, principal, sync or self._sync)
            self._under_way[key] = asyncio.create_task(work, name=f"okta sync {name}")

    def is_under_way(self, name: str, principal: Principal) -> bool:
        return (principal.tenant, name) in self._under_way

    def problem(self, name: str, principal: Principal) -> str | None:
        """Why the last sync that this process has begun has failed."""
        return self._problems.get((principal.tenant, name))

    def begin_due(self) -> None:
        """Begins the syncs whose time has come, of all tenants. Each time is noted before, so that a sync that fails
        is tried again at its next time only. Two servers at one home may both begin: the lock lets one of them."""
        now = self._clock.now()
        for folder, tenant in _scheduled(self._home):
            try:
                schedule = stored_schedule(folder)
                if schedule is None or schedule.next_at > now:
                    continue
            except AnswerableError as error:
                _log.warning("schedule not read", extra={"fields": {"tenant": folder.name, "reason": str(error)}})
                continue
            store_schedule(folder, schedule.model_copy(update={"after": now, "problem": None}))
            self.begin(folder.name, Principal(tenant, UserId(schedule.user)))

    async def _synced(self, name: str, principal: Principal, sync: SyncOf) -> None:
        key = (principal.tenant, name)
        try:
            await sync(name, principal)
        except AnswerableError as error:
            self._note(name, principal, f"{error.message} [{error.stable_code}]")
            _log.warning("sync failed", extra={"fields": {"tenant": name, "reason": str(error)}})
        finally:
            del self._under_way[key]

    def _note(self, name: str, principal: Principal, problem: str) -> None:
        self._problems[(principal.tenant, name)] = problem
        folder = tenant_folder(tenant_home(self._home, principal.tenant), name)
        if (schedule := stored_schedule(folder)) is not None:
            store_schedule(folder, schedule.model_copy(update={"problem": problem}))

    def keep_looking(self) -> None:
        """Syncs what is due from now on. For a process that stays, such as a server."""
        self._looking = asyncio.create_task(self._look_for_ever(), name="okta schedules")

    async def _look_for_ever(self) -> None:
        while True:
            try:
                self.begin_due()
            except OSError as error:  # the disk may be back the next time
                _log.warning("schedules not read", extra={"fields": {"reason": str(error)}})
            await asyncio.sleep(LOOK_SECONDS)

    async def close(self) -> None:
        """Ends what is under way. It goes on where it stopped with the next sync."""
        tasks = [*self._under_way.values(), *([self._looking] if self._looking else [])]
        for task in tasks:
            task.cancel()
        if tasks:
            await asyncio.wait(tasks)


def _scheduled(home: Path) -> Iterator[tuple[Path, TenantId]]:
    """The folders of tenants of Okta that have a schedule, with whose they are."""
    for file in sorted(home.glob(f"okta/*/{FILE}")):
        yield file.parent, HOME_TENANT
    for file in sorted(home.glob(f"tenants/*/okta/*/{FILE}")):
        yield file.parent, TenantId(unquote(file.parents[2].name))

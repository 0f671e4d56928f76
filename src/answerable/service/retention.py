"""Retention: removes what the settings do not keep, and reports what is stored."""

import asyncio
import logging
from dataclasses import asdict
from datetime import datetime

from pydantic import Field

from answerable.core.clock import Clock
from answerable.core.errors import AnswerableError
from answerable.core.values import Frozen
from answerable.service.outbox import OutboxDelivery
from answerable.service.threads import RESTORABLE
from answerable.store.base import Store
from answerable.store.protocols.retention import Pruned, RetentionLimits

EVERY_SECONDS = 3_600.0
LOOK_SECONDS = 60.0
"""How often a server looks whether the hour is over: another one may have done the work."""
_log = logging.getLogger("answerable.retention")


class RetentionReport(Frozen):
    """The limits of the settings, what the store holds of all tenants, and when it was last pruned."""

    keep_days: int | None = Field(description="Null stands for no limit.")
    keep_runs: int | None = Field(description="Of each tenant.")
    keep_mb: int | None
    runs: int
    protected_runs: int = Field(description="Pinned, shared or golden: no limit removes them.")
    database_bytes: int
    artifact_bytes: int = Field(description="Result tables, which are stored beside the database.")
    pruned_at: datetime | None
    last_pruned: Pruned | None = Field(description="What was removed then.")


class RetentionService:
    def __init__(self, store: Store, limits: RetentionLimits, outbox: OutboxDelivery, clock: Clock) -> None:
        self._store = store
        self._limits = limits
        self._outbox = outbox
        self._clock = clock
        self._task: asyncio.Task[None] | None = None

    async def prune(self, *, dry_run: bool = False, every: float = 0.0) -> Pruned | None:
        """Removes threads that were deleted long ago, runs beyond the limits of the settings with all that belongs to
        them, and artifacts that nothing names any more. Pinned, shared and golden runs stay. Returns what was removed,
        or None if another process does this now or did so less than `every` seconds ago."""
        retention = self._store.retention
        await self._outbox.deliver()  # a run is removed only after its end was announced
        if dry_run:
            return Pruned(runs=len(await retention.expired(self._limits)))
        if not await retention.begin(every):
            return None
        pruned = Pruned()
        try:
            threads = await self._store.threads.purge(self._clock.now() - RESTORABLE)
            runs = await retention.expired(self._limits)
            threads += await retention.remove(runs)
            # Looking for names of artifacts reads the whole journal, so it is done only when some may have gone.
            artifacts, freed = await retention.remove_unreferenced() if runs or not every else (0, 0)
            pruned = Pruned(len(runs), threads, artifacts, freed)
        finally:
            await retention.end(pruned)
        return pruned

    async def report(self) -> RetentionReport:
        """Reports the limits, what the store holds, and when it was last pruned."""
        limits = self._limits
        return RetentionReport(
            keep_days=limits.keep_days or None,
            keep_runs=limits.keep_runs or None,
            keep_mb=limits.keep_mb or None,
            **asdict(await self._store.retention.use()),
        )

    def keep_pruning(self) -> None:
        """Prunes once an hour from now on. For a process that stays, such as a server."""
        self._task = asyncio.create_task(self._prune_for_ever(), name="retention")

    async def _prune_for_ever(self) -> None:
        while True:
            try:
                pruned = await self.prune(every=EVERY_SECONDS)
            except AnswerableError as error:  # the store may be back the next time
                _log.warning("not pruned", extra={"fields": {"code": error.stable_code, "reason": str(error)}})
            else:
                if pruned is not None:
                    fields = {"runs": pruned.runs, "threads": pruned.threads, "artifacts": pruned.artifacts}
                    _log.info("pruned", extra={"fields": fields})
            await asyncio.sleep(LOOK_SECONDS)

    async def close(self) -> None:
        if self._task is not None:
            self._task.cancel()
            await asyncio.wait((self._task,))

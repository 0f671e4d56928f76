"""Whose runs are: this never changes, so it is looked up once and not with every event."""

from answerable.core.ids import RunId
from answerable.store.database import SqlDatabase

_OWNER = "SELECT tenant_id, user_id FROM runs WHERE run_id = ?"
_REMEMBERED = 4096


class RunOwners:
    """The tenant and the user of runs. None for a run that there is not."""

    def __init__(self) -> None:
        self._known: dict[RunId, tuple[str, str]] = {}

    async def of(self, run: RunId, database: SqlDatabase) -> tuple[str, str] | None:
        return self._known.get(run) or await self.stored(run, database)

    async def stored(self, run: RunId, database: SqlDatabase) -> tuple[str, str] | None:
        """Asks the store in any case: a run may have been removed since."""
        rows = await database.rows(_OWNER, run)
        if not rows:
            return None
        tenant, user = rows[0]
        self.remember(run, tenant, user)
        return tenant, user

    def remember(self, run: RunId, tenant: str, user: str) -> None:
        if len(self._known) >= _REMEMBERED:
            self._known.clear()
        self._known[run] = (tenant, user)

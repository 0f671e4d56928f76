"""Requests that count against a rate limit. A request first writes to the rows of its windows, always in the same
order: of requests that come at the same time each sees what the one before has added, and none waits in a circle."""

# ruff: noqa: S608 - statements are put together from constants of this module; values are always parameters

from collections.abc import Sequence

from answerable.core.ids import TenantId
from answerable.store.database import Parameter, SqlDatabase, Statement
from answerable.store.protocols.rates import RateTaken, RateWindow

PRUNED_EVERY = 1_000
"""Requests of one process between two looks for what is too old."""
LONGEST_WINDOW = 86_400
_OF_WINDOW = "tenant_id = ? AND window_name = ?"
_LOCK = (
    "INSERT INTO rate_windows (tenant_id, window_name, used_at) VALUES (?, ?, {now})"
    " ON CONFLICT (tenant_id, window_name) DO UPDATE SET used_at = excluded.used_at"
)
_ADD = "INSERT INTO rate_requests (tenant_id, window_name, request_id, came_at)"


class SqlRateRequests:
    def __init__(self, database: SqlDatabase) -> None:
        self._database = database
        self._taken = 0

    async def take(self, tenant: TenantId, request: str, windows: Sequence[RateWindow]) -> RateTaken:
        now = self._database.now
        self._taken += 1
        if self._taken % PRUNED_EVERY == 0:
            await self._prune()
        ordered = sorted(windows, key=lambda window: window.name)
        locks: list[Statement] = [(_LOCK.format(now=now), (tenant, window.name)) for window in ordered]
        forget = f"DELETE FROM rate_requests WHERE {_OF_WINDOW} AND came_at <= {now} - ?"
        forgotten: list[Statement] = [(forget, (tenant, window.name, window.seconds)) for window in ordered]
        room = f"(SELECT count(*) FROM rate_requests WHERE {_OF_WINDOW}) < ?"
        rows = " UNION ALL ".join([f"SELECT ?, ?, ?, {now}"] * len(ordered))
        fits = " AND ".join([room] * len(ordered))
        added: list[Parameter] = [part for window in ordered for part in (tenant, window.name, request)]
        bounds: list[Parameter] = [part for window in ordered for part in (tenant, window.name, window.count)]
        statement = f"{_ADD} SELECT * FROM ({rows}) AS fresh WHERE {fits}"
        *_, taken = await self._database.write(*locks, *forgotten, (statement, (*added, *bounds)))
        found = await self._found(tenant, [window.name for window in ordered])
        known = [found.get(window.name, (0, 0.0)) for window in windows]
        return RateTaken(taken > 0, [count for count, _ in known], [float(age) for _, age in known])

    async def _prune(self) -> None:
        """Clients come and go; what counts against no limit any more is removed, of all tenants."""
        now = self._database.now
        await self._database.write(
            (f"DELETE FROM rate_requests WHERE came_at < {now} - ?", (LONGEST_WINDOW,)),
            (f"DELETE FROM rate_windows WHERE used_at < {now} - ?", (LONGEST_WINDOW,)),
        )

    async def _found(self, tenant: TenantId, names: Sequence[str]) -> dict[str, tuple[int, float]]:
        marks = ", ".join("?" * len(names))
        sql = (
            f"SELECT window_name, count(*), {self._database.now} - min(came_at) FROM rate_requests"
            f" WHERE tenant_id = ? AND window_name IN ({marks}) GROUP BY window_name"
        )
        return {name: (count, age) for name, count, age in await self._database.rows(sql, tenant, *names)}

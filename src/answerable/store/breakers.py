"""Circuit breakers that are open: one row for each target."""

from collections.abc import Mapping

from answerable.store.database import SqlDatabase, time_of, time_text
from answerable.store.protocols.breakers import OpenBreaker

_ALL = "SELECT target, failures, opened_at, reason FROM breakers WHERE opened_at IS NOT NULL"
_PUT = (
    "INSERT INTO breakers (target, failures, opened_at, reason) VALUES (?, ?, ?, ?) ON CONFLICT (target) DO UPDATE SET"
    " failures = excluded.failures, opened_at = excluded.opened_at, reason = excluded.reason"
)
_REMOVE = "DELETE FROM breakers WHERE target = ?"


class SqlBreakers:
    def __init__(self, database: SqlDatabase) -> None:
        self._database = database

    async def all(self) -> Mapping[str, OpenBreaker]:
        rows = await self._database.rows(_ALL)
        return {target: OpenBreaker(failures, time_of(at), reason) for target, failures, at, reason in rows}

    async def put(self, target: str, opened: OpenBreaker) -> None:
        await self._database.write((_PUT, (target, opened.failures, time_text(opened.opened_at), opened.reason)))

    async def remove(self, target: str) -> None:
        await self._database.write((_REMOVE, (target,)))

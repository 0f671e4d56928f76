"""Schedules: when graphs run by themselves."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Protocol

from answerable.core.context import Principal
from answerable.core.values import Json


@dataclass(frozen=True, slots=True)
class ScheduleRecord:
    name: str
    principal: Principal
    """On whose behalf the graph runs."""
    graph: str
    body: Json = field(repr=False)
    """The rest of the schedule, and what was wrong the last time."""
    next_at: datetime
    created_at: datetime


class Schedules(Protocol):
    async def put(self, record: ScheduleRecord) -> None:
        """Stores a schedule; one of the same name and tenant is replaced."""
        ...

    async def list(self, principal: Principal) -> Sequence[ScheduleRecord]:
        """The schedules, sorted by name."""
        ...

    async def remove(self, principal: Principal, name: str) -> None: ...

    async def due(self, now: datetime) -> Sequence[ScheduleRecord]:
        """The schedules of all tenants whose time has come."""
        ...

    async def advance(self, record: ScheduleRecord, next_at: datetime, body: Json) -> bool:
        """Sets the next time. False if another process did so first, or if the schedule was changed or removed."""
        ...

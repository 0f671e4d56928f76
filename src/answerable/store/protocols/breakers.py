"""Circuit breakers that are open, for all processes of the store."""

from collections.abc import Mapping
from datetime import datetime
from typing import Protocol

from answerable.core.records import dataclass


@dataclass(frozen=True, slots=True)
class OpenBreaker:
    failures: int
    opened_at: datetime
    reason: str | None


class OpenBreakers(Protocol):
    async def all(self) -> Mapping[str, OpenBreaker]:
        """The open breakers, by target."""
        ...

    async def put(self, target: str, opened: OpenBreaker) -> None: ...

    async def remove(self, target: str) -> None: ...

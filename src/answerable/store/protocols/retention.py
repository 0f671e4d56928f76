"""What the store holds, and what is removed when it holds too much."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Protocol

from answerable.core.ids import RunId


class RetentionLimits(Protocol):
    """Limits on what the store holds; 0 stands for no limit."""

    @property
    def keep_days(self) -> int: ...

    @property
    def keep_runs(self) -> int: ...

    @property
    def keep_mb(self) -> int: ...


@dataclass(frozen=True, slots=True)
class Pruned:
    """What was removed, or would be."""

    runs: int = 0
    threads: int = 0
    artifacts: int = 0
    bytes: int = 0
    """Of artifacts."""


@dataclass(frozen=True, slots=True)
class StoreUse:
    """What the store holds."""

    runs: int
    protected_runs: int
    """Pinned, shared or golden: never removed by a limit."""
    database_bytes: int
    artifact_bytes: int
    pruned_at: datetime | None
    last_pruned: Pruned | None


class Retention(Protocol):
    async def begin(self, every: float) -> bool:
        """Claims the job if it was last done more than `every` seconds ago and no living process does it now."""
        ...

    async def end(self, pruned: Pruned) -> None: ...

    async def expired(self, limits: RetentionLimits) -> Sequence[RunId]:
        """Runs of all tenants beyond a limit, except those that are protected, unfinished or not announced yet."""
        ...

    async def remove(self, runs: Sequence[RunId]) -> int:
        """Removes runs with their events, capsules, requests and messages; returns how many threads became empty and
        went too."""
        ...

    async def remove_unreferenced(self) -> tuple[int, int]:
        """Removes artifacts that no event, capsule or golden case names any more; returns their number and bytes."""
        ...

    async def use(self) -> StoreUse: ...

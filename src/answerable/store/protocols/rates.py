"""Requests that count against a rate limit, for several servers that share a store."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

from answerable.core.ids import TenantId


@dataclass(frozen=True, slots=True)
class RateWindow:
    name: str
    count: int
    """How many requests it may hold."""
    seconds: int


@dataclass(frozen=True, slots=True)
class RateTaken:
    allowed: bool
    counts: Sequence[int]
    """Requests in each window, this one among them if it is allowed."""
    ages: Sequence[float]
    """Seconds since the oldest request of each window."""


class RateRequests(Protocol):
    async def take(self, tenant: TenantId, request: str, windows: Sequence[RateWindow]) -> RateTaken:
        """Adds a request to all windows, or to none if one is full."""
        ...

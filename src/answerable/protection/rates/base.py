"""The seam of rate limits: requests are counted in this process, in PostgreSQL or in Redis."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

from answerable.core.ids import TenantId
from answerable.protection.rates.rules import WindowLimit


@dataclass(frozen=True, slots=True)
class RateVerdict:
    """What became of a request: whether it may pass, and how much of its tightest limit is left."""

    allowed: bool
    limit: WindowLimit
    remaining: int
    reset: float
    """Seconds until the oldest request of the window no longer counts."""


class RateCounts(Protocol):
    async def take(self, tenant: TenantId, limits: Sequence[WindowLimit]) -> RateVerdict:
        """Counts a request in all of its windows, or in none if one of them is full. A request counts for exactly the
        length of the window. Requests that come at the same time are decided one after the other."""
        ...

    async def close(self) -> None: ...


def verdict(limits: Sequence[WindowLimit], counts: Sequence[int], ages: Sequence[float], allowed: bool) -> RateVerdict:
    """`counts`: requests in each window, this one among them if it is allowed. `ages`: seconds since the oldest one."""
    left = [max(limit.count - count, 0) for limit, count in zip(limits, counts, strict=True)]
    resets = [max(limit.seconds - age, 0.0) for limit, age in zip(limits, ages, strict=True)]
    # Of several full windows the one that stays full longest says when to come back.
    tightest = min(range(len(limits)), key=lambda at: (left[at], -resets[at]))
    return RateVerdict(allowed, limits[tightest], left[tightest], resets[tightest])

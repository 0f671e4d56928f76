"""Requests counted in the store, for several servers that share a PostgreSQL database."""

from collections.abc import Sequence
from uuid import uuid4

from answerable.core.ids import TenantId
from answerable.protection.rates.base import RateVerdict, verdict
from answerable.protection.rates.rules import WindowLimit
from answerable.store.protocols.rates import RateRequests, RateWindow


class StoreCounts:
    def __init__(self, requests: RateRequests) -> None:
        self._requests = requests

    async def take(self, tenant: TenantId, limits: Sequence[WindowLimit]) -> RateVerdict:
        windows = [RateWindow(limit.name, limit.count, limit.seconds) for limit in limits]
        taken = await self._requests.take(tenant, uuid4().hex, windows)
        return verdict(limits, taken.counts, taken.ages, taken.allowed)

    async def close(self) -> None:
        """The store is closed by its owner."""

"""While the shared place for counts is away, each server counts for itself. Every such change is logged."""

import logging
from collections.abc import Sequence

from answerable.core.errors import OperatorError
from answerable.core.ids import TenantId
from answerable.protection.rates.base import RateCounts, RateVerdict
from answerable.protection.rates.rules import WindowLimit

_log = logging.getLogger("answerable.rates")


class CountsWithFallback:
    def __init__(self, shared: RateCounts, own: RateCounts) -> None:
        self._shared = shared
        self._own = own
        self._is_away = False

    async def take(self, tenant: TenantId, limits: Sequence[WindowLimit]) -> RateVerdict:
        try:
            verdict = await self._shared.take(tenant, limits)
        except OperatorError as error:
            if not self._is_away:
                _log.warning("rate limits are counted by each server for itself", extra={"fields": {"why": str(error)}})
            self._is_away = True
            return await self._own.take(tenant, limits)
        if self._is_away:
            _log.warning("rate limits are counted for all servers together again")
        self._is_away = False
        return verdict

    async def close(self) -> None:
        await self._shared.close()
        await self._own.close()

"""How often an API is asked, by all sessions together."""

from answerable.apis.target import Rate
from answerable.core.clock import Clock
from answerable.core.errors import TransientError


class RateLimiter:
    """A token bucket. Requests that must wait take their turns in the order in which they came."""

    def __init__(self, rate: Rate, clock: Clock) -> None:
        self._rate = rate
        self._clock = clock
        self._tokens = float(rate.burst)
        self._refilled_at = clock.monotonic()

    async def wait_for_turn(self, until: float) -> None:
        """Raises `TransientError` (`api_busy`) if the turn would come after `until` on the monotonic clock."""
        now = self._clock.monotonic()
        self._tokens = min(self._rate.burst, self._tokens + (now - self._refilled_at) * self._rate.per_second)
        self._refilled_at = now
        wait = (1 - self._tokens) / self._rate.per_second
        if now + wait > until:
            raise TransientError("The API is asked as often as it may be; the turn came too late.", code="api_busy")
        # taken before the wait, so that the next caller waits behind this one; the count may fall below zero
        self._tokens -= 1
        if wait > 0:
            await self._clock.sleep(wait)

"""How often an API is asked, and how many requests are under way, by all sessions together."""

import asyncio
from collections import deque
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

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
        self._closed_until = 0.0
        """On the monotonic clock: before this the API allows no request."""

    def learn(self, remaining: int | None, reset: float | None) -> None:
        """Heeds what the API says of its own limit: how many requests it still allows, and when it allows more."""
        if remaining is None or reset is None:
            return
        if remaining == 0:
            self.pause(reset)
        elif reset > 0:
            # No more than the API will give until then, so that it never has to refuse one.
            self._tokens = min(self._tokens, float(remaining))

    def pause(self, seconds: float) -> None:
        """Sends nothing for a while."""
        self._closed_until = max(self._closed_until, self._clock.monotonic() + seconds)

    async def wait_for_turn(self, until: float) -> None:
        """Raises `TransientError` (`api_busy`) if the turn would come after `until` on the monotonic clock."""
        now = self._clock.monotonic()
        self._tokens = min(self._rate.burst, self._tokens + (now - self._refilled_at) * self._rate.per_second)
        self._refilled_at = now
        wait = max((1 - self._tokens) / self._rate.per_second, self._closed_until - now)
        if now + wait > until:
            raise TransientError(
                "The API is asked as often as it may be; the turn came too late.", code="api_busy", may_have_acted=False
            )
        # taken before the wait, so that the next caller waits behind this one; the count may fall below zero
        self._tokens -= 1
        if wait > 0:
            await self._clock.sleep(wait)


class Concurrency:
    """How many requests are under way at once. The number grows while the API answers, and is halved whenever the API
    says that it is busy."""

    def __init__(self, first: float = 2.0, most: int = 16) -> None:
        self.allowed = first
        self._most = most
        self._running = 0
        self._waiting: deque[asyncio.Future[None]] = deque()

    @asynccontextmanager
    async def place(self) -> AsyncIterator[None]:
        while self._running >= int(self.allowed):
            turn = asyncio.get_running_loop().create_future()
            self._waiting.append(turn)
            await turn
        self._running += 1
        try:
            yield
        finally:
            self._running -= 1
            self._wake()

    def answered(self) -> None:
        self.allowed = min(self._most, self.allowed + 1 / self.allowed)
        self._wake()

    def refused(self) -> None:
        self.allowed = max(1.0, self.allowed / 2)

    def _wake(self) -> None:
        for _ in range(int(self.allowed) - self._running):
            while self._waiting and self._waiting[0].done():  # whoever waited has given up
                self._waiting.popleft()
            if self._waiting:
                self._waiting.popleft().set_result(None)

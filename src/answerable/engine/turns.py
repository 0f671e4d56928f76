"""How many runs work at the same time. The others wait for their turn, first come, first served.

With all runs at work at once, each of them is slow, and so is everything else in the process. A turn ends with its run,
but lasts no longer than `TURN_SECONDS`: a run that works for so long waits for a model, a database or a person, and
waiting costs nothing.
"""

import asyncio
import math
from collections import deque
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from answerable.core.errors import TransientError

TURN_SECONDS = 0.5
LONGEST_WAIT = 5.0
"""Seconds. Somebody who would wait longer for a turn is better told at once."""
_WEIGHT = 0.1
"""Of the newest interval in the average. About the last ten turns count, so that the estimate follows the load."""


class Turns:
    """Belongs to one event loop. `at_once=None`: any number."""

    def __init__(self, at_once: int | None = None) -> None:
        self._free = math.inf if at_once is None else at_once
        self._waiting: deque[asyncio.Future[None]] = deque()
        # Until something else has been seen, every turn is taken to last as long as it may.
        self._interval = TURN_SECONDS / (at_once or 1)
        self._last: float | None = None

    @property
    def expected_wait(self) -> float:
        """Seconds that a run which starts now waits for its turn, judged by how quickly turns came lately."""
        return 0.0 if self._free > 0 else (len(self._waiting) + 1) * self._interval

    def check(self) -> None:
        """Raises if a new run would wait too long."""
        wait = self.expected_wait
        if wait > LONGEST_WAIT:
            raise TransientError(
                "Too many questions are being answered at this moment.",
                code="server_busy",
                hint=f"Ask again in {math.ceil(wait)} seconds.",
                retry_after=math.ceil(wait),
            )

    @asynccontextmanager
    async def turn(self) -> AsyncIterator[None]:
        await self._taken()
        given_back = False

        def give_back() -> None:
            nonlocal given_back
            if not given_back:
                given_back = True
                self._next()

        timer = asyncio.get_running_loop().call_later(TURN_SECONDS, give_back)
        try:
            yield
        finally:
            timer.cancel()
            give_back()

    async def _taken(self) -> None:
        if self._free > 0:
            self._free -= 1
            return
        place = asyncio.get_running_loop().create_future()
        self._waiting.append(place)
        try:
            await place
        except asyncio.CancelledError:
            if place.done() and not place.cancelled():
                self._next()  # the turn came in the same moment: it is for whoever is next
            raise

    def _next(self) -> None:
        now = asyncio.get_running_loop().time()
        while self._waiting:
            place = self._waiting.popleft()
            if not place.done():
                if self._last is not None:
                    self._interval += _WEIGHT * (now - self._last - self._interval)
                self._last = now
                place.set_result(None)
                return
        self._last = None  # nobody waits: the time until the next turn says nothing about the load
        self._free += 1

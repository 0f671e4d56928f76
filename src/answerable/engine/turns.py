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
"""Seconds. If the wait for a turn would be longer, the question is refused at once."""
_PACE_SECONDS = 2.0
"""Over how long the pace of turns is measured. Turns come in bursts, so the last few alone say little."""
_EARLIER = 2
"""How many turns the pace of earlier crowds counts for, until there is something newer."""


class Pace:
    """Seconds between two turns, over the last seconds in which somebody waited."""

    def __init__(self, interval: float) -> None:
        self._earlier = interval
        self._moments: deque[float] = deque()
        """When somebody began to wait, or a turn came before the window; then when each turn came."""

    def interval(self, now: float) -> float:
        turns = len(self._moments) - 1
        if turns < 1:
            # Those who work now began together, so that the time until the first of them ends says little.
            return self._earlier
        # Counts up to this moment: when no further turn comes, the estimate grows meanwhile.
        return (_EARLIER * self._earlier + now - self._moments[0]) / (_EARLIER + turns)

    def somebody_waits(self, now: float) -> None:
        if not self._moments:
            self._moments.append(now)

    def turn_came(self, now: float) -> None:
        self._moments.append(now)
        while len(self._moments) > 2 and now - self._moments[1] > _PACE_SECONDS:
            self._earlier = self.interval(now)
            self._moments.popleft()

    def nobody_waits(self, now: float) -> None:
        """The time until the next turn says nothing about the load."""
        self._earlier = self.interval(now)
        self._moments.clear()


class Turns:
    """Belongs to one event loop. `at_once=None`: any number."""

    def __init__(self, at_once: int | None = None) -> None:
        self._free = math.inf if at_once is None else at_once
        self._waiting: deque[Place] = deque()
        # Until something else has been seen, every turn is taken to last as long as it may.
        self._pace = Pace(TURN_SECONDS / (at_once or 1))

    @property
    def expected_wait(self) -> float:
        """Seconds that a run which comes now waits for its turn, judged by how quickly turns came lately."""
        return 0.0 if self._free > 0 else (len(self._waiting) + 1) * self._pace.interval(_now())

    def admit(self) -> "Place":
        """A place in the queue. A run gets it before anything else is done, so that the next run sees how many wait.
        Raises if the run would wait too long."""
        wait = self.expected_wait
        if wait > LONGEST_WAIT:
            raise TransientError(
                "Too many questions are being answered at this moment.",
                code="server_busy",
                hint=f"Ask again in {math.ceil(wait)} seconds.",
                retry_after=math.ceil(wait),
            )
        return self.join()

    def join(self) -> "Place":
        """A place in the queue, however long it is: for a run that must go on."""
        place = Place(self)
        if self._free > 0:
            self._free -= 1
            place.begin()
        else:
            self._waiting.append(place)
            self._pace.somebody_waits(_now())
        return place

    @asynccontextmanager
    async def turn(self, place: "Place | None" = None) -> AsyncIterator[None]:
        """Waits for the turn, in the place that the run has or in a new one."""
        place = place or self.join()
        try:
            await place.came()
            yield
        finally:
            place.leave()

    def end_of_turn(self) -> None:
        while self._waiting:
            place = self._waiting.popleft()
            if place.left:
                continue
            self._pace.turn_came(_now())
            place.begin()
            return
        self._pace.nobody_waits(_now())
        self._free += 1


def _now() -> float:
    return asyncio.get_running_loop().time()


class Place:
    """A run's place in the queue, then its turn. Whoever has one leaves it in the end."""

    def __init__(self, turns: Turns) -> None:
        self._turns = turns
        self._turn: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._timer: asyncio.TimerHandle | None = None
        self.left = False

    def begin(self) -> None:
        self._turn.set_result(None)
        self._timer = asyncio.get_running_loop().call_later(TURN_SECONDS, self._end)

    async def came(self) -> None:
        # Shielded, because the place outlives a wait that is cancelled until somebody leaves it.
        await asyncio.shield(self._turn)

    def leave(self) -> None:
        self.left = True
        self._end()

    def _end(self) -> None:
        """Ends the turn, once; a place whose turn has not come is passed over when it would come."""
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None
            self._turns.end_of_turn()

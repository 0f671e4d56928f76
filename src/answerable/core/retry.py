"""Trying again: how long to wait, and the one loop that waits.

Steps, calls of models and calls of APIs differ in what they retry and in how long they are patient. They say so with a
`Schedule` and a test of the error; everything else is the same for all.
"""

import math
from collections.abc import Awaitable, Callable
from random import Random
from typing import TypeVar

from answerable.core.clock import Clock
from answerable.core.errors import AnswerableError
from answerable.core.records import dataclass

_Result = TypeVar("_Result")


@dataclass(frozen=True, slots=True)
class Schedule:
    """The number of attempts in all, and the waits between them."""

    attempts: int
    first: float
    """Seconds to wait after the first attempt."""
    factor: float = 2.0
    longest: float = math.inf
    longest_asked: float = math.inf
    """The longest wait that a target can ask for. If it asks for more, it is asked again after this time."""
    jitter: Random | None = None
    """Waits a random part of each delay, so that callers that failed together do not come back together."""

    def delay(self, attempt: int) -> float:
        """Seconds after this attempt, counted from 1, before chance and before what the target asks for."""
        return min(self.longest, self.first * self.factor ** (attempt - 1))

    def wait(self, attempt: int, error: AnswerableError) -> float:
        """Seconds to wait after an attempt that failed: at least as long as the target asks for."""
        delay = self.delay(attempt)
        asked = float(error.details.get("retry_after") or 0)
        return max(min(asked, self.longest_asked), self.jitter.uniform(0, delay) if self.jitter else delay)


async def retry(
    call: Callable[[int], Awaitable[_Result]],
    schedule: Schedule,
    clock: Clock,
    *,
    may_pass: Callable[[AnswerableError, int, float], bool],
    before_wait: Callable[[AnswerableError, int, float], None] | None = None,
    first_attempt: int = 1,
) -> _Result:
    """Calls until an attempt succeeds, the attempts are used up, or `may_pass` says no; then raises the last error.

    `call` gets the number of the attempt. `may_pass` and `before_wait` get the error, the number of the attempt that
    failed, and the seconds until the next one. `first_attempt` is above 1 if there were attempts before a restart.
    """
    attempt = first_attempt
    while True:
        try:
            return await call(attempt)
        except AnswerableError as error:
            wait = schedule.wait(attempt, error)
            if attempt >= schedule.attempts or not may_pass(error, attempt, wait):
                raise
            if before_wait is not None:
                before_wait(error, attempt, wait)
        # Outside the handler: what is raised while waiting, such as a cancellation, did not come from the failure.
        await clock.sleep(wait)
        attempt += 1

"""A circuit breaker: stops calls to a target that fails again and again, for a while."""

import math
from typing import Literal

from answerable.core.clock import Clock
from answerable.core.errors import TransientError

BREAKER_OPEN = "breaker_open"


class Breaker:
    """Stops calls to a target that fails. Closed: calls pass. Open: calls are refused at once, until the cooldown has
    passed. Half-open: one call, the trial, may pass, and its result closes or opens the breaker."""

    def __init__(self, target: str, clock: Clock, threshold: int, cooldown: float) -> None:
        self._target = target
        self._clock = clock
        self._threshold = threshold
        self._cooldown = cooldown
        self._failures = 0
        self._reason: str | None = None
        self._opened_at: float | None = None
        self._trying = False

    @property
    def state(self) -> Literal["closed", "open", "half-open"]:
        if self._opened_at is None:
            return "closed"
        return "open" if self.wait > 0 else "half-open"

    @property
    def wait(self) -> float:
        """Seconds until an open breaker lets a trial through; 0 if it is not open."""
        if self._opened_at is None:
            return 0.0
        return max(0.0, self._cooldown - (self._clock.monotonic() - self._opened_at))

    @property
    def failures(self) -> int:
        return self._failures

    @property
    def reason(self) -> str | None:
        return self._reason

    def open(self, seconds_ago: float, failures: int, reason: str | None) -> None:
        """Another process has opened it so many seconds ago."""
        self._opened_at = self._clock.monotonic() - seconds_ago
        self._failures, self._reason = failures, reason

    def close(self) -> None:
        """Another process has closed it."""
        self._failures, self._opened_at = 0, None

    def enter(self) -> bool:
        """Begins a call. Returns whether it is the trial of a half-open breaker; the caller hands this to `leave`.
        Raises a `TransientError` if the call is refused."""
        state = self.state
        if state == "open" or self._trying:
            # While a trial is under way the wait is 0, but if the trial fails, a whole cooldown follows.
            wait = self.wait or self._cooldown
            last = f" The last reason: {self._reason}" if self._reason else ""
            raise TransientError(
                f"`{self._target}` failed {self._failures} times in a row and is left alone for a while.{last}",
                code=BREAKER_OPEN,
                hint=f"Try again in {math.ceil(wait)} seconds.",
                wait=wait,
            )
        self._trying = state == "half-open"
        return self._trying

    def leave(self, *, trial: bool, failed: bool | None, reason: str | None = None) -> None:
        """Ends a call. `failed` is None if the call was cancelled before the target could succeed or fail. `reason`
        says why it failed."""
        self._trying = self._trying and not trial
        if failed:
            self._failures += 1
            self._reason = reason
            if trial or (self._opened_at is None and self._failures >= self._threshold):
                self._opened_at = self._clock.monotonic()
        # A call that began before the breaker opened may still succeed. Only the trial may close an open breaker.
        elif failed is False and (trial or self._opened_at is None):
            self._failures = 0
            self._opened_at = None

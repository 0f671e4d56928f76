"""Limits for each endpoint, in windows of a minute, as the headers `x-rate-limit-*` tell them."""

from collections.abc import Callable
from dataclasses import dataclass

WINDOW = 60
UNLIMITED = 1_000_000


@dataclass(slots=True)
class _Window:
    reset: int
    used: int = 0


@dataclass(frozen=True, slots=True)
class Allowance:
    limit: int
    remaining: int
    reset: int
    """Epoch seconds at which the window ends."""
    exceeded: bool

    @property
    def headers(self) -> dict[str, str]:
        return {
            "x-rate-limit-limit": str(self.limit),
            "x-rate-limit-remaining": str(self.remaining),
            "x-rate-limit-reset": str(self.reset),
        }


class RateWindows:
    def __init__(self, limit: Callable[[str], int], now: Callable[[], float]) -> None:
        """`limit`: requests a minute of an endpoint; `now`: epoch seconds."""
        self._limit = limit
        self._now = now
        self._windows: dict[str, _Window] = {}

    def take(self, endpoint: str) -> Allowance:
        """Counts a request. A refused request uses nothing."""
        now, limit = self._now(), self._limit(endpoint)
        window = self._windows.get(endpoint)
        if window is None or now >= window.reset:
            window = self._windows[endpoint] = _Window(int(now) + WINDOW)
        exceeded = window.used >= limit
        if not exceeded:
            window.used += 1
        return Allowance(limit, limit - window.used, window.reset, exceeded)

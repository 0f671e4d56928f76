"""Requests counted in this process: exact for one server."""

from collections import deque
from collections.abc import Sequence

from answerable.core.clock import Clock
from answerable.core.ids import TenantId
from answerable.protection.rates.base import RateVerdict, verdict
from answerable.protection.rates.rules import WindowLimit

MOST_WINDOWS = 100_000
"""Windows that are kept: addresses are without number. When there are more, those that are empty go."""


class InProcessCounts:
    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self._windows: dict[tuple[TenantId, str], deque[float]] = {}
        self._seconds: dict[tuple[TenantId, str], int] = {}

    async def take(self, tenant: TenantId, limits: Sequence[WindowLimit]) -> RateVerdict:
        # Nothing is awaited here, so no other request comes in between.
        now = self._clock.monotonic()
        windows = [self._window(tenant, limit, now) for limit in limits]
        allowed = all(len(window) < limit.count for window, limit in zip(windows, limits, strict=True))
        if allowed:
            for window in windows:
                window.append(now)
        ages = [now - window[0] if window else 0.0 for window in windows]
        return verdict(limits, [len(window) for window in windows], ages, allowed)

    async def close(self) -> None:
        self._windows.clear()

    def _window(self, tenant: TenantId, limit: WindowLimit, now: float) -> deque[float]:
        """The requests that still count. One that is exactly as old as the window counts no more."""
        key = (tenant, limit.name)
        if key not in self._windows and len(self._windows) >= MOST_WINDOWS:
            self._forget_empty(now)
        self._seconds[key] = limit.seconds
        window = self._windows.setdefault(key, deque())
        while window and window[0] + limit.seconds <= now:
            window.popleft()
        return window

    def _forget_empty(self, now: float) -> None:
        for key, window in list(self._windows.items()):
            if not window or window[-1] + self._seconds[key] <= now:
                del self._windows[key], self._seconds[key]

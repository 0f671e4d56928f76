"""How fast a tenant may be asked, learned from its replies: the limits of each endpoint, and how many requests at once.

Decides only. The client waits and sends.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass

FEWEST, MOST = 2, 24
"""Requests at the same time."""

_ID = re.compile(r"/(?=[^/]*\d)[A-Za-z0-9_-]{15,}")


def endpoint_of(path: str) -> str:
    """The endpoint that a path belongs to: ids make no difference, and neither does the query."""
    return _ID.sub("/{id}", path.partition("?")[0])


@dataclass(slots=True)
class _Window:
    remaining: int
    reset: float
    """On the clock of this machine."""


class RequestPace:
    def __init__(self) -> None:
        self.at_once = 4
        self._windows: dict[str, _Window] = {}
        self._under_way: dict[str, int] = {}
        self._calm = 0

    def wait(self, endpoint: str, now: float) -> float | None:
        """Seconds until a request may be sent: 0 for at once, None if a reply that is under way must come first."""
        window, under_way = self._windows.get(endpoint), self._under_way.get(endpoint, 0)
        if sum(self._under_way.values()) >= self.at_once:
            return None
        if window is None:
            # the limit of an endpoint is not known before its first reply
            return None if under_way else 0.0
        if now >= window.reset or window.remaining > under_way:
            return 0.0
        return window.reset - now

    def sent(self, endpoint: str, now: float) -> None:
        window = self._windows.get(endpoint)
        if window is not None and now >= window.reset:
            del self._windows[endpoint]  # a new minute, of which nothing is known before the first reply
        self._under_way[endpoint] = self._under_way.get(endpoint, 0) + 1

    def lost(self, endpoint: str) -> None:
        """No reply came."""
        self._under_way[endpoint] -= 1
        self._slow_down()

    def replied(self, endpoint: str, status: int, headers: Mapping[str, str], now: float, server_now: float) -> None:
        """`server_now`: the time on the server's clock, in which it tells the end of the minute."""
        self._under_way[endpoint] -= 1
        remaining, reset = headers.get("x-rate-limit-remaining", ""), headers.get("x-rate-limit-reset", "")
        if remaining.isdecimal() and reset.isdecimal():
            ends = now + max(0.0, int(reset) - server_now)
            self._windows[endpoint] = _Window(0 if status == 429 else int(remaining), ends)
        if status == 429 or status >= 500:
            self._slow_down()
        else:
            self._speed_up()

    def _slow_down(self) -> None:
        self.at_once, self._calm = max(FEWEST, self.at_once // 2), 0

    def _speed_up(self) -> None:
        """One more at once, after as many good replies as there are now at once."""
        self._calm += 1
        if self._calm >= self.at_once and self.at_once < MOST:
            self.at_once, self._calm = self.at_once + 1, 0

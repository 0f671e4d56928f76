"""Progress reports of long work."""

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TypeAlias

Progress: TypeAlias = Callable[[str, float | None, float | None], None]
"""Called with a message, the amount that is done, and the total. The numbers are None if they are not known."""


def no_progress(_message: str, _done: float | None = None, _total: float | None = None) -> None:
    """Ignores the report, for callers that show no progress."""


class SharedProgress:
    """Reports to all callers that wait for the same work. A second caller does not start the work again, but waits for
    the first one's."""

    def __init__(self) -> None:
        self._listeners: list[Progress] = []

    def __call__(self, message: str, done: float | None = None, total: float | None = None) -> None:
        for listener in tuple(self._listeners):  # a copy: a listener may end its waiting, and so change the list
            listener(message, done, total)

    @contextmanager
    def reporting_to(self, listener: Progress) -> Iterator[None]:
        self._listeners.append(listener)
        try:
            yield
        finally:
            self._listeners.remove(listener)


QUIET_SECONDS = 0.5
"""Work that takes no longer than this makes no reports: nobody could read them."""
SECONDS_BETWEEN = 0.25


def throttled(progress: Progress, now: Callable[[], float] = time.monotonic) -> Progress:
    """Passes on a few reports per second, and none for quick work, because each report becomes a stored event."""
    due = now() + QUIET_SECONDS

    def report(message: str, done: float | None = None, total: float | None = None) -> None:
        nonlocal due
        if now() >= due:
            due = now() + SECONDS_BETWEEN
            progress(message, done, total)

    return report

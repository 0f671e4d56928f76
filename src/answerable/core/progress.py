"""How long work reports how far it has come."""

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TypeAlias

Progress: TypeAlias = Callable[[str, float | None, float | None], None]
"""Called with a message, how much is done, and how much there is in total. The numbers are None if not known."""


def no_progress(_message: str, _done: float | None = None, _total: float | None = None) -> None:
    """For callers that show no progress."""


class SharedProgress:
    """Reports to everyone who waits for the same work: a second caller does not start it again but waits along."""

    def __init__(self) -> None:
        self._listeners: list[Progress] = []

    def __call__(self, message: str, done: float | None = None, total: float | None = None) -> None:
        for listener in tuple(self._listeners):
            listener(message, done, total)

    @contextmanager
    def reporting_to(self, listener: Progress) -> Iterator[None]:
        self._listeners.append(listener)
        try:
            yield
        finally:
            self._listeners.remove(listener)


QUIET_SECONDS = 0.5
"""Work that takes no longer than this reports nothing: nobody could read it."""
SECONDS_BETWEEN = 0.25


def throttled(progress: Progress, now: Callable[[], float] = time.monotonic) -> Progress:
    """Passes on a few reports per second, and none of quick work. Each report that is passed on is a stored event."""
    due = now() + QUIET_SECONDS

    def report(message: str, done: float | None = None, total: float | None = None) -> None:
        nonlocal due
        if now() >= due:
            due = now() + SECONDS_BETWEEN
            progress(message, done, total)

    return report

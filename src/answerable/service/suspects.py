"""Runs that may be what kills their processes.

A process that dies takes down every run that it carries out, and most of them had nothing to do with it. The store
counts for each run the deaths during which none of its steps ended. A run with several of them is a suspect: a process
carries out one suspect at a time until a step of it ends, so that a run that kills processes is soon alone to blame.
"""

from collections.abc import Callable

from answerable.core.events import Event, StepFailed, StepFinished
from answerable.engine.live import LiveRun
from answerable.store.base import RunRecord

SUSPICIOUS_DEATHS = 2
MOST_DEATHS = 3
"""A run at which so many processes in a row died, and no step ended in between, is not continued."""


class Suspects:
    def __init__(self, cleared: Callable[[], None]) -> None:
        """`cleared` is called when another suspect may be taken."""
        self._under_way: LiveRun | None = None
        self._cleared = cleared

    def must_wait(self, record: RunRecord) -> bool:
        """Whether a run that somebody else left may become a suspect by being taken now, while there is one."""
        return self._under_way is not None and record.owner is not None and record.deaths >= SUSPICIOUS_DEATHS - 1

    def watch(self, live: LiveRun, deaths: int) -> None:
        if deaths < SUSPICIOUS_DEATHS:
            return
        self._under_way = live

        def heard(event: Event) -> None:
            if isinstance(event, StepFinished | StepFailed):
                self.clear(live)

        live.listeners.append(heard)

    def clear(self, live: LiveRun) -> None:
        """A step of the run has ended, or the run has."""
        if self._under_way is live:
            self._under_way = None
            self._cleared()

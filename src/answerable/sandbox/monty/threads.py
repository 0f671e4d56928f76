"""Threads in which Monty is waited for.

A call of Monty takes a tenth of a millisecond: the way into a thread and back must be short. This one has one lock in
each direction, where an executor of the standard library has several.
"""

import asyncio
import threading
from collections.abc import Callable
from contextlib import suppress
from queue import SimpleQueue
from typing import Generic, TypeVar

Outcome = TypeVar("Outcome")


class WorkerThreads(Generic[Outcome]):
    def __init__(self, size: int) -> None:
        self._errands: SimpleQueue[_Errand[Outcome] | None] = SimpleQueue()
        self._threads = [threading.Thread(target=self._work, name="monty", daemon=True) for _ in range(size)]
        for thread in self._threads:
            thread.start()

    async def run(self, job: Callable[[], Outcome], stop: Callable[[], None]) -> Outcome:
        """Cancelled, it calls `stop`, and waits until the job has ended."""
        errand = _Errand(job)
        self._errands.put(errand)  # from here on the thread waits for Python's lock, until this one does
        try:
            return await errand.future
        except asyncio.CancelledError:
            stop()
            await errand.ended()
            raise

    def close(self) -> None:
        """Waits for the jobs that have begun."""
        for _ in self._threads:
            self._errands.put(None)
        for thread in self._threads:
            thread.join()

    def _work(self) -> None:
        while (errand := self._errands.get()) is not None:
            errand.run()


class _Errand(Generic[Outcome]):
    def __init__(self, job: Callable[[], Outcome]) -> None:
        self._job = job
        self._loop = asyncio.get_running_loop()
        self._has_ended = False
        self._awaited_end: asyncio.Future[None] | None = None
        self.future: asyncio.Future[Outcome] = self._loop.create_future()

    def run(self) -> None:
        """In a thread."""
        try:
            outcome = self._job()
        except BaseException as error:  # whoever waits gets it, whatever it is
            self._tell(self.future.set_exception, error)
        else:
            self._tell(self.future.set_result, outcome)

    def _tell(self, how: Callable[..., None], what: object) -> None:
        with suppress(RuntimeError):  # the loop is closed, and nobody waits
            self._loop.call_soon_threadsafe(self._end, how, what)

    def _end(self, how: Callable[..., None], what: object) -> None:
        self._has_ended = True
        if not self.future.done():
            how(what)
        if self._awaited_end is not None:
            self._awaited_end.set_result(None)

    async def ended(self) -> None:
        """Whatever became of the future."""
        if not self._has_ended:
            self._awaited_end = self._loop.create_future()
            await asyncio.shield(self._awaited_end)

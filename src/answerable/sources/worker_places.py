"""The worker processes of all sources together: how many there may be, and what memory they may hold.

A worker that has nothing to do stays for a while, because starting one takes time. It goes when it is not asked again,
or when another source needs its place; the source then starts another one when it is asked next.
"""

import asyncio
import os
from collections.abc import Mapping
from typing import Any

from answerable.sources.worker import SourceWorker

_MB = 1 << 20
_PAGE = os.sysconf("SC_PAGE_SIZE")


class WorkerPlaces:
    """Shared by the pools of all sources. Belongs to one event loop."""

    def __init__(self, most: int = 12, memory_mb: int = 4096) -> None:
        """`most`: processes at once. `memory_mb`: what they may hold together before another one starts."""
        self._most = most
        self._memory_mb = memory_mb
        self.turns = asyncio.Semaphore(most)
        """A worker may be busy only while its pool holds one of these."""
        self._idle: list[tuple[object, SourceWorker]] = []
        """Each with its owner; the one that was used least recently comes first."""
        self._busy: set[SourceWorker] = set()
        self._ending: set[asyncio.Task[None]] = set()
        self._given_back = asyncio.Event()
        self.loading = asyncio.Semaphore(max(1, most // 2))
        """Files that are read into the cache at the same time: this can take long, and questions must not wait."""

    def idle_of(self, owner: object) -> SourceWorker | None:
        """The worker of this owner that was used last, which counts as busy from now on."""
        place = next((i for i in reversed(range(len(self._idle))) if self._idle[i][0] is owner), None)
        if place is None:
            return None
        worker = self._idle.pop(place)[1]
        self._busy.add(worker)
        return worker

    async def started(self, spec: Mapping[str, Any]) -> SourceWorker:
        """A new worker, which counts as busy. Waits while those that are busy hold too much memory."""
        while not self._has_room():
            if self._end_oldest():
                continue
            if not self._busy:
                break
            self._given_back.clear()
            await self._given_back.wait()
        worker = SourceWorker(spec)
        self._busy.add(worker)
        return worker

    def warm(self, owner: object, spec: Mapping[str, Any], idle_seconds: float) -> None:
        """Starts a worker ahead of the first question, if there is room for one."""
        if self._has_room():
            self.give_back(owner, SourceWorker(spec), idle_seconds)

    def give_back(self, owner: object, worker: SourceWorker, idle_seconds: float) -> None:
        """Keeps the worker for the next statement, for so many seconds."""
        self._busy.discard(worker)
        self._idle.append((owner, worker))
        asyncio.get_running_loop().call_later(idle_seconds, self._retire, worker, worker.statements)
        while len(self._idle) > 1 and self._held_mb() > self._memory_mb and self._end_oldest():
            pass
        self._given_back.set()

    def end(self, worker: SourceWorker) -> None:
        self._busy.discard(worker)
        worker.kill()
        task = asyncio.ensure_future(worker.ended())
        self._ending.add(task)
        task.add_done_callback(self._ending.discard)
        self._given_back.set()

    async def end_all_of(self, owner: object) -> None:
        """Ends the idle workers, and waits until all processes that were told to end are gone."""
        while (worker := self.idle_of(owner)) is not None:
            self.end(worker)
        while self._ending:
            await asyncio.wait(self._ending)

    def _has_room(self) -> bool:
        return len(self._busy) + len(self._idle) < self._most and self._held_mb() <= self._memory_mb

    def _end_oldest(self) -> bool:
        if not self._idle:
            return False
        self.end(self._idle.pop(0)[1])
        return True

    def _retire(self, worker: SourceWorker, statements: int) -> None:
        """Lets go of a worker that nobody has asked anything since."""
        place = next((i for i, (_owner, idle) in enumerate(self._idle) if idle is worker), None)
        if place is not None and worker.statements == statements:
            del self._idle[place]
            self.end(worker)

    def _held_mb(self) -> float:
        return sum(_private_bytes(worker.pid) for worker in (*self._busy, *(idle for _owner, idle in self._idle))) / _MB


def _private_bytes(pid: int) -> int:
    """Memory in use that no file backs; 0 if the process is gone or the system does not say."""
    try:
        with open(f"/proc/{pid}/statm", "rb") as file:
            _size, resident, shared, *_ = map(int, file.read().split())
    except (OSError, ValueError):
        return 0
    return (resident - shared) * _PAGE

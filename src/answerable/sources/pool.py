"""The workers over one set of data: a statement gets one to itself, and one that failed badly is replaced."""

import asyncio
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from typing import Any

from answerable.core.errors import AnswerableError, TransientError
from answerable.sources.worker import SourceWorker
from answerable.sources.worker_places import WorkerPlaces

_IDLE_SECONDS = 300.0
"""After this a worker without work ends; the next statement starts another."""
_SPOILING = ("query_memory", "worker_failed", "worker_died", "worker_aborted", "source_unreachable", "engine_broke")
"""After these errors a worker is not used again."""


class WorkerPool:
    def __init__(self, spec: Mapping[str, Any], size: int, places: WorkerPlaces) -> None:
        """`size`: how many statements may run at the same time."""
        self._spec = spec
        self._idle_seconds: float = spec.get("idle_seconds", _IDLE_SECONDS)
        self._own_turns = asyncio.Semaphore(size)
        self._places = places
        self._closed = False
        self.isolation: Mapping[str, str] = {}
        """What is in force in the workers; known once one has opened the data."""

    def warm(self) -> None:
        """Starts a worker ahead of the first question."""
        self._places.warm(self, self._spec, self._idle_seconds)

    async def ask_again(self, do: str, request: Mapping[str, Any], memory_mb: int) -> Any:
        """Like `SourceWorker.ask`, in another worker if the first one dies: what only reads can be repeated."""
        try:
            async with self.worker(memory_mb) as worker:
                return await worker.ask(do, request)
        except TransientError as error:
            if error.stable_code != "worker_died":
                raise
        async with self.worker(memory_mb) as worker:
            return await worker.ask(do, request)

    @asynccontextmanager
    async def worker(self, memory_mb: int) -> AsyncIterator[SourceWorker]:
        async with self._own_turns, self._places.turns:
            worker = await self._taken(memory_mb)
            try:
                await worker.open()
            except BaseException:
                self._places.end(worker)
                raise
            self.isolation = worker.isolation
            try:
                yield worker
            except AnswerableError as error:
                if error.stable_code in _SPOILING:
                    worker.kill()
                raise
            finally:
                self._returned(worker)

    async def _taken(self, memory_mb: int) -> SourceWorker:
        while (worker := self._places.idle_of(self)) is not None:
            if worker.alive and worker.memory_mb >= memory_mb:
                return worker
            self._places.end(worker)
        # The limit of a running worker cannot be raised, so the statement gets a new worker. Later ones start with as
        # much.
        self._spec = {**self._spec, "memory_mb": max(memory_mb, self._spec["memory_mb"])}
        return await self._places.started(self._spec)

    def _returned(self, worker: SourceWorker) -> None:
        if worker.usable and not self._closed:
            self._places.give_back(self, worker, self._idle_seconds)
        else:
            self._places.end(worker)

    async def close(self) -> None:
        """Idle workers end now, busy ones when their statement has."""
        self._closed = True
        await self._places.end_all_of(self)

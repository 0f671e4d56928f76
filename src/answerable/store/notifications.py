"""How processes at one PostgreSQL hear of each other's events: NOTIFY and LISTEN.

A notification is a hint, never the news itself: whoever hears it reads the table, and looks there from time to time in
any case. That is why it is not sent in the transaction of the events (PostgreSQL lets transactions that notify commit
only one after the other), but soon after it, for all runs at once.
"""

import asyncio
import logging
from collections import Counter
from contextlib import suppress
from typing import Any, TypeAlias

import psycopg
from psycopg_pool import AsyncConnectionPool, PoolClosed, PoolTimeout

Connection: TypeAlias = psycopg.AsyncConnection[tuple[Any, ...]]

CHANNEL = "answerable_runs"
GATHERED_SECONDS = 0.03
"""The first news is told at once. After each announcement, runs with news are gathered for this long."""
AGAIN_SECONDS = 1.0
"""How long to wait before listening again when the connection broke."""
_NOTIFY = f"SELECT pg_notify('{CHANNEL}', run) FROM unnest(%s::TEXT[]) AS run"  # noqa: S608 (made of constants of this package)
_log = logging.getLogger("answerable.store")


class Notifications:
    def __init__(self, url: str, pool: AsyncConnectionPool[Connection]) -> None:
        self._url = url
        self._pool = pool
        self._fresh: set[str] = set()
        self._heard: Counter[str] = Counter()
        self._news = asyncio.Event()
        self._telling: asyncio.Task[None] | None = None
        self._listening: asyncio.Task[None] | None = None
        self._ready = asyncio.Event()

    def announce(self, run: str) -> None:
        self._fresh.add(run)
        if self._telling is None or self._telling.done():
            self._telling = asyncio.get_running_loop().create_task(self._tell())

    async def _tell(self) -> None:
        while self._fresh:
            runs, self._fresh = self._fresh, set()
            with suppress(psycopg.Error, PoolTimeout, PoolClosed):  # followers look by themselves, only later
                async with self._pool.connection() as connection:
                    await connection.execute(_NOTIFY, (sorted(runs),))
            await asyncio.sleep(GATHERED_SECONDS)

    async def mark(self, run: str) -> int:
        if self._listening is None or self._listening.done():
            self._ready.clear()
            self._listening = asyncio.get_running_loop().create_task(self._listen())
            with suppress(TimeoutError):
                await asyncio.wait_for(self._ready.wait(), AGAIN_SECONDS)
        return self._heard[run]

    async def beyond(self, run: str, mark: int, seconds: float) -> None:
        with suppress(TimeoutError):
            async with asyncio.timeout(seconds):
                while self._heard[run] == mark:
                    self._news.clear()
                    await self._news.wait()

    async def _listen(self) -> None:
        while True:
            try:
                async with await psycopg.AsyncConnection.connect(self._url, autocommit=True) as connection:
                    await connection.execute(f"LISTEN {CHANNEL}")
                    self._ready.set()
                    async for notification in connection.notifies():
                        self._heard[notification.payload] += 1
                        self._news.set()
            except psycopg.Error as error:
                _log.warning("not listening to the store", extra={"fields": {"reason": str(error).split("\n", 1)[0]}})
            await asyncio.sleep(AGAIN_SECONDS)

    async def close(self) -> None:
        for task in (self._telling, self._listening):
            if task is not None and not task.done():
                task.cancel()
                await asyncio.wait((task,))

"""Clients that ask again and again while harm is done, and what they were promised."""

import asyncio
import itertools
import time
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager

import httpx

from faults.server import Server
from faults.stock import Stock
from faults.work import KINDS, Door, RefusedError, Work

CLIENTS = 4
REPLY_SECONDS = 45.0
"""How long after the harm a request may be unanswered: longer than it takes to adopt a run and to carry it out."""
AT_ONCE = 8


class Load:
    """`allowed`: codes of failures that are an honest outcome of the harm. `first`: the number of the first request; no
    two of one room have the same."""

    def __init__(
        self,
        servers: Sequence[Server],
        *,
        clients: int = CLIENTS,
        kinds: Sequence[Callable[[int], Work]] = KINDS,
        allowed: frozenset[str] = frozenset(),
        first: int = 1,
    ) -> None:
        self._servers = servers
        self._pause = servers[0].room.pause
        self._clients = clients
        self._kinds = kinds
        self._allowed = allowed
        self._numbers = itertools.count(first)
        self._stopped = asyncio.Event()
        self.kept: list[Work] = []
        """What was acknowledged."""
        self.stock = Stock()

    @asynccontextmanager
    async def under_way(self) -> AsyncIterator[None]:
        """In the end every client waits for the reply to its last request."""
        async with self._door() as door:
            clients = [asyncio.create_task(self._ask(door)) for _ in range(self._clients)]
            try:
                yield
            finally:
                self._stopped.set()
                _, unanswered = await asyncio.wait(clients, timeout=REPLY_SECONDS)
                for client in unanswered:
                    client.cancel()
                await asyncio.gather(*clients, return_exceptions=True)
        self.stock.stuck += [f"a client had no reply {REPLY_SECONDS:.0f} s after the harm" for _ in unanswered]
        self.stock.requests = len(self.kept)

    async def more(self, count: int) -> None:
        """Waits until so many requests more are acknowledged."""
        wanted, until = len(self.kept) + count, time.monotonic() + REPLY_SECONDS
        while len(self.kept) < wanted and time.monotonic() < until:  # noqa: ASYNC110
            await asyncio.sleep(0.01)

    async def check(self) -> None:
        """Looks after everything that was acknowledged."""
        free = asyncio.Semaphore(AT_ONCE)

        async def look(work: Work, door: Door) -> None:
            async with free:
                try:
                    async with asyncio.timeout(REPLY_SECONDS):
                        await work.check(door, self.stock)
                except RefusedError as error:
                    self.stock.lost.append(str(error))
                except TimeoutError:
                    self.stock.stuck.append(f"no reply to a look at {work}")

        async with self._door() as door:
            await asyncio.gather(*(look(work, door) for work in self.kept))

    async def _ask(self, door: Door) -> None:
        while not self._stopped.is_set():
            number = next(self._numbers)
            work = self._kinds[number % len(self._kinds)](number)
            try:
                await work.do(door)
                self.kept.append(work)
            except RefusedError as error:
                self.stock.lost.append(str(error))
            await asyncio.sleep(self._pause)

    @asynccontextmanager
    async def _door(self) -> AsyncIterator[Door]:
        bases = [f"{server.url}/api/v1" for server in self._servers]
        clients = [httpx.AsyncClient(base_url=base, timeout=REPLY_SECONDS) for base in bases]
        try:
            yield Door(clients, self._allowed)
        finally:
            for client in clients:
                await client.aclose()

"""Writes pages in a thread. Those that come while others are being written are written together."""

import asyncio
from collections.abc import Callable, Sequence

from answerable.okta.sync.jobs import SyncJob
from answerable.okta.sync.page_rows import ListPage

_MOST = 64
"""Pages in one transaction."""


class PageWriter:
    def __init__(self, write: Callable[[Sequence[ListPage]], list[list[SyncJob]]]) -> None:
        self._write = write
        self._waiting: list[tuple[ListPage, asyncio.Future[list[SyncJob]]]] = []
        self._writing: asyncio.Task[None] | None = None

    async def write(self, page: ListPage) -> list[SyncJob]:
        """Returns the jobs that the page gives rise to, once the page is written for good."""
        written: asyncio.Future[list[SyncJob]] = asyncio.get_running_loop().create_future()
        self._waiting.append((page, written))
        if self._writing is None or self._writing.done():
            self._writing = asyncio.create_task(self._write_waiting())
        return await written

    async def close(self) -> None:
        """Waits for what is being written. Pages that wait for their turn are dropped."""
        self._waiting.clear()
        if self._writing is not None:
            await asyncio.gather(self._writing, return_exceptions=True)

    async def _write_waiting(self) -> None:
        while self._waiting:
            batch, self._waiting = self._waiting[:_MOST], self._waiting[_MOST:]
            try:
                jobs = await asyncio.to_thread(self._write, [page for page, _ in batch])
            except Exception as error:  # whoever waits for a page gets it
                for _, written in batch:
                    if not written.done():
                        written.set_exception(error)
            else:
                for (_, written), new in zip(batch, jobs, strict=True):
                    if not written.done():
                        written.set_result(new)

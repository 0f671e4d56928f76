"""A run of this process, as far as those who watch it need to know: something new was stored."""

import asyncio

from answerable.core.errors import AnswerableError
from answerable.core.events import Event


class LiveRun:
    """Listens to the engine."""

    def __init__(self) -> None:
        self.task: asyncio.Task[None] | None = None
        self.failure: AnswerableError | None = None
        self._count = 0
        self._ended = False
        self._news = asyncio.Event()

    def __call__(self, event: Event) -> None:
        self._count += 1
        self._news.set()

    def end(self) -> None:
        self._ended = True
        self._news.set()

    def mark(self) -> int:
        return self._count

    async def beyond(self, mark: int) -> None:
        while self._count == mark and not self._ended:
            self._news.clear()
            await self._news.wait()

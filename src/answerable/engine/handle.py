"""A run that is on its way: wait for it, watch it, or cancel it."""

import asyncio
from collections.abc import AsyncIterator, Generator, Iterable
from typing import Any

from answerable.core.context import RunContext
from answerable.core.events import Event
from answerable.engine.journal import Listener
from answerable.engine.outcome import Outcome
from answerable.store.base import Events


class Handle:
    """`await handle` gives the outcome; cancelling whoever awaits it stops the run. Watching it does neither."""

    task: asyncio.Task[Outcome]

    def __init__(self, context: RunContext, events: Events | None, listeners: Iterable[Listener]) -> None:
        self.context = context
        self.listeners = list(listeners)
        self.reason: str | None = None
        """Why somebody cancelled it."""
        self._events = events
        self._under_way = False

    def __await__(self) -> Generator[Any, None, Outcome]:
        return self.task.__await__()

    def cancel(self, reason: str = "cancelled") -> None:
        """Cancels the run for good: running steps are interrupted, and it is never taken up again. A run whose steps
        have all ended is over."""
        if not self.task.done() and self.reason is None:
            self.reason = reason
            if self._under_way:
                self.task.cancel()

    def set_out(self) -> None:
        """From now on a cancellation can be stored; one that came earlier takes effect here."""
        self._under_way = True
        if self.reason is not None:
            raise asyncio.CancelledError

    def arrive(self) -> None:
        """From now on it is too late to cancel."""
        self._under_way = False

    def events(self, after: int = 0) -> AsyncIterator[Event]:
        """Every event with a higher number until the run has ended: those that are stored, then others as they happen.
        Without a store, only those that happen from now on."""
        news: asyncio.Queue[Event | None] = asyncio.Queue()
        self.listeners.append(news.put_nowait)
        self.task.add_done_callback(lambda _: news.put_nowait(None))
        return self._watch(news, after)

    async def _watch(self, news: asyncio.Queue[Event | None], after: int) -> AsyncIterator[Event]:
        try:
            if self._events is not None:
                for event in await self._events.read(self.context.principal, self.context.run, after=after):
                    after = event.seq
                    yield event
            while (latest := await news.get()) is not None:
                if latest.seq > after:
                    yield latest
        finally:
            self.listeners.remove(news.put_nowait)

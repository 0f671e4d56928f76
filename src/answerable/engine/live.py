"""A run that this process carries out: wait for it, follow it, or cancel it."""

import asyncio
from collections.abc import AsyncIterator, Generator, Iterable
from typing import Any

from answerable.core.context import RunContext
from answerable.core.errors import AnswerableError
from answerable.core.events import TERMINAL, Event, StepOutput
from answerable.engine.journal import Listener
from answerable.engine.outcome import Outcome
from answerable.engine.segments import Label, TextSeen, is_text, label_of, pieces_in
from answerable.store.base import Events, Lease

EVENTS_PER_READ = 1_000
"""How many stored events are read at once for a follower that catches up."""


class LiveRun:
    """`await live` gives the outcome; cancelling whoever awaits it stops the run. Following it does neither."""

    task: asyncio.Task[Any]

    def __init__(
        self,
        context: RunContext,
        events: Events | None,
        listeners: Iterable[Listener] = (),
        lease: Lease | None = None,
    ) -> None:
        self.context = context
        self.lease = lease or Lease(context.run, 0)
        """Token 0 is never that of a stored run: without a lease, only a run in memory can be carried out."""
        self.listeners = list(listeners) if events is None else [*listeners, self._heard]
        self.reason: str | None = None
        """Why somebody cancelled it."""
        self.failure: AnswerableError | None = None
        """Why it could not be recorded to its end."""
        self._events = events
        self._under_way = False
        self._last = 0
        self._open: dict[Label, list[StepOutput]] = {}
        self._changes = 0
        self._news = asyncio.Event()

    def __await__(self) -> Generator[Any, None, Outcome]:
        return self.task.__await__()

    def carry(self, task: asyncio.Task[Any]) -> None:
        self.task = task
        task.add_done_callback(lambda _: self._changed())

    # Cancelling

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

    # Following

    def events(self, after: int = 0) -> AsyncIterator[Event]:
        """Every event with a higher number until the run has ended or is left: those that are stored, then others as
        they happen, and text as it comes. The end is told when the task is done. Without a store, only events that
        happen from now on."""
        if self._events is not None:
            return self._followed(self._events, after)
        heard: asyncio.Queue[Event | None] = asyncio.Queue()
        self.listeners.append(heard.put_nowait)
        self.task.add_done_callback(lambda _: heard.put_nowait(None))
        return self._overheard(heard)

    async def begun(self) -> None:
        """Returns when the first event is stored, or the run is over."""
        while not self._last and not self.task.done():
            await self._beyond(self._changes)

    def piece(self, piece: StepOutput) -> None:
        """Told by the journal: text that will be stored later, with the text that follows it."""
        self._open.setdefault(label_of(piece), []).append(piece)
        self._changed()

    def _heard(self, event: Event) -> None:
        self._last = event.seq
        if isinstance(event, StepOutput) and is_text(event.channel, event.data):
            del self._open.get(label_of(event), [])[: pieces_in(event)]
        self._changed()

    def _changed(self) -> None:
        self._changes += 1
        self._news.set()

    async def _beyond(self, changes: int) -> None:
        while self._changes == changes:
            self._news.clear()
            await self._news.wait()

    async def _followed(self, events: Events, after: int) -> AsyncIterator[Event]:
        seen = TextSeen()
        while True:
            changes, over = self._changes, self.task.done()
            page = await events.read(self.context.principal, self.context.run, after=after, limit=EVENTS_PER_READ)
            for event in page:
                after = event.seq
                if isinstance(event, TERMINAL):
                    await asyncio.wait((self.task,))  # what the end brings with it is stored before the end is told
                yield seen.rest_of(event)
            if len(page) == EVENTS_PER_READ or after < self._last:
                continue
            if after == self._last:  # otherwise the store is ahead of what was heard here, and so of the open text
                for piece in seen.unsent(self._open):
                    yield piece
            if over:
                return
            await self._beyond(changes)

    async def _overheard(self, heard: "asyncio.Queue[Event | None]") -> AsyncIterator[Event]:
        try:
            while (event := await heard.get()) is not None:
                yield event
        finally:
            self.listeners.remove(heard.put_nowait)

"""A run that this process carries out: wait for it, follow it, or cancel it."""

import asyncio
from collections.abc import AsyncIterator, Generator, Iterable
from typing import Any

from answerable.answers.answer import Answer
from answerable.core.context import RunContext
from answerable.core.errors import AnswerableError
from answerable.core.events import TERMINAL, Event, StepOutput
from answerable.engine.journal import EndOf, Listener
from answerable.engine.outcome import Outcome
from answerable.engine.segments import Label, TextSeen, is_text, label_of, pieces_in
from answerable.engine.turns import Place
from answerable.store.base import Events, Lease

EVENTS_PER_READ = 1_000
"""Stored events that are read at once for a follower that catches up. Bounds the memory of a follower."""


class LiveRun:
    """`await live` returns the outcome. Cancelling the task that awaits it stops the run; cancelling a follower does
    not."""

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
        """No stored run has the token 0: without a lease, only a run in memory can be carried out."""
        self.listeners = list(listeners) if events is None else [*listeners, self._heard]
        self.place: Place | None = None
        """Its place among the runs that wait for their turn, if it got one before it began."""
        self.reason: str | None = None
        """Why somebody cancelled it."""
        self.pausing = asyncio.Event()
        """Set when somebody wants it to pause: no further step starts."""
        self.paused_by: str | None = None
        self.end_of: EndOf | None = None
        """What is stored together with its last event."""
        self.failure: AnswerableError | None = None
        """Why it could not be recorded to its end."""
        self.answer: Answer | None = None
        """Its answer, which is stored together with the end of the run. It counts once the task is done."""
        self._events = events
        self._under_way = False
        """Whether a cancellation can be stored now."""
        self._last = 0
        """The number of the last stored event."""
        self._open: dict[Label, list[StepOutput]] = {}
        """Streamed text that is not stored yet."""
        self._changes = 0
        """Counts changes, so that a follower sees those that happen while it reads the store."""
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
            # Before `set_out` the start of the run is not recorded yet; `set_out` then finds the reason. After `arrive`
            # it is too late.
            if self._under_way:
                self.task.cancel()

    def set_out(self) -> None:
        """Called when cancellations can be stored from now on. A cancellation that came earlier takes effect here."""
        self._under_way = True
        if self.reason is not None:
            raise asyncio.CancelledError

    def arrive(self) -> None:
        """Called when it is too late to cancel: all steps have ended, and the end is about to be stored."""
        self._under_way = False

    def pause(self, by: str) -> None:
        """Lets the steps that are under way end, and starts no other. The run then waits until somebody resumes it."""
        if self.paused_by is None:
            self.paused_by = by
            self.pausing.set()

    # Following

    def events(self, after: int = 0) -> AsyncIterator[Event]:
        """Yields every event with a number above `after` until the run ends or this process leaves it: first stored
        events, then new ones, with streamed text at once. The last event comes when the task is done. Without a store,
        yields only events that happen from now on."""
        if self._events is not None:
            return self._followed(self._events, after)
        heard: asyncio.Queue[Event | None] = asyncio.Queue()
        self.listeners.append(heard.put_nowait)
        self.task.add_done_callback(lambda _: heard.put_nowait(None))
        return self._overheard(heard)

    def piece(self, piece: StepOutput) -> None:
        """Called by the journal with streamed text that will be stored later, together with the text that follows."""
        self._open.setdefault(label_of(piece), []).append(piece)
        self._changed()

    def _heard(self, event: Event) -> None:
        self._last = event.seq
        if isinstance(event, StepOutput) and is_text(event.channel, event.data):
            # These pieces are stored now, so followers read them from the store.
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
            # Both are noted before the read: an event that is stored during the read counts as a change, so the
            # follower reads once more instead of waiting for ever or ending too early.
            changes, over = self._changes, self.task.done()
            page = await events.read(self.context.principal, self.context.run, after=after, limit=EVENTS_PER_READ)
            for event in page:
                after = event.seq
                if isinstance(event, TERMINAL):
                    # The task also stores what belongs to the end, such as the status. Clients hear of the end later.
                    await asyncio.wait((self.task,))
                yield seen.rest_of(event)
            if len(page) == EVENTS_PER_READ or after < self._last:
                continue
            # If the store is ahead of the events heard here, `_open` still holds pieces that the page contained.
            if after == self._last:
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

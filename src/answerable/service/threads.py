"""Threads: conversations, found, named, pinned, shared, forked and deleted."""

from datetime import timedelta

from answerable.core.clock import Clock
from answerable.core.context import Principal
from answerable.core.ids import MessageId, ThreadId
from answerable.store.base import Store
from answerable.store.conversation import fork

RESTORABLE = timedelta(days=30)
"""For so long a deleted thread can be restored."""


class ThreadService:
    def __init__(self, store: Store, clock: Clock) -> None:
        self._store = store
        self._clock = clock

    async def fork(self, thread: ThreadId, message: MessageId, principal: Principal, *, include: bool) -> ThreadId:
        """A new thread that begins like another one: up to a message, or up to just before it."""
        return await fork(self._store.threads, principal, thread, message, include=include)

    async def purge(self) -> None:
        """Removes for good the threads that were deleted long ago."""
        await self._store.threads.purge(self._clock.now() - RESTORABLE)

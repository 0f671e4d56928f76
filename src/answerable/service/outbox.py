"""Delivers what the store's outbox holds, at least once, to the handlers that `answerable.app` registers."""

import asyncio
import logging
from collections.abc import Awaitable, Callable, Mapping, Sequence
from typing import TypeAlias

from answerable.core.errors import AnswerableError
from answerable.store.base import Store
from answerable.store.protocols.outbox import Notice

Handler: TypeAlias = Callable[[Notice], Awaitable[None]]
"""Gets each notice of its topics at least once, and those of one run in order. If it raises, the notice is delivered
again later."""
POLL_SECONDS = 0.5
FIRST_DELAY, LONGEST_DELAY = 1.0, 300.0
_log = logging.getLogger("answerable.outbox")


class OutboxDelivery:
    def __init__(self, store: Store, handlers: Mapping[str, Sequence[Handler]]) -> None:
        self._outbox = store.outbox
        self._handlers = handlers
        self._task: asyncio.Task[None] | None = None
        self._delivering = asyncio.Lock()
        """One at a time, because a process may claim its own notices again."""

    def keep_delivering(self) -> None:
        """Delivers notices from now on. For a process that stays, such as a server."""
        self._task = asyncio.create_task(self._deliver_for_ever(), name="outbox")

    async def deliver(self) -> int:
        """Tries each notice that is due once; returns how many were delivered."""
        async with self._delivering:
            count = 0
            try:
                while notices := await self._outbox.claim():
                    for notice in notices:
                        count += await self._deliver(notice)
            finally:
                self._outbox.rest()
            return count

    async def _deliver(self, notice: Notice) -> bool:
        try:
            for handler in self._handlers.get(notice.topic, ()):
                await handler(notice)
        except Exception as error:  # a handler is a guest: whatever it raises, the notice is not lost
            fields = {"run": notice.stream, "topic": notice.topic, "attempt": notice.attempt, "reason": str(error)}
            _log.warning("notice not delivered", extra={"fields": fields})
            await self._outbox.failed(notice, min(FIRST_DELAY * 2 ** (notice.attempt - 1), LONGEST_DELAY))
            return False
        await self._outbox.delivered(notice)
        return True

    async def _deliver_for_ever(self) -> None:
        while True:
            try:
                await self.deliver()
            except AnswerableError as error:  # the store may be back the next time
                _log.warning("outbox not read", extra={"fields": {"code": error.stable_code, "reason": str(error)}})
            await asyncio.sleep(POLL_SECONDS)

    async def close(self) -> None:
        if self._task is not None:
            self._task.cancel()
            await asyncio.wait((self._task,))

"""Requests with an Idempotency-Key: each is carried out once, however often it comes, and at whichever server."""

import asyncio
from collections.abc import Awaitable, Callable

from answerable.core.clock import Clock
from answerable.core.context import Principal
from answerable.core.errors import OperatorError, TransientError
from answerable.core.ids import RunId, new_run_id
from answerable.store.base import Store
from answerable.store.protocols.keys import KeyClaim

LOOK_SECONDS = 0.05
LONGEST_WAIT = 10.0


class KeyedAttempt:
    """What the one who carries a request out knows of earlier attempts that were cut off by the death of a process."""

    def __init__(self, store: Store, principal: Principal, key: str, claim: KeyClaim) -> None:
        self._keys = store.keys
        self._principal = principal
        self._key = key
        self.run: RunId = claim.run
        """Chosen before the first attempt: what gets an id from it is not made twice."""
        self.note = claim.note
        """What an earlier attempt has remembered."""

    async def remember(self, note: str) -> None:
        """Stores a value before the work that uses it begins, so that a repeated request does the work in the same
        way."""
        await self._keys.remember(self._principal, self._key, note)
        self.note = note


class KeyedRequestService:
    def __init__(self, store: Store, clock: Clock) -> None:
        self._store = store
        self._clock = clock
        self._under_way: set[tuple[Principal, str]] = set()
        """What this process carries out now."""
        self._settling: set[asyncio.Task[None]] = set()

    async def once(
        self, key: str, fingerprint: str, principal: Principal, carry_out: Callable[[KeyedAttempt], Awaitable[str]]
    ) -> str:
        """Returns the reply of the first request with this key. `fingerprint`: of the request. A failure is not
        kept: whoever asks again tries again."""
        claim = await self._claimed(key, fingerprint, principal)
        if claim.reply is not None:
            return claim.reply
        reply = None
        self._under_way.add((principal, key))
        try:
            reply = await carry_out(KeyedAttempt(self._store, principal, key, claim))
        finally:
            await self._settle(principal, key, reply)
        return reply

    async def _claimed(self, key: str, fingerprint: str, principal: Principal) -> KeyClaim:
        """Waits for somebody else who carries the same request out."""
        run, until = new_run_id(), self._clock.monotonic() + LONGEST_WAIT
        while True:
            claim = await self._store.keys.claim(principal, key, fingerprint, run)
            if claim.mine or claim.reply is not None:
                return claim
            if claim.here and (principal, key) not in self._under_way:
                # It was claimed, but the store failed before this was known.
                await self._store.keys.finish(principal, key, None)
                continue
            if self._clock.monotonic() > until:
                raise TransientError(
                    "The same request is still being carried out.",
                    code="request_under_way",
                    hint="Send it again with the same key.",
                    retry_after=1,
                )
            await asyncio.sleep(LOOK_SECONDS)

    async def _settle(self, principal: Principal, key: str, reply: str | None) -> None:
        try:
            await self._store.keys.finish(principal, key, reply)
        except OperatorError:
            # The request has been carried out, and those who repeat it must hear that when the store is back.
            task = asyncio.create_task(self._settle_patiently(principal, key, reply), name="reply to a key")
            self._settling.add(task)
            task.add_done_callback(self._settling.discard)
        else:
            self._under_way.discard((principal, key))

    async def _settle_patiently(self, principal: Principal, key: str, reply: str | None) -> None:
        await (self._store.patient or self._store).keys.finish(principal, key, reply)
        self._under_way.discard((principal, key))

    async def close(self) -> None:
        for task in self._settling:
            task.cancel()
        await asyncio.gather(*self._settling, return_exceptions=True)

"""A server that stops between what a request changed and the storing of its reply: it carries every request with a key
out, prints the key, and never replies. Given to `started_server` as `changed_by`."""

import asyncio

from answerable.core.context import Principal
from answerable.store.keys import SqlIdempotencyKeys
from answerable.store.leases import Leases

LEASE_SECONDS = 1.0
"""Short, so that the next server soon knows that this one is dead."""
CARRIED_OUT = "carried out with the key "


def change() -> None:
    finish = SqlIdempotencyKeys.finish

    async def unreplied(self: SqlIdempotencyKeys, principal: Principal, key: str, reply: str | None) -> None:
        if reply is None:
            await finish(self, principal, key, reply)
            return
        print(f"{CARRIED_OUT}{key}", flush=True)
        await asyncio.Event().wait()

    SqlIdempotencyKeys.finish = unreplied  # type: ignore[method-assign]
    Leases.__init__.__defaults__ = (LEASE_SECONDS,)

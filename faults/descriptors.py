"""A server that may open no more files for a while: what it says is true, and it recovers."""

import asyncio
import os
import resource

from faults.load import Load
from faults.server import Room
from faults.stock import Stock
from faults.stocktaking import take_stock

ROUNDS = 5
SECONDS = 2.0
SPARE = (0, 1, 2, 4, 8)
"""How many descriptors more than it uses the server may have, round by round."""
HONEST = frozenset({"descriptors_exhausted", "store_unavailable"})
"""What a request may be refused with meanwhile."""


async def harmed(room: Room, rounds: int) -> Stock:
    server = room.serve()
    load = Load([server], allowed=HONEST)
    async with load.under_way():
        await load.more(8)
        for number in range(rounds):
            used = max(int(name) for name in os.listdir(f"/proc/{server.pid}/fd"))
            before = server.limit(resource.RLIMIT_NOFILE, used + 1 + SPARE[number % len(SPARE)])
            await asyncio.sleep(SECONDS)
            resource.prlimit(server.pid, resource.RLIMIT_NOFILE, before)
            await load.more(8)
    return await take_stock(load, room, room.store_file)

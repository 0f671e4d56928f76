"""`kill -9` at a moment of chance, again and again, of a server with its store in SQLite."""

import asyncio
import random

from faults.load import Load
from faults.server import Room
from faults.stock import Stock
from faults.stocktaking import take_stock

ROUNDS = 20
LONGEST_SECONDS = 1.5


async def harmed(room: Room, rounds: int) -> Stock:
    server = room.serve()
    load = Load([server])
    moments = random.Random(1)
    async with load.under_way():
        for _ in range(rounds):
            await load.more(2)
            await asyncio.sleep(moments.uniform(0, LONGEST_SECONDS))
            server.kill()
            await asyncio.to_thread(server.start)
        await load.more(4)
    return await take_stock(load, room, room.store_file)

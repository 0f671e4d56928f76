"""Many questions for a long time: memory, processes, descriptors and temporary files stay bounded."""

import asyncio
import os
from pathlib import Path

from faults.load import Load
from faults.server import Room, Server, descendants
from faults.stock import Stock
from faults.stocktaking import take_stock
from faults.work import Followed, Named, Program, Question

ROUNDS = 60
ROUND_SECONDS = 5.0
GROWTH_MB = 150.0
MORE_DESCRIPTORS = 30
MORE_PROCESSES = 10


async def harmed(room: Room, rounds: int) -> Stock:
    server = room.serve()
    load = Load([server], kinds=(Question, Followed, Program, Named))
    async with load.under_way():
        await load.more(16)  # all workers have started
        memory, descriptors, processes = _use(server)
        await asyncio.sleep(rounds * ROUND_SECONDS)
    after = _use(server)
    for what, most in (
        (f"the server grew from {memory:.0f} to {after[0]:.0f} MB", after[0] > memory + GROWTH_MB),
        (f"open files grew from {descriptors} to {after[1]}", after[1] > descriptors + MORE_DESCRIPTORS),
        (f"processes grew from {processes} to {after[2]}", after[2] > processes + MORE_PROCESSES),
    ):
        load.stock.orphaned += [what] if most else []
    return await take_stock(load, room, room.store_file)


def _use(server: Server) -> tuple[float, int, int]:
    """Megabytes of memory and open files of the server, and how many processes it has."""
    pages = int(Path(f"/proc/{server.pid}/statm").read_text().split()[1])
    memory = pages * os.sysconf("SC_PAGE_SIZE") / 1_000_000
    return memory, len(os.listdir(f"/proc/{server.pid}/fd")), len(descendants(server.pid))

"""The disk with the home folder is full for a while."""

import asyncio
import resource
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager, suppress

import httpx

from faults.load import Load
from faults.server import Room, Server
from faults.stock import Stock
from faults.stocktaking import take_stock
from faults.work import Followed, Named, Program, Question

ROUNDS = 5
FULL_SECONDS = 2.0
DISK = "size=64m"
HONEST = frozenset({"store_full", "home_unwritable"})
"""What a request may be refused with while the disk is full. A run waits for space, and does not fail."""


async def harmed(room: Room, rounds: int) -> Stock:
    with _small_disk(room) as mounted:
        server = room.serve()
        load = Load([server], kinds=(Question, Followed, Program, Named), allowed=HONEST)
        async with load.under_way():
            for _ in range(rounds):
                await load.more(4)
                with _full(room, server, mounted):
                    await _wait_for_refusal(server, load.stock)
                    await asyncio.sleep(FULL_SECONDS)
            await load.more(4)
        return await take_stock(load, room, room.store_file)


@contextmanager
def _small_disk(room: Room) -> Iterator[bool]:
    """A file system of its own where one can be mounted."""
    room.home.mkdir()
    command = ["mount", "-t", "tmpfs", "-o", DISK, "tmpfs", str(room.home)]
    mounted = subprocess.run(command, capture_output=True).returncode == 0
    try:
        yield mounted
    finally:
        room.close()
        if mounted:
            subprocess.run(["umount", "--lazy", str(room.home)], check=True)


@contextmanager
def _full(room: Room, server: Server, mounted: bool) -> Iterator[None]:
    """A file that takes all space; without a file system of its own, a limit on the size of files."""
    if not mounted:
        before = server.limit(resource.RLIMIT_FSIZE, 1)
        yield
        resource.prlimit(server.pid, resource.RLIMIT_FSIZE, before)
        return
    ballast = room.home / "ballast"
    with ballast.open("wb", buffering=0) as file, suppress(OSError):
        for size in (1 << 20, 1 << 12, 1):
            with suppress(OSError):
                while True:
                    file.write(b"z" * size)
    yield
    ballast.unlink()


async def _wait_for_refusal(server: Server, stock: Stock) -> None:
    """Until the server says that it cannot take questions."""
    async with httpx.AsyncClient(base_url=server.url, timeout=10) as client:
        for _ in range(100):
            if (await client.get("/readyz")).status_code == 503:
                return
            await asyncio.sleep(0.1)
    stock.lost.append("the disk was full, and /readyz said that all is well")

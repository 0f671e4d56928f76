"""The store goes away under a server, and comes back: PostgreSQL stops, then another process holds SQLite's lock."""

import asyncio
import sqlite3
import time
from contextlib import closing

import httpx

from faults.load import Load
from faults.postgres import own_postgres
from faults.server import Room, Server
from faults.stock import Stock
from faults.stocktaking import take_stock

ROUNDS = 5
AWAY_SECONDS = 2.0
"""Of the first round; each further round is a second longer."""
HEALTH_SECONDS = 1.0
"""A server whose store is away answers `/healthz` all the same: it lives."""


async def harmed(room: Room, rounds: int) -> Stock:
    with own_postgres() as postgres:
        server = room.serve(ANSWERABLE_STORE=postgres.url)
        load = Load([server])
        async with load.under_way():
            for number in range(rounds):
                await load.more(4)
                await postgres.stop()
                await _watch_health(server, load.stock, AWAY_SECONDS + number)
                await postgres.start()
            await load.more(4)
        stock = await take_stock(load, room, postgres.url)
    return await _locked(room, rounds, stock)


async def _locked(room: Room, rounds: int, before: Stock) -> Stock:
    server = room.serve()
    load = Load([server], first=100_000)
    async with load.under_way():
        for number in range(rounds):
            await load.more(4)
            with closing(sqlite3.connect(room.store_file, isolation_level=None, timeout=30)) as other:
                other.execute("BEGIN IMMEDIATE")
                await _watch_health(server, load.stock, AWAY_SECONDS + number)
        await load.more(4)
    stock = await take_stock(load, room, room.store_file)
    stock.add(before)
    return stock


async def _watch_health(server: Server, stock: Stock, seconds: float) -> None:
    until = time.monotonic() + seconds
    async with httpx.AsyncClient(base_url=server.url) as client:
        while time.monotonic() < until:
            began = time.monotonic()
            try:
                await client.get("/healthz", timeout=HEALTH_SECONDS)
            except httpx.TimeoutException:
                stock.stuck.append(f"/healthz did not answer within {HEALTH_SECONDS:.0f} s")
            await asyncio.sleep(max(0.0, 0.2 - (time.monotonic() - began)))

"""Looks at everything that was acknowledged, then at the store, the folders and the processes."""

import asyncio
import time
from collections import Counter
from pathlib import Path
from typing import Any

import orjson

from answerable.store.database import SqlDatabase
from answerable.store.open import open_store
from faults.load import Load
from faults.server import Room
from faults.stock import Stock

END_SECONDS = 20.0
"""How long after the harm a run may still be under way: 10 s until it is adopted, and its own time."""
UNENDED = "SELECT run_id FROM runs WHERE status = 'running'"
ORPHANS = {
    "a message without its run": (
        "SELECT message_id FROM messages WHERE run_id IS NOT NULL"
        " AND NOT EXISTS (SELECT 1 FROM runs WHERE runs.run_id = messages.run_id)"
    ),
    "a run without its question": (
        "SELECT run_id FROM runs WHERE thread_id IS NOT NULL AND question IS NOT NULL AND NOT EXISTS"
        " (SELECT 1 FROM messages WHERE messages.run_id = runs.run_id AND role = 'user')"
    ),
    "a lease that holds although every server has stopped": (
        "SELECT owner FROM owners WHERE abs({now} - renewed) < seconds"
    ),
    "periodic work under way": "SELECT name FROM jobs WHERE owner IS NOT NULL",
    "a request to a run that has ended": (
        "SELECT run_id FROM run_requests JOIN runs USING (run_id)"
        " WHERE taken_at IS NULL AND status NOT IN ('running', 'waiting')"
    ),
    "an end of a run that was not announced": "SELECT stream FROM outbox WHERE delivered_at IS NULL",
    "an edit that is not settled": "SELECT edit_id FROM semantic_edits WHERE owner IS NOT NULL",
    "a reservation of a budget": "SELECT reservation_id FROM reservations",
}
TWICE = {
    "messages": (
        "SELECT run_id, role FROM messages WHERE run_id IS NOT NULL GROUP BY run_id, role HAVING count(*) > 1"
    ),
    "runs of one question": "SELECT question FROM runs GROUP BY question HAVING count(*) > 1",
    "ends": (
        "SELECT run_id FROM events WHERE type IN ('run.finished', 'run.failed', 'run.cancelled')"
        " GROUP BY run_id HAVING count(*) > 1"
    ),
}
FINISHED = "SELECT run_id, body FROM events WHERE type = 'step.finished'"


async def take_stock(load: Load, room: Room, store_url: str) -> Stock:
    """Needs servers that run; stops them."""
    stock = load.stock
    store = await open_store(store_url, artifacts=room.home / "artifacts")
    database: Any = store.database
    try:
        stock.stuck += await _unended(database)
        await load.check()
        for server in room.servers:
            await asyncio.to_thread(server.stop)
        await _look_at_store(database, stock)
    finally:
        await store.close()
    stock.orphaned += [line for server in room.servers for line in server.orphans()]
    stock.orphaned += [f"the file {path}" for path in _left_files(room)]
    return stock


async def _unended(database: SqlDatabase) -> list[str]:
    until = time.monotonic() + END_SECONDS
    while (running := await database.rows(UNENDED)) and time.monotonic() < until:  # noqa: ASYNC110
        await asyncio.sleep(0.1)
    return [f"{run} has not ended" for (run,) in running]


async def _look_at_store(database: SqlDatabase, stock: Stock) -> None:
    for what, query in ORPHANS.items():
        stock.orphaned += [f"{what}: {row[0]}" for row in await database.rows(query.format(now=database.now))]
    for what, query in TWICE.items():
        stock.doubled += [f"{what} twice: {row}" for row in await database.rows(query)]
    steps = Counter((run, orjson.loads(body)["node"]) for run, body in await database.rows(FINISHED))
    stock.doubled += [
        f"{run} finished its step {node} {count} times" for (run, node), count in steps.items() if count > 1
    ]


def _left_files(room: Room) -> list[Path]:
    """What is still in the folders for files that are being written."""
    folders = (room.temporary, room.home / "artifacts" / "staging", room.home / "uploads" / ".staging")
    partial = [path for path in room.home.rglob(".*") if path.is_file()]
    return [*partial, *(path for folder in folders if folder.is_dir() for path in folder.iterdir())]

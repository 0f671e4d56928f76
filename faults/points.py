"""`kill -9` of one of three workers on PostgreSQL at every commit and write of a drawn graph; the others go on."""

import asyncio
import os
import signal
import sys
from collections import Counter
from collections.abc import Awaitable, Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

from answerable.core.ids import RunId, new_run_id
from answerable.engine.steps.api import ApiStep
from answerable.store.events import SqlEvents
from faults.graph_points import chosen, graph_text
from faults.graphs import NARROW, WIDTH
from faults.postgres import own_postgres
from faults.server import Room
from faults.stock import Stock
from faults.workers import Runs, Worker, workers_on

ROUNDS = 1_000
POINTS_PER_ROUND = 4
AT_ONCE = 4
LONG = 300.0
"""Seconds for the runs of a batch: each may lose its worker several times, and a lease lapses after seven seconds."""
FUSES = Path("fuses")
"""A file for each run that is to lose its worker, with the number of the point. Below the folder of the workers."""


async def harmed(room: Room, rounds: int) -> Stock:
    width, stock = WIDTH if rounds >= ROUNDS else NARROW, Stock()
    fuses = room.folder / FUSES
    fuses.mkdir()
    with own_postgres() as postgres:
        async with workers_on(room, postgres.url, changed_by=__name__) as (runs, workers):
            runs.text, runs.writes = graph_text(width), _writes(width)
            raising = asyncio.create_task(_keep_alive(workers))
            whole = new_run_id()
            (fuses / f"{whole}.count").touch()
            await _carried(runs, stock, [whole])
            points = len((fuses / f"{whole}.count").read_bytes())
            left = list(chosen(points, rounds * POINTS_PER_ROUND))
            missed = await _killed_at(left, AT_ONCE, fuses, runs, stock)
            if rounds >= ROUNDS:
                # A worker that dies of one run's fuse takes others along before they reach theirs: these run alone.
                missed = await _killed_at(missed, 1, fuses, runs, stock)
            print(f"points: {points} points, {len(missed)} of {len(left)} not reached: {missed}", file=sys.stderr)
            raising.cancel()
    return stock


async def _killed_at(points: Sequence[int], at_once: int, fuses: Path, runs: Runs, stock: Stock) -> list[int]:
    """Runs the graph once for each point. Returns the points that no worker reached in its run."""
    missed: list[int] = []
    for batch in _batched(points, at_once):
        new = {new_run_id(): point for point in batch}
        for run, point in new.items():
            (fuses / run).write_text(str(point))
        await _carried(runs, stock, list(new))
        missed += [point for run, point in new.items() if (fuses / run).exists()]
    return missed


def _batched(points: Sequence[int], size: int) -> Iterator[Sequence[int]]:
    return (points[start : start + size] for start in range(0, len(points), size))


async def _carried(runs: Runs, stock: Stock, new: Sequence[RunId]) -> None:
    for run in new:
        await runs.begin_one(run)
    stock.requests += len(new)
    await runs.ended(new, LONG)
    await runs.judged(stock, new)


async def _keep_alive(workers: list[Worker]) -> None:
    """Starts another worker for each that was killed."""
    while True:
        for worker in workers:
            if worker.process.poll() is not None:
                await asyncio.to_thread(worker.restart)
        await asyncio.sleep(0.1)


def _writes(width: int) -> Sequence[str]:
    of_items = (f"items/{number}/send" for number in range(width))
    return ("taken", "sub/inner", "rounds/1/pay", "rounds/2/pay", *of_items, *(f"write_{n}" for n in range(width)))


# In the workers


def change() -> None:
    """Makes this process count the points of each run, and end itself without a word at the one that its fuse names."""
    counts: Counter[str] = Counter()

    def point(run: str) -> None:
        counts[run] += 1
        fuse, count = FUSES / run, FUSES / f"{run}.count"
        if count.exists():
            with count.open("ab") as counted:
                counted.write(b".")
        if fuse.exists() and int(fuse.read_text() or 0) == counts[run]:
            fuse.unlink()  # the next worker carries the run to its end
            os.kill(os.getpid(), signal.SIGKILL)

    append, call = SqlEvents.append, ApiStep.run

    async def fused_append(self: SqlEvents, events: Sequence[Any], lease: Any, end: Any = None) -> None:
        await _between(point, lease.run, lambda: append(self, events, lease, end))

    async def fused_call(self: ApiStep, step: Any) -> Any:
        return await _between(point, step.context.run, lambda: call(self, step))

    SqlEvents.append = fused_append  # type: ignore[method-assign]
    ApiStep.run = fused_call  # type: ignore[method-assign]


async def _between(point: Callable[[str], None], run: str, act: Callable[[], Awaitable[Any]]) -> Any:
    point(run)
    done = await act()
    point(run)
    return done

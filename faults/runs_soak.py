"""Many short runs on three workers, one of which is killed now and then: `python -m faults.runs_soak [--runs N]`."""

import argparse
import asyncio
import resource
import secrets
import sys
import tempfile
import time
from pathlib import Path

from faults.postgres import own_postgres
from faults.server import Room
from faults.stock import Stock
from faults.workers import Runs, Worker, workers_on

RUNS = 10_000
AT_ONCE = 40
BETWEEN_KILLS = 25
"""Seconds. A run that two processes died of is given up, so its next owner gets the time to carry it out."""


async def soaked(room: Room, count: int) -> tuple[Stock, float, int]:
    """What is left, the seconds that it took, and how often a worker was killed."""
    stock = Stock()
    with own_postgres() as postgres:
        async with workers_on(room, postgres.url) as (runs, workers):
            began = time.monotonic()
            killing = asyncio.create_task(_kill_now_and_then(workers))
            while len(runs.begun) < count:
                await _some(runs, stock, min(AT_ONCE, count - len(runs.begun)))
            took = time.monotonic() - began
            killing.cancel()
            kills = (await asyncio.gather(killing, return_exceptions=True))[0]
            return stock, took, kills if isinstance(kills, int) else 0


async def _some(runs: Runs, stock: Stock, count: int) -> None:
    before = set(runs.begun)
    await runs.begin(count)
    new = [run for run in runs.begun if run not in before]
    stock.requests += len(new)
    await runs.ended(new)
    await runs.judged(stock, new)


async def _kill_now_and_then(workers: list[Worker]) -> int:
    kills = 0
    try:
        while True:
            await asyncio.sleep(BETWEEN_KILLS + secrets.randbelow(5))
            await asyncio.to_thread(secrets.choice(workers).restart)
            kills += 1
    except asyncio.CancelledError:
        return kills


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m faults.runs_soak", description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--runs", type=int, default=RUNS)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="answerable-soak-") as folder:
        room = Room(Path(folder))
        try:
            stock, took, kills = asyncio.run(soaked(room, options.runs))
        finally:
            room.close()
    memory = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss / 1024
    print(f"{stock.requests} runs in {took:.0f} s, {stock.requests / took:.1f} a second, {kills} workers killed")
    print(f"largest process {memory:.0f} MB; " + ", ".join(f"{name} {n}" for name, n in stock.counts().items()))
    for name in stock.counts():
        for line in getattr(stock, name):
            print(f"  {name}: {line}")
    return 0 if stock.whole else 1


if __name__ == "__main__":
    sys.exit(main())

"""Runs of a stored graph that a server leaves to three workers on PostgreSQL: how many a second, against workflows of
one step in three processes of bare DBOS, and how long after it was queued a run starts.

The first figure needs an environment that has DBOS: `DBOS_PYTHON=…/bin/python`. Without it only the second is measured.
"""

import asyncio
import os
import statistics
import subprocess
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path

from faults.postgres import own_postgres
from faults.server import Room
from faults.workers import WORKERS, Worker

from answerable.app import open_service
from answerable.core.context import LOCAL
from answerable.core.events import StepStarted
from answerable.core.ids import RunId
from answerable.service import Service
from answerable.service.process_role import ProcessRole
from answerable.settings import Settings
from answerable.store.base import RunFilter
from bench.figures import Figure, compared

TEXT = 'name: placed\nnodes:\n  said: {kind: transform, template: "n is {{ input.n }}"}\n'
RUNS_LIMIT, START_MS = 0.9, 50.0
AT_ONCE = 8
BARE = Path(__file__).parent / "bare_dbos.py"


def measure(quick: bool) -> list[Figure]:
    with tempfile.TemporaryDirectory(prefix="answerable-bench-") as folder, own_postgres() as postgres:
        room = Room(Path(folder))
        try:
            ours, started = asyncio.run(_ours(room, postgres.url, 120 if quick else 600, 20 if quick else 60))
        finally:
            room.close()
        figures = [compared("placed, a run starts", started * 1_000, START_MS, "ms", 1.0)]
        if python := os.environ.get("DBOS_PYTHON"):
            bare = _bare(python, postgres.url, 40 if quick else 200)
            figures.insert(0, compared("placed, runs on three workers", ours, bare, "runs/s", RUNS_LIMIT, "higher"))
    return figures


async def _ours(room: Room, store: str, count: int, single: int) -> tuple[float, float]:
    """Runs a second when all are queued at once, and the median of seconds until one that is alone starts."""
    room.home.mkdir(exist_ok=True)
    settings = Settings(home=room.home, store=store)
    workers: list[Worker] = []
    try:
        async with open_service(
            settings, any_location=False, role=ProcessRole(patient=True, leaves_runs=True)
        ) as service:
            await service.graphs.save(TEXT, LOCAL)
            workers += [Worker(room, number, store) for number in range(WORKERS)]
            await _carried(service, WORKERS * AT_ONCE, already=0)
            began = time.monotonic()
            await _carried(service, count, already=WORKERS * AT_ONCE)
            rate = count / (time.monotonic() - began)
            waits = [await _start_of(service) for _ in range(single)]
    finally:
        for each in workers:
            each.kill()
    return rate, statistics.median(waits)


async def _carried(service: Service, count: int, already: int) -> None:
    places = asyncio.Semaphore(WORKERS * AT_ONCE)

    async def begin(number: int) -> RunId:
        async with places:
            return await service.graphs.begin_stored("placed", {"n": number}, LOCAL)

    await asyncio.gather(*map(begin, range(count)))
    done = RunFilter(statuses=("done",))
    while await service.runs.count(LOCAL, only=done) < already + count:  # noqa: ASYNC110 - of other processes
        await asyncio.sleep(0.02)


async def _start_of(service: Service) -> float:
    run = await service.graphs.begin_stored("placed", {"n": 0}, LOCAL)
    await service.graphs.wait(run, LOCAL)
    events = await service.runs.journal(run, LOCAL)
    first = next(each for each in events if isinstance(each, StepStarted))
    return first.at - events[0].at


def _bare(python: str, store: str, count: int) -> float:
    """The same by three processes of bare DBOS; each knows its work beforehand."""
    command: Sequence[str] = (python, str(BARE), store, str(count), str(AT_ONCE))
    processes = [
        subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) for _ in range(WORKERS)
    ]
    try:
        for each in processes:
            assert each.stdout is not None
            assert each.stdout.readline().strip() == "ready"
        for each in processes:
            assert each.stdin is not None
            each.stdin.write("go\n")
            each.stdin.flush()
        seconds = max(float(each.stdout.readline()) for each in processes if each.stdout is not None)
    finally:
        for each in processes:
            each.kill()
            each.wait()
    return WORKERS * count / seconds

"""Several processes at one store, and processes that die in the middle of a write."""

import asyncio
import os
import signal
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from answerable.app import open_service
from answerable.core.clock import SystemClock
from answerable.core.context import LOCAL, RunContext
from answerable.core.ids import RunId, ThreadId
from answerable.models.budget import Budget
from answerable.models.config import BudgetLimits, Limit
from answerable.service.outbox import OutboxDelivery
from answerable.settings import load_settings
from answerable.store.base import Store
from answerable.store.open import open_store
from answerable.store.protocols.budgets import Amount
from answerable.store.protocols.outbox import Notice
from answerable.store.schema import migrations

PREAMBLE = """
import asyncio, sys
from pathlib import Path
from answerable.core.context import LOCAL, RunContext
from answerable.core.events import StepStarted
from answerable.core.ids import NodeId, RunId
from answerable.store.base import Lease
from answerable.store.open import open_store

def open_mine():
    return open_store(sys.argv[1], artifacts=Path(sys.argv[2]), lease_seconds=0.5)
"""
LAPSED = 0.7
"""Seconds after which a killed process has lost what it held."""

ENDLESS_WRITER = """
async def main():
    store, run, number, size = await open_mine(), RunId("run_1"), 0, 1
    await store.runs.create(RunContext(run, LOCAL), None)
    while True:
        events = [StepStarted(run, number + n + 1, 1.0, NodeId("a")) for n in range(size)]
        await store.events.append(events, Lease(run, 1))
        number += size
        size = size % 40 + 1
        print(number, flush=True)

asyncio.run(main())
"""

COUNTING_WRITER = """
async def main():
    print("ready", flush=True)
    sys.stdin.readline()  # all start together
    store, run = await open_store(sys.argv[1], artifacts=Path(sys.argv[2])), RunId(sys.argv[3])
    await store.runs.create(RunContext(run, LOCAL), None)
    for number in range(1, 201, 2):  # as a run writes: it waits for a server that a busy machine keeps from replying
        events = [StepStarted(run, number + n, 1.0, NodeId("a")) for n in range(2)]
        await store.patient.events.append(events, Lease(run, 1))
    await store.close()

asyncio.run(main())
"""


ENDED_UNDELIVERED = """
from answerable.core.events import RunFinished
from answerable.service.outbox import OutboxDelivery

async def stuck(notice):
    print("delivering", flush=True)
    await asyncio.Event().wait()

async def main():
    store = await open_mine()
    record = await store.runs.create(RunContext(RunId("run_1"), LOCAL), None)
    await store.events.append([RunFinished(record.run, 1, 1.0, "done")], record.lease)
    if sys.argv[3] == "before":
        print("stored", flush=True)
        await asyncio.Event().wait()
    await OutboxDelivery(store, {"run.finished": [stuck]}).deliver()

asyncio.run(main())
"""

CALLER = """
from answerable.core.clock import SystemClock
from answerable.core.ids import ThreadId
from answerable.models.budget import Budget
from answerable.models.config import BudgetLimits
from answerable.store.protocols.budgets import Amount

async def main():
    budget = Budget((await open_mine()).budgets, BudgetLimits.model_validate_json(sys.argv[3]), SystemClock())
    context = RunContext(RunId("run_1"), LOCAL, ThreadId("thr_1"))
    await budget.reserve(budget.accounts(context), Amount(60, 3))
    print("reserved", flush=True)
    sys.stdin.readline()

asyncio.run(main())
"""


@pytest.fixture(params=["sqlite", "postgres"])
def place(request: pytest.FixtureRequest, tmp_path: Path) -> tuple[str, Path]:
    url = tmp_path / "a.db" if request.param == "sqlite" else request.getfixturevalue("postgres_url")
    return str(url), tmp_path / "artifacts"


def start(code: str, *arguments: object) -> subprocess.Popen[str]:
    return subprocess.Popen(
        [sys.executable, "-c", PREAMBLE + code, *map(str, arguments)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


async def numbers(store: Store, run: str) -> Sequence[int]:
    return [event.seq for event in await store.events.read(LOCAL, RunId(run))]


def release(processes: Sequence[subprocess.Popen[str]]) -> None:
    """Lets them go when all are ready."""
    for process in processes:
        assert process.stdout is not None
        assert process.stdout.readline() == "ready\n"
    for process in processes:
        assert process.stdin is not None
        process.stdin.write("go\n")
        process.stdin.flush()


def finished(processes: Sequence[subprocess.Popen[str]]) -> list[str]:
    """What those that failed had to say."""
    ended = [(process, process.communicate(timeout=100)[1]) for process in processes]
    return [problems for process, problems in ended if process.returncode]


def killed_while_writing(place: tuple[str, Path], after_lines: int) -> int:
    """The last number that a writer had confirmed when it was killed."""
    writer = start(ENDLESS_WRITER, *place)
    assert writer.stdout is not None
    for _ in range(after_lines):
        assert writer.stdout.readline()
    os.kill(writer.pid, signal.SIGKILL)
    confirmed, _ = writer.communicate(timeout=60)
    assert writer.returncode == -signal.SIGKILL
    return int(confirmed.split("\n")[-2] if confirmed.count("\n") else 0)


@pytest.mark.parametrize("after_lines", [1, 25, 90])
async def test_what_was_appended_survives_kill_9(place: tuple[str, Path], after_lines: int) -> None:
    confirmed = killed_while_writing(place, after_lines)
    store = await open_store(place[0], artifacts=place[1])
    kept = await numbers(store, "run_1")
    assert len(kept) >= confirmed
    assert kept == list(range(1, len(kept) + 1))
    ends = {0}
    while max(ends) < len(kept):
        ends.add(max(ends) + (len(ends) - 1) % 40 + 1)
    assert len(kept) in ends, "an append was stored in part"
    await asyncio.sleep(LAPSED)
    assert [record.run for record in await store.runs.adoptable()] == ["run_1"]
    await store.close()


async def test_many_processes_start_and_write_at_once(place: tuple[str, Path]) -> None:
    """The first start of all: they also race for making the tables."""
    writers = [start(COUNTING_WRITER, *place, f"run_{n}") for n in range(4)]
    release(writers)
    assert finished(writers) == []
    store = await open_store(place[0], artifacts=place[1])
    for n in range(4):
        assert await numbers(store, f"run_{n}") == list(range(1, 201))
    database: Any = store.database
    assert len(await database.rows("SELECT number FROM migrations")) == len(migrations())
    await store.close()


async def test_a_store_whose_writer_died_takes_new_runs(place: tuple[str, Path]) -> None:
    killed_while_writing(place, 5)
    store = await open_store(place[0], artifacts=place[1])
    created = await store.runs.create(RunContext(RunId("run_2"), LOCAL), None)
    assert await store.runs.get(LOCAL, created.run) == created
    await store.close()


async def test_what_a_call_held_when_its_process_was_killed_is_spent_after_the_next_start(
    place: tuple[str, Path], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("ANSWERABLE_HOME", str(tmp_path))
    if "://" in place[0]:
        monkeypatch.setenv("ANSWERABLE_STORE", place[0])
    settings = load_settings()
    limit = Limit(tokens=1_000, cost=1.0)
    limits = BudgetLimits(run=limit, thread=limit, user_day=limit, tenant_month=limit)
    caller = start(CALLER, settings.store_url, settings.artifacts, limits.model_dump_json())
    assert caller.stdout is not None
    assert caller.stdout.readline() == "reserved\n"
    os.kill(caller.pid, signal.SIGKILL)
    caller.communicate(timeout=60)
    await asyncio.sleep(LAPSED)
    context = RunContext(RunId("run_1"), LOCAL, ThreadId("thr_1"))

    store = await open_store(settings.store_url, artifacts=settings.artifacts)
    budget = Budget(store.budgets, limits, SystemClock())
    assert [each.reserved for each in await budget.balances(context)] == [Amount(60, 3)] * 4
    async with open_service(settings, any_location=False) as service:
        await service.runs.carrier.resume_unfinished()
    assert [(each.spent, each.reserved) for each in await budget.balances(context)] == [(Amount(60, 3), Amount())] * 4
    await store.close()


@pytest.mark.parametrize("moment", ["before", "during"])
async def test_what_a_killed_process_did_not_deliver_is_delivered_by_the_next(
    place: tuple[str, Path], moment: str
) -> None:
    first = start(ENDED_UNDELIVERED, *place, moment)
    assert first.stdout is not None
    assert first.stdout.readline() in ("stored\n", "delivering\n")
    os.kill(first.pid, signal.SIGKILL)
    first.communicate(timeout=60)
    await asyncio.sleep(LAPSED)
    store, got = await open_store(place[0], artifacts=place[1]), []

    async def handler(notice: Notice) -> None:
        got.append((notice.stream, notice.topic))

    delivery = OutboxDelivery(store, {"run.finished": [handler]})
    assert await delivery.deliver() == 1
    assert await delivery.deliver() == 0
    assert got == [("run_1", "run.finished")]
    await store.close()

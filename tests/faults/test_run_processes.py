"""A run belongs to the store: whichever process carries it out, any other can follow, await, cancel and decide it."""

import asyncio
import os
import signal
import sqlite3
import subprocess
import time
from collections import Counter
from collections.abc import AsyncIterator
from contextlib import closing
from typing import Any

import pytest
from tests.faults.run_places import LEASE, Place, complete, eventually, said
from tests.faults.run_process import PIECES, STEPS, opened

from answerable.core.context import LOCAL
from answerable.core.events import ApprovalRequested, Event, RunResumed, StepOutput
from answerable.core.ids import RunId
from answerable.service import run_carrier
from answerable.service.runs import RunService
from answerable.store import leases
from answerable.store.base import Store


@pytest.fixture
async def other(place: Place) -> AsyncIterator[tuple[Store, RunService]]:
    """The second process: this one."""
    store, runs = await opened(*place.arguments, seconds=0.05)
    yield store, runs
    await runs.carrier.close()
    await store.close()


async def test_another_process_follows_and_awaits_a_run(place: Place, other: tuple[Store, RunService]) -> None:
    store, runs = other
    first = place.start()
    run = RunId(await said(first))
    waiting = asyncio.create_task(runs.wait(run, LOCAL))
    began, heard, times = time.monotonic(), [], []
    async for event in runs.events(run, LOCAL):
        heard.append(event)
        times.append(time.monotonic() - began)
    assert (await waiting).text == "all said"
    assert (await store.runs.get(LOCAL, run)).status == "done"
    assert heard == await store.events.read(LOCAL, run)
    assert complete(heard)
    assert times[-1] - times[2] > 1.0, "it came as it happened, not at the end"
    assert [e.seq for e in [event async for event in runs.events(run, LOCAL, after=5)]] == [e.seq for e in heard[5:]]
    text = "".join(e.data["text"] for e in heard if isinstance(e, StepOutput))
    spoken = [*(f"n{i}" for i in range(STEPS)), "end"]
    assert text == "".join(f"{node}:{number} " for node in spoken for number in range(PIECES))
    assert sum(isinstance(e, StepOutput) for e in heard) < len(spoken) * PIECES / 5
    assert await said(first) == "done"


async def test_another_process_cancels_a_run(place: Place, other: tuple[Store, RunService]) -> None:
    store, runs = other
    first = place.start()
    run = RunId(await said(first))
    await eventually(lambda: bool(place.worked()))
    began = time.monotonic()
    await runs.cancel(run, LOCAL, "enough")
    assert time.monotonic() - began < 3.0
    assert (await store.runs.get(LOCAL, run)).status == "cancelled"
    assert (await store.events.read(LOCAL, run))[-1].reason == "enough"  # type: ignore[union-attr]
    assert (await runs.wait(run, LOCAL)).status == "cancelled"
    assert await said(first) == "cancelled"


async def test_a_killed_process_run_is_adopted_and_ends_once(place: Place, other: tuple[Store, RunService]) -> None:
    store, runs = other
    runs.carrier.keep_adopting()
    first = place.start()
    run = RunId(await said(first))
    following = asyncio.create_task(all_of(runs.events(run, LOCAL)))
    await eventually(lambda: len(place.worked()) >= 2)
    os.kill(first.pid, signal.SIGKILL)
    killed = time.monotonic()
    async for event in runs.events(run, LOCAL):
        if isinstance(event, RunResumed):
            break
    assert time.monotonic() - killed < LEASE + run_carrier.ADOPT_SECONDS + 2.0
    assert (await runs.wait(run, LOCAL)).text == "all said"
    events = await store.events.read(LOCAL, run)
    assert complete(events)
    assert [event.seq for event in await following if event.seq] == [event.seq for event in events]
    assert max(Counter(node for _, node in place.worked()).values()) <= 2, "only what was under way is done again"


async def all_of(events: AsyncIterator[Event]) -> list[Event]:
    return [event async for event in events]


def test_a_dead_process_run_is_adopted_within_ten_seconds() -> None:
    assert leases.LEASE_SECONDS + run_carrier.ADOPT_SECONDS <= 9.0


async def stopped(process: subprocess.Popen[str], place: Place) -> None:
    """Between two commits: SQLite lets nobody write while a process is stopped in the middle of one."""
    while True:
        await asyncio.sleep(0.05)
        os.kill(process.pid, signal.SIGSTOP)
        if "://" in place.arguments[0]:
            return
        with closing(sqlite3.connect(place.arguments[0], timeout=0.1, isolation_level=None)) as connection:
            try:
                connection.execute("BEGIN IMMEDIATE")
                connection.execute("ROLLBACK")
            except sqlite3.OperationalError:
                os.kill(process.pid, signal.SIGCONT)
            else:
                return


async def test_a_process_that_was_only_slow_cannot_write_after_losing_its_run(
    place: Place, other: tuple[Store, RunService]
) -> None:
    store, runs = other
    first = place.start()
    run = RunId(await said(first))
    await eventually(lambda: bool(place.worked()))
    await stopped(first, place)
    await asyncio.sleep(LEASE + 0.5)
    assert await runs.carrier.resume_unfinished() == 1
    assert (await runs.wait(run, LOCAL)).text == "all said"
    events, record = await store.events.read(LOCAL, run), await store.runs.get(LOCAL, run)
    capsule = await store.capsules.get(LOCAL, run)
    os.kill(first.pid, signal.SIGCONT)
    assert await said(first) == "done", "its waiters get what the other process recorded"
    first.wait(timeout=60)
    assert await store.events.read(LOCAL, run) == events
    assert complete(events)
    assert await store.runs.get(LOCAL, run) == record
    assert await store.capsules.get(LOCAL, run) == capsule
    after = [node for process, node in place.worked() if process == first.pid]
    assert len(after) <= 2, "it stopped at its first write"


async def test_another_process_decides_what_a_run_asks(place: Place, other: tuple[Store, RunService]) -> None:
    """The process that asked is alive and idle; the decision is taken by one that has never seen the run."""
    store, runs = other
    first = place.start("EFFECT")
    run = RunId(await said(first))
    await asyncio.sleep(0.1)
    os.kill(first.pid, signal.SIGKILL)  # the effect may have happened: whoever goes on has to ask
    adopter = place.start("ADOPT")
    assert await said(adopter) == "adopting"
    async for event in runs.events(run, LOCAL):
        if isinstance(event, ApprovalRequested):
            break
    await runs.decide(run, "n0", LOCAL, verdict="approve", note="it had not")
    assert (await runs.wait(run, LOCAL)).text == "all said"
    assert complete(await store.events.read(LOCAL, run))


async def test_a_waiting_run_is_cancelled_though_nobody_carries_it_out(
    place: Place, other: tuple[Store, RunService]
) -> None:
    store, runs = other
    first = place.start("EFFECT")
    run = RunId(await said(first))
    await asyncio.sleep(0.1)
    os.kill(first.pid, signal.SIGKILL)
    await asyncio.sleep(LEASE + 0.3)
    assert await runs.carrier.resume_unfinished() == 1
    heard: list[Any] = await all_of(runs.events(run, LOCAL))
    assert heard[-1].type == "approval.requested", "following ends while nothing can happen"
    await runs.cancel(run, LOCAL, "never mind")
    assert (await store.runs.get(LOCAL, run)).status == "cancelled"

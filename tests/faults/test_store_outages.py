"""A store that goes away and comes back: runs stand still and go on, and readiness is told from life."""

import asyncio
import os
import shutil
import subprocess
import sys
from collections.abc import Awaitable, Callable, Collection, Sequence
from contextlib import suppress
from pathlib import Path
from typing import cast

import pytest
from faults.postgres import OwnPostgres
from tests.faults.run_places import LEASE, Place, complete, eventually, said
from tests.faults.run_process import graph, opened

from answerable.core.context import LOCAL, RunContext
from answerable.core.errors import AnswerableError, OperatorError
from answerable.core.events import RunResumed
from answerable.core.ids import RunId, new_run_id
from answerable.service.run_carrier import Subject
from answerable.store.base import Store
from answerable.store.database import Parameter, Row, SqlDatabase, Statement
from answerable.store.open import open_store
from answerable.store.runs import _CLAIM_RUN

LONG_LEASE = 4.0
"""Where living processes must keep their runs: a busy machine may take a second to give them their turn."""
FULL = """
import asyncio, resource, sys
from answerable.core.errors import OperatorError
from answerable.store.open import open_store
from answerable.store.runs import _CLAIM_RUN

async def main():
    store = await open_store(sys.argv[1])
    await store.database.check()
    resource.setrlimit(resource.RLIMIT_FSIZE, (1, resource.RLIM_INFINITY))
    try:
        await store.database.check()
    except OperatorError as error:
        print(error.stable_code)
    resource.setrlimit(resource.RLIMIT_FSIZE, (resource.RLIM_INFINITY, resource.RLIM_INFINITY))
    await store.database.check()

asyncio.run(main())
"""


async def test_runs_wait_for_postgres_and_nobody_takes_those_of_a_living_process(
    own_postgres: OwnPostgres, tmp_path: Path
) -> None:
    """Two processes at one server that restarts, and a third that starts just then."""
    place = Place(own_postgres.url, tmp_path, LONG_LEASE)
    store, runs = await opened(*place.arguments)
    try:
        working, adopting = place.start(), place.start("ADOPT")
        run = RunId(await said(working))
        assert await said(adopting) == "adopting"
        own = await runs.carrier.start(graph(), Subject(None, (), None), RunContext(new_run_id(), LOCAL))
        await eventually(lambda: len(place.worked()) >= 2)
        await own_postgres.stop()
        with pytest.raises(OperatorError) as caught:
            await store.database.check()
        assert caught.value.stable_code == "store_unavailable"
        await asyncio.sleep(1.5 * LONG_LEASE)
        await own_postgres.start()
        late = place.start("ADOPT")
        assert await said(late) == "adopting"
        for one in (run, own):
            assert (await runs.wait(one, LOCAL)).text == "all said"
            events = await store.events.read(LOCAL, one)
            assert complete(events)
            assert not any(isinstance(event, RunResumed) for event in events), "it never changed hands"
        assert len(place.worked()) == len(set(place.worked())), "nothing was done twice"
        assert {process for process, _ in place.worked()} == {working.pid, os.getpid()}
        await store.database.check()
    finally:
        for process in place.processes:
            process.kill()
            process.communicate(timeout=60)
        await runs.carrier.close()
        await store.close()


@pytest.fixture
def small_disk(disk: Callable[[str], Path]) -> Path:
    return disk("size=2m")


def fill(ballast: Path) -> None:
    with suppress(OSError), ballast.open("wb", buffering=0) as file:
        while True:
            file.write(b"z" * 512)


async def test_a_run_waits_for_a_full_disk(small_disk: Path, tmp_path: Path) -> None:
    place = Place(str(small_disk / "a.db"), tmp_path)
    store, runs = await opened(*place.arguments, seconds=0.05)
    run = await runs.carrier.start(graph(), Subject(None, (), None), RunContext(new_run_id(), LOCAL))
    await eventually(lambda: len(place.worked()) >= 2)
    ballast = small_disk / "ballast"
    fill(ballast)
    await eventually_raises(store.database.check, "store_full")
    worked = len(place.worked())
    await asyncio.sleep(2 * LEASE)
    assert (await store.runs.get(LOCAL, run)).status == "running"
    assert len(place.worked()) <= worked + 2, "it stands still"
    ballast.unlink()
    assert (await runs.wait(run, LOCAL)).text == "all said"
    assert complete(await store.events.read(LOCAL, run))
    await runs.carrier.close()
    await store.close()


async def eventually_raises(call: Callable[[], Awaitable[None]], code: str) -> None:
    async with asyncio.timeout(20):
        while True:
            try:
                await call()
            except AnswerableError as error:
                if error.stable_code == code:
                    return
                raise
            await asyncio.sleep(0.05)


def test_a_disk_without_space_is_not_ready(tmp_path: Path) -> None:
    command = [sys.executable, "-c", FULL, str(tmp_path / "a.db")]
    done = subprocess.run(command, capture_output=True, text=True, timeout=60)
    assert done.stdout.split() == ["store_full"], done.stderr


def remove(path: Path) -> None:
    path.rename(path.with_suffix(".aside"))


def replace(path: Path) -> None:
    remove(path)
    shutil.copy(path.with_suffix(".aside"), path)


def overwrite(path: Path) -> None:
    shutil.copy(path, path.with_suffix(".aside"))
    with path.open("r+b") as file:
        file.write(b"\0" * path.stat().st_size)


def tear(path: Path) -> None:
    """All but the first page, which names the file as ours."""
    shutil.copy(path, path.with_suffix(".aside"))
    with path.open("r+b") as file:
        file.seek(4096)
        file.write(os.urandom(path.stat().st_size - 4096))


@pytest.mark.parametrize(
    ("harm", "code"),
    [
        (remove, "store_unavailable"),
        (replace, "store_unavailable"),
        (overwrite, "store_corrupt"),
        (tear, "store_corrupt"),
    ],
)
async def test_a_store_that_is_harmed_is_not_ready(harm: Callable[[Path], None], code: str, tmp_path: Path) -> None:
    path = tmp_path / "a.db"
    await (await open_store(path)).close()  # so that everything is in the file, and nothing in the log beside it
    store = await open_store(path)
    await store.database.check()
    harm(path)
    with pytest.raises(OperatorError) as caught:
        await store.database.check()
    assert caught.value.stable_code == code
    await store.close()


async def test_a_command_does_not_wait_for_the_store(tmp_path: Path) -> None:
    store = await open_store(tmp_path / "a.db")
    remove(tmp_path / "a.db")
    with pytest.raises(OperatorError):
        await store.runs.create(RunContext(new_run_id(), LOCAL), None)
    await store.close()


async def test_a_process_that_ends_does_not_wait_for_the_store(tmp_path: Path) -> None:
    store = await open_store(tmp_path / "a.db")
    assert store.patient is not None
    remove(tmp_path / "a.db")
    held = asyncio.create_task(store.patient.runs.create(RunContext(new_run_id(), LOCAL), None))
    await asyncio.sleep(0.2)
    assert not held.done()
    store.stop_waiting()
    with pytest.raises(OperatorError):
        await held
    await store.close()


async def test_a_held_write_goes_on_when_the_store_is_back(tmp_path: Path) -> None:
    store: Store = await open_store(tmp_path / "a.db")
    assert store.patient is not None
    remove(tmp_path / "a.db")
    held = asyncio.create_task(store.patient.runs.create(RunContext(new_run_id(), LOCAL), None))
    await asyncio.sleep(0.2)
    (tmp_path / "a.aside").rename(tmp_path / "a.db")
    record = await held
    assert await store.runs.get(LOCAL, record.run) == record
    await store.close()


@pytest.mark.parametrize("calls", range(4))
async def test_a_store_that_goes_away_after_a_run_was_claimed_does_not_leave_it_behind(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, calls: int
) -> None:
    """Whichever read after the claim fails first: the run belongs to a living process, so no other would adopt it."""
    place = Place(str(tmp_path / "a.db"), tmp_path)
    before, leaving = await opened(*place.arguments)
    run = await leaving.carrier.start(graph(), Subject(None, (), None), RunContext(new_run_id(), LOCAL))
    await asyncio.sleep(0.05)  # it begins
    await leaving.carrier.close()
    await before.close()

    store, runs = await opened(*place.arguments, seconds=0.01)
    database = cast("SqlDatabase", store.database)
    write, rows, left = database.write, database.rows, list[int]()

    async def noting_claims(*statements: Statement, **more: Collection[int]) -> Sequence[int]:
        changed = await write(*statements, **more)
        if not left and any(_CLAIM_RUN in sql for sql, _ in statements):
            left[:] = range(calls + 1)
        return changed

    async def away_once(sql: str, *parameters: Parameter) -> Sequence[Row]:
        if left and left.pop() == 0:
            raise OperatorError("The store is away.", code="store_unavailable")
        return await rows(sql, *parameters)

    monkeypatch.setattr(database, "write", noting_claims)
    monkeypatch.setattr(database, "rows", away_once)
    try:
        runs.carrier.keep_adopting()
        async with asyncio.timeout(20 * LEASE):
            assert (await runs.wait(run, LOCAL)).status == "done"
    finally:
        await runs.carrier.close()
        await store.close()

"""Workers end: by their own failure, with their parent, or when nobody needs them. Nothing is left behind."""

import asyncio
import contextlib
import os
import signal
import sqlite3
import subprocess
import sys
from collections.abc import AsyncIterator
from pathlib import Path

import polars as pl
import psutil
import pytest
from as_written import as_written

from answerable.core.errors import LimitError, OperatorError, TransientError
from answerable.sources.base import Limits
from answerable.sources.open import open_source
from answerable.sources.pool import WorkerPool
from answerable.sources.sql.source import SqlSource
from answerable.sources.sql.statements import Sql
from answerable.sources.worker import SourceWorker
from answerable.sources.worker_places import WorkerPlaces

BOMB = "SELECT sum(a.n * b.n * c.n * d.n) AS x FROM numbers a, numbers b, numbers c, numbers d"


@pytest.fixture
def database(tmp_path: Path) -> Path:
    path = tmp_path / "numbers.sqlite"
    with contextlib.closing(sqlite3.connect(path)) as connection:
        connection.execute("CREATE TABLE numbers (n INTEGER)")
        connection.executemany("INSERT INTO numbers VALUES (?)", [(n,) for n in range(1000)])
        connection.commit()
    return path


@pytest.fixture
async def source(database: Path, tmp_path: Path) -> AsyncIterator[SqlSource]:
    opened = await open_source(str(database), cache=tmp_path / "cache")
    assert isinstance(opened, SqlSource)
    yield opened
    await opened.close()


def workers(parent: int | None = None) -> list[psutil.Process]:
    return [child for child in psutil.Process(parent).children() if _is_worker(child)]


def _is_worker(process: psutil.Process) -> bool:
    with contextlib.suppress(psutil.NoSuchProcess, psutil.ZombieProcess):
        return "answerable.sources.workers" in process.cmdline()
    return False


async def test_a_killed_worker_is_told_and_replaced(source: SqlSource, tmp_path: Path) -> None:
    await source.check(as_written("SELECT 1", source.languages[0]))
    [worker] = workers()
    running = asyncio.create_task(
        source.execute(as_written(BOMB, source.languages[0]), tmp_path / "x.arrow", Limits(seconds=60))
    )
    await asyncio.sleep(0.2)
    worker.kill()
    with pytest.raises(TransientError, match="killed"):
        await running
    assert not (tmp_path / "x.arrow").exists()
    assert await source.rows(Sql("SELECT count(*) FROM numbers")) == [(1000,)]
    assert worker.pid not in [other.pid for other in workers()]


async def test_a_worker_that_gave_up_has_a_sentence_of_its_own(source: SqlSource, tmp_path: Path) -> None:
    """An engine aborts when it gets no memory, and also on a defect: nobody knows which of them it was."""
    await source.check(as_written("SELECT 1", source.languages[0]))
    [worker] = workers()
    running = asyncio.create_task(
        source.execute(as_written(BOMB, source.languages[0]), tmp_path / "x.arrow", Limits(seconds=60))
    )
    await asyncio.sleep(0.2)
    worker.send_signal(signal.SIGABRT)
    with pytest.raises(TransientError, match="gave up") as caught:
        await running
    assert caught.value.stable_code == "worker_aborted"
    assert await source.rows(Sql("SELECT count(*) FROM numbers")) == [(1000,)]


async def test_an_idle_worker_that_died_is_not_missed(source: SqlSource) -> None:
    await source.check(as_written("SELECT 1", source.languages[0]))
    [worker] = workers()
    worker.kill()
    worker.wait(5)
    assert await source.rows(Sql("SELECT 1")) == [(1,)]


async def test_a_worker_that_will_not_stop_is_killed(source: SqlSource, tmp_path: Path) -> None:
    await source.check(as_written("SELECT 1", source.languages[0]))
    [worker] = workers()
    running = asyncio.create_task(
        source.execute(as_written(BOMB, source.languages[0]), tmp_path / "x.arrow", Limits(seconds=0.5))
    )
    await asyncio.sleep(0.2)
    worker.suspend()  # it can hear nothing now
    with pytest.raises(LimitError) as caught:
        await running
    assert caught.value.stable_code == "query_time"
    worker.wait(5)
    assert await source.rows(Sql("SELECT 1")) == [(1,)]


async def test_cancelling_twice_leaves_nothing(source: SqlSource, tmp_path: Path) -> None:
    await source.check(as_written("SELECT 1", source.languages[0]))
    [worker] = workers()
    worker.suspend()
    running = asyncio.create_task(
        source.execute(as_written(BOMB, source.languages[0]), tmp_path / "x.arrow", Limits(seconds=60))
    )
    for _ in range(2):
        await asyncio.sleep(0.1)
        running.cancel()
    with pytest.raises(asyncio.CancelledError):
        await running
    worker.wait(5)
    assert await source.rows(Sql("SELECT 1")) == [(1,)]


PARENT = """
import asyncio, sys
from pathlib import Path
from as_written import as_written
from answerable.sources.base import Limits
from answerable.sources.open import open_source

async def main():
    source = await open_source(sys.argv[1], cache=Path(sys.argv[2]))
    await source.check(as_written("SELECT 1", source.languages[0]))
    query = as_written(sys.argv[3], source.languages[0])
    task = asyncio.create_task(source.execute(query, Path(sys.argv[2]) / "x", Limits(seconds=600)))
    await asyncio.sleep(0.3)
    print("running", flush=True)
    await task

asyncio.run(main())
"""


def test_no_worker_outlives_a_killed_parent(database: Path, tmp_path: Path) -> None:
    command = [sys.executable, "-c", PARENT, str(database), str(tmp_path), BOMB]
    env = {**os.environ, "PYTHONPATH": str(Path(__file__).parents[1] / "fixtures")}
    with subprocess.Popen(command, stdout=subprocess.PIPE, env=env) as parent:
        assert parent.stdout is not None
        assert parent.stdout.readline() == b"running\n"
        children = workers(parent.pid)
        assert children
        os.kill(parent.pid, signal.SIGKILL)
        parent.wait(10)
        _gone, alive = psutil.wait_procs(children, 10)
        assert alive == []


async def test_a_worker_ends_when_its_socket_closes(database: Path) -> None:
    """The second way to go with the parent, for where the first does not exist."""
    worker = SourceWorker({"engine": "sqlite", "database": str(database), "memory_mb": 512, "threads": 1})
    await worker.open()
    worker._process.socket.close()
    assert await worker._process.exit_code(10) == 0


async def test_idle_workers_go(database: Path) -> None:
    spec = {"engine": "sqlite", "database": str(database), "memory_mb": 512, "threads": 1, "idle_seconds": 0.3}
    pool = WorkerPool(spec, 2, WorkerPlaces())
    async with pool.worker(512) as worker:
        pid = worker.pid
    async with pool.worker(512) as worker:
        assert worker.pid == pid, "it was still warm"
    for _ in range(100):
        if not psutil.pid_exists(pid):
            break
        await asyncio.sleep(0.1)
    assert not psutil.pid_exists(pid)
    await pool.close()


async def test_two_hundred_queries_leak_no_descriptor(source: SqlSource, tmp_path: Path) -> None:
    into = tmp_path / "x.arrow"
    for _ in range(5):  # an engine may open a file of its own when it is first needed
        await source.execute(as_written("SELECT 1 AS one", source.languages[0]), into, Limits())
    [worker] = workers()
    before = (descriptors(os.getpid()), descriptors(worker.pid))
    for number in range(200):
        await source.execute(as_written(f"SELECT {number} AS n", source.languages[0]), into, Limits())
    after = (descriptors(os.getpid()), descriptors(worker.pid))
    # Not equal: a file may just be open when they are counted. A leak would be two hundred.
    assert all(now - then < 20 for now, then in zip(after, before, strict=True)), (before, after)
    assert [process.pid for process in workers()] == [worker.pid]
    assert pl.read_ipc(into).item() == 199


def descriptors(pid: int) -> int:
    return len(os.listdir(f"/proc/{pid}/fd"))


async def test_failures_leak_nothing_either(source: SqlSource, tmp_path: Path) -> None:
    await source.check(as_written("SELECT 1", source.languages[0]))
    before = descriptors(os.getpid())
    for _ in range(10):
        with pytest.raises(LimitError):
            await source.execute(as_written(BOMB, source.languages[0]), tmp_path / "x.arrow", Limits(seconds=0.05))
        [worker] = workers()
        worker.kill()
        worker.wait(5)
    await source.check(as_written("SELECT 1", source.languages[0]))
    await asyncio.sleep(0.1)
    assert descriptors(os.getpid()) <= before


@pytest.mark.usefixtures("loading_workers")
async def test_nothing_of_the_environment_reaches_a_worker(
    database: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SOME_TOKEN", "hidden")
    source = await open_source(str(database), cache=tmp_path)
    try:
        await source.check(as_written("SELECT 1", source.languages[0]))
        [worker] = workers()
        assert set(worker.environ()) == {"LANG", "MALLOC_ARENA_MAX"}
        assert worker.cwd() == "/"
        assert str(database) not in " ".join(worker.cmdline())
    finally:
        await source.close()


async def test_a_full_disk_is_told(source: SqlSource, tmp_path: Path) -> None:
    into = tmp_path / "x.arrow"
    into.symlink_to("/dev/full")  # never itself: what is half written is removed
    with pytest.raises(OperatorError, match="disk is full") as caught:
        await source.execute(as_written("SELECT n FROM numbers", source.languages[0]), into, Limits())
    assert caught.value.stable_code == "disk_full"
    assert "full" in os.listdir("/dev")


async def test_a_result_that_cannot_be_written_at_all(source: SqlSource, tmp_path: Path) -> None:
    with pytest.raises(OperatorError, match="No such file") as caught:
        await source.execute(
            as_written("SELECT 1 AS one", source.languages[0]), tmp_path / "no" / "folder" / "x.arrow", Limits()
        )
    assert caught.value.stable_code == "result_unwritable"

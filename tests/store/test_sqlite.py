"""What is particular to SQLite: files, locks, damage."""

import asyncio
import sqlite3
import subprocess
import sys
import threading
from pathlib import Path
from typing import Any

import pytest

from answerable.core.context import LOCAL, RunContext
from answerable.core.errors import OperatorError
from answerable.core.events import StepStarted
from answerable.core.ids import NodeId, RunId
from answerable.store import sqlite
from answerable.store.base import Lease
from answerable.store.open import open_store

RUN = RunId("run_1")


async def filled(path: Path, events: int = 0) -> None:
    store = await open_store(path)
    await store.runs.create(RunContext(RUN, LOCAL), "how many?")
    if events:
        await store.events.append(
            [StepStarted(RUN, number, 1.0, NodeId("n" * 200)) for number in range(1, events + 1)], Lease(RUN, 1)
        )
    await store.close()


def open_to_others(folder: Path, *names: str) -> list[str]:
    return [name for name in names if (folder / name).stat().st_mode & 0o077]


def try_to_end_the_log(path: Path) -> str:
    """What another process is told that wants to leave write-ahead logging."""
    code = (
        "import sqlite3, sys; c = sqlite3.connect(sys.argv[1], timeout=0.05); "
        "print(c.execute('PRAGMA journal_mode = DELETE').fetchone())"
    )
    done = subprocess.run([sys.executable, "-c", code, str(path)], capture_output=True, text=True, timeout=60)
    return done.stdout + done.stderr


def pragma(store: Any, name: str) -> Any:
    return store.database._connection.execute(f"PRAGMA {name}").fetchone()[0]


@pytest.mark.parametrize(("word", "level"), [("full", 2), ("normal", 1)])
async def test_write_ahead_log_durability_and_foreign_keys_are_on(
    tmp_path: Path, opened: Any, word: str, level: int
) -> None:
    store = await opened(tmp_path / "a.db", synchronous=word)
    assert [pragma(store, name) for name in ("journal_mode", "synchronous", "foreign_keys")] == ["wal", level, 1]


async def test_a_path_a_url_and_a_home_are_understood(
    tmp_path: Path, home: Path, opened: Any, monkeypatch: Any
) -> None:
    monkeypatch.chdir(tmp_path)
    await opened(tmp_path / "path.db")
    await opened(f"sqlite:///{tmp_path / 'url.db'}")
    await opened("relative.db")
    await opened("sqlite:///relative-url.db")
    await opened("~/home.db")
    places = [tmp_path / name for name in ("path", "url", "relative", "relative-url")]
    for place in (*places, home / "home"):
        assert place.with_suffix(".db").is_file(), place
        assert place.with_suffix(".artifacts").is_dir(), place


async def test_a_relative_artifact_folder_stays_where_it_was(tmp_path: Path, opened: Any, monkeypatch: Any) -> None:
    monkeypatch.chdir(tmp_path)
    store = await opened("a.db", artifacts=Path("files"))
    monkeypatch.chdir("/")
    path = store.artifacts.staging()
    path.write_bytes(b"x")
    assert (await store.artifacts.path(LOCAL, await store.artifacts.adopt(LOCAL, path))).is_relative_to(tmp_path)


async def test_in_memory_nothing_is_left_behind(opened: Any) -> None:
    store = await opened(":memory:")
    other = await opened("sqlite:///:memory:")
    await store.runs.create(RunContext(RUN, LOCAL), None)
    assert await other.runs.recent(LOCAL) == []
    folder = store.artifacts.staging().parent.parent
    assert folder.is_dir()
    await store.close()
    assert not folder.exists()


@pytest.mark.parametrize("url", ["mysql://host/db", "http://host", "sqlite://x.db"])
async def test_another_kind_of_url_is_refused(url: str) -> None:
    with pytest.raises(OperatorError) as caught:
        await open_store(url)
    assert caught.value.stable_code == "store_unavailable"
    assert "postgresql://" in (caught.value.hint or "")


async def test_a_store_is_private_to_its_owner(tmp_path: Path, opened: Any) -> None:
    store = await opened(tmp_path / "a.db")
    await store.runs.create(RunContext(RUN, LOCAL), "a secret")
    path = store.artifacts.staging()
    path.write_bytes(b"x")
    await store.artifacts.adopt(LOCAL, path)
    assert open_to_others(tmp_path, "a.db", "a.db-wal", "a.db-shm", "a.artifacts", "a.artifacts/staging") == []


async def test_a_missing_folder_is_named(tmp_path: Path) -> None:
    with pytest.raises(OperatorError, match="no/such/") as caught:
        await open_store(tmp_path / "no" / "such" / "a.db")
    assert caught.value.stable_code == "store_unavailable"
    assert "folder must exist" in (caught.value.hint or "")


async def test_a_folder_is_not_a_store(tmp_path: Path) -> None:
    with pytest.raises(OperatorError) as caught:
        await open_store(tmp_path)
    assert caught.value.stable_code == "store_unavailable"


@pytest.mark.parametrize("content", [b"This is a text file, long enough to be looked at.\n" * 100, b"\x00" * 5000])
async def test_a_file_that_is_no_database_is_damage(tmp_path: Path, content: bytes) -> None:
    path = tmp_path / "a.db"
    path.write_bytes(content)
    with pytest.raises(OperatorError, match=str(path)) as caught:
        await open_store(path)
    assert caught.value.stable_code == "store_corrupt"
    assert "backup" in (caught.value.hint or "")
    assert path.read_bytes() == content


async def test_damage_inside_is_found_when_it_is_read(tmp_path: Path, opened: Any) -> None:
    path = tmp_path / "a.db"
    await filled(path, events=2000)
    content = bytearray(path.read_bytes())
    # The first pages hold the schema, which is read when the store is opened.
    content[4096 * 80 :] = b"\xa5" * (len(content) - 4096 * 80)
    path.write_bytes(content)
    store = await opened(path)
    with pytest.raises(OperatorError, match=str(path)) as caught:
        await store.events.read(LOCAL, RUN)
    assert caught.value.stable_code == "store_corrupt"


async def test_a_truncated_store_is_damage(tmp_path: Path) -> None:
    path = tmp_path / "a.db"
    await filled(path, events=2000)
    path.write_bytes(path.read_bytes()[:6000])
    with pytest.raises(OperatorError) as caught:
        await open_store(path)
    assert caught.value.stable_code == "store_corrupt"


async def test_a_database_of_another_program_is_left_alone(tmp_path: Path) -> None:
    path = tmp_path / "sales.db"
    with sqlite3.connect(path) as theirs:
        theirs.execute("CREATE TABLE runs (id TEXT)")
    theirs.close()
    before = path.read_bytes()
    with pytest.raises(OperatorError) as caught:
        await open_store(path)
    assert caught.value.stable_code == "store_foreign"
    assert path.read_bytes() == before


async def test_an_empty_file_becomes_a_store(tmp_path: Path, opened: Any) -> None:
    (tmp_path / "a.db").touch()
    store = await opened(tmp_path / "a.db")
    assert await store.runs.recent(LOCAL) == []


async def test_a_store_that_another_process_holds(tmp_path: Path, monkeypatch: Any, opened: Any) -> None:
    monkeypatch.setattr(sqlite, "BUSY_SECONDS", 0.05)
    path = tmp_path / "a.db"
    store = await opened(path)
    holder = sqlite3.connect(path, isolation_level=None)
    holder.execute("BEGIN IMMEDIATE")
    with pytest.raises(OperatorError) as caught:
        await store.runs.create(RunContext(RUN, LOCAL), None)
    assert caught.value.stable_code == "store_unavailable"
    assert "Another process" in (caught.value.hint or "")
    assert await store.runs.recent(LOCAL) == []
    holder.execute("ROLLBACK")
    holder.close()
    await store.runs.create(RunContext(RUN, LOCAL), None)


@pytest.mark.parametrize("what", ["a run", "one event", "many events", "a check"])
async def test_who_waits_for_another_process_holds_nobody_up(tmp_path: Path, opened: Any, what: str) -> None:
    path = tmp_path / "a.db"
    store = await opened(path)
    await store.runs.create(RunContext(RUN, LOCAL), None)
    events = [StepStarted(RUN, number, 1.0, NodeId("n")) for number in range(1, 50)]
    holder = sqlite3.connect(path, isolation_level=None)
    holder.execute("BEGIN IMMEDIATE")
    call = {
        "a run": lambda: store.runs.create(RunContext(RunId("run_2"), LOCAL), None),
        "one event": lambda: store.events.append(events[:1], Lease(RUN, 1)),
        "many events": lambda: store.events.append(events, Lease(RUN, 1)),
        "a check": store.database.check,
    }[what]
    waiting = asyncio.create_task(call())
    for _ in range(20):
        await asyncio.sleep(0.01)
    assert not waiting.done()
    assert await store.runs.get(LOCAL, RUN), "what others read does not wait"
    holder.execute("ROLLBACK")
    holder.close()
    await waiting


async def test_a_start_waits_for_another_that_is_making_the_store(tmp_path: Path, opened: Any) -> None:
    """SQLite itself refuses at once to turn on the log while another process writes."""
    path = tmp_path / "a.db"
    other = sqlite3.connect(path, isolation_level=None, check_same_thread=False)
    other.execute("BEGIN IMMEDIATE")
    release = threading.Timer(0.2, other.execute, ["ROLLBACK"])
    release.start()
    store = await opened(path)
    release.join()
    other.close()
    assert pragma(store, "journal_mode") == "wal"


@pytest.mark.parametrize("replaced", [False, True])
async def test_a_store_that_is_taken_away_takes_no_new_runs(tmp_path: Path, opened: Any, replaced: bool) -> None:
    path = tmp_path / "a.db"
    store = await opened(path)
    await store.runs.create(RunContext(RUN, LOCAL), None)
    path.rename(tmp_path / "b.db")
    if replaced:
        path.write_bytes(b"")
    with pytest.raises(OperatorError, match="removed or replaced") as caught:
        await store.runs.create(RunContext(RunId("run_2"), LOCAL), None)
    assert caught.value.stable_code == "store_unavailable"


async def test_opening_a_store_once_more_keeps_the_locks_of_the_first(tmp_path: Path, opened: Any) -> None:
    """Were they lost, another process could take the log away from under this one."""
    path = tmp_path / "a.db"
    await opened(path)
    await (await open_store(path)).close()
    assert "database is locked" in try_to_end_the_log(path)


async def test_several_threads_may_share_a_store(tmp_path: Path, opened: Any) -> None:
    store = await opened(tmp_path / "a.db", synchronous="normal")
    runs = [RunId(f"run_{number}") for number in range(4)]

    async def work(run: RunId) -> None:
        await store.runs.create(RunContext(run, LOCAL), None)
        for first in range(1, 200, 20):
            await store.events.append([StepStarted(run, first + n, 1.0, NodeId("a")) for n in range(20)], Lease(run, 1))

    threads = [threading.Thread(target=asyncio.run, args=(work(run),)) for run in runs]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    for run in runs:
        assert [event.seq for event in await store.events.read(LOCAL, run)] == list(range(1, 201))

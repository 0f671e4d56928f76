"""A full disk while journaling: a clear error, nothing half-written, and work goes on once there is space."""

import json
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from answerable.core.context import LOCAL
from answerable.core.errors import OperatorError
from answerable.store.open import open_store

WRITER = """
import asyncio, json, resource, sys
from pathlib import Path
from answerable.core.context import LOCAL, RunContext
from answerable.core.errors import OperatorError
from answerable.core.events import StepOutput
from answerable.core.ids import NodeId, RunId
from answerable.store.base import Lease
from answerable.store.open import open_store

path, limit, ballast, batch = Path(sys.argv[1]), int(sys.argv[2]), Path(sys.argv[3]), int(sys.argv[4])
RUN = RunId("run_1")


def events(first):
    return [StepOutput(RUN, first + n, 1.0, NodeId("a"), "text", "x" * 500) for n in range(batch)]


def fill():
    if limit:
        resource.setrlimit(resource.RLIMIT_FSIZE, (limit, resource.RLIM_INFINITY))


def make_space():
    resource.setrlimit(resource.RLIMIT_FSIZE, (resource.RLIM_INFINITY, resource.RLIM_INFINITY))
    ballast.unlink(missing_ok=True)


async def append_until_full(store, done=0):
    while True:
        try:
            await store.events.append(events(done + 1), Lease(RUN, 1))
        except OperatorError as error:
            return done, error
        done += batch


async def main():
    store = await open_store(path)
    await store.runs.create(RunContext(RUN, LOCAL), None)
    fill()
    done, error = await append_until_full(store)
    more, again = await append_until_full(store, done)
    assert more == done, "a full disk stays full"
    kept = [event.seq for event in await store.events.read(LOCAL, RUN)]
    make_space()
    await store.events.append(events(done + 1), Lease(RUN, 1))
    await store.close()
    store = await open_store(path)
    after = [event.seq for event in await store.events.read(LOCAL, RUN)]
    [check] = await store.database.rows("PRAGMA integrity_check")
    await store.close()
    print(json.dumps({
        "code": error.stable_code, "message": error.message, "hint": error.hint, "done": done,
        "again": again.stable_code, "kept": kept == list(range(1, done + 1)),
        "after": after == list(range(1, done + batch + 1)), "check": check[0],
    }))


asyncio.run(main())
"""


def run_writer(path: Path, *, limit: int = 0, ballast: Path | None = None, batch: int) -> dict[str, object]:
    arguments = [str(path), str(limit), str(ballast or path.with_name("no-ballast")), str(batch)]
    done = subprocess.run([sys.executable, "-c", WRITER, *arguments], capture_output=True, text=True, timeout=100)
    assert done.returncode == 0, done.stderr
    result: dict[str, object] = json.loads(done.stdout)
    return result


def check(result: dict[str, object], path: Path) -> None:
    assert result["code"] == result["again"] == "store_full"
    assert str(path) in str(result["message"])
    assert "space" in str(result["hint"])
    assert isinstance(result["done"], int)
    assert result["done"] > 0
    assert (result["kept"], result["after"], result["check"]) == (True, True, "ok")


@pytest.fixture
def tiny_disk(disk: Callable[[str], Path]) -> Path:
    """One megabyte and ten files."""
    return disk("size=1m,nr_inodes=10")


def remount(folder: Path, mode: str) -> None:
    subprocess.run(["mount", "-o", f"remount,{mode}", str(folder)], check=True)


def ballast_in(folder: Path, size: int) -> Path:
    path = folder / "ballast"
    path.write_bytes(b"z" * size)
    return path


@pytest.mark.parametrize("batch", [1, 30])
def test_a_limit_on_the_size_of_files(tmp_path: Path, batch: int) -> None:
    path = tmp_path / "a.db"
    check(run_writer(path, limit=400_000, batch=batch), path)


@pytest.mark.parametrize("batch", [1, 30])
def test_a_full_file_system(tiny_disk: Path, batch: int) -> None:
    path = tiny_disk / "a.db"
    check(run_writer(path, ballast=ballast_in(tiny_disk, 500_000), batch=batch), path)


async def test_a_store_cannot_be_made_on_a_full_disk_but_later(tiny_disk: Path) -> None:
    ballast = ballast_in(tiny_disk, 1024 * 1024)
    with pytest.raises(OperatorError, match=str(tiny_disk)) as caught:
        await open_store(tiny_disk / "a.db")
    assert caught.value.stable_code == "store_full"
    ballast.unlink()
    store = await open_store(tiny_disk / "a.db")
    assert await store.runs.recent(LOCAL) == []
    await store.close()


def fill_up(folder: Path) -> list[Path]:
    """Empty files until there is no room for another name."""
    made: list[Path] = []
    while True:
        path = folder / str(len(made))
        try:
            path.touch()
        except OSError:
            return made
        made.append(path)


async def test_an_artifact_waits_in_staging_until_there_is_space(tiny_disk: Path) -> None:
    store = await open_store(tiny_disk / "a.db")
    staged = store.artifacts.staging()
    staged.write_bytes(b"arrow")
    extra = fill_up(tiny_disk)
    with pytest.raises(OperatorError, match="could not be written") as caught:
        await store.artifacts.adopt(LOCAL, staged)
    assert caught.value.stable_code == "store_full"
    for path in extra:
        path.unlink()
    artifact = await store.artifacts.adopt(LOCAL, staged)
    assert (await store.artifacts.path(LOCAL, artifact)).read_bytes() == b"arrow"
    await store.close()


@pytest.mark.parametrize("made_before", [True, False])
async def test_a_read_only_disk_until_it_is_writable(tiny_disk: Path, made_before: bool) -> None:
    if made_before:
        await (await open_store(tiny_disk / "a.db")).close()
    remount(tiny_disk, "ro")
    with pytest.raises(OperatorError, match=str(tiny_disk)) as caught:
        await open_store(tiny_disk / "a.db")
    assert caught.value.stable_code == "store_unavailable"
    assert "writable" in (caught.value.hint or "")
    remount(tiny_disk, "rw")
    store = await open_store(tiny_disk / "a.db")
    assert await store.runs.recent(LOCAL) == []
    await store.close()

"""Stores that tests harm."""

import subprocess
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import ExitStack
from pathlib import Path

import pytest
from faults.postgres import OwnPostgres
from faults.postgres import own_postgres as running_postgres
from tests.faults.run_places import Place


@pytest.fixture(params=["sqlite", "postgres"])
async def place(request: pytest.FixtureRequest, tmp_path: Path) -> AsyncIterator[Place]:
    url = tmp_path / "a.db" if request.param == "sqlite" else request.getfixturevalue("postgres_url")
    made = Place(str(url), tmp_path)
    yield made
    for process in made.processes:
        process.kill()
        process.communicate(timeout=60)


@pytest.fixture
def own_postgres() -> Iterator[OwnPostgres]:
    """A server that a test may stop and start."""
    with running_postgres() as server:
        yield server


@pytest.fixture
def disk(tmp_path: Path) -> Iterator[Callable[[str], Path]]:
    """Makes a real file system, with the options of `mount`."""
    with ExitStack() as mounted:

        def mount(options: str) -> Path:
            folder = tmp_path / "disk"
            folder.mkdir()
            command = ["mount", "-t", "tmpfs", "-o", options, "tmpfs", str(folder)]
            if subprocess.run(command, capture_output=True).returncode:
                pytest.skip("a small file system can only be mounted by an administrator")
            mounted.callback(subprocess.run, ["umount", "--lazy", str(folder)], check=True)
            return folder

        yield mount

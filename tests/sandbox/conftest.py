"""The command of containers, run as a plain process: what a daemon, a cluster or a virtual machine would do with it."""

import asyncio
import sys
from asyncio.subprocess import PIPE, Process
from collections.abc import AsyncIterator, Awaitable, Callable
from pathlib import Path

import polars as pl
import pytest

from answerable.sandbox.base import SandboxRequest, SandboxResult
from answerable.sandbox.containers import boot
from answerable.sandbox.exchange import converse
from answerable.sandbox.results import RunPlace, result_of
from answerable.sandbox.tables.workers import TableWorkers

Run = Callable[[SandboxRequest], Awaitable[SandboxResult]]


async def begin(command: list[str]) -> Process:
    """The container's command, with this Python in place of the image's."""
    assert command[0] == "python3"
    return await asyncio.create_subprocess_exec(sys.executable, *command[1:], stdin=PIPE, stdout=PIPE, env={})


class Pipes:
    """A process as the stream that `converse` talks over."""

    def __init__(self, process: Process) -> None:
        self._process = process

    async def send(self, data: bytes) -> None:
        assert self._process.stdin is not None
        self._process.stdin.write(data)
        await self._process.stdin.drain()

    async def receive(self) -> bytes:
        assert self._process.stdout is not None
        return await self._process.stdout.read(65_536)


async def ended(process: Process) -> int:
    if process.returncode is None:
        process.kill()
    return await process.wait()


@pytest.fixture
async def local_process() -> AsyncIterator[Callable[[list[str]], Awaitable[Process]]]:
    """Starts the command of a container; whatever is left of it ends with the test."""
    made: list[Process] = []

    async def start(command: list[str]) -> Process:
        made.append(await begin(command))
        return made[-1]

    yield start
    for process in made:
        await ended(process)


@pytest.fixture
async def run_locally(local_process: Callable[[list[str]], Awaitable[Process]]) -> AsyncIterator[Run]:
    tables = TableWorkers()

    async def run(request: SandboxRequest) -> SandboxResult:
        process = await local_process(list(boot.command()))
        heard = await converse(Pipes(process), request)
        return await result_of(heard, request, RunPlace("local"), tables)

    yield run
    await tables.close()


@pytest.fixture
def orders(tmp_path: Path) -> Path:
    path = tmp_path / "orders.arrow"
    pl.DataFrame({"region": ["North", "South", "North"], "amount": [10.5, 20.0, 7.0]}).write_ipc(path)
    return path

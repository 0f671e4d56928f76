"""What a sandbox leaves behind when it is closed or its host is killed: nothing.

In a file of its own, because a sandbox that other tests share would start processes meanwhile.
"""

import asyncio
import contextlib
import ctypes
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import psutil
import pytest
from tests.sandboxes import ABILITIES, ENDLESS, available_sandbox, endless, make_sandbox, names_with, ran

from answerable.sandbox.base import SandboxLimits

PROJECT = Path(__file__).parents[2]
SIZE = 2


@contextlib.contextmanager
def adopting_orphans() -> Iterator[None]:
    """Processes that lose their parent become children of this one, which sees them and lays them to rest."""
    prctl = ctypes.CDLL(None).prctl
    known = set(psutil.Process().children())
    prctl(36, 1, 0, 0, 0)
    yield
    prctl(36, 0, 0, 0, 0)
    psutil.wait_procs([child for child in psutil.Process().children() if child not in known], timeout=5)


def new_processes(known: set[psutil.Process]) -> list[psutil.Process]:
    new = [process for process in psutil.Process().children(recursive=True) if process not in known]
    _gone, alive = psutil.wait_procs(new, timeout=5)
    return [process for process in alive if process.status() != psutil.STATUS_ZOMBIE]


def started_host(name: str) -> "subprocess.Popen[str]":
    return subprocess.Popen(
        [sys.executable, Path(__file__).with_name("sandbox_host.py"), name],
        stdout=subprocess.PIPE,
        text=True,
        env={**os.environ, "PYTHONPATH": str(PROJECT)},
    )


def descriptors() -> int:
    return len(os.listdir("/proc/self/fd"))


@pytest.mark.parametrize("name", ABILITIES)
async def test_closing_leaves_no_process_and_no_descriptor(name: str) -> None:
    with adopting_orphans():
        known = set(psutil.Process().children(recursive=True))
        counts = []
        await available_sandbox(name, SIZE)
        for _ in range(2):
            opened = make_sandbox(name, SIZE)
            await opened.start()
            await asyncio.gather(*(ran(opened, code) for code in ("result = 1", "1 / 0", "result = 2")))
            await ran(opened, ENDLESS, limits=SandboxLimits(seconds=0.5))
            busy = await endless(opened)
            await opened.close()
            busy.cancel()
            await asyncio.gather(busy, return_exceptions=True)
            counts.append(descriptors())
        assert new_processes(known) == []
        assert counts[1] == counts[0]


@pytest.mark.parametrize("name", ABILITIES)
async def test_closing_twice_or_unstarted_is_quiet(name: str) -> None:
    opened = await available_sandbox(name, 1)
    await opened.close()
    opened = make_sandbox(name, 1)
    await opened.start()
    await opened.close()
    await opened.close()


@pytest.mark.parametrize("name", names_with("children"))
async def test_killing_the_host_leaves_no_process(name: str) -> None:
    await available_sandbox(name, 1)
    with adopting_orphans():
        known = set(psutil.Process().children(recursive=True))
        host = started_host(name)
        assert host.stdout is not None
        assert host.stdout.readline() == "running\n"
        descendants = psutil.Process(host.pid).children(recursive=True)
        assert descendants
        host.kill()
        host.communicate()
        _gone, alive = psutil.wait_procs(descendants, timeout=10)
        assert [process for process in alive if process.status() != psutil.STATUS_ZOMBIE] == []
        assert new_processes(known) == []

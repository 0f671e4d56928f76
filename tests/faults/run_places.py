"""A store and processes that carry out runs at it, and what tests ask about them."""

import asyncio
import os
import subprocess
import sys
from collections import Counter
from collections.abc import Callable, Sequence
from pathlib import Path

from tests.faults.run_process import STEPS

from answerable.core.events import Event, StepFinished

LEASE = 1.0
PROCESS = Path(__file__).parent / "run_process.py"


class Place:
    """A store, and processes at it."""

    def __init__(self, url: str, folder: Path, lease: float = LEASE) -> None:
        self.arguments = (url, str(folder / "artifacts"), str(folder / "diary"), str(lease))
        self.diary = folder / "diary"
        self.processes: list[subprocess.Popen[str]] = []

    def start(self, how: str = "START") -> subprocess.Popen[str]:
        command = [sys.executable, str(PROCESS), *self.arguments, how]
        root = str(Path(__file__).parents[2])
        process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True, env={**os.environ, "PYTHONPATH": root})
        self.processes.append(process)
        return process

    def worked(self) -> list[tuple[int, str]]:
        lines = self.diary.read_text().splitlines() if self.diary.exists() else []
        return [(int(line.split()[0]), line.split()[1]) for line in lines]


def line(process: subprocess.Popen[str]) -> str:
    assert process.stdout is not None
    return process.stdout.readline().strip()


async def said(process: subprocess.Popen[str]) -> str:
    return await asyncio.to_thread(line, process)


async def eventually(condition: Callable[[], bool], seconds: float = 20.0) -> None:
    async with asyncio.timeout(seconds):
        while not condition():  # noqa: ASYNC110 - what another process writes to a file
            await asyncio.sleep(0.02)


def finished(events: Sequence[Event]) -> Counter[str]:
    return Counter(event.node for event in events if isinstance(event, StepFinished))


def complete(events: Sequence[Event]) -> bool:
    """Every step once, numbers without a gap, one end."""
    ends = [event.type for event in events if event.type in ("run.finished", "run.failed", "run.cancelled")]
    return (
        finished(events) == Counter([*(f"n{i}" for i in range(STEPS)), "end"])
        and [event.seq for event in events] == list(range(1, len(events) + 1))
        and ends == ["run.finished"]
    )

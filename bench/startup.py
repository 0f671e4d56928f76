"""How long a newcomer waits before anything happens: importing the package, and the help of the command."""

import asyncio
import sys
from pathlib import Path

from bench.figures import Figure, compared, in_turn

LIMIT = 3.0
FLOOR = [sys.executable, "-c", "import click, pydantic"]
OURS = {
    "import answerable": [sys.executable, "-c", "import answerable"],
    "answerable --help": [str(Path(sys.executable).with_name("answerable")), "--help"],
}


def measure(quick: bool) -> list[Figure]:
    repeats = 3 if quick else 11
    return [_figure(name, command, repeats) for name, command in OURS.items()]


def _figure(name: str, command: list[str], repeats: int) -> Figure:
    ours, floor = asyncio.run(in_turn(lambda: _run(command), lambda: _run(FLOOR), repeats))
    return compared(f"{name}, against importing click and pydantic", ours * 1000, floor * 1000, "ms", LIMIT)


async def _run(command: list[str]) -> None:
    process = await asyncio.create_subprocess_exec(*command, stdout=asyncio.subprocess.DEVNULL)
    if await process.wait() != 0:
        raise RuntimeError(f"{command} failed")

"""The bound on all memory of a process tree, by a control group and by the watchdog."""

import subprocess
import sys
import time
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from answerable.isolation.memory import MemoryBounds, MemoryPlace

PROCESS = Path(__file__).parents[1] / "faults" / "memory_process.py"
LIMIT_MB = 200
MOST_OVERSHOOT_MB = 600
"""What a process may take between two looks of the watchdog, on a busy machine. A control group gives it nothing."""
WAYS = (
    "private",
    "shared",
    "shared_by_children",
    "children_of_threads",
    "mapped_file_in_memory",
    "a_stack_that_grows",
    "all_at_once",
    "threads",
)


@pytest.fixture(params=["group", "watchdog"])
async def bounds(request: pytest.FixtureRequest) -> AsyncIterator[MemoryBounds]:
    made = MemoryBounds(watchdog=request.param == "watchdog")
    if request.param == "group" and "control group" not in made.description:
        pytest.skip("no control group can be made here")
    yield made
    await made.close()


@contextmanager
def held(way: str, bounds: MemoryBounds, megabytes: int) -> Iterator[tuple[subprocess.Popen[bytes], MemoryPlace]]:
    process = subprocess.Popen([sys.executable, PROCESS, way], stdin=subprocess.PIPE, stdout=subprocess.PIPE)
    place = bounds.take()
    try:
        assert process.stdout is not None
        assert process.stdin is not None
        assert process.stdout.readline() == b"ready\n"
        place.hold(process.pid, megabytes)
        process.stdin.write(b"\n")
        process.stdin.flush()
        yield process, place
    finally:
        process.kill()
        process.wait()
        place.leave()
        process.communicate()


def wait_until(condition: Callable[[], bool]) -> None:
    until = time.monotonic() + 20
    while not condition() and time.monotonic() < until:
        time.sleep(0.01)


@pytest.mark.parametrize("way", WAYS)
def test_memory_is_bounded_however_it_is_taken(way: str, bounds: MemoryBounds) -> None:
    with held(way, bounds, LIMIT_MB) as (_process, place):
        wait_until(lambda: place.exceeded)
        print(f"{bounds.description}, {way}: {place.peak_mb:.0f} MB of {LIMIT_MB}")
        assert place.exceeded
        overshoot = MOST_OVERSHOOT_MB if "watchdog" in bounds.description else 1
        assert place.peak_mb < LIMIT_MB + overshoot


def test_a_tree_within_its_bound_is_left_alone(bounds: MemoryBounds) -> None:
    with held("private", bounds, 1_500) as (process, place):
        with pytest.raises(subprocess.TimeoutExpired):
            process.wait(timeout=1)
        assert not place.exceeded
        place.hold(process.pid, LIMIT_MB)  # the next piece of work may have less
        process.wait(timeout=20)
        assert place.exceeded

"""Jobs give the same in a thread and in a process of their own, and a process that dies takes nothing with it."""

import asyncio
import os
import signal
import threading
from collections.abc import AsyncIterator
from dataclasses import dataclass
from typing import Any

import pytest
from jobs import Ask, Busy, Die, Fail, Pid, Total

from answerable.computing.processes import ComputingProcesses
from answerable.core.errors import TransientError, UserError


@pytest.fixture
async def processes() -> AsyncIterator[ComputingProcesses]:
    opened = ComputingProcesses(most=2)
    yield opened
    await opened.close()


async def _warm(processes: ComputingProcesses) -> None:
    """Two jobs at a time make the first process start."""
    numbers = [1, 2, 3]
    async with asyncio.timeout(30):
        while await processes.compute(Pid(), numbers) == os.getpid():
            await asyncio.gather(*(processes.compute(Busy(0.01), numbers) for _ in range(2)))


async def test_a_single_job_is_computed_here(processes: ComputingProcesses) -> None:
    for _ in range(3):
        assert await processes.compute(Pid(), [1]) == os.getpid()


async def test_a_crowd_is_computed_in_processes(processes: ComputingProcesses) -> None:
    await _warm(processes)
    assert await processes.compute(Total(), [1, 2, 3]) == 6


async def test_a_job_may_ask_its_parent(processes: ComputingProcesses) -> None:
    async def answer(question: int) -> int:
        await asyncio.sleep(0)
        return question * 10

    here = await processes.compute(Ask(), [1, 2], answer)
    await _warm(processes)
    assert await processes.compute(Ask(), [1, 2], answer) == here == [10, 20]


async def test_errors_are_raised_as_they_are(processes: ComputingProcesses) -> None:
    for _ in range(2):
        with pytest.raises(UserError) as caught:
            await processes.compute(Fail(), [1])
        assert (caught.value.stable_code, caught.value.hint) == ("no_such_thing", "Try another.")
        await _warm(processes)


async def test_a_process_that_dies_is_replaced(processes: ComputingProcesses) -> None:
    await _warm(processes)
    with pytest.raises(TransientError) as caught:
        await processes.compute(Die(), [1])
    assert caught.value.stable_code == "computing_failed"
    assert await processes.compute(Total(), [1, 2]) == 3
    await _warm(processes)


async def test_closing_ends_a_job_that_is_under_way() -> None:
    processes = ComputingProcesses(most=1)
    await _warm(processes)
    under_way = asyncio.create_task(processes.compute(Busy(60), [1]))
    await asyncio.sleep(0.05)
    async with asyncio.timeout(20):
        await processes.close()
        with pytest.raises(TransientError):
            await under_way


async def test_whoever_waits_for_a_process_that_dies_gets_an_answer() -> None:
    processes = ComputingProcesses(most=1)
    await _warm(processes)
    dying = asyncio.create_task(processes.compute(Die(), [1]))
    async with asyncio.timeout(30):
        waiting = await asyncio.gather(*(processes.compute(Total(), [1, 2]) for _ in range(5)))
    assert waiting == [3] * 5
    with pytest.raises(TransientError):
        await dying
    await processes.close()


async def test_a_job_that_nobody_waits_for_ends(processes: ComputingProcesses) -> None:
    await _warm(processes)
    pid = await processes.compute(Pid(), [1])
    busy = asyncio.create_task(processes.compute(Busy(60), [1]))
    await asyncio.sleep(0.05)
    busy.cancel()
    with pytest.raises(asyncio.CancelledError):
        await busy
    assert pid != os.getpid()
    with pytest.raises(ProcessLookupError):
        os.kill(pid, 0)


async def test_what_cannot_be_sent_is_computed_here(processes: ComputingProcesses) -> None:
    await _warm(processes)

    @dataclass
    class Held:
        numbers: list[int]
        lock: Any = None

        def __iter__(self) -> Any:
            return iter(self.numbers)

    assert await processes.compute(Total(), Held([4, 5], threading.Lock())) == 9


async def test_many_subjects(processes: ComputingProcesses) -> None:
    await _warm(processes)
    subjects = [[number, number] for number in range(40)]
    for _ in range(2):
        totals = await asyncio.gather(*(processes.compute(Total(), subject) for subject in subjects))
        assert totals == [2 * number for number in range(40)]


async def test_closing_leaves_no_process(processes: ComputingProcesses) -> None:
    await _warm(processes)
    pid = await processes.compute(Pid(), [1])
    await processes.close()
    with pytest.raises(ProcessLookupError):
        os.kill(pid, signal.SIGCONT)

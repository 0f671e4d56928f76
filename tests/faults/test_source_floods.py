"""Workers of a source that were taken over: they keep neither the event loop, nor a deadline, nor memory."""

import asyncio
import resource
import sys
import time
from collections.abc import Callable
from pathlib import Path

import psutil
import pytest
from as_written import as_written
from event_loop_lag import worst_lag

from answerable.core.errors import AnswerableError, InternalError, LimitError
from answerable.sources.base import Limits
from answerable.sources.open import open_source
from answerable.sources.worker import SourceWorker

SECONDS = 0.4
LATE_SECONDS = 5.0
"""The grace of a worker that is stopped, on a busy machine."""
MOST_LAG = 1.0
SPEC = {"engine": "sqlite", "memory_mb": 256, "threads": 1}
REQUEST = {"sql": "SELECT 1", "seconds": SECONDS, "memory_mb": 256, "rows": 10, "bytes": 1_000_000}

TakenOver = Callable[[str], SourceWorker]


def bad_python(folder: Path, mode: str) -> str:
    """Starts a bad worker wherever Python is to start a good one."""
    python = folder / "python"
    bad = Path(__file__).parent / "bad_worker.py"
    python.write_text(f"#!/bin/sh\nexec {sys.executable} {bad} '{mode}' \"$@\"\n")
    python.chmod(0o700)
    return str(python)


@pytest.fixture
def taken_over(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> TakenOver:
    def started(mode: str) -> SourceWorker:
        with monkeypatch.context() as patched:
            patched.setattr(sys, "executable", bad_python(tmp_path, mode))
            return SourceWorker(SPEC)

    return started


BROKEN = {
    "empty parts": "worker_failed",
    "large parts": "worker_failed",
    "answers to others": "worker_failed",
    "no frames at all": "worker_failed",
    "many values": "worker_failed",
    "deep": "worker_failed",
    "a long promise": "worker_failed",
    "not JSON": "worker_failed",
    "a wrong date": "worker_failed",
    "an unknown error": "worker_failed",
    "never answers": "query_time",
    "never reads": "query_time",
    "a promise that is not held": "query_time",
    "a trickle": "query_time",
    "hangs up": "query_time",
    "opens with a flood": "worker_failed",
    "opens with nonsense": "worker_failed",
}


async def opened_and_asked(worker: SourceWorker, request: dict[str, object]) -> None:
    await worker.open()
    await worker.ask("rows", request)


LARGE = ("empty parts", "large parts", "many values")


@pytest.mark.parametrize("mode", BROKEN)
async def test_a_worker_that_was_taken_over(taken_over: TakenOver, mode: str) -> None:
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    worker = taken_over(mode)
    watching = asyncio.ensure_future(worst_lag())
    began = time.monotonic()
    request = {**REQUEST, "sql": "x" * 5_000_000 if mode == "never reads" else "SELECT 1"}
    with pytest.raises(AnswerableError) as caught:
        await opened_and_asked(worker, request)
    took = time.monotonic() - began
    watching.cancel()
    lag = await watching
    more = (resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before) / 1024
    print(f"{mode}: {caught.value.stable_code}, {took:.2f} s, the loop was late by {lag * 1000:.0f} ms, {more:.0f} MB")
    # It depends on the machine which comes first, the end of the time or that of the bounds.
    assert caught.value.stable_code in {BROKEN[mode], *(("query_time",) if mode in LARGE else ())}
    assert not worker.usable
    assert took < SECONDS + LATE_SECONDS
    assert lag < MOST_LAG
    assert more < 700
    await worker.ended()


@pytest.mark.parametrize("mode", ["shared memory", "children"])
async def test_all_memory_of_a_worker_is_bounded(taken_over: TakenOver, mode: str) -> None:
    """Here without the walls of a worker, which forbid it to make processes and files in memory."""
    worker = taken_over(mode)
    await worker.open()
    others = {process for process in psutil.Process().children(recursive=True) if process.pid != worker.pid}
    with pytest.raises(LimitError) as caught:
        await worker.ask("rows", {**REQUEST, "seconds": 20})
    assert caught.value.stable_code == "query_memory"
    processes = set(psutil.Process().children(recursive=True)) - others
    await worker.ended()
    assert not [process for process in processes if process.is_running() and process.status() != psutil.STATUS_ZOMBIE]


async def test_an_answer_is_never_taken_for_that_of_another_question(taken_over: TakenOver) -> None:
    worker = taken_over("answers twice")
    await worker.open()
    assert await worker.ask("rows", REQUEST) == [1]
    with pytest.raises(AnswerableError, match="nobody asked for"):
        await worker.ask("rows", REQUEST)
    assert not worker.usable
    await worker.ended()


@pytest.mark.parametrize("mode", ["describes what it has not written", "describes nothing known"])
async def test_a_result_is_not_taken_on_trust(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, mode: str) -> None:
    path = tmp_path / "shop.sqlite"
    path.write_bytes(b"SQLite format 3\0" + bytes(100))
    monkeypatch.setattr(sys, "executable", bad_python(tmp_path, mode))
    source = await open_source(str(path), cache=tmp_path / "cache")
    with pytest.raises(InternalError) as caught:
        await source.execute(as_written("SELECT 1", "sqlite"), tmp_path / "x.arrow", Limits())
    assert caught.value.stable_code == "worker_failed"
    assert not (tmp_path / "x.arrow").exists()
    await source.close()


async def test_a_worker_that_never_opens_can_be_ended(taken_over: TakenOver) -> None:
    worker = taken_over("never opens")
    with pytest.raises(TimeoutError):
        async with asyncio.timeout(0.3):
            await worker.open()
    await worker.ended()
    assert not worker.alive

"""Small Python in an interpreter of its own (Monty, written in Rust): for code that calls host functions.

It has no files, no network, no environment and no modules but its own; what it can reach is what the host hands in. The
interpreters are processes started ahead of need. A run gets a fresh session; a process in which
anything was stopped is discarded.
"""

import asyncio
import functools
import time
from collections import OrderedDict
from collections.abc import Callable, Hashable, Mapping
from dataclasses import replace

from pydantic_monty import Monty, __version__

from answerable.core.errors import AnswerableError, InternalError
from answerable.core.values import Json
from answerable.sandbox.base import Availability, HostFunction, Pause, Paused, SandboxRequest, SandboxResult
from answerable.sandbox.exchange import answered
from answerable.sandbox.monty.faults import too_long
from answerable.sandbox.monty.pool import MontyPool, binary
from answerable.sandbox.monty.run import HostCaller, Known, MontyRun, WaitsForPerson, identity
from answerable.sandbox.monty.threads import WorkerThreads
from answerable.sandbox.results import RunPlace, Stopped, result_of

WALLS: Mapping[str, str] = {
    "language": "an interpreter of its own, with its own small library",
    "files": "none in the language",
    "network": "none in the language but the host's functions",
    "processes": "none in the language; a process of its own with an empty environment",
}
_BEHIND = "Landlock, seccomp and limits, where the kernel has them"
_REMEMBERED = 512
"""Pieces of code whose types were found right, and need not be checked again."""


class MontySandbox:
    name = "monty"

    def __init__(self, size: int = 2) -> None:
        """`size`: how many can run at the same time, each in its process."""
        self._size = size
        self._pool: MontyPool | None = None
        self._threads: WorkerThreads[Paused | None] | None = None
        self._turns = asyncio.Semaphore(size)
        self._known: OrderedDict[Hashable, Known] = OrderedDict()
        self._running: set[MontyRun] = set()

    async def available(self) -> Availability:
        if binary() is None:
            remedy = "Install it again: `pip install pydantic-monty`."
            return Availability(self.name, False, "The program `monty` is not installed.", remedy=remedy)
        return Availability(self.name, True, f"Monty {__version__}", {**WALLS, "system": _BEHIND})

    async def start(self) -> None:
        if self._pool is None:
            self._pool = await asyncio.to_thread(MontyPool, self._size)
            self._threads = WorkerThreads(self._size)

    async def close(self) -> None:
        pool, threads, self._pool, self._threads = self._pool, self._threads, None, None
        for run in self._running:
            run.stop(Stopped("cancelled", "The sandbox was closed."))
        if threads is not None:
            await asyncio.to_thread(threads.close)
        if pool is not None:
            await asyncio.to_thread(pool.close)

    async def run(self, request: SandboxRequest) -> SandboxResult:
        ended = await self._run(request, pausing=False)
        assert isinstance(ended, SandboxResult)
        return ended

    async def begin(self, request: SandboxRequest) -> SandboxResult | Paused:
        """Like `run`, for code whose host calls may have to wait for a person (`Pause`)."""
        return await self._run(request, pausing=True)

    async def resume(
        self, paused: Paused, request: SandboxRequest, reply: Json | AnswerableError
    ) -> SandboxResult | Paused:
        """Goes on where the code was paused, here or in another process, days later.

        `reply` is what the call that paused gives back, or an error that the code sees as a `RuntimeError`. The request
        is that of the beginning: its limits and host functions hold for the rest; its code is not run again.
        """
        return await self._run(request, pausing=True, paused=paused, reply=_reply(reply))

    async def _run(
        self,
        request: SandboxRequest,
        *,
        pausing: bool,
        paused: Paused | None = None,
        reply: Mapping[str, Json] | None = None,
    ) -> SandboxResult | Paused:
        code = identity(request)
        async with self._turns:
            run = MontyRun(request, _answers(request, pausing), self._known.get(code))
            began = time.perf_counter()
            spent = 0.0 if paused is None else paused.seconds
            job = run.begin if paused is None else lambda pool: run.resume(pool, paused, reply or {})
            halted = await self._in_thread(run, job, request.limits.seconds - spent)
        if run.known is not None:
            self._remember(code, run.known)
        seconds = spent + time.perf_counter() - began
        run.record.wall_ms = seconds * 1e3
        if halted is not None and run.record.stopped is None:
            return replace(halted, seconds=seconds)
        return await result_of(run.record, request.into, RunPlace(self.name, self._walls()))

    async def _in_thread(self, run: MontyRun, job: Callable[[Monty], Paused | None], seconds: float) -> Paused | None:
        """Ends the run when its time is over or nobody waits for it any more, and leaves no thread behind."""
        if self._pool is None or self._threads is None:
            raise InternalError("The sandbox was not started.")
        self._running.add(run)
        monty = self._pool.monty
        late = asyncio.get_running_loop().call_later(max(seconds, 0.0), lambda: run.stop(too_long(run.request.limits)))
        try:
            return await self._threads.run(
                lambda: job(monty), lambda: run.stop(Stopped("cancelled", "The run was cancelled."))
            )
        finally:
            late.cancel()
            self._running.discard(run)

    def _walls(self) -> Mapping[str, str]:
        behind = self._pool.walls if self._pool is not None else ""
        return {**WALLS, "system": behind} if behind else WALLS

    def _remember(self, code: Hashable, known: Known) -> None:
        self._known[code] = known
        self._known.move_to_end(code)
        if len(self._known) > _REMEMBERED:
            self._known.popitem(last=False)


def _answers(request: SandboxRequest, pausing: bool) -> HostCaller:
    loop = asyncio.get_running_loop()
    if pausing:
        functions = {name: _held(function) for name, function in request.host.functions.items()}
        request = replace(request, host=replace(request.host, functions=functions))
    return lambda call, record: asyncio.run_coroutine_threadsafe(answered(call, request, record), loop)


def _held(function: HostFunction) -> HostFunction:
    """A pause reaches the run, and not the code as an error."""

    @functools.wraps(function)
    async def held(*args: Json, **kwargs: Json) -> Json:
        try:
            return await function(*args, **kwargs)
        except Pause as pause:
            raise WaitsForPerson(str(pause)) from pause

    return held


def _reply(reply: Json | AnswerableError) -> dict[str, Json]:
    return {"raise": str(reply)} if isinstance(reply, AnswerableError) else {"return": reply}

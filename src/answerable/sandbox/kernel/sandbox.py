"""Full CPython with polars, and the libraries of `answerable[analysis]`, behind the walls of the kernel.

One process, the zygote, loads the libraries once in a place of its own. Each run is a copy of it that raises its walls
before it receives anything, runs one piece of code, and ends. A few copies wait ahead of need, so that a run begins at
once. Code that names a library of statistics runs as a copy of a second zygote, which the first such code starts.
What isolates, and in which order it is tried, is described in docs/sandboxes.md.
"""

import asyncio
import json
import os
import time
from collections import defaultdict
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

from answerable.core.errors import OperatorError, UserError
from answerable.core.file_errors import no_descriptors
from answerable.isolation.frames import TooMuch
from answerable.isolation.kernel import Unavailable
from answerable.isolation.memory import MemoryBounds, scratch_of
from answerable.sandbox.base import Availability, SandboxLimits, SandboxRequest, SandboxResult
from answerable.sandbox.bounds import LARGEST_MESSAGE, Broken, frames_of
from answerable.sandbox.exchange import answered, asked, opened_frames, record_print
from answerable.sandbox.kernel.jail.launch import SCRATCH, Way, ways
from answerable.sandbox.kernel.jail.pool import ZygotePool
from answerable.sandbox.kernel.jail.rows import RowsPipe
from answerable.sandbox.kernel.jail.verdict import verdict
from answerable.sandbox.kernel.jail.zygote import Child, ProcessEnd, Zygote
from answerable.sandbox.libraries import loaded_for
from answerable.sandbox.results import RunPlace, SandboxRecord, Stopped, result_of
from answerable.sandbox.tables.workers import TableWorkers

_MB = 1 << 20
_MOST_FRAMES = 200
_HEADROOM_MB = 128
_REMEDY = (
    "It needs Linux 5.13 or newer with seccomp and Landlock, or user namespaces; in a container, allow these system "
    "calls. `answerable doctor` lists the other sandboxes."
)
_WITHOUT = "none: the operator allowed code to run without isolation"


class KernelSandbox:
    name = "kernel"

    def __init__(
        self,
        pool: int = 4,
        allow_unisolated: bool = False,
        bubblewrap: bool | None = None,
        namespaces: bool = True,
        control_group: Path | None = None,
        watchdog: bool = False,
    ) -> None:
        """`bubblewrap`: whether it must or must not be used; otherwise it is where it is installed.
        `control_group`: a folder of the memory controller that is ours to make groups in. `watchdog`: whether memory is
        watched even where a control group could be made."""
        self._size = pool
        self._allow_unisolated = allow_unisolated
        self._ways = ways(with_bubblewrap=bubblewrap, with_namespaces=namespaces)
        self._places = asyncio.Semaphore(pool)
        self._starting: defaultdict[tuple[str, ...], asyncio.Lock] = defaultdict(asyncio.Lock)
        self._pools: dict[tuple[str, ...], ZygotePool] = {}
        """By the libraries that their zygotes have loaded."""
        self._control_group = control_group
        self._watchdog = watchdog
        self._ending: set[asyncio.Task[None]] = set()
        self._closed = False
        self._tables = TableWorkers(pool)

    async def available(self) -> Availability:
        try:
            memory = self._new_memory_bounds()
        except OperatorError as error:
            return Availability(self.name, False, error.message, remedy=error.hint)
        try:
            zygote, walls = await self._first_that_works((), memory)
            await zygote.close()
        except OperatorError as error:
            return Availability(self.name, False, error.message, remedy=error.hint)
        finally:
            await memory.close()
        return Availability(self.name, True, _described(zygote.way), _with(memory, walls), _improvement(zygote.way))

    async def start(self) -> None:
        self._tables.warm()
        await self._living_pool(loaded_for(""))

    async def run(self, request: SandboxRequest) -> SandboxResult:
        _check(request)
        async with self._places:
            pool = await self._living_pool(loaded_for(request.code))
            child = pool.take(request.limits.scratch_mb)
            try:
                walls = _with(pool.memory, await child.ready())
                return await self._run_in(child, request, walls)
            except Unavailable as reason:
                raise _unavailable(str(reason)) from reason
            finally:
                self._let_go(child)
                pool.refill()

    async def close(self) -> None:
        self._closed = True
        while self._pools:
            await self._pools.popitem()[1].close()
        while self._ending:
            await asyncio.wait(self._ending)
        await self._tables.close()

    def _let_go(self, child: Child) -> None:
        """Ends it; whoever waits for the result need not wait until the kernel has cleared up."""
        child.kill()
        if child.ended.done():
            self._cleared(child)
            return
        task = asyncio.ensure_future(self._clear(child))
        self._ending.add(task)
        task.add_done_callback(self._ending.discard)

    async def _clear(self, child: Child) -> None:
        try:
            await child.finish()
        finally:
            self._cleared(child)

    def _cleared(self, child: Child) -> None:
        child.close()
        child.memory.leave()

    async def _living_pool(self, libraries: tuple[str, ...]) -> ZygotePool:
        async with self._starting[libraries]:
            if (pool := self._pools.get(libraries)) is not None:
                if pool.alive:
                    return pool
                await self._pools.pop(libraries).close()
            self._require_open()
            pool = await self._new_pool(libraries)
            if self._closed:  # meanwhile
                await pool.close()
            self._require_open()
            self._pools[libraries] = pool
            pool.refill()
            return pool

    def _require_open(self) -> None:
        if self._closed:
            raise OperatorError("The sandbox is closed.", code="sandbox_unavailable")

    async def _new_pool(self, libraries: tuple[str, ...]) -> ZygotePool:
        memory = self._new_memory_bounds()
        try:
            zygote, _walls = await self._first_that_works(libraries, memory)
        except BaseException:
            await memory.close()
            raise
        return ZygotePool(zygote, memory, self._size)

    def _new_memory_bounds(self) -> MemoryBounds:
        try:
            return MemoryBounds(self._control_group, watchdog=self._watchdog)
        except Unavailable as reason:
            raise _unavailable(str(reason)) from reason

    async def _first_that_works(
        self, libraries: tuple[str, ...], memory: MemoryBounds
    ) -> tuple[Zygote, Mapping[str, str]]:
        """Returns the first zygote whose test copy has all of its walls."""
        reasons = []
        for way in self._ways:
            try:
                return await self._opened(way, libraries, memory)
            except (Unavailable, OSError) as reason:
                if isinstance(reason, OSError) and (exhausted := no_descriptors(reason)):
                    raise exhausted from reason
                reasons.append(f"{way}: {reason}")
        raise _unavailable("; ".join(reasons))

    async def _opened(
        self, way: Way, libraries: tuple[str, ...], memory: MemoryBounds
    ) -> tuple[Zygote, Mapping[str, str]]:
        zygote = Zygote(way)
        try:
            await zygote.open(libraries, allow_unisolated=self._allow_unisolated)
            child = zygote.spawn(SandboxLimits().scratch_mb, memory.take())
            try:
                return zygote, await child.ready()
            finally:
                await _finished(child)
        except BaseException:
            await zygote.close()
            raise

    async def _run_in(self, child: Child, request: SandboxRequest, walls: Mapping[str, str]) -> SandboxResult:
        rows = RowsPipe(request.limits.result_mb * _MB) if request.into is not None else None
        scratch = scratch_of(child.pid, SCRATCH) if child.has_scratch else None
        try:
            child.memory.hold(child.pid, request.limits.memory_mb + _HEADROOM_MB, scratch)
            record, end = await self._conversation(child, request, rows)
            return await self._result(record, end, request, walls)
        except asyncio.CancelledError:
            await child.finish()
            raise
        finally:
            child.memory.let_go()
            if scratch is not None:
                os.close(scratch)
            if rows is not None:
                rows.close()

    async def _conversation(
        self, child: Child, request: SandboxRequest, rows: RowsPipe | None
    ) -> tuple[SandboxRecord, ProcessEnd]:
        began = time.perf_counter()
        record = SandboxRecord()
        # Threads on all cores use more CPU time than the clock shows; the clock is the limit that counts.
        cpu_seconds = int(request.limits.seconds * (os.cpu_count() or 1)) + 5
        child.bound(**frames_of(request.limits))
        try:
            async with asyncio.timeout(request.limits.seconds):
                await _hand_over(child, request, rows, cpu_seconds)
                await _listen(child, request, record)
        except TimeoutError:
            record.stopped = Stopped("time", f"The code took longer than {request.limits.seconds:g} seconds.")
        except (Broken, TooMuch) as error:
            record.stopped = Stopped("died", f"The code broke the line to its host: {error}.")
        # A process that has said `done` is killed later, in the background; nobody needs to wait for its exit status.
        end = ProcessEnd()
        if record.done is None:
            end = await child.finish()
        if record.done is None and record.stopped is None:
            killed = child.memory.exceeded
            record.stopped = verdict(end, child.complaint(), request.limits, cpu_seconds, killed_for_memory=killed)
        if rows is not None and record.done is not None:
            record.rows = await rows.rows()
            record.stopped = record.stopped or _too_large(rows, request.limits)
        record.wall_ms = (time.perf_counter() - began) * 1000
        return record, child.own(end)

    async def _result(
        self, record: SandboxRecord, end: ProcessEnd, request: SandboxRequest, walls: Mapping[str, str]
    ) -> SandboxResult:
        isolated = all(not wall.startswith("open") for wall in walls.values())
        place = RunPlace(self.name, walls if isolated else {**walls, "all": _WITHOUT}, isolated, end.peak_mb)
        result = await result_of(record, request, place, self._tables)
        if end.cpu_ms is None:
            return result
        return replace(result, resources=replace(result.resources, cpu_ms=end.cpu_ms))


def _too_large(rows: RowsPipe, limits: SandboxLimits) -> Stopped | None:
    if not rows.exceeded:
        return None
    return Stopped("result_size", f"The result is larger than {limits.result_mb:,} MB.")


async def _finished(child: Child) -> None:
    try:
        await child.finish()
    finally:
        child.close()
        child.memory.leave()


def _check(request: SandboxRequest) -> None:
    if len(request.frames) > _MOST_FRAMES:
        raise UserError(f"Code can be given at most {_MOST_FRAMES} frames.", code="input_invalid")


async def _hand_over(child: Child, request: SandboxRequest, rows: RowsPipe | None, cpu_seconds: int) -> None:
    limits = request.limits
    message = {
        **asked(request, list(request.frames)),  # type: ignore[arg-type]
        "limits": {
            "memory_mb": limits.memory_mb,
            "result_mb": limits.result_mb,
            "scratch_mb": limits.scratch_mb,
            "cpu_seconds": cpu_seconds,
        },
    }
    with opened_frames(request) as descriptors:
        if rows is not None:
            descriptors = [*descriptors, rows.theirs]
        await child.send({"request": json.dumps(message)}, descriptors)
    if rows is not None:
        rows.handed_over()


async def _listen(child: Child, request: SandboxRequest, record: SandboxRecord) -> None:
    while record.stopped is None and record.done is None:
        message = await child.receive(LARGEST_MESSAGE)
        if message is None:
            return
        if "print" in message:
            record_print(message["print"], request.limits.output_bytes, record)
        elif "call" in message:
            answer = await answered(message, request, record)
            if record.stopped is None:
                await child.send(answer)
        elif isinstance(message.get("done"), dict):
            record.done = message["done"]
        else:
            raise Broken("an unknown message")


def _with(memory: MemoryBounds, walls: Mapping[str, str]) -> Mapping[str, str]:
    return {**walls, "memory": f"{walls['memory']}, {memory.description}"}


def _described(way: Way) -> str:
    kinds: dict[Way, str] = {
        "bubblewrap": "bubblewrap, namespaces, Landlock, seccomp and limits on resources",
        "namespaces": "namespaces, Landlock, seccomp and limits on resources",
        "landlock": "Landlock, seccomp and limits on resources",
    }
    return kinds[way]


def _improvement(way: Way) -> str | None:
    if way != "landlock":
        return None
    return "Allow user namespaces, or install bubblewrap, for a root and a scratch folder of its own."


def _unavailable(reason: str) -> OperatorError:
    return OperatorError(f"The kernel sandbox cannot run here: {reason}.", code="sandbox_unavailable", hint=_REMEDY)

"""Small Python in an interpreter of its own (Monty, written in Rust): for code that calls host functions.

It has no files, no network, no environment and no modules but its own; what it can reach is what the host hands in. The
interpreters are processes started ahead of need, and so are the processes that hold their sessions (`host`). A run gets
a fresh session; processes in which anything was stopped are discarded.
"""

import asyncio
import base64
import functools
import json
import time
from collections import OrderedDict
from collections.abc import Hashable, Mapping
from contextlib import ExitStack
from dataclasses import fields, replace

from pydantic_monty import __version__

from answerable.core.errors import AnswerableError, InternalError, OperatorError
from answerable.core.file_errors import cannot_write, no_descriptors
from answerable.core.values import Json
from answerable.isolation import wire
from answerable.isolation.frames import TooMuch
from answerable.isolation.memory import MemoryBounds, MemoryPlace
from answerable.isolation.worker_process import Gone, WorkerProcess
from answerable.sandbox.base import (
    Availability,
    HostFunction,
    Pause,
    Paused,
    SandboxLimits,
    SandboxRequest,
    SandboxResult,
)
from answerable.sandbox.bounds import LARGEST_MESSAGE, Broken, frames_of, message_of
from answerable.sandbox.exchange import answered, opened_frames, record_print
from answerable.sandbox.monty.faults import too_long
from answerable.sandbox.monty.pool import binary
from answerable.sandbox.results import RunPlace, SandboxRecord, Stopped, result_of
from answerable.sandbox.tables.workers import TableWorkers, frame_of

WALLS: Mapping[str, str] = {
    "language": "an interpreter of its own, with its own small library",
    "files": "none in the language",
    "network": "none in the language but the host's functions",
    "processes": "none in the language; a process of its own with an empty environment",
}
_BEHIND = "Landlock, seccomp and limits, where the kernel has them"
_REMEMBERED = 512
"""Pieces of code whose types were found right, and need not be checked again."""
_MODULE = "answerable.sandbox.monty.host"
_START_SECONDS = 60.0
_LARGEST_SNAPSHOT = 64 << 20
_MEMORY_BEFORE_MB = 1_024
"""Until the code comes and brings its own limit."""
_LIMITS = tuple(field.name for field in fields(SandboxLimits))
_HEADROOM_MB = 256
"""What the interpreter and the process that holds its sessions take by themselves."""


class MontySandbox:
    name = "monty"

    def __init__(
        self, size: int = 2, watchdog: bool = False, runs_per_process: int = 1_000, *, checks_types: bool = True
    ) -> None:
        """`size`: how many can run at the same time, each in its processes. `watchdog`: whether memory is watched even
        where a control group could be made. `runs_per_process`: after so many an interpreter is replaced, together with
        the process that holds its sessions, whatever ran in it. `checks_types`: whether code is checked for types
        before it runs; who judges the walls wants all code to meet them."""
        self._size = size
        self._runs_per_process = runs_per_process
        self._checks_types = checks_types
        self._turns = asyncio.Semaphore(size)
        self._idle: list[_Interpreter] = []
        self._busy: set[_Interpreter] = set()
        self._ending: set[asyncio.Task[None]] = set()
        self._known: OrderedDict[Hashable, bool] = OrderedDict()
        self._tables = TableWorkers(size)
        self._memory: MemoryBounds | None = None
        self._watchdog = watchdog
        self._open = False

    async def available(self) -> Availability:
        if binary() is None:
            remedy = "Install it again: `pip install pydantic-monty`."
            return Availability(self.name, False, "The program `monty` is not installed.", remedy=remedy)
        memory = MemoryBounds(watchdog=self._watchdog)
        await memory.close()
        walls = {**WALLS, "memory": f"limits of the interpreter, {memory.description}", "system": _BEHIND}
        return Availability(self.name, True, f"Monty {__version__}", walls)

    async def start(self) -> None:
        if self._open:
            return
        if binary() is None:
            raise _unavailable("the program `monty` is not installed")
        self._open = True
        self._memory = MemoryBounds(watchdog=self._watchdog)
        self._refill()
        await asyncio.gather(*(interpreter.ready() for interpreter in self._idle))

    async def close(self) -> None:
        self._open = False
        for interpreter in self._busy:
            interpreter.process.kill()  # whoever waits for it sees that it is gone
        while self._idle:
            self._end(self._idle.pop())
        while self._ending:
            await asyncio.wait(self._ending)
        await self._tables.close()
        if self._memory is not None:
            await self._memory.close()

    async def run(self, request: SandboxRequest) -> SandboxResult:
        ended = await self._run(request, _Conversation(request, pausing=False))
        assert isinstance(ended, SandboxResult)
        return ended

    async def begin(self, request: SandboxRequest) -> SandboxResult | Paused:
        """Like `run`, for code whose host calls may have to wait for a person (`Pause`)."""
        return await self._run(request, _Conversation(request, pausing=True))

    async def resume(
        self, paused: Paused, request: SandboxRequest, reply: Json | AnswerableError
    ) -> SandboxResult | Paused:
        """Goes on where the code was paused, here or in another process, days later.

        `reply` is what the call that paused gives back, or an error that the code sees as a `RuntimeError`. The request
        is that of the beginning: its limits and host functions hold for the rest; its code is not run again.
        """
        return await self._run(request, _Conversation(request, pausing=True, paused=paused, reply=reply))

    async def _run(self, request: SandboxRequest, conversation: "_Conversation") -> SandboxResult | Paused:
        if not self._open:
            raise InternalError("The sandbox was not started.")
        code = _identity(request)
        # Code that is known is not checked. False says no more of it than that.
        conversation.known = self._known.get(code, None if self._checks_types else False)
        async with self._turns:
            interpreter = self._taken()
            try:
                walls = await interpreter.ready()
                began = time.perf_counter()
                interpreter.memory.hold(interpreter.process.pid, request.limits.memory_mb + _HEADROOM_MB)
                halted = await conversation.held(interpreter.process)
                if conversation.record.stopped is not None and interpreter.memory.exceeded:
                    conversation.record.stopped = _too_much_memory(request.limits)
                interpreter.memory.let_go()
            except BaseException:
                self._end(interpreter)
                raise
            self._returned(interpreter, conversation.record)
        if conversation.known is not None:
            self._remember(code, conversation.known)
        seconds = conversation.seconds_before + time.perf_counter() - began
        conversation.record.wall_ms = seconds * 1e3
        if not self._open and conversation.record.done is None:
            conversation.record.stopped = Stopped("cancelled", "The sandbox was closed.")
        if halted is not None:
            return replace(halted, seconds=seconds)
        place = RunPlace(self.name, {**WALLS, "system": walls} if walls else WALLS)
        return await result_of(conversation.record, request, place, self._tables)

    def _taken(self) -> "_Interpreter":
        interpreter = self._idle.pop() if self._idle else self._new()
        self._busy.add(interpreter)
        return interpreter

    def _returned(self, interpreter: "_Interpreter", record: SandboxRecord) -> None:
        interpreter.runs += 1
        # A stopped session may still hold the values of its run: its process must not serve another.
        if record.stopped is not None or interpreter.runs >= self._runs_per_process or not self._open:
            self._end(interpreter)
            self._refill()
        else:
            self._busy.discard(interpreter)
            self._idle.append(interpreter)

    def _refill(self) -> None:
        while self._open and len(self._idle) + len(self._busy) < self._size:
            self._idle.insert(0, self._new())

    def _new(self) -> "_Interpreter":
        assert self._memory is not None, "it is there once the sandbox is open"
        return _Interpreter(self._memory.take())

    def _end(self, interpreter: "_Interpreter") -> None:
        self._busy.discard(interpreter)
        interpreter.process.kill()
        task = asyncio.ensure_future(interpreter.ended())
        self._ending.add(task)
        task.add_done_callback(self._ending.discard)

    def _remember(self, code: Hashable, sets_result: bool) -> None:
        self._known[code] = sets_result
        self._known.move_to_end(code)
        if len(self._known) > _REMEMBERED:
            self._known.popitem(last=False)


class _Interpreter:
    """A process that holds the sessions of one interpreter, one run after the other."""

    def __init__(self, memory: MemoryPlace) -> None:
        try:
            self.process = WorkerProcess(_MODULE)
        except OSError as error:
            memory.leave()
            raise no_descriptors(error) or _unavailable(error.strerror or str(error)) from error
        self.memory = memory
        memory.hold(self.process.pid, _MEMORY_BEFORE_MB)  # before it starts the interpreter, which is held too
        self.runs = 0
        self._walls: str | None = None

    async def ready(self) -> str:
        """Waits until it can be used; returns the walls that stand around the interpreter."""
        if self._walls is None:
            try:
                async with asyncio.timeout(_START_SECONDS):
                    message = message_of(await self.process.receive(LARGEST_MESSAGE))
            except (Gone, TimeoutError) as error:
                raise _unavailable("it does not start") from error
            if "ready" not in message:
                raise _unavailable(str(message.get("failed")))
            self._walls = str(message["ready"])
        return self._walls

    async def ended(self) -> None:
        await self.process.ended()
        self.memory.leave()


class _Conversation:
    """What the server and the process that holds the session say to each other in one run."""

    def __init__(
        self,
        request: SandboxRequest,
        *,
        pausing: bool,
        paused: Paused | None = None,
        reply: Json | AnswerableError = None,
    ) -> None:
        self.record = SandboxRecord()
        self.known: bool | None = None
        """Whether a plain statement sets `result`, of code that was found right before."""
        if pausing:
            functions = {name: _holding(function) for name, function in request.host.functions.items()}
            request = replace(request, host=replace(request.host, functions=functions))
        self._request = request
        self._pausing = pausing
        self._resumed: dict[str, Json] | None = None
        self.seconds_before = 0.0
        if paused is not None:
            self.seconds_before = paused.seconds
            self.record.output, self.record.output_bytes = paused.output, paused.output_bytes
            self.record.host_calls = paused.host_calls
            snapshot = base64.b64encode(paused.snapshot).decode()
            self._resumed = {"snapshot": snapshot, "reply": _reply(reply)}

    async def held(self, process: WorkerProcess) -> Paused | None:
        """Holds the conversation to the end of the code, to a limit, or to a call that pauses. The record says what
        became of it."""
        limits = self._request.limits
        seconds_left = limits.seconds - self.seconds_before
        if seconds_left <= 0:
            # A deadline that has passed is only seen by the event loop when something waits, and quick code never does.
            self.record.stopped = too_long(limits)
            return None
        process.bound(**frames_of(limits))
        try:
            async with asyncio.timeout(seconds_left):
                await self._hand_over(process)
                return await self._listen(process)
        except TimeoutError:
            self.record.stopped = too_long(limits)
        except (Broken, TooMuch) as error:
            self.record.stopped = Stopped("died", f"The interpreter broke the line to its host: {error}.")
        except Gone:
            self.record.stopped = Stopped("died", "The interpreter ended in the middle of the code.")
        return None

    async def _hand_over(self, process: WorkerProcess) -> None:
        request = self._request
        message = {
            "code": request.code,
            "values": dict(request.values),
            "functions": list(request.host.functions),
            "stubs": request.host.stubs,
            "frames": list(request.frames),
            "limits": {name: getattr(request.limits, name) for name in _LIMITS},
            "wants_rows": request.into is not None,
            "known": self.known,
            "resumed": self._resumed,
        }
        body = json.dumps(message).encode("ascii")  # half characters too
        with ExitStack() as files:
            descriptors = files.enter_context(opened_frames(request))
            if request.into is not None:
                descriptors = [*descriptors, files.enter_context(request.into.open("wb")).fileno()]
            await process.send(wire.HEADER.pack(len(body)) + body, descriptors)

    async def _listen(self, process: WorkerProcess) -> Paused | None:
        record = self.record
        while record.stopped is None and record.done is None:
            largest = _LARGEST_SNAPSHOT if self._pausing else LARGEST_MESSAGE
            message = message_of(await process.receive(largest), largest)
            if "print" in message:
                record_print(message["print"], self._request.limits.output_bytes, record)
            elif "call" in message:
                await self._call(process, message)
            elif "paused" in message:
                return self._paused(message["paused"])
            else:
                self._ended(message)
        return None

    async def _call(self, process: WorkerProcess, message: Mapping[str, Json]) -> None:
        try:
            answer = await answered(message, self._request, self.record)
        except _Held as held:
            answer = {"pause": str(held)}
        if self.record.stopped is None:
            body = json.dumps(answer).encode("ascii")
            await process.send(wire.HEADER.pack(len(body)) + body)

    def _ended(self, message: Mapping[str, Json]) -> None:
        known = message.get("known")
        self.known = known if isinstance(known, bool) else self.known
        if "unwritten" in message:
            number, text = message["unwritten"]
            raise cannot_write(OSError(number, text))
        if "stopped" in message:
            self.record.stopped = Stopped(message["stopped"]["reason"], message["stopped"]["message"])
        elif isinstance(message.get("done"), dict):
            self.record.done = message["done"]
            self.record.frame = frame_of(message["table"]) if "table" in message else None
        else:
            raise Broken("an unknown message")

    def _paused(self, message: Mapping[str, Json]) -> Paused:
        return Paused(
            snapshot=base64.b64decode(message["snapshot"]),
            function=message["function"],
            args=tuple(message["args"]),
            kwargs=message["kwargs"],
            reason=message["reason"],
            output=self.record.output,
            output_bytes=self.record.output_bytes,
            host_calls=self.record.host_calls,
        )


def _identity(request: SandboxRequest) -> Hashable:
    """A key that is equal for requests with the same code, stubs and names, so that their types are checked once."""
    host = request.host
    return request.code, host.stubs, tuple(host.functions), tuple(request.frames), tuple(request.values)


class _Held(Exception):
    """A host function wants a person to decide first. Not an error, so that it does not reach the code as one."""


def _holding(function: HostFunction) -> HostFunction:
    @functools.wraps(function)
    async def held(*args: Json, **kwargs: Json) -> Json:
        try:
            return await function(*args, **kwargs)
        except Pause as pause:
            raise _Held(str(pause)) from pause

    return held


def _reply(reply: Json | AnswerableError) -> dict[str, Json]:
    return {"raise": str(reply)} if isinstance(reply, AnswerableError) else {"return": reply}


def _too_much_memory(limits: SandboxLimits) -> Stopped:
    return Stopped("memory", f"The code and its result needed more than {limits.memory_mb:,} MB of memory.")


def _unavailable(reason: str) -> OperatorError:
    return OperatorError(
        f"The sandbox monty cannot run here: {reason}.",
        code="sandbox_unavailable",
        hint="Install it again: `pip install pydantic-monty`.",
    )

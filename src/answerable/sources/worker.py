"""One worker process of a source as its parent sees it: opened, asked one statement at a time, stopped.

A worker may have been taken over by the data that it reads. So nothing that it does keeps the event loop or delays a
deadline, and nothing that it says is taken on trust: replies are bounded in bytes, frames and values, and must belong
to the statement that was asked.
"""

import asyncio
import signal
from collections.abc import Mapping
from typing import Any

from answerable.core.errors import AnswerableError, InternalError, LimitError, OperatorError, TransientError, restored
from answerable.core.file_errors import no_descriptors
from answerable.isolation import wire
from answerable.isolation.frames import TooMuch
from answerable.isolation.memory import MemoryBounds
from answerable.isolation.worker_process import Gone, WorkerProcess
from answerable.sources.workers.harden import HEADROOM_MB
from answerable.sources.workers.replies import LARGEST_FRAME, MOST_VALUES, REPLY_BYTES, REPLY_FRAMES, values_in

_MODULE = "answerable.sources.workers"
_GRACE_SECONDS = 0.8
"""How long a worker may take to stop by itself before it is killed."""
_START_SECONDS = 60.0
_BOUNDS = MemoryBounds(watchdog=True)
"""Not by control groups: a worker is started for each question of a command, and making a group would delay it."""


class SourceWorker:
    """One process, one statement at a time.

    The process starts at once and opens the data by itself, so that it can be started before it is needed.
    """

    def __init__(self, spec: Mapping[str, Any]) -> None:
        """Needs a running event loop. Raises `OperatorError` if no process can be started."""
        self.memory_mb: int = spec["memory_mb"]
        self._asked_mb = self.memory_mb
        """The limit of the statement that runs."""
        self.isolation: Mapping[str, str] = {}
        self.statements = 0
        """How many statements were sent to it."""
        self._outstanding = True
        """A reply is still to come. A worker whose reply was left unread is of no use any more."""
        self._sent = False
        try:
            self._process = WorkerProcess(_MODULE)
        except OSError as error:
            raise _unstartable(error) from error
        self._memory = _BOUNDS.take()
        self._memory.hold(self._process.pid, self.memory_mb + HEADROOM_MB)
        self._opening = asyncio.ensure_future(self._opened(dict(spec)))
        # Nobody may ever wait for a worker that was started ahead of need.
        self._opening.add_done_callback(_look_at)

    @property
    def pid(self) -> int:
        return self._process.pid

    @property
    def alive(self) -> bool:
        return self._process.alive

    @property
    def usable(self) -> bool:
        return not self._outstanding and self._process.open

    async def open(self) -> None:
        """Waits until the data is open; raises what the engine complains about."""
        await asyncio.shield(self._opening)

    async def _opened(self, spec: dict[str, Any]) -> None:
        try:
            async with asyncio.timeout(_START_SECONDS):
                await self._send(spec)
                self.isolation = await self._reply(0, "ready")
                self._memory.let_go()
        except TimeoutError as error:
            raise TransientError("The data could not be opened in time.", code="source_slow") from error

    async def ask(self, do: str, request: Mapping[str, Any], *, output: int | None = None) -> Any:
        """The reply to one message. Out of time or cancelled, the statement is stopped, and if need be the process."""
        seconds, self._asked_mb = request["seconds"], request["memory_mb"]
        self.statements += 1
        # The limits on resources count the address space of one process; this counts what all of them hold.
        self._memory.hold(self._process.pid, self._asked_mb + HEADROOM_MB)
        self._outstanding = True
        self._sent = False
        reply = asyncio.ensure_future(
            self._exchanged({"do": do, "id": self.statements, "request": request}, self.statements, output)
        )
        try:
            done, _ = await asyncio.wait({reply}, timeout=seconds)
        except asyncio.CancelledError:
            await self._stop(reply)
            raise
        if not done:
            await self._stop(reply)
            raise _too_slow(seconds)
        result = reply.result()
        self._memory.let_go()
        return result

    async def _exchanged(self, message: Any, number: int, output: int | None) -> Any:
        await self._send(message, output)
        self._sent = True
        return await self._reply(number, "done")

    async def _stop(self, reply: "asyncio.Future[Any]") -> None:
        try:
            async with asyncio.timeout(_GRACE_SECONDS):
                # Half a request cannot be followed by another message.
                if self._sent and not reply.done():
                    await self._send({"do": "stop", "id": self.statements})
                    await asyncio.wait({reply})
        except (TimeoutError, AnswerableError):
            pass  # it is killed instead
        finally:
            reply.cancel()  # if a reply is still outstanding, the worker is not used again
            reply.add_done_callback(_look_at)

    def kill(self) -> None:
        self._opening.cancel()
        self._process.kill()

    async def ended(self) -> None:
        self._opening.cancel()
        await self._process.ended()
        self._memory.leave()

    async def _send(self, message: Any, output: int | None = None) -> None:
        try:
            await self._process.send(wire.encoded(message), () if output is None else (output,))
        except Gone as error:
            raise await self._death() from error

    async def _reply(self, number: int, key: str) -> Any:
        """The content of a reply, put together if it comes in parts; raises the error that the worker reports."""
        self._process.bound(frames=REPLY_FRAMES, byte_count=REPLY_BYTES)
        parts: list[Any] = []
        while True:
            message = await self._message()
            if message.get("id") != number:
                raise _broken("an answer that nobody asked for")
            match message:
                case {"part": list(part)}:
                    parts += part
                case {
                    "error": {"kind": str(kind), "code": str(code), "message": str(text), "hint": str() | None as hint}
                }:
                    self._outstanding = False
                    raise restored(kind, code, text, hint)
                case _ if key in message:
                    self._outstanding = False
                    return parts or message[key]
                case _:
                    raise _broken("a message of an unknown kind")

    async def _message(self) -> dict[str, Any]:
        try:
            body = await self._process.receive(LARGEST_FRAME)
        except Gone as error:
            raise await self._death() from error
        except TooMuch as error:
            raise _broken(str(error)) from error
        if values_in(body) > MOST_VALUES:
            raise _broken("a message with too many values")
        try:
            message = wire.decoded(body)
        except (ValueError, TypeError, OverflowError, RecursionError) as error:
            raise _broken("a message that cannot be read") from error
        if not isinstance(message, dict):
            raise _broken("a message of an unknown kind")
        return message

    async def _death(self) -> AnswerableError:
        """The error for whoever waited for a process that has ended, by its exit code."""
        code = await self._process.exit_code(_GRACE_SECONDS)
        if self._memory.exceeded:
            return LimitError(
                f"The query needed more than {self._asked_mb:,} MB of memory, and its process was ended.",
                code="query_memory",
                hint="Narrow the question, or raise the limit on memory.",
            )
        if code is None:
            return _died("The process that reads the data fell silent.")
        # C++ code aborts if it gets no memory and nothing catches that, and also on a defect of its own.
        if code == -signal.SIGABRT:
            return TransientError(
                "The process that reads the data gave up (SIGABRT): its database engine got no more memory than"
                f" {self._asked_mb:,} MB, or has a defect.",
                code="worker_aborted",
                hint="Narrow the question, or raise the limit on memory.",
            )
        if code == -signal.SIGXCPU:
            return LimitError(
                "The query used too much computing time.",
                code="query_time",
                hint="Narrow the question, or raise the limit on time.",
            )
        if code in (-signal.SIGKILL, -signal.SIGTERM, -signal.SIGINT, -signal.SIGHUP):
            return _died(
                f"The process that reads the data was killed from outside ({signal.Signals(-code).name}): by somebody,"
                " or by the system for want of memory."
            )
        if code < 0:
            return _died(f"The process that reads the data crashed ({signal.Signals(-code).name}).")
        return _died(f"The process that reads the data ended unexpectedly ({code}).")


def _look_at(task: "asyncio.Future[Any]") -> None:
    """Its outcome no longer matters to anybody; an exception that nobody looks at would be logged."""
    if not task.cancelled():
        task.exception()


def _unstartable(error: OSError) -> OperatorError:
    return no_descriptors(error) or OperatorError(
        f"A worker process cannot be started: {error.strerror or error}.",
        code="worker_unstartable",
        hint="Check the limits on processes and memory.",
    )


def _broken(what: str) -> InternalError:
    return InternalError(f"The process that reads the data broke its protocol: it sent {what}.", code="worker_failed")


def _died(message: str) -> TransientError:
    """Another worker may well live: the statement only read, so it can be tried again."""
    return TransientError(
        message, code="worker_died", hint="Try again. If this goes on, narrow the question or give it more memory."
    )


def _too_slow(seconds: float) -> LimitError:
    return LimitError(
        f"The query took longer than {seconds:g} seconds and was stopped.",
        code="query_time",
        hint="Narrow the question, or raise the limit on time.",
    )

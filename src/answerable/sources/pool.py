"""Worker processes as their parent sees them: started, asked, stopped, replaced."""

import asyncio
import os
import signal
import socket
import subprocess
import sys
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager, suppress
from typing import Any

from answerable.core.errors import AnswerableError, InternalError, LimitError, OperatorError, TransientError, restored
from answerable.isolation import wire

_GRACE_SECONDS = 2.0
"""How long a worker may take to stop by itself before it is killed."""
_START_SECONDS = 60.0
_IDLE_SECONDS = 300.0
"""After this a worker without work ends; the next statement starts another."""
_SPOILING = ("query_memory", "worker_failed", "worker_died", "source_unreachable")
"""After these errors a worker is not used again."""
_ENVIRONMENT = {"LANG": "C.UTF-8", "MALLOC_ARENA_MAX": "2"}
"""The second keeps what is reserved, and counts against the limit on memory, near to what is used."""
_COMMAND = (sys.executable, "-I", "-m", "answerable.sources.workers")


class Worker:
    """One process, one statement at a time.

    The process starts at once and opens the data by itself, so that the pool can start a worker before it is
    needed.
    """

    def __init__(self, spec: Mapping[str, Any]) -> None:
        self.memory_mb: int = spec["memory_mb"]
        self.isolation: Mapping[str, str] = {}
        self._number = 0
        self._outstanding = True
        """A reply is still to come; what leaves it unread makes the worker useless."""
        self._socket, theirs = socket.socketpair()
        with theirs:
            try:
                self._process = _process(theirs.fileno())
            except OSError:
                self._socket.close()
                raise
        self._socket.settimeout(_START_SECONDS)
        with suppress(ConnectionError):  # a worker that is dead already is met when it is asked
            wire.send(self._socket, dict(spec))
        self._socket.setblocking(False)

    @property
    def pid(self) -> int:
        return self._process.pid

    @property
    def statements(self) -> int:
        """How many statements were sent to it."""
        return self._number

    @property
    def alive(self) -> bool:
        return self._process.poll() is None

    @property
    def usable(self) -> bool:
        return not self._outstanding and self._socket.fileno() >= 0 and self.alive

    async def open(self) -> None:
        """Waits until the data is open; what the engine complains about is raised."""
        if not self._outstanding:
            return
        try:
            async with asyncio.timeout(_START_SECONDS):
                self.isolation = _content(await self._receive(), "ready")
        except TimeoutError as error:
            raise TransientError("The data could not be opened in time.", code="source_slow") from error

    async def ask(self, do: str, request: Mapping[str, Any], *, output: int | None = None) -> Any:
        """The reply to one message. Out of time or cancelled, the statement is stopped, and if need be the process."""
        seconds = request["seconds"]
        self._number += 1
        self._outstanding = True
        await self._send({"do": do, "id": self._number, "request": request}, output)
        reply = asyncio.ensure_future(self._receive())
        try:
            done, _ = await asyncio.wait({reply}, timeout=seconds)
        except asyncio.CancelledError:
            await self._stop(reply)
            raise
        if not done:
            await self._stop(reply)
            raise _too_slow(seconds)
        return _content(reply.result(), "done")

    async def _stop(self, reply: "asyncio.Future[Any]") -> None:
        try:
            await self._send({"do": "stop", "id": self._number})
            await asyncio.wait({reply}, timeout=_GRACE_SECONDS)
        finally:
            if not reply.done():
                reply.cancel()  # and with a reply outstanding the worker is not used again
            elif not reply.cancelled():
                reply.exception()  # looked at: what became of the statement no longer matters

    def kill(self) -> None:
        if self.alive:
            self._process.send_signal(signal.SIGKILL)
        self._socket.close()

    async def ended(self) -> None:
        self.kill()
        await asyncio.to_thread(self._process.wait)

    async def _send(self, message: Any, output: int | None = None) -> None:
        frame = wire.encoded(message)
        try:
            if output is not None:
                # A descriptor travels only along with data: with the first byte of the frame.
                frame = frame[socket.send_fds(self._socket, [frame[:1]], [output]) :]
            await asyncio.get_running_loop().sock_sendall(self._socket, frame)
        except OSError as error:
            raise self._death() from error

    async def _receive(self) -> Any:
        size = wire.HEADER.unpack(await self._exactly(wire.HEADER.size))[0]
        if size > wire.MAX_FRAME:
            raise InternalError("A worker sent more than it should.", code="worker_failed")
        message = wire.decoded(await self._exactly(size))
        self._outstanding = False
        return message

    async def _exactly(self, size: int) -> bytes:
        loop = asyncio.get_running_loop()
        data = bytearray()
        while len(data) < size:
            try:
                part = await loop.sock_recv(self._socket, min(size - len(data), 1 << 20))
            except OSError as error:
                raise self._death() from error
            if not part:
                raise self._death()
            data += part
        return bytes(data)

    def _death(self) -> AnswerableError:
        """The error for whoever waited for a process that has ended, by its exit code."""
        try:
            code = self._process.wait(timeout=_GRACE_SECONDS)
        except subprocess.TimeoutExpired:
            return _died("A worker fell silent.")
        if code == -signal.SIGKILL:
            return _died("A worker was killed, by the system for want of memory or by somebody.")
        # C++ code aborts if it gets no memory and nothing catches that.
        if code == -signal.SIGABRT:
            return LimitError(
                f"The query needed more than {self.memory_mb:,} MB of memory, and its process was ended.",
                code="query_memory",
                hint="Narrow the question, or raise the limit on memory.",
            )
        if code == -signal.SIGXCPU:
            return LimitError(
                "The query used too much computing time.",
                code="query_time",
                hint="Narrow the question, or raise the limit on time.",
            )
        return _died(f"A worker ended unexpectedly ({code}).")


def _process(descriptor: int) -> "subprocess.Popen[bytes]":
    """With nothing of our environment, and no terminal whose keys could reach it."""
    return subprocess.Popen(  # noqa: S603 - a fixed command
        [*_COMMAND, str(descriptor), str(os.getpid())],
        pass_fds=[descriptor],
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        env=_ENVIRONMENT,
        cwd="/",
        start_new_session=True,
    )


class WorkerPool:
    """A few warm workers over the same data. A statement gets one to itself; one that failed badly is replaced."""

    def __init__(self, spec: Mapping[str, Any], size: int) -> None:
        self._spec = spec
        self._idle_seconds: float = spec.get("idle_seconds", _IDLE_SECONDS)
        self._places = asyncio.Semaphore(size)
        self._idle: list[Worker] = []
        self._ending: set[asyncio.Task[None]] = set()
        self._closed = False
        self.isolation: Mapping[str, str] = {}
        """What is in force in the workers; known once one has opened the data."""

    def warm(self) -> None:
        """Starts a worker ahead of the first question."""
        if not self._idle:
            self._idle.append(_started(self._spec))

    @asynccontextmanager
    async def worker(self, memory_mb: int) -> AsyncIterator[Worker]:
        async with self._places:
            worker = self._taken(memory_mb)
            try:
                await worker.open()
            except BaseException:
                self._discard(worker)
                raise
            self.isolation = worker.isolation
            try:
                yield worker
            except AnswerableError as error:
                if error.stable_code in _SPOILING:
                    worker.kill()
                raise
            finally:
                self._returned(worker)

    def _taken(self, memory_mb: int) -> Worker:
        while self._idle:
            worker = self._idle.pop()
            if worker.alive and worker.memory_mb >= memory_mb:
                return worker
            self._discard(worker)
        # The limit of a running worker cannot be raised, so the statement gets a new worker. Later ones start with as
        # much.
        self._spec = {**self._spec, "memory_mb": max(memory_mb, self._spec["memory_mb"])}
        return _started(self._spec)

    def _returned(self, worker: Worker) -> None:
        if not worker.usable or self._closed:
            self._discard(worker)
            return
        self._idle.append(worker)
        number = worker.statements
        asyncio.get_running_loop().call_later(self._idle_seconds, self._retire, worker, number)

    def _retire(self, worker: Worker, statements: int) -> None:
        """Lets go of a worker that nobody has asked anything since."""
        if worker in self._idle and worker.statements == statements:
            self._idle.remove(worker)
            self._discard(worker)

    def _discard(self, worker: Worker) -> None:
        worker.kill()
        task = asyncio.ensure_future(worker.ended())
        self._ending.add(task)
        task.add_done_callback(self._ending.discard)

    async def close(self) -> None:
        """Idle workers end now, busy ones when their statement has."""
        self._closed = True
        while self._idle:
            self._discard(self._idle.pop())
        while self._ending:
            await asyncio.wait(self._ending)


def _started(spec: Mapping[str, Any]) -> Worker:
    try:
        return Worker(spec)
    except OSError as error:
        raise OperatorError(
            f"A worker process cannot be started: {error.strerror or error}.",
            code="worker_unstartable",
            hint="Check the limits on processes, open files and memory.",
        ) from error


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


def _content(reply: Any, key: str) -> Any:
    if error := reply.get("error"):
        raise restored(error["kind"], error["code"], error["message"], error["hint"])
    return reply[key]

"""Computing processes as their parent sees them: started when there is more to compute than one thread can, asked, and
ended when they have had nothing to do for a while.

A single user never waits for such a process: a job that finds none ready is computed in a thread of this process.
"""

import asyncio
import logging
import os
import pickle
import socket
import subprocess
import sys
from collections import OrderedDict
from collections.abc import Awaitable, Callable
from contextlib import suppress
from itertools import count
from typing import Any

from answerable.computing.job import HEADER, Job, JobMessage, JobOrder, packed
from answerable.core.errors import TransientError

_log = logging.getLogger("answerable.computing")
_COMMAND = (sys.executable, "-P", "-m", "answerable.computing")
_SUBJECTS = 16
"""Subjects that each process keeps; the one that was not used for the longest time goes first."""
_START_SECONDS = 60.0
_JOB_SECONDS = 120.0
"""Far more than any computation takes. A process that is still busy then is ended."""
_IDLE_SECONDS = 300.0
_LOOK_SECONDS = 1.0
"""How often a job that waits for a process looks whether there still is one."""

Answer = Callable[[Any], Awaitable[Any]]


async def _no_answer(_question: Any) -> Any:
    raise AssertionError("this job asks nothing")


class ComputingProcesses:
    """Belongs to one event loop. `most=0`: everything is computed in threads of this process."""

    def __init__(self, most: int = 0) -> None:
        self._most = most
        self._under_way = 0
        self._processes: set[_Process] = set()
        self._starting: set[asyncio.Task[None]] = set()
        self._idle: asyncio.LifoQueue[_Process] = asyncio.LifoQueue()
        """The last in is the first out, so that those which are not needed stay idle and end."""
        self._subjects: OrderedDict[int, _Subject] = OrderedDict()
        self._numbers = count(1)

    async def compute(self, job: Job, subject: Any, answer: Answer = _no_answer) -> Any:
        """The result of the job. `answer` answers what the job asks its parent, on the event loop."""
        self._under_way += 1
        try:
            if self._under_way > 1:
                self._start_another()
            known = self._known(subject) if self._processes else None
            if known is None:
                return await _computed_here(job, subject, answer)
            return await self._computed_apart(job, known, answer)
        finally:
            self._under_way -= 1

    async def close(self) -> None:
        for task in self._starting:
            task.cancel()
        await asyncio.gather(*self._starting, return_exceptions=True)
        for process in list(self._processes):
            await self._end(process)

    async def _computed_apart(self, job: Job, subject: "_Subject", answer: Answer) -> Any:
        process = await self._idle_process()
        if process is None:
            return await _computed_here(job, subject.subject, answer)
        try:
            async with asyncio.timeout(_JOB_SECONDS):
                message = await process.compute(job, subject, answer)
        except BaseException as error:
            # Its state is unknown: it died, or a reply is still to come that nobody will wait for.
            await self._end(process)
            if isinstance(error, OSError | EOFError | TimeoutError | pickle.PickleError):
                raise TransientError("A process that computes has ended.", code="computing_failed") from error
            raise
        process.idle_since = asyncio.get_running_loop().time()
        self._idle.put_nowait(process)
        await self._end_idle()
        if message.error is not None:
            raise message.error
        return message.result

    async def _idle_process(self) -> "_Process | None":
        """Waits for one. None if there is none left to wait for: the last one may die while others wait for it."""
        while self._processes or self._starting:
            with suppress(TimeoutError):
                async with asyncio.timeout(_LOOK_SECONDS):
                    process = await self._idle.get()
                    if process in self._processes:  # else it was ended while it was idle
                        return process
        return None

    def _known(self, subject: Any) -> "_Subject | None":
        """The subject with its number. None if it cannot be sent to a process."""
        known = self._subjects.get(id(subject))
        if known is None:
            known = self._subjects[id(subject)] = _Subject(next(self._numbers), subject)
            if len(self._subjects) > 2 * _SUBJECTS:
                self._subjects.popitem(last=False)
        self._subjects.move_to_end(id(subject))
        return known if known.pickled is not None else None

    # Starting and ending

    def _start_another(self) -> None:
        # One at a time: while it starts, the crowd may already be gone.
        if not self._starting and len(self._processes) < self._most:
            task = asyncio.create_task(self._start(), name="start a computing process")
            self._starting.add(task)
            task.add_done_callback(self._starting.discard)

    async def _start(self) -> None:
        process = None
        try:
            process = _Process()
            async with asyncio.timeout(_START_SECONDS):
                await process.ready()
        except (OSError, EOFError, TimeoutError) as error:
            # Not an error for anybody who asks: the jobs are computed here, only more slowly.
            _log.warning("computing process not started", extra={"fields": {"reason": str(error) or repr(error)}})
            if process is not None:
                await process.end()
            return
        except asyncio.CancelledError:
            if process is not None:
                await process.end()
            raise
        process.idle_since = asyncio.get_running_loop().time()
        self._processes.add(process)
        self._idle.put_nowait(process)

    async def _end_idle(self) -> None:
        late = asyncio.get_running_loop().time() - _IDLE_SECONDS
        for process in [one for one in self._processes if one.idle_since is not None and one.idle_since < late]:
            await self._end(process)

    async def _end(self, process: "_Process") -> None:
        self._processes.discard(process)
        await process.end()


async def _computed_here(job: Job, subject: Any, answer: Answer) -> Any:
    loop = asyncio.get_running_loop()

    def ask(question: Any) -> Any:
        # Connections belong to the event loop, while the job is in a thread beside it.
        return asyncio.run_coroutine_threadsafe(_awaited(answer(question)), loop).result()

    return await asyncio.to_thread(job.compute, subject, ask)


async def _awaited(answer: Awaitable[Any]) -> Any:
    return await answer


class _Subject:
    """What many jobs are about. It is pickled once, and sent to each process once."""

    def __init__(self, number: int, subject: Any) -> None:
        self.number = number
        self.subject = subject
        """Referred to, so that its `id` belongs to no other object."""
        try:
            self.pickled: bytes | None = pickle.dumps(subject, pickle.HIGHEST_PROTOCOL)
        except (TypeError, AttributeError, pickle.PickleError):  # of a source that keeps something open, for example
            self.pickled = None


class _Process:
    def __init__(self) -> None:
        self._socket, theirs = socket.socketpair()
        self._socket.setblocking(False)
        self._has: OrderedDict[int, None] = OrderedDict()
        """Numbers of the subjects that it keeps."""
        self.idle_since: float | None = None
        with theirs:
            try:
                self._process = subprocess.Popen(  # noqa: S603 our own module
                    [*_COMMAND, str(theirs.fileno()), str(os.getpid())],
                    pass_fds=(theirs.fileno(),),
                    stdin=subprocess.DEVNULL,
                    # Of the parent's environment only where modules are found: a computation needs no secrets.
                    env={"LANG": "C.UTF-8", "PYTHONPATH": os.pathsep.join(filter(None, sys.path))},
                )
            except OSError:
                self._socket.close()
                raise

    async def ready(self) -> None:
        await self._received()

    async def compute(self, job: Job, subject: _Subject, answer: Answer) -> JobMessage:
        self.idle_since = None
        new, dropped = subject.number not in self._has, None
        self._has[subject.number] = None
        self._has.move_to_end(subject.number)
        if len(self._has) > _SUBJECTS:
            dropped, _ = self._has.popitem(last=False)
        await self._send(JobOrder(job, subject.number, subject.pickled if new else None, dropped))
        while True:
            message = await self._received()
            if message.question is None:
                return message
            await self._send(await answer(message.question))

    async def end(self) -> None:
        self._process.kill()
        await asyncio.to_thread(self._process.wait)
        self._socket.close()  # only now: the event loop never wakes a reader whose socket was closed under it

    async def _send(self, message: Any) -> None:
        await asyncio.get_running_loop().sock_sendall(self._socket, packed(message))

    async def _received(self) -> JobMessage:
        size = HEADER.unpack(await self._exactly(HEADER.size))[0]
        message: JobMessage = pickle.loads(await self._exactly(size))  # noqa: S301 from our own process; see `job`
        return message

    async def _exactly(self, size: int) -> bytes:
        loop, data = asyncio.get_running_loop(), bytearray()
        while len(data) < size:
            part = await loop.sock_recv(self._socket, min(size - len(data), 1 << 20))
            if not part:
                raise EOFError("the process has ended")
            data += part
        return bytes(data)

"""The zygote and its copies, as the host sees them: started, spoken to, ended."""

import asyncio
import json
import os
import socket
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from typing import Any

from answerable.isolation import wire
from answerable.isolation.frames import FrameReader, Intake
from answerable.isolation.kernel import Unavailable
from answerable.isolation.memory import MemoryPlace
from answerable.sandbox.bounds import message_of
from answerable.sandbox.kernel.jail.launch import Way, launch

_START_SECONDS = 60.0
_END_SECONDS = 5.0
_COMPLAINT = 64 * 1024
"""How much is read of what libraries complain about before a process dies; as much as a pipe holds."""
_CORES_USED = 4
QUIET = {
    "OPENBLAS_NUM_THREADS": "1",
    "OMP_NUM_THREADS": "1",
    "_RJEM_MALLOC_CONF": "background_thread:false",
    "JE_ARROW_MALLOC_CONF": "background_thread:false",
    "POLARS_MAX_THREADS": str(min(os.cpu_count() or 1, _CORES_USED)),
    "TMPDIR": "/work",
    "HOME": "/work",
}
"""A process that is copied must have no threads: those of allocators and of linear algebra are switched off."""


@dataclass(frozen=True, slots=True)
class ProcessEnd:
    """How a process ended, as the kernel reported it to its parent."""

    status: int | None = None
    """What it exited with, or the signal that ended it as a negative number; None if it is not known."""
    cpu_ms: float | None = None
    peak_mb: float | None = None


class Child:
    """A process for one run."""

    def __init__(self, zygote: "Zygote", number: int, scratch_mb: int, memory: MemoryPlace) -> None:
        self.number = number
        self.scratch_mb = scratch_mb
        self.memory = memory
        self.pid = 0
        """As this process sees it; known once it is ready."""
        self.has_scratch = False
        self.ended: asyncio.Future[ProcessEnd] = asyncio.get_running_loop().create_future()
        self._zygote = zygote
        self._walls: Mapping[str, str] | None = None
        self.cpu_ms_before = 0.0
        """What it used until it was ready: not the code's."""
        self._socket, self._theirs = socket.socketpair()
        self._socket.setblocking(False)
        self._reader = FrameReader(self._socket)
        self._errors, self._their_errors = os.pipe2(os.O_CLOEXEC | os.O_NONBLOCK)

    def descriptors(self) -> list[int]:
        return [self._theirs.fileno(), self._their_errors]

    def handed_over(self) -> None:
        """The process has its ends of the lines now; ours of these are closed, so that its end is seen."""
        self._theirs.close()
        os.close(self._their_errors)

    async def ready(self) -> Mapping[str, str]:
        """The walls that stand around it, once it waits for its code."""
        if self._walls is None:
            try:
                async with asyncio.timeout(_START_SECONDS):
                    message = await self.receive(_COMPLAINT)
            except TimeoutError:
                raise Unavailable("a process did not become ready in time") from None
            if message is None or "ready" not in message:
                raise Unavailable(str((message or {}).get("failed") or await self._why_dead()))
            self._walls, self.cpu_ms_before = message["ready"], message["cpu_ms"]
            self.pid, self.has_scratch = message["pid"], message["scratch"]
        return self._walls or {}

    async def send(self, message: Any, descriptors: Sequence[int] = ()) -> None:
        """Ignores a closed connection: the next `receive` reports that the process has ended."""
        body = json.dumps(message).encode("ascii")  # half characters too
        frame = wire.HEADER.pack(len(body)) + body
        with suppress(ConnectionError):
            if descriptors:
                # Descriptors travel with the first byte; the rest is sent by a call that waits for room.
                frame = frame[socket.send_fds(self._socket, [frame[:1]], list(descriptors)) :]
            await asyncio.get_running_loop().sock_sendall(self._socket, frame)

    def bound(self, *, frames: int, byte_count: int) -> None:
        """What it may send from now on."""
        self._reader.intake = Intake(frames=frames, byte_count=byte_count)

    async def receive(self, largest: int) -> dict[str, Any] | None:
        """The next message; None if the process has ended. Raises `Broken` or `TooMuch` if it is not a message."""
        body = await self._reader.next(largest)
        return None if body is None else message_of(body)

    def complaint(self) -> str:
        """What libraries wrote to standard error."""
        try:
            return os.read(self._errors, _COMPLAINT).decode("utf-8", "replace")
        except BlockingIOError:
            return ""

    async def finish(self) -> ProcessEnd:
        """Ends it, and waits until it is gone, with all that it held open."""
        self.kill()
        done, _ = await asyncio.wait({self.ended}, timeout=_END_SECONDS)
        if not done:
            # The process hangs in the kernel, or the zygote no longer obeys: then all of them must go.
            self._zygote.kill_all()
            await asyncio.wait({self.ended}, timeout=_END_SECONDS)
        return self.ended.result() if self.ended.done() else ProcessEnd()

    def kill(self) -> None:
        if not self.ended.done():
            self._zygote.kill(self.number)

    def own(self, end: ProcessEnd) -> ProcessEnd:
        """The usage without what the process used before the code came."""
        if end.cpu_ms is None:
            return end
        return replace(end, cpu_ms=round(max(end.cpu_ms - self.cpu_ms_before, 0.0), 3))

    def close(self) -> None:
        if self._socket.fileno() >= 0:
            self._socket.close()
            os.close(self._errors)

    async def _why_dead(self) -> str:
        end = await self.finish()
        return self.complaint().strip()[-500:] or f"a process ended with {end.status}"


class Zygote:
    """The process that has everything loaded, and the list of its copies that live."""

    def __init__(self, way: Way) -> None:
        self.way = way
        self._socket, theirs = socket.socketpair()
        with theirs:
            self._launch = launch(way, theirs.fileno())
            self._process = self._launch.start(theirs.fileno())
        self._socket.setblocking(False)
        self._numbers = 0
        self._children: dict[int, Child] = {}
        self._listening: asyncio.Task[None] | None = None
        self.libraries: tuple[str, ...] = ()

    async def open(self, libraries: Sequence[str], *, allow_unisolated: bool) -> None:
        """Waits until the libraries are loaded. `Unavailable` if the kernel does not let it be."""
        seen = self._launch.view
        setup = {
            "jailed": self._launch.jailed,
            "environment": QUIET,
            "path": seen.path,
            "read": seen.read,
            "libraries": list(libraries),
            "allow_unisolated": allow_unisolated,
        }
        try:
            async with asyncio.timeout(_START_SECONDS):
                await asyncio.get_running_loop().sock_sendall(self._socket, wire.encoded(setup))
                message = await self._receive()
        except TimeoutError:
            raise Unavailable("it did not start in time") from None
        except ConnectionError:
            message = None
        if message is None or "ready" not in message:
            raise Unavailable(str((message or {}).get("failed") or await self._last_words()))
        self.libraries = tuple(message["ready"])
        self._listening = asyncio.ensure_future(self._listen())

    @property
    def pid(self) -> int:
        return self._process.pid

    @property
    def alive(self) -> bool:
        return self._listening is not None and not self._listening.done() and self._process.poll() is None

    def spawn(self, scratch_mb: int, memory: MemoryPlace) -> Child:
        self._numbers += 1
        child = Child(self, self._numbers, scratch_mb, memory)
        self._children[child.number] = child
        entrances = memory.entrances()
        self._tell({"spawn": child.number, "scratch_mb": scratch_mb}, [*child.descriptors(), *entrances])
        child.handed_over()
        for entrance in entrances:
            os.close(entrance)
        if not self.alive:
            self._bury_all()
        return child

    def kill(self, number: int) -> None:
        self._tell({"kill": number})

    def kill_all(self) -> None:
        """The zygote itself: the kernel ends its copies with it."""
        if self._process.poll() is None:
            self._process.kill()

    async def close(self) -> None:
        self.kill_all()
        await asyncio.to_thread(self._process.wait)
        if self._listening is not None:
            await asyncio.wait({self._listening})
        for child in list(self._children.values()):
            child.close()
        self._bury_all()
        self._socket.close()
        if self._process.stderr is not None:
            self._process.stderr.close()

    def _tell(self, message: Mapping[str, Any], descriptors: Sequence[int] = ()) -> None:
        """Sends a small message. If it does not fit into the socket at once, the zygote has stopped reading."""
        frame = wire.encoded(message)
        try:
            sent = socket.send_fds(self._socket, [frame], list(descriptors))
        except OSError:
            sent = 0
        if sent < len(frame):
            self.kill_all()

    async def _listen(self) -> None:
        try:
            while (message := await self._receive()) is not None:
                child = self._children.pop(message["ended"], None)
                if child is not None and not child.ended.done():
                    child.ended.set_result(ProcessEnd(message["status"], message["cpu_ms"], message["peak_mb"]))
        except ConnectionError:
            pass  # as good as a closed line
        finally:
            self._bury_all()

    async def _receive(self) -> dict[str, Any] | None:
        loop = asyncio.get_running_loop()
        data = bytearray()
        wanted = wire.HEADER.size
        while len(data) < wanted:
            part = await loop.sock_recv(self._socket, wanted - len(data))
            if not part:
                return None
            data += part
            if len(data) == wire.HEADER.size:
                wanted += wire.HEADER.unpack(data)[0]
        message: dict[str, Any] = wire.decoded(bytes(data[wire.HEADER.size :]))
        return message

    def _bury_all(self) -> None:
        while self._children:
            _, child = self._children.popitem()
            if not child.ended.done():
                child.ended.set_result(ProcessEnd())

    async def _last_words(self) -> str:
        self.kill_all()
        _, errors = await asyncio.to_thread(self._process.communicate)
        text = (errors or b"").decode("utf-8", "replace").strip()
        return text.splitlines()[-1][:500] if text else f"it ended with {self._process.returncode}"

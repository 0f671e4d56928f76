"""A worker process as its parent sees it: started with nothing of ours, sent frames, read within bounds, ended."""

import asyncio
import os
import signal
import socket
import subprocess
import sys
from collections.abc import Mapping, Sequence
from contextlib import suppress

from answerable.isolation.frames import FrameReader, Intake

_ENVIRONMENT = {"LANG": "C.UTF-8", "MALLOC_ARENA_MAX": "2"}
"""The second keeps what is reserved, and counts against the limit on memory, near to what is used."""


class Gone(Exception):
    """The process has ended, or has closed its end of the line."""


class WorkerProcess:
    def __init__(self, module: str, environment: Mapping[str, str] = {}) -> None:
        """Starts `python -m module DESCRIPTOR PARENT`. Raises `OSError` if no process can be started."""
        self.socket, theirs = socket.socketpair()
        with theirs:
            try:
                self._process = _started(module, theirs.fileno(), {**_ENVIRONMENT, **environment})
            except OSError:
                self.socket.close()
                raise
        self.socket.setblocking(False)
        self._killed = False
        self._reader = FrameReader(self.socket)

    @property
    def pid(self) -> int:
        return self._process.pid

    @property
    def alive(self) -> bool:
        return self._process.poll() is None

    @property
    def open(self) -> bool:
        return not self._killed and self.alive

    async def send(self, frame: bytes, descriptors: Sequence[int] = ()) -> None:
        """Raises `Gone`."""
        try:
            if descriptors:
                # Descriptors travel with the first byte; the rest is sent by a call that waits for room.
                frame = frame[socket.send_fds(self.socket, [frame[:1]], list(descriptors)) :]
            await asyncio.get_running_loop().sock_sendall(self.socket, frame)
        except OSError as error:
            raise Gone(str(error)) from error

    def bound(self, *, frames: int, byte_count: int) -> None:
        """What it may send from now on."""
        self._reader.intake = Intake(frames=frames, byte_count=byte_count)

    async def receive(self, largest: int) -> bytes:
        """The body of the next frame. Raises `Gone`, or `TooMuch`."""
        try:
            body = await self._reader.next(largest)
        except OSError as error:
            raise Gone(str(error)) from error
        if body is None:
            raise Gone("it has ended")
        return body

    async def exit_code(self, seconds: float) -> int | None:
        """None if it has not ended after so many seconds: it may have closed its end of the line and live on."""
        try:
            return await asyncio.to_thread(self._process.wait, seconds)
        except subprocess.TimeoutExpired:
            return None

    def kill(self) -> None:
        """Whoever waits for a frame gets `Gone` now. `ended` must be awaited too."""
        if self.alive:
            # The process leads a group of its own; with it ends what it may have started.
            with suppress(ProcessLookupError):
                os.killpg(self._process.pid, signal.SIGKILL)
        if not self._killed:
            self._killed = True
            # Not closed yet: the event loop never wakes a reader whose socket was closed under it.
            with suppress(OSError):  # some systems complain if the other end is closed already
                self.socket.shutdown(socket.SHUT_RDWR)

    async def ended(self) -> None:
        """Kills the process and waits until it is gone."""
        self.kill()
        await asyncio.to_thread(self._process.wait)
        self.socket.close()


def _started(module: str, descriptor: int, environment: Mapping[str, str]) -> "subprocess.Popen[bytes]":
    """Starts a worker with nothing of our environment, and no terminal whose keys could reach it."""
    return subprocess.Popen(  # noqa: S603 - a fixed command
        [sys.executable, "-I", "-m", module, str(descriptor), str(os.getpid())],
        pass_fds=[descriptor],
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        env=environment,
        cwd="/",
        start_new_session=True,
    )

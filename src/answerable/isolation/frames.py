"""Reads the frames of a process that nobody trusts: bounded in bytes and number, and in turns with everything else.

A socket that always has data never makes its reader wait, so a process that writes without end would keep the event
loop to itself. The reader therefore gives way after every piece, and pauses after every burst.
"""

import asyncio
import socket

from answerable.isolation.wire import HEADER

_PIECE = 256 * 1024
_BURST = 256 * 1024
_FRAME_COST = 1024
"""Bytes that a frame counts for beside its own: many empty frames are work too."""
_PAUSE_SECONDS = 0.001


class TooMuch(Exception):
    """A process sent more than it may."""


class Intake:
    """Counts what one sender has sent, and slows down whoever reads it."""

    def __init__(self, *, frames: int | None = None, byte_count: int | None = None) -> None:
        """None: no bound of that kind."""
        self._frames_left = frames
        self._bytes_left = byte_count
        self._burst = 0

    async def take(self, size: int) -> None:
        """Accounts for one frame. Raises `TooMuch`."""
        if self._frames_left is not None:
            self._frames_left -= 1
            if self._frames_left < 0:
                raise TooMuch("too many messages")
        if self._bytes_left is not None:
            self._bytes_left -= size
            if self._bytes_left < 0:
                raise TooMuch("messages of too many bytes")
        await self.breathe(size + _FRAME_COST)

    async def breathe(self, size: int) -> None:
        """Lets others have their turn once a burst has been read."""
        self._burst += size
        if self._burst > _BURST:
            self._burst = 0
            await asyncio.sleep(_PAUSE_SECONDS)


class FrameReader:
    """Frames with a length in front, from a socket that does not block."""

    def __init__(self, connection: socket.socket, intake: Intake | None = None) -> None:
        self._connection = connection
        self.intake = intake or Intake()
        self._buffer = bytearray()

    async def next(self, largest: int) -> bytes | None:
        """The body of the next frame; None if the other side is gone. Raises `TooMuch` before a body that is larger
        than `largest` is read."""
        header = await self._exactly(HEADER.size)
        if header is None:
            return None
        size: int = HEADER.unpack(header)[0]
        if size > largest:
            raise TooMuch(f"a message of {size:,} bytes")
        await self.intake.take(size)
        return await self._exactly(size)

    async def _exactly(self, size: int) -> bytes | None:
        loop = asyncio.get_running_loop()
        while len(self._buffer) < size:
            try:
                part = await loop.sock_recv(self._connection, _PIECE)
            except ConnectionError:
                return None
            if not part:
                return None
            self._buffer += part
            if len(part) == _PIECE:
                # More is waiting, so `sock_recv` would come back without having let anybody else run.
                await self.intake.breathe(len(part))
        found = bytes(self._buffer[:size])
        del self._buffer[:size]
        return found

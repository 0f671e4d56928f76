"""The client's side of a WebSocket (RFC 6455), as far as Kubernetes needs it: whole binary messages both ways."""

import asyncio
import base64
import hashlib
import os
import struct

from answerable.sandbox.containers.http import Endpoint, HttpError, upgraded

_ACCEPT = "258EAFA5-E914-47DA-95CA-C5AB0DC85B11"
_FINAL, _MASKED = 0x80, 0x80
_BINARY, _CLOSE, _PING, _PONG = 0x2, 0x8, 0x9, 0xA
_LARGEST = 64 << 20


class WebSocket:
    def __init__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self._reader = reader
        self._writer = writer

    async def send(self, message: bytes) -> None:
        await self._put(_BINARY, message)

    async def receive(self) -> bytes | None:
        """The next message; nothing when the other side has closed."""
        message = bytearray()
        try:
            while True:
                final, kind, data = await self._frame()
                if kind == _CLOSE:
                    return None
                if kind == _PING:
                    await self._put(_PONG, data)
                elif kind != _PONG:
                    message += data
                    if final:
                        return bytes(message)
        except (EOFError, OSError):
            return None

    def close(self) -> None:
        self._writer.close()

    async def _frame(self) -> tuple[bool, int, bytes]:
        first, second = await self._reader.readexactly(2)
        size = second & 0x7F
        if size >= 126:
            size = int.from_bytes(await self._reader.readexactly(2 if size == 126 else 8), "big")
        if size > _LARGEST:
            raise OSError("a frame is too large")
        mask = await self._reader.readexactly(4) if second & _MASKED else b""
        data = await self._reader.readexactly(size)
        return bool(first & _FINAL), first & 0x0F, _masked(data, mask) if mask else data

    async def _put(self, kind: int, data: bytes) -> None:
        size = len(data)
        if size < 126:
            head = struct.pack("!BB", _FINAL | kind, _MASKED | size)
        elif size < 1 << 16:
            head = struct.pack("!BBH", _FINAL | kind, _MASKED | 126, size)
        else:
            head = struct.pack("!BBQ", _FINAL | kind, _MASKED | 127, size)
        mask = os.urandom(4)
        self._writer.write(head + mask + _masked(data, mask))
        await self._writer.drain()


async def open_websocket(endpoint: Endpoint, path: str, protocols: str) -> WebSocket:
    """An `HttpError` if the server does not agree."""
    key = base64.b64encode(os.urandom(16)).decode()
    expected = base64.b64encode(hashlib.sha1((key + _ACCEPT).encode(), usedforsecurity=False).digest()).decode()
    headers = {
        "Connection": "Upgrade",
        "Upgrade": "websocket",
        "Sec-WebSocket-Key": key,
        "Sec-WebSocket-Version": "13",
        "Sec-WebSocket-Protocol": protocols,
    }
    reply, reader, writer = await upgraded(endpoint, "GET", path, headers)
    if reply.headers.get("sec-websocket-accept") != expected:
        writer.close()
        raise HttpError("the server does not speak WebSocket")
    return WebSocket(reader, writer)


def _masked(data: bytes, mask: bytes) -> bytes:
    """In one go, as whole numbers: byte by byte would take seconds for a table."""
    key = (mask * (len(data) // 4 + 1))[: len(data)]
    return (int.from_bytes(data, "little") ^ int.from_bytes(key, "little")).to_bytes(len(data), "little")

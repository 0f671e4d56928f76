"""How a worker and its parent talk: frames of JSON over a socket pair; a file descriptor may ride along with one.

JSON and nothing richer: the parent must be able to read what a worker that was taken over says. What JSON lacks is
written as an object with one key, which no other value can be: whatever is nested in the data travels as text.
"""

import array
import json
import math
import socket
import struct
from collections.abc import Callable
from datetime import UTC, date, datetime, time, timedelta
from decimal import Decimal
from typing import Any
from uuid import UUID

MAX_FRAME = 256 * 1024 * 1024
HEADER = struct.Struct("!I")
_CLOSE_ON_EXEC = getattr(socket, "MSG_CMSG_CLOEXEC", 0)


def encoded(message: Any) -> bytes:
    body = json.dumps(message, default=_tagged, ensure_ascii=False, separators=(",", ":")).encode(
        "utf-8", "surrogatepass"
    )
    return HEADER.pack(len(body)) + body


def decoded(body: bytes) -> Any:
    return json.loads(body.decode("utf-8", "replace"), object_hook=_untagged)


def nested_as_text(value: Any) -> Any:
    """Lists, structs and maps of the data, as the JSON text that stands for them."""
    if not isinstance(value, list | tuple | dict):
        return value
    try:
        return json.dumps(value, default=_text_of, ensure_ascii=False, allow_nan=False)
    except ValueError:
        return json.dumps(_without_odd_numbers(value), default=_text_of, ensure_ascii=False)


def _text_of(value: Any) -> str:
    return f"\\x{value.hex()}" if isinstance(value, bytes) else str(value)


def _without_odd_numbers(value: Any) -> Any:
    """NaN and infinities as texts, because JSON has no such numbers."""
    if isinstance(value, list | tuple):
        return [_without_odd_numbers(item) for item in value]
    if isinstance(value, dict):
        return {key: _without_odd_numbers(item) for key, item in value.items()}
    return str(value) if isinstance(value, float) and not math.isfinite(value) else value


def send(connection: socket.socket, message: Any) -> None:
    connection.sendall(encoded(message))


def receive(connection: socket.socket) -> tuple[Any, int | None] | None:
    """The next message and the descriptor that came with it; None if the other side is gone."""
    received = receive_with(connection, 1)
    return None if received is None else (received[0], received[1][0] if received[1] else None)


def receive_with(connection: socket.socket, most: int) -> tuple[Any, list[int]] | None:
    """The next message and the descriptors, at most so many, that came with its first byte."""
    received = receive_body(connection, most)
    return None if received is None else (decoded(received[0]), received[1])


def receive_body(connection: socket.socket, most: int = 0) -> tuple[bytes, list[int]] | None:
    """Like `receive_with`, with the message as it came: JSON of others may look like what JSON lacks."""
    start, descriptors = _start(connection, most)
    if not start:
        return None
    header = start + (exactly(connection, HEADER.size - len(start)) or b"")
    if len(header) < HEADER.size:
        return None
    body = exactly(connection, HEADER.unpack(header)[0])
    return None if body is None else (body, descriptors)


def _start(connection: socket.socket, most: int) -> tuple[bytes, list[int]]:
    found = array.array("i")
    room = socket.CMSG_SPACE(most * found.itemsize)
    data, ancillary, _flags, _address = connection.recvmsg(HEADER.size, room, _CLOSE_ON_EXEC)
    for level, kind, content in ancillary:
        if level == socket.SOL_SOCKET and kind == socket.SCM_RIGHTS:
            found.frombytes(content[: len(content) - len(content) % found.itemsize])
    return data, found.tolist()


def exactly(connection: socket.socket, size: int) -> bytes | None:
    """Reads this number of bytes. Returns None if the other side closes the connection before."""
    parts = bytearray()
    while len(parts) < size:
        part = connection.recv(min(size - len(parts), 1 << 20))
        if not part:
            return None
        parts += part
    return bytes(parts)


def _tagged(value: Any) -> Any:
    if isinstance(value, datetime):
        return {"$datetime": (value.astimezone(UTC).replace(tzinfo=None) if value.tzinfo else value).isoformat()}
    if isinstance(value, date):
        return {"$date": value.isoformat()}
    if isinstance(value, time):
        return {"$time": value.replace(tzinfo=None).isoformat()}
    if isinstance(value, bytes | bytearray | memoryview):
        return {"$bytes": bytes(value).hex()}
    if isinstance(value, Decimal):
        return _number(value)
    if isinstance(value, UUID | timedelta):
        return str(value)
    raise TypeError(f"{type(value).__name__} cannot be sent")


def _number(value: Decimal) -> int | float | str:
    """A number that holds it exactly; else its text."""
    if value.as_tuple().exponent == 0:
        return int(value)
    nearest = float(value)
    return nearest if not math.isfinite(nearest) or Decimal(repr(nearest)) == value else format(value, "f")


_READERS: dict[str, Callable[[str], Any]] = {
    "$datetime": datetime.fromisoformat,
    "$date": date.fromisoformat,
    "$time": time.fromisoformat,
    "$bytes": bytes.fromhex,
}


def _untagged(value: dict[str, Any]) -> Any:
    if len(value) == 1:
        [(key, content)] = value.items()
        if key in _READERS:
            return _READERS[key](content)
    return value

"""The host's half of a run whose code is reached over a stream of bytes: a container's, a pod's, a virtual machine's.

The other half is `runner/streams.py`. Both sides send a letter, a length and a body. What comes from the other side may
be forged: it is bounded by the limits, parsed as JSON and as nothing else, and a wrong word ends the run.
"""

import asyncio
import inspect
import json
import os
import struct
import tempfile
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any, Protocol

import orjson

from answerable.core.errors import AnswerableError, OperatorError, UserError
from answerable.core.file_errors import cannot_write
from answerable.core.values import Json
from answerable.isolation.frames import Intake, TooMuch
from answerable.sandbox.base import HostFunction, Pause, SandboxRequest
from answerable.sandbox.bounds import LARGEST_MESSAGE, Broken, frames_of, message_of
from answerable.sandbox.results import SandboxRecord, Stopped

START_SECONDS = 120.0
"""How long a place may take until the code begins; the code's own time does not run yet."""
_HEAD = struct.Struct("!cI")
_JSON, _BYTES = b"J", b"B"
_CHUNK = 1 << 20
_MB = 1 << 20


class Stream(Protocol):
    """Bytes both ways."""

    async def send(self, data: bytes) -> None: ...

    async def receive(self) -> bytes:
        """Some bytes; none when the other side has ended."""
        ...


async def converse(stream: Stream, request: SandboxRequest) -> SandboxRecord:
    """Hands over the request, answers host calls, and listens to the end or until a limit is reached.

    Ending the place is left to the caller, however this ends.
    """
    messages = _Messages(stream, request)
    record = SandboxRecord()
    await _begun(stream, messages, request)
    began = time.perf_counter()
    rows = _RowsFile(request)
    try:
        async with asyncio.timeout(request.limits.seconds):
            await _listen(stream, messages, request, record, rows)
    except TimeoutError:
        record.stopped = Stopped("time", f"The code took longer than {request.limits.seconds:g} seconds.")
    except ConnectionError:
        pass  # the code ended while it was sent something; the backend that started it knows why
    except (Broken, TooMuch) as error:
        record.stopped = Stopped("died", f"The code broke the line to its host: {error}.")
    except BaseException:
        rows.close()
        raise
    record.wall_ms = (time.perf_counter() - began) * 1000
    record.rows = rows.file
    return record


async def _begun(stream: Stream, messages: "_Messages", request: SandboxRequest) -> None:
    try:
        async with asyncio.timeout(START_SECONDS):
            await _hand_over(stream, request)
            first = await messages.next()
    except TimeoutError:
        raise _not_started(f"it did not begin within {START_SECONDS:g} seconds") from None
    except (Broken, TooMuch, ConnectionError) as error:
        raise _not_started(str(error) or "the connection was lost") from error
    if first != (_JSON, {"ready": True}):
        # An image without polars fails before the code begins: that is the operator's to mend, not the code's fault.
        raise _not_started("the image has no Python with polars that runs the code")


def _not_started(reason: str) -> OperatorError:
    return OperatorError(
        f"The sandbox could not begin: {reason}.",
        code="sandbox_failed",
        hint="`answerable doctor` says what each backend needs.",
    )


async def _hand_over(stream: Stream, request: SandboxRequest) -> None:
    files = dict(request.frames)
    sizes = {name: path.stat().st_size for name, path in files.items()}
    await _put(stream, _JSON, json.dumps(asked(request, sizes)).encode())  # which can also hold half of a character
    for path in files.values():
        await _put_file(stream, path)


def asked(request: SandboxRequest, frames: Mapping[str, Json]) -> dict[str, Json]:
    """The request as the runner reads it."""
    return {
        "code": request.code,
        "frames": frames,
        "values": dict(request.values),
        "functions": list(request.host.functions),
        "output_bytes": request.limits.output_bytes,
        "result_bytes": request.limits.result_mb * _MB,
        "recursion": request.limits.recursion,
        "cpu_seconds": int(request.limits.seconds) + 5,
        "memory_mb": request.limits.memory_mb,
        "wants_rows": request.into is not None,
    }


@contextmanager
def opened_frames(request: SandboxRequest) -> Iterator[list[int]]:
    """Descriptors of the frames, to read."""
    opened: list[int] = []
    try:
        for name, path in request.frames.items():
            opened.append(_open(name, path))
        yield opened
    finally:
        for descriptor in opened:
            os.close(descriptor)


def _open(name: str, path: Path) -> int:
    try:
        return os.open(path, os.O_RDONLY | os.O_CLOEXEC)
    except OSError as error:
        raise UserError(f"The rows of {name!r} cannot be read: {error.strerror}.", code="input_invalid") from error


async def _put_file(stream: Stream, path: Path) -> None:
    with path.open("rb") as file:
        while piece := await asyncio.to_thread(file.read, _CHUNK):
            await _put(stream, _BYTES, piece)


async def _put(stream: Stream, letter: bytes, body: bytes) -> None:
    await stream.send(_HEAD.pack(letter, len(body)) + body)


async def _listen(
    stream: Stream, messages: "_Messages", request: SandboxRequest, record: SandboxRecord, rows: "_RowsFile"
) -> None:
    while record.stopped is None and record.done is None:
        message = await messages.next()
        if message is None:
            return
        letter, body = message
        if letter == _BYTES:
            rows.add(body, record)
        elif "print" in body:
            record_print(body["print"], request.limits.output_bytes, record)
        elif "call" in body:
            answer = await answered(body, request, record)
            if record.stopped is None:
                await _put(stream, _JSON, orjson.dumps(answer))
        elif isinstance(body.get("done"), dict):
            record.done = body["done"]
        else:
            raise Broken("an unknown message")


class _RowsFile:
    """Where the rows of a result go: to a file without a name, so that the server does not hold them."""

    def __init__(self, request: SandboxRequest) -> None:
        try:
            self.file = tempfile.TemporaryFile() if request.into is not None else None  # noqa: SIM115 - it outlives this
        except OSError as error:
            raise cannot_write(error) from error
        self._limit_mb = request.limits.result_mb
        self._size = 0

    def add(self, body: bytes, record: SandboxRecord) -> None:
        if self.file is None:
            raise Broken("rows that nobody asked for")
        self._size += len(body)
        if self._size > self._limit_mb * _MB:
            record.stopped = Stopped("result_size", f"The result is larger than {self._limit_mb:,} MB.")
            return
        try:
            self.file.write(body)
            self.file.flush()
        except OSError as error:
            raise cannot_write(error) from error

    def close(self) -> None:
        if self.file is not None:
            with suppress(OSError):  # what is still to be written does not matter any more
                self.file.close()


def record_print(text: Json, limit: int, record: SandboxRecord) -> None:
    """Counts again: the limit must hold even if the other side does not keep to it."""
    if not isinstance(text, str) or not text:
        # An empty text uses up nothing of the limit, so that there could be any number of them.
        raise Broken("printed something that is not text")
    data = text.encode()
    room = limit - record.output_bytes
    record.output += data[:room].decode("utf-8", "ignore")
    record.output_bytes += min(len(data), room)
    if len(data) > room:
        record.stopped = Stopped("output", f"The code printed more than {limit:,} bytes.")


async def answered(call: Mapping[str, Json], request: SandboxRequest, record: SandboxRecord) -> dict[str, Json]:
    """What a function of the host says to the code: `{"return": …}` or `{"raise": sentence}`."""
    record.host_calls += 1
    if record.host_calls > request.limits.host_calls:
        record.stopped = Stopped(
            "host_calls", f"The code called the host more than {request.limits.host_calls:,} times."
        )
        return {}
    function = request.host.functions.get(call["call"]) if isinstance(call["call"], str) else None
    args, kwargs = call.get("args", []), call.get("kwargs", {})
    if function is None or not isinstance(args, list) or not isinstance(kwargs, dict):
        return {"raise": f"The host has no function {str(call['call'])[:100]!r}."}
    return await _called(function, args, kwargs)


async def _called(function: HostFunction, args: list[Json], kwargs: dict[str, Json]) -> dict[str, Json]:
    try:
        # Bound apart from the call: a TypeError from inside the function is a defect of ours and must not be passed on.
        bound = inspect.signature(function).bind(*args, **kwargs)
    except TypeError as error:
        return {"raise": str(error)}
    try:
        return {"return": await function(*bound.args, **bound.kwargs)}
    except (AnswerableError, Pause) as error:
        return {"raise": str(error)}


class _Messages:
    """Takes messages out of the stream."""

    def __init__(self, stream: Stream, request: SandboxRequest) -> None:
        self._stream = stream
        bounds = frames_of(request.limits)
        rows = request.limits.result_mb * _MB if request.into is not None else 0
        # The rows come in pieces of one megabyte, of which the last may be small.
        self._intake = Intake(
            frames=bounds["frames"] + rows // _CHUNK + _CHUNK, byte_count=bounds["byte_count"] + rows + _CHUNK
        )
        self._buffer = bytearray()

    async def next(self) -> tuple[bytes, Any] | None:
        """A letter and a body; None at the end of the stream."""
        head = await self._exactly(_HEAD.size)
        if head is None:
            return None
        letter, length = _HEAD.unpack(head)
        # A larger length is refused before its body is read.
        if length > {_JSON: LARGEST_MESSAGE, _BYTES: _CHUNK}.get(letter, -1):
            raise Broken("not a message")
        await self._intake.take(length)
        body = await self._exactly(length)
        if body is None:
            return None
        return letter, message_of(body) if letter == _JSON else body

    async def _exactly(self, size: int) -> bytes | None:
        while len(self._buffer) < size:
            data = await self._stream.receive()
            if not data:
                return None
            self._buffer += data
            await self._intake.breathe(len(data))
        found = bytes(self._buffer[:size])
        del self._buffer[:size]
        return found

"""The runner over a pair of byte streams: how containers are spoken to."""

import io
import json
import os
import queue
import struct
import threading
from collections.abc import Callable, Mapping
from typing import Any, BinaryIO, NoReturn

from answerable.sandbox.runner.execute import execute, prepare

_HEAD = struct.Struct("!cI")
_JSON, _BYTES = b"J", b"B"
_CHUNK = 1 << 20


class StreamChannel:
    """Messages as a letter, a length and a body: `J` for JSON, `B` for bytes of an Arrow file."""

    def __init__(self, incoming: BinaryIO, outgoing: BinaryIO) -> None:
        self._incoming = incoming
        self._outgoing = outgoing
        self._lock = threading.Lock()
        self._waiting: queue.SimpleQueue[Any] = queue.SimpleQueue()

    def listen(self) -> None:
        """Ends the process when the host ends. Started last: a thread that is older than a wall is free
        of it."""
        threading.Thread(target=self._keep_receiving, daemon=True).start()

    def _keep_receiving(self) -> None:
        try:
            while True:
                self._waiting.put(json.loads(self._take(_JSON)))
        finally:
            os._exit(1)

    def send(self, message: Mapping[str, Any]) -> None:
        self._put(_JSON, json.dumps(message).encode())

    def receive(self) -> Any:
        return self._waiting.get()

    def receive_request(self) -> Any:
        return json.loads(self._take(_JSON))

    def receive_file(self, size: int) -> bytes:
        parts = bytearray()
        while len(parts) < size:
            parts += self._take(_BYTES)
        return bytes(parts)

    def rows(self) -> BinaryIO:
        return _Chunks(self)  # type: ignore[return-value]

    def put_bytes(self, data: Any) -> None:
        view = memoryview(data).cast("B")
        for start in range(0, len(view), _CHUNK):
            self._put(_BYTES, view[start : start + _CHUNK])

    def _put(self, letter: bytes, body: Any) -> None:
        with self._lock:
            self._outgoing.write(_HEAD.pack(letter, len(body)))
            self._outgoing.write(body)
            self._outgoing.flush()

    def _take(self, expected: bytes) -> bytes:
        head = self._incoming.read(_HEAD.size)
        if len(head) < _HEAD.size:
            os._exit(1)  # the host is gone, and there is nobody to tell
        letter, length = _HEAD.unpack(head)
        body = self._incoming.read(length)
        if letter != expected or len(body) < length:
            os._exit(1)
        return body


class _Chunks(io.RawIOBase):
    def __init__(self, channel: StreamChannel) -> None:
        self._channel = channel

    def writable(self) -> bool:
        return True

    def write(self, data: Any) -> int:
        self._channel.put_bytes(data)
        return len(data)


def serve(confine: Callable[[Mapping[str, Any]], None]) -> NoReturn:
    """One request over standard input and output, which the code then no longer has. `confine` raises the last walls,
    when everything is loaded."""
    incoming = os.fdopen(os.dup(0), "rb")
    outgoing = os.fdopen(os.dup(1), "wb")
    nothing = os.open(os.devnull, os.O_RDWR)
    for descriptor in (0, 1, 2):
        os.dup2(nothing, descriptor)
    channel = StreamChannel(incoming, outgoing)
    request = channel.receive_request()
    frames = {name: channel.receive_file(size) for name, size in request["frames"].items()}
    prepare(request["code"])
    confine(request)
    channel.listen()
    channel.send({"ready": True})
    channel.send({"done": execute({**request, "frames": frames}, channel)})
    os._exit(0)  # without waiting for threads that the code has left

"""One run: raises its walls, says that it is ready, waits for the code, runs it, and ends. There is no second one."""

import io
import json
import mmap
import os
import socket
import sys
import time
from typing import Any, BinaryIO, NoReturn

from answerable.isolation import wire
from answerable.isolation.kernel import Unavailable
from answerable.sandbox.kernel.inside import walls
from answerable.sandbox.runner.execute import execute

_CONNECTION = 3
_MOST_FRAMES = 250
_MB = 1 << 20


def main(setup: dict[str, Any], message: dict[str, Any], descriptors: list[int]) -> NoReturn:
    connection, errors, *groups = descriptors
    for group in groups:
        os.write(group, b"0")  # this process joins the group
    size = walls.ProcessSize()
    pid = int(os.readlink("/proc/self"))  # its number on the host, whose /proc this is
    _keep_only(connection, errors, size.descriptor)
    channel = _Channel()
    try:
        report = walls.raise_all(setup, message["scratch_mb"])
    except (Unavailable, OSError) as error:
        channel.send({"failed": str(error)})
        os._exit(1)
    if setup["libraries"]:
        warm()
    channel.send({"ready": report, "pid": pid, "scratch": setup["nested"], "cpu_ms": time.process_time() * 1000})
    request, inputs = channel.request()
    walls.limit(request["limits"], size, sum(os.fstat(descriptor).st_size for descriptor in inputs))
    if request["wants_rows"]:
        channel.rows_descriptor = inputs.pop()
    frames = dict(zip(request["frames"], map(_mapped, inputs), strict=True))
    channel.send({"done": execute({**request, "frames": frames}, channel)})
    os._exit(0)  # without waiting for threads that the code has left


def _keep_only(connection: int, errors: int, size: int) -> None:
    """Closes every descriptor of the zygote: 0 is empty, 1 and 2 take what libraries complain about, 3 is the host."""
    # Copies first: a number that is in use as a target may be one of the three that are still needed.
    connection, errors, size = (os.dup(descriptor) for descriptor in (connection, errors, size))
    os.dup2(errors, 1)
    os.dup2(errors, 2)
    os.dup2(connection, _CONNECTION, inheritable=False)
    os.dup2(size, walls.SIZE, inheritable=False)
    os.closerange(walls.SIZE + 1, os.sysconf("SC_OPEN_MAX"))


def warm() -> None:
    """Makes polars start its threads and touch its memory now, and not when the code waits for that."""
    import polars

    file = io.BytesIO()
    frame = polars.DataFrame({"a": [1, 2], "b": ["x", "y"]})
    frame.lazy().group_by("a").agg(polars.len()).collect()
    frame.with_columns(c=polars.col("a") * 2).write_ipc(file)
    polars.read_ipc(file.getvalue())
    if numpy := sys.modules.get("numpy"):
        numpy.random.seed()  # or every run would draw the same numbers


def _mapped(descriptor: int) -> mmap.mmap:
    found = mmap.mmap(descriptor, 0, prot=mmap.PROT_READ)
    os.close(descriptor)
    return found


class _Channel:
    """The way to the host: frames of JSON over one descriptor."""

    def __init__(self) -> None:
        self.rows_descriptor = -1
        self._connection = socket.socket(fileno=_CONNECTION)  # created before the walls: it asks the kernel what it is

    def request(self) -> tuple[dict[str, Any], list[int]]:
        received = wire.receive_with(self._connection, _MOST_FRAMES)
        self._connection.detach()
        if received is None:
            os._exit(0)  # it was never needed
        return json.loads(received[0]["request"]), received[1]

    def send(self, message: Any) -> None:
        data = memoryview(wire.encoded(message))
        while data:
            data = data[os.write(_CONNECTION, data) :]

    def receive(self) -> Any:
        return json.loads(self._exactly(wire.HEADER.unpack(self._exactly(wire.HEADER.size))[0]))

    def rows(self) -> BinaryIO:
        return os.fdopen(self.rows_descriptor, "wb", closefd=False)

    def _exactly(self, size: int) -> bytes:
        parts = bytearray()
        while len(parts) < size:
            part = os.read(_CONNECTION, min(size - len(parts), _MB))
            if not part:
                os._exit(1)  # the host is gone, and there is nobody to tell
            parts += part
        return bytes(parts)

"""The process in which the sessions of one Monty interpreter are held: `python -I -m answerable.sandbox.monty.host
DESCRIPTOR PARENT`.

The interpreter hands over whatever the code has built, however large, as Python objects. They come into being here and
not in the server, which gets them as bounded JSON and rows as a file. It is killed when a run is stopped, and the
interpreter ends with it.

It is sent one request after the other. It says `{"ready": walls}` once, and in each run what the runner of the other
sandboxes says (`print`, `call`, `done`), or `{"stopped": …}` or `{"paused": …}` in the place of `done`.
"""

from __future__ import annotations

import base64
import errno
import json
import os
import resource
import socket
import sys
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

from answerable.core.errors import OperatorError
from answerable.core.file_errors import is_full
from answerable.isolation import kernel, seccomp, wire
from answerable.sandbox.base import HostCalls, Paused, SandboxLimits, SandboxRequest
from answerable.sandbox.monty.pool import MontyPool
from answerable.sandbox.monty.run import Known, MontyRun, WaitsForPerson

if TYPE_CHECKING:
    from answerable.core.values import Json  # brings pydantic, which worker processes do without

_DESCRIPTORS = 250
_MEMORY = 2 << 30
"""For the values of a run as Python objects: a multiple of what the interpreter may hold."""


def main(descriptor: int, parent: int) -> None:
    kernel.die_with_parent(parent)
    connection = socket.socket(fileno=descriptor)
    try:
        pool = MontyPool(1)
    except OperatorError as error:
        wire.send(connection, {"failed": error.message})
        return
    with pool.monty.checkout() as session:
        session.feed_run("1")  # now it is known which walls stand around it
    wire.send(connection, {"ready": pool.walls})
    import polars  # noqa: F401 - loaded while nobody waits for it

    _confine()
    while received := wire.receive_body(connection, _DESCRIPTORS):
        body, descriptors = received
        _HeldRun(connection, json.loads(body), descriptors).run(pool)


def _confine() -> None:
    """The interpreter has been started: from here on no program is, and memory is bounded."""
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    hard = resource.getrlimit(resource.RLIMIT_DATA)[1]
    most = _MEMORY if hard == resource.RLIM_INFINITY else min(_MEMORY, hard)
    with suppress(OSError, ValueError):
        resource.setrlimit(resource.RLIMIT_DATA, (most, most))
    with suppress(kernel.Unavailable):
        kernel.forbid_new_privileges()
        seccomp.restrict(network=False)


class _HeldRun:
    def __init__(self, connection: socket.socket, message: dict[str, Any], descriptors: list[int]) -> None:
        self._connection = connection
        self._message = message
        self._descriptors = descriptors

    def run(self, pool: MontyPool) -> None:
        message = self._message
        known = None if message["known"] is None else Known(message["known"])
        frames = dict(zip(message["frames"], self._descriptors, strict=False))
        output = self._descriptors[-1] if message["wants_rows"] else None
        run = MontyRun(_request(message), self._answer, self._printed, frames, output, known)
        try:
            resumed = message.get("resumed")
            if resumed is None:
                halted = run.begin(pool.monty)
            else:
                halted = run.resume(pool.monty, base64.b64decode(resumed["snapshot"]), resumed["reply"])
        except OSError as error:
            number = errno.ENOSPC if is_full(error) else error.errno
            halted, run.ended = None, {"unwritten": [number, error.strerror or str(error)]}
        except MemoryError:
            halted, run.ended = None, {"stopped": {"reason": "memory", "message": "The result needs too much memory."}}
        finally:
            for descriptor in self._descriptors:
                os.close(descriptor)
        if halted is not None:
            wire.send(self._connection, {"paused": _paused(halted)})
        else:
            wire.send(self._connection, {**run.ended, "known": run.known.sets_result if run.known else None})

    def _answer(self, call: Mapping[str, Json]) -> dict[str, Json]:
        wire.send(self._connection, call)
        received = wire.receive_body(self._connection)
        if received is None:
            os._exit(0)  # the server is gone, and there is nobody to tell
        reply: dict[str, Json] = json.loads(received[0])
        if "pause" in reply:
            raise WaitsForPerson(reply["pause"])
        return reply

    def _printed(self, text: str) -> None:
        """One character more than is allowed is enough for the server to see it."""
        text = text[: self._message["limits"]["output_bytes"] + 1]
        if text:
            wire.send(self._connection, {"print": text.encode("utf-8", "replace").decode()})


def _request(message: Mapping[str, Any]) -> SandboxRequest:
    async def never_called() -> Json: ...

    return SandboxRequest(
        code=message["code"],
        values=message["values"],
        limits=SandboxLimits(**message["limits"]),
        host=HostCalls(dict.fromkeys(message["functions"], never_called), message["stubs"]),
    )


def _paused(paused: Paused) -> dict[str, Json]:
    return {
        "snapshot": base64.b64encode(paused.snapshot).decode(),
        **{name: value for name, value in asdict(paused).items() if name in ("function", "args", "kwargs", "reason")},
    }


if __name__ == "__main__":
    main(int(sys.argv[1]), int(sys.argv[2]))

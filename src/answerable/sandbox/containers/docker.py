"""Code in a container of its own, through the Docker Engine API (Podman serves the same).

A container lives for one run and is removed with it: no network, a read-only root, no capabilities, no new privileges,
the daemon's seccomp profile with ours on top, an unprivileged user, and bounds on memory, processors, tasks and
scratch. Inputs and results go over its standard streams, so that the daemon may be on another machine and sees none of
our files.
"""

import asyncio
import os
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from typing import Any
from urllib.parse import quote
from uuid import uuid4

from answerable.core.errors import OperatorError
from answerable.sandbox.base import Availability, SandboxRequest, SandboxResult
from answerable.sandbox.containers import boot
from answerable.sandbox.containers.control import (
    ControlApi,
    ControlError,
    ControlReply,
    UpgradedStream,
    availability,
    unavailable,
)
from answerable.sandbox.exchange import START_SECONDS, converse
from answerable.sandbox.results import RunPlace, SandboxRecord, Stopped, result_of
from answerable.sandbox.tables.workers import TableWorkers

_USUAL_HOST = "unix:///var/run/docker.sock"
_UNTIL = "answerable.until"
"""A label: when a container must be gone, in seconds since 1970."""
_STDOUT = 1
_PIECE_HEAD = 8
_ENDED_BY = {
    137: Stopped("memory", "The code needed more memory than it may use."),
    134: Stopped("memory", "The code could not get memory, and its process gave up."),
    152: Stopped("cpu", "The code used too much computing time."),
    159: Stopped("forbidden", "The code made a system call that is forbidden."),
}
"""By the exit code of the container: 128 and the number of the signal. Nobody inside can send 137 to process 1."""


class DockerSandbox:
    """`host` is where the daemon listens: `unix:///…` or `tcp://host:port`; by default `DOCKER_HOST` or the usual."""

    name = "docker"

    def __init__(self, image: str, host: str | None = None, *, cpus: float = 1.0, at_once: int = 4) -> None:
        self._image = image
        self._host = host or os.environ.get("DOCKER_HOST") or _USUAL_HOST
        self._daemon = ControlApi(self._host.replace("tcp://", "http://", 1))
        self._cpus = cpus
        self._places = asyncio.Semaphore(at_once)
        self._tables = TableWorkers(at_once)

    async def available(self) -> Availability:
        found = f"image {self._image} at {self._host}"
        return await availability(self._check(), Availability(self.name, True, found, _WALLS))

    async def start(self) -> None:
        await self._check()
        await self._sweep()

    async def run(self, request: SandboxRequest) -> SandboxResult:
        async with self._places, self._container(request) as name:
            record = await self._talked(name, request)
        return await result_of(record, request, RunPlace(self.name, _WALLS), self._tables)

    async def close(self) -> None:
        """Each run removes its own container; only the processes that make tables are left."""
        await self._tables.close()

    async def _check(self) -> None:
        try:
            found = await self._daemon.look_up(f"/images/{quote(self._image)}/json")
        except ControlError as error:
            raise unavailable(
                f"No Docker daemon answers at {self._host}: {error}.",
                "Start Docker, or set `docker_host` to where it listens.",
            ) from error
        if found.status != 200:
            raise unavailable(
                f"Docker has no image {self._image}.",
                "Make one with `scripts/docker-image`, or set `docker_image` to an image with Python and polars.",
            )

    async def _sweep(self) -> None:
        """Removes what a killed process of ours may have left."""
        filters = quote('{"label":["' + _UNTIL + '"]}')
        listed = await self._call("GET", f"/containers/json?all=1&filters={filters}")
        for found in listed.json:
            if int(found["Labels"][_UNTIL]) < time.time():
                await self._remove(found["Id"])

    @asynccontextmanager
    async def _container(self, request: SandboxRequest) -> AsyncIterator[str]:
        name = f"answerable-{uuid4().hex}"
        try:
            await self._call("POST", f"/containers/create?name={name}", manifest(self._image, request, self._cpus))
            yield name
        finally:
            # A cancelled run must not leave its container behind; the code in it would go on.
            await asyncio.shield(self._remove(name))

    async def _talked(self, name: str, request: SandboxRequest) -> SandboxRecord:
        path = f"/containers/{name}/attach?stream=1&stdin=1&stdout=1&stderr=1"
        try:
            async with self._daemon.upgraded("POST", path) as stream:
                return await self._started(name, _Attached(stream), request)
        except ControlError as error:
            raise _failed(error) from error

    async def _started(self, name: str, streams: "_Attached", request: SandboxRequest) -> SandboxRecord:
        # asked for before the start: a container that ends at once is removed, and cannot be asked afterwards
        ending = asyncio.ensure_future(self._call("POST", f"/containers/{name}/wait?condition=next-exit"))
        try:
            await self._call("POST", f"/containers/{name}/start")
            record = await converse(streams, request)
            if record.done is None and record.stopped is None:
                record.stopped = await _why_it_ended(ending)
            return record
        finally:
            ending.cancel()

    async def _call(self, method: str, path: str, body: Any = None) -> ControlReply:
        try:
            reply = await self._daemon.call(method, path, body)
        except ControlError as error:
            raise _failed(error) from error
        if reply.status >= 400:
            raise _failed(reply.complaint)
        return reply

    async def _remove(self, name: str) -> None:
        with suppress(ControlError):  # a daemon that is gone has nothing to remove
            reply = await self._daemon.call("DELETE", f"/containers/{name}?force=1&v=1")
            if reply.status == 409:  # it has ended, and the daemon is at it already
                await self._daemon.call("POST", f"/containers/{name}/wait?condition=removed")


class _Attached:
    """A container's standard streams. The daemon puts eight bytes before each piece of output: the number of the
    stream in the first, the length in the last four."""

    def __init__(self, stream: UpgradedStream) -> None:
        self._stream = stream
        self._is_output = False
        self._left = 0
        """Bytes of the current piece that are still to come."""

    async def send(self, data: bytes) -> None:
        await self._stream.send(data)

    async def receive(self) -> bytes:
        while True:
            if self._left == 0 and not await self._next_piece():
                return b""
            data = await self._stream.receive(self._left)
            self._left -= len(data)
            if self._is_output or not data:
                return data

    async def _next_piece(self) -> bool:
        while self._left == 0:
            head = b""
            while len(head) < _PIECE_HEAD:
                data = await self._stream.receive(_PIECE_HEAD - len(head))
                if not data:
                    return False
                head += data
            self._is_output, self._left = head[0] == _STDOUT, int.from_bytes(head[4:], "big")
        return True


def manifest(image: str, request: SandboxRequest, cpus: float) -> dict[str, Any]:
    """What the daemon is asked to create."""
    memory = boot.memory_mb(request) << 20
    until = int(time.time() + request.limits.seconds + 2 * START_SECONDS)
    return {
        "Image": image,
        "Cmd": list(boot.command()),
        "Entrypoint": [],
        "Env": [f"{name}={value}" for name, value in boot.ENVIRONMENT.items()],
        "User": f"{boot.USER}:{boot.USER}",
        "WorkingDir": boot.SCRATCH,
        "Hostname": "sandbox",
        "Labels": {_UNTIL: str(until)},
        "NetworkDisabled": True,
        "AttachStdin": True,
        "AttachStdout": True,
        "AttachStderr": True,
        "OpenStdin": True,
        "StdinOnce": True,
        "HostConfig": {
            "NetworkMode": "none",
            "IpcMode": "none",
            "ReadonlyRootfs": True,
            "CapDrop": ["ALL"],
            "SecurityOpt": ["no-new-privileges"],
            "Memory": memory,
            # The sum of memory and swap: the same number leaves no swap.
            "MemorySwap": memory,
            "NanoCpus": int(cpus * 1e9),
            "PidsLimit": boot.TASKS,
            "Tmpfs": {boot.SCRATCH: f"rw,noexec,nosuid,nodev,size={request.limits.scratch_mb}m,mode=1777"},
            "LogConfig": {"Type": "none"},
            "AutoRemove": True,
        },
    }


_WALLS = {
    "files": "container, read-only root",
    "network": "no network, seccomp",
    "processes": "pid namespace, seccomp",
    "privileges": f"user {boot.USER}, no capabilities",
    "memory": "cgroup",
    "time": "clock of the host",
}


async def _why_it_ended(ending: "asyncio.Future[ControlReply]") -> Stopped:
    try:
        async with asyncio.timeout(START_SECONDS):
            code = (await asyncio.shield(ending)).json["StatusCode"]
    except TimeoutError:
        return Stopped("died", "The code fell silent.")
    return _ENDED_BY.get(code, Stopped("died", f"The code ended its process (exit code {code})."))


def _failed(reason: object) -> OperatorError:
    return OperatorError(f"Docker could not run the code: {reason}.", code="sandbox_failed")

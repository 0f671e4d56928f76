"""Code in a virtual machine of its own, through the Python SDK of microsandbox (0.7): a kernel of its own, no network.

A machine is booted for one run and destroyed with it. The SDK needs KVM on Linux or an Apple Silicon Mac.
"""

import asyncio
import importlib
import signal
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from typing import Any
from uuid import uuid4

from answerable.core.errors import OperatorError
from answerable.sandbox.base import Availability, SandboxRequest, SandboxResult
from answerable.sandbox.containers import boot
from answerable.sandbox.containers.control import availability, unavailable
from answerable.sandbox.exchange import START_SECONDS, converse
from answerable.sandbox.results import RunPlace, SandboxRecord, Stopped, result_of
from answerable.sandbox.tables.workers import TableWorkers

_GUEST_MB = 192
"""What the guest's own kernel and agent take."""
_END_SECONDS = 10.0
_WALLS = {
    "files": "virtual machine of its own",
    "network": "denied both ways, seccomp",
    "processes": "kernel of its own, seccomp",
    "privileges": f"user {boot.USER} in the guest",
    "memory": "memory of the machine",
    "time": "clock of the host",
}
_ENDED_BY = {
    signal.SIGKILL: Stopped("memory", "The code needed more memory than it may use."),
    signal.SIGABRT: Stopped("memory", "The code could not get memory, and its process gave up."),
    signal.SIGXCPU: Stopped("cpu", "The code used too much computing time."),
    signal.SIGSYS: Stopped("forbidden", "The code made a system call that is forbidden."),
}


class MicrosandboxSandbox:
    """`image` names an OCI image, or a folder that is a root file system. `sdk` is the package, for a stand-in."""

    name = "microsandbox"

    def __init__(self, image: str, *, sdk: Any = None, cpus: int = 1, at_once: int = 4) -> None:
        self._image = image
        self._stand_in = sdk
        self._cpus = cpus
        self._places = asyncio.Semaphore(at_once)
        self._tables = TableWorkers(at_once)

    async def available(self) -> Availability:
        return await availability(self._check(), Availability(self.name, True, f"image {self._image}", _WALLS))

    async def start(self) -> None:
        await self._check()

    async def run(self, request: SandboxRequest) -> SandboxResult:
        async with self._places, self._machine(request) as machine:
            record = await self._talked(machine, request)
        return await result_of(record, request, RunPlace(self.name, _WALLS), self._tables)

    async def close(self) -> None:
        """Each run destroys its own machine; only the processes that make tables are left."""
        await self._tables.close()

    def _sdk(self) -> Any:
        if self._stand_in is not None:
            return self._stand_in
        try:
            return importlib.import_module("microsandbox")
        except ImportError as error:
            raise unavailable("The package microsandbox is not installed.", "`pip install microsandbox`") from error

    async def _check(self) -> None:
        sdk = self._sdk()
        if not hasattr(sdk, "is_runtime_installed"):
            raise unavailable("This microsandbox is too old.", "`pip install --upgrade microsandbox` (0.7 or newer)")
        if not self._image:
            raise unavailable(
                "No image is set for the microsandbox sandbox.",
                "Set `microsandbox_image` to an image with Python and polars.",
            )
        if not sdk.is_runtime_installed():
            raise unavailable("The runtime of microsandbox is not installed.", "Install it: `msb self install`.")

    @asynccontextmanager
    async def _machine(self, request: SandboxRequest) -> AsyncIterator[Any]:
        sdk = self._sdk()
        name = f"answerable-{uuid4().hex[:20]}"
        try:
            async with asyncio.timeout(START_SECONDS):
                machine = await sdk.Sandbox.create(name, **self.configuration(request))
        except (sdk.MicrosandboxError, TimeoutError) as error:
            raise _failed(error) from error
        try:
            yield machine
        finally:
            await asyncio.shield(_destroyed(sdk, machine))

    def configuration(self, request: SandboxRequest) -> dict[str, Any]:
        """What the SDK is asked to boot."""
        sdk = self._sdk()
        return {
            "image": self._image,
            "memory": boot.memory_mb(request) + _GUEST_MB,
            "cpus": self._cpus,
            "workdir": boot.SCRATCH,
            "hostname": "sandbox",
            "security": sdk.SecurityProfile.RESTRICTED,
            "network": sdk.Network.none(),
            "volumes": {
                boot.SCRATCH: sdk.Volume.tmpfs(size_mib=request.limits.scratch_mb, noexec=True, nosuid=True, nodev=True)
            },
            "env": dict(boot.ENVIRONMENT),
            "max_duration": request.limits.seconds + START_SECONDS,
            "ephemeral": True,
        }

    async def _talked(self, machine: Any, request: SandboxRequest) -> SandboxRecord:
        sdk = self._sdk()
        program, *arguments = boot.command()
        limits = [sdk.Rlimit.nproc(boot.TASKS), sdk.Rlimit.nofile(512)]
        try:
            handle = await machine.exec_stream(
                program, arguments, user=str(boot.USER), stdin=sdk.Stdin.pipe(), rlimits=limits
            )
            stream = _Process(sdk, handle)
            record = await converse(stream, request)
        except sdk.MicrosandboxError as error:
            raise _failed(error) from error
        if record.done is None and record.stopped is None:
            record.stopped = _why_it_ended(stream.code)
        return record


class _Process:
    """The standard streams of a process in the guest, which come as events."""

    def __init__(self, sdk: Any, handle: Any) -> None:
        self._kinds = sdk.ExecEventType
        self._handle = handle
        self._stdin = handle.take_stdin()
        self.code: int | None = None

    async def send(self, data: bytes) -> None:
        await self._stdin.write(data)

    async def receive(self) -> bytes:
        while (event := await self._handle.recv()) is not None:
            if event.event_type == self._kinds.STDOUT and event.data:
                return bytes(event.data)
            if event.event_type in (self._kinds.EXITED, self._kinds.FAILED):
                self.code = event.code
                return b""
        return b""


async def _destroyed(sdk: Any, machine: Any) -> None:
    with suppress(sdk.MicrosandboxError, TimeoutError):  # its longest duration ends it too
        async with asyncio.timeout(_END_SECONDS):
            await machine.destroy(force=True)


def _why_it_ended(code: int | None) -> Stopped:
    """A signal is reported as its negative number, or as 128 and the number."""
    number = -code if code is not None and code < 0 else (code or 0) - 128
    unknown = Stopped("died", f"The code ended its process (exit code {code}).")
    return next((stopped for sign, stopped in _ENDED_BY.items() if sign == number), unknown)


def _failed(reason: object) -> OperatorError:
    return OperatorError(f"microsandbox could not run the code: {reason}.", code="sandbox_failed")

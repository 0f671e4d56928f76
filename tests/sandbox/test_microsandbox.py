"""The microsandbox backend against a stand-in for its SDK: the published names and keywords, a process for a guest."""

import asyncio
import enum
import json
from asyncio.subprocess import Process
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import polars as pl
import pytest

from answerable.core.errors import OperatorError
from answerable.sandbox.base import HostCalls, SandboxLimits, SandboxRequest
from answerable.sandbox.containers.microsandbox import MicrosandboxSandbox

SDK = json.loads((Path(__file__).parents[1] / "fixtures" / "sandboxes" / "microsandbox.json").read_text())
Start = Callable[[list[str]], Awaitable[Process]]


class EventType(enum.StrEnum):
    STARTED = "started"
    STDOUT = "stdout"
    STDERR = "stderr"
    EXITED = "exited"
    FAILED = "failed"


@dataclass
class Event:
    event_type: EventType
    data: bytes | None = None
    code: int | None = None


class MicrosandboxError(Exception):
    """As the SDK's."""


class Handle:
    def __init__(self, process: Process) -> None:
        self._process = process
        self._first = [Event(EventType.STARTED), Event(EventType.STDERR, b"noise")]

    def take_stdin(self) -> Any:
        async def write(data: bytes) -> None:
            assert self._process.stdin is not None
            self._process.stdin.write(data)
            await self._process.stdin.drain()

        return SimpleNamespace(write=write)

    async def recv(self) -> Event | None:
        if self._first:
            return self._first.pop(0)
        assert self._process.stdout is not None
        if data := await self._process.stdout.read(30_000):
            return Event(EventType.STDOUT, data)
        return Event(EventType.EXITED, code=await self._process.wait())


class Machine:
    def __init__(self, sdk: "Sdk", configuration: dict[str, Any]) -> None:
        self._sdk = sdk
        self.configuration = configuration
        self.destroyed = False
        self._process: Process | None = None

    async def exec_stream(self, program: str, arguments: list[str], **options: Any) -> Handle:
        assert set(options) <= set(SDK["exec_stream"])
        assert options["user"] == "65534"
        self._process = await self._sdk.start([program, *arguments])
        return Handle(self._process)

    async def destroy(self, *, force: bool = False) -> None:
        assert force
        self.destroyed = True
        if self._process is not None and self._process.returncode is None:
            self._process.kill()


class Sdk:
    """The part of the package that is used, under its names."""

    MicrosandboxError = MicrosandboxError
    ExecEventType = EventType
    SecurityProfile = SimpleNamespace(RESTRICTED="restricted")
    Network = SimpleNamespace(none=lambda: "denied both ways")
    Stdin = SimpleNamespace(pipe=lambda: "pipe")
    Rlimit = SimpleNamespace(nproc=lambda most: ("nproc", most), nofile=lambda most: ("nofile", most))

    def __init__(self, start: Start) -> None:
        self.start = start
        self.machines: list[Machine] = []
        self.installed = True
        self.broken = False
        self.Sandbox = SimpleNamespace(create=self._create)
        self.Volume = SimpleNamespace(tmpfs=self._tmpfs)

    def is_runtime_installed(self) -> bool:
        return self.installed

    async def _create(self, name: str, **configuration: Any) -> Machine:
        assert set(configuration) <= set(SDK["create"])
        if self.broken:
            raise MicrosandboxError("no KVM")
        self.machines.append(Machine(self, configuration))
        return self.machines[-1]

    def _tmpfs(self, **options: Any) -> dict[str, Any]:
        assert set(options) <= set(SDK["tmpfs"])
        return options


@pytest.fixture
def sdk(local_process: Start) -> Sdk:
    return Sdk(local_process)


async def test_code_runs_in_a_machine_that_is_destroyed_after_it(sdk: Sdk, orders: Path, tmp_path: Path) -> None:
    async def factor() -> int:
        return 10

    code = "print('hello')\nresult = orders.select(pl.col('amount') * factor())"
    into = tmp_path / "result.arrow"
    sandbox = MicrosandboxSandbox("python", sdk=sdk)
    await sandbox.start()
    result = await sandbox.run(
        SandboxRequest(code, frames={"orders": orders}, into=into, host=HostCalls({"factor": factor}))
    )
    assert (result.outcome, result.output, result.message) == ("ok", "hello\n", None)
    assert pl.read_ipc(into)["amount"].to_list() == [105.0, 200.0, 70.0]
    assert [machine.destroyed for machine in sdk.machines] == [True]
    await sandbox.close()


async def test_the_machine_has_every_wall_and_limit(sdk: Sdk) -> None:
    limits = SandboxLimits(seconds=5, memory_mb=300, scratch_mb=7)
    await MicrosandboxSandbox("python", sdk=sdk).run(SandboxRequest("", limits=limits))
    made = sdk.machines[0].configuration
    assert made["network"] == "denied both ways"
    assert made["security"] == "restricted"
    assert made["memory"] == 300 + 192
    assert made["volumes"] == {"/tmp": {"size_mib": 7, "noexec": True, "nosuid": True, "nodev": True}}
    assert (made["max_duration"], made["ephemeral"]) == (125.0, True)


@pytest.mark.parametrize(
    ("code", "reason"),
    [
        ("import os; os.kill(os.getpid(), 9)", "memory"),
        ("import os; os.kill(os.getpid(), 31)", "forbidden"),
        ("import os; os._exit(5)", "died"),
        ("while True: pass", "time"),
    ],
)
async def test_why_it_ended_is_told(sdk: Sdk, code: str, reason: str) -> None:
    result = await MicrosandboxSandbox("python", sdk=sdk).run(SandboxRequest(code, limits=SandboxLimits(seconds=0.5)))
    assert (result.outcome, result.reason) == ("stopped", reason)
    assert sdk.machines[0].destroyed


async def test_cancelling_destroys_the_machine(sdk: Sdk) -> None:
    async def cancel() -> None:
        running.cancel()

    host = HostCalls({"cancel": cancel})
    running = asyncio.ensure_future(
        MicrosandboxSandbox("python", sdk=sdk).run(SandboxRequest("cancel()\n" * 9, host=host))
    )
    with pytest.raises(asyncio.CancelledError):
        await running
    assert sdk.machines[0].destroyed


async def test_what_is_missing_is_named(sdk: Sdk) -> None:
    assert "No image" in (await MicrosandboxSandbox("", sdk=sdk).available()).detail
    assert "too old" in (await MicrosandboxSandbox("python", sdk=SimpleNamespace()).available()).detail
    sdk.installed = False
    assert "runtime" in (await MicrosandboxSandbox("python", sdk=sdk).available()).detail
    sdk.broken = True
    with pytest.raises(OperatorError, match="no KVM"):
        await MicrosandboxSandbox("python", sdk=sdk).run(SandboxRequest(""))


async def test_the_package_is_not_needed_until_it_is_used() -> None:
    found = await MicrosandboxSandbox("python").available()
    assert (found.available, found.remedy) == (False, "`pip install microsandbox`")

"""The docker backend: what it asks the daemon for, and, by `make test-docker`, what the daemon makes of it."""

import asyncio
import json
import os
import socket
import sys
from asyncio.subprocess import Process
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any
from urllib.parse import SplitResult, parse_qs, urlsplit

import polars as pl
import pytest

from answerable.core.errors import OperatorError
from answerable.sandbox.base import HostCalls, SandboxLimits, SandboxRequest
from answerable.sandbox.containers.control import ControlApi, ControlError
from answerable.sandbox.containers.docker import DockerSandbox, manifest

Start = Callable[[list[str]], Awaitable[Process]]
WITH_DOCKER = bool(os.environ.get("ANSWERABLE_TEST_DOCKER"))
"""Read here, before each test is given an environment without the user's settings."""
real = pytest.mark.skipif(not WITH_DOCKER, reason="containers are tested by `make test-docker`")


def test_the_container_has_every_wall_and_limit(orders: Path) -> None:
    limits = SandboxLimits(memory_mb=300, scratch_mb=5)
    made = manifest("image", SandboxRequest("", frames={"orders": orders}, limits=limits), cpus=0.5)
    host = made["HostConfig"]
    assert (made["User"], made["NetworkDisabled"], host["NetworkMode"]) == ("65534:65534", True, "none")
    assert (host["ReadonlyRootfs"], host["CapDrop"], host["SecurityOpt"]) == (True, ["ALL"], ["no-new-privileges"])
    assert host["Memory"] == host["MemorySwap"] == 301 << 20
    assert (host["NanoCpus"], host["PidsLimit"], host["IpcMode"]) == (500_000_000, 128, "none")
    assert host["Tmpfs"] == {"/tmp": "rw,noexec,nosuid,nodev,size=5m,mode=1777"}
    assert host["AutoRemove"] is True
    assert "Binds" not in host
    assert "Mounts" not in host


async def test_where_there_is_no_daemon_the_remedy_is_told(tmp_path: Path) -> None:
    sandbox = DockerSandbox("image", f"unix://{tmp_path}/none.sock")
    found = await sandbox.available()
    assert (found.available, found.remedy) == (False, "Start Docker, or set `docker_host` to where it listens.")
    with pytest.raises(OperatorError) as caught:
        await sandbox.start()
    assert caught.value.stable_code == "sandbox_unavailable"


def saying(reply: bytes) -> Callable[[asyncio.StreamReader, asyncio.StreamWriter], Awaitable[None]]:
    """Says the same to everyone."""

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.readuntil(b"\r\n\r\n")
        try:
            writer.write(reply)
            await writer.drain()
        except ConnectionError:
            pass
        finally:
            writer.close()

    return serve


@asynccontextmanager
async def daemon(path: Path, reply: bytes) -> AsyncIterator[str]:
    server = await asyncio.start_unix_server(saying(reply), path)
    yield f"unix://{path}"
    server.close()


@pytest.mark.parametrize(
    ("reply", "said"),
    [
        (b'HTTP/1.1 404 -\r\nContent-Length: 27\r\n\r\n{"message":"no such image"}', "no image"),
        (b"HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\nshort", "No Docker daemon answers"),
        (b"SSH-2.0\r\n\r\n", "not HTTP"),
        (b"", "No Docker daemon answers"),
        (b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n", "No Docker daemon answers"),
    ],
)
async def test_a_daemon_that_is_none_is_told(tmp_path: Path, reply: bytes, said: str) -> None:
    async with daemon(tmp_path / "socket", reply) as host:
        found = await DockerSandbox("image", host).available()
    assert not found.available
    assert said in found.detail


async def test_a_daemon_that_says_nothing_is_not_waited_for(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("answerable.sandbox.containers.control._LOOK_UP_SECONDS", 0.2)
    with socket.socket(socket.AF_UNIX) as silent:
        silent.bind(str(tmp_path / "silent"))
        silent.listen()
        found = await DockerSandbox("image", f"unix://{tmp_path}/silent").available()
    assert "no reply in time" in found.detail


async def test_a_daemon_that_fails_in_the_middle_is_the_operators_problem(tmp_path: Path) -> None:
    reply = b'HTTP/1.1 500 -\r\nContent-Length: 21\r\n\r\n{"message":"no room"}'
    async with daemon(tmp_path / "socket", reply) as host:
        with pytest.raises(OperatorError, match=r"no room \(500\)") as caught:
            await DockerSandbox("image", host).run(SandboxRequest("result = 1"))
    assert caught.value.stable_code == "sandbox_failed"


class Daemon:
    """The calls of the Docker API that a run makes, on a unix socket. A container is a process with its command."""

    def __init__(self, start: Start) -> None:
        self._start = start
        self._commands: dict[str, list[str]] = {}
        self._processes: dict[str, asyncio.Future[Process]] = {}
        self.removed: list[str] = []

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            head = (await reader.readuntil(b"\r\n\r\n")).decode().split("\r\n")
            method, target, _ = head[0].split(" ")
            headers = {name.lower(): value for name, _, value in (line.partition(": ") for line in head[1:] if line)}
            body = await reader.readexactly(int(headers.get("content-length", 0)))
            await self._answer(method, urlsplit(target), headers, body, reader, writer)
            await writer.drain()
        except ConnectionError:
            pass
        finally:
            writer.close()

    async def _answer(
        self,
        method: str,
        target: SplitResult,
        headers: dict[str, str],
        body: bytes,
        reader: asyncio.StreamReader,
        writer: asyncio.StreamWriter,
    ) -> None:
        match method, target.path.strip("/").split("/"):
            case "POST", ["containers", "create"]:
                name = parse_qs(target.query)["name"][0]
                self._commands[name] = json.loads(body)["Cmd"]
                self._processes[name] = asyncio.get_running_loop().create_future()
                _reply(writer, 201, {"Id": name})
            case "POST", ["containers", name, "start"]:
                self._processes[name].set_result(await self._start(self._commands[name]))
                _reply(writer, 204, None)
            case "POST", ["containers", name, "wait"]:
                code = await (await self._processes[name]).wait()
                _reply(writer, 200, {"StatusCode": 128 - code if code < 0 else code})
            case "DELETE", ["containers", name]:
                self.removed.append(name)
                if self._processes[name].done() and (process := self._processes[name].result()).returncode is None:
                    process.kill()
                _reply(writer, 204, None)
            case "POST", ["containers", name, "attach"]:
                assert (headers["connection"], headers["upgrade"]) == ("Upgrade", "tcp")
                writer.write(b"HTTP/1.1 101 UPGRADED\r\nConnection: Upgrade\r\nUpgrade: tcp\r\n\r\n")
                await _attach(await self._processes[name], reader, writer)
            case _:
                _reply(writer, 404, {"message": f"no {method} {target.path}"})


async def _attach(process: Process, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    assert process.stdout is not None
    feeding = asyncio.ensure_future(_feed(reader, process))
    while data := await process.stdout.read(40_000):
        for stream, piece in ((2, b"noise"), (1, b""), (1, data)):
            head = bytes([stream, 0, 0, 0]) + len(piece).to_bytes(4, "big")
            writer.write(head[:3])
            await writer.drain()
            writer.write(head[3:] + piece)
        await writer.drain()
    feeding.cancel()


async def _feed(reader: asyncio.StreamReader, process: Process) -> None:
    assert process.stdin is not None
    while data := await reader.read(1 << 16):
        process.stdin.write(data)
        await process.stdin.drain()
    process.stdin.close()


def _reply(writer: asyncio.StreamWriter, status: int, document: Any) -> None:
    body = b"" if document is None else json.dumps(document).encode()
    length = f"Content-Length: {len(body)}\r\n" if status != 204 else ""
    writer.write(f"HTTP/1.1 {status} -\r\n{length}\r\n".encode() + body)


@pytest.fixture
async def simulated(local_process: Start, tmp_path: Path) -> AsyncIterator[tuple[Daemon, DockerSandbox]]:
    simulator = Daemon(local_process)
    server = await asyncio.start_unix_server(simulator.serve, tmp_path / "docker")
    sandbox = DockerSandbox("image", f"unix://{tmp_path}/docker")
    yield simulator, sandbox
    await sandbox.close()
    server.close()


async def test_code_is_spoken_to_over_the_attached_streams(
    simulated: tuple[Daemon, DockerSandbox], orders: Path, tmp_path: Path
) -> None:
    async def factor() -> int:
        return 10

    simulator, sandbox = simulated
    code = "print('hello' * 20_000)\nresult = orders.select(pl.col('amount') * factor())"
    into = tmp_path / "result.arrow"
    limits = SandboxLimits(output_bytes=200_000)
    host = HostCalls({"factor": factor})
    result = await sandbox.run(SandboxRequest(code, frames={"orders": orders}, into=into, host=host, limits=limits))
    assert (result.outcome, result.message, len(result.output)) == ("ok", None, 100_001)
    assert pl.read_ipc(into)["amount"].to_list() == [105.0, 200.0, 70.0]
    assert len(simulator.removed) == 1


@pytest.mark.parametrize(
    ("code", "reason"),
    [
        ("import os; os.kill(os.getpid(), 9)", "memory"),
        ("import os; os._exit(5)", "died"),
        ("while True: pass", "time"),
    ],
)
async def test_the_exit_code_of_the_container_tells_why_it_ended(
    simulated: tuple[Daemon, DockerSandbox], code: str, reason: str
) -> None:
    simulator, sandbox = simulated
    result = await sandbox.run(SandboxRequest(code, limits=SandboxLimits(seconds=5 if reason != "time" else 0.3)))
    assert (result.outcome, result.reason) == ("stopped", reason)
    assert len(simulator.removed) == 1


async def test_a_reply_is_read_no_further_than_a_bound(tmp_path: Path) -> None:
    large = b"HTTP/1.1 200 OK\r\nContent-Length: 20000000\r\n\r\n" + b" " * 20_000_000
    async with daemon(tmp_path / "socket", large) as host:
        with pytest.raises(ControlError, match="too large"):
            await ControlApi(host).call("GET", "/")


async def test_no_redirect_and_no_proxy_is_followed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("HTTP_PROXY", "http_proxy", "ALL_PROXY", "all_proxy"):
        monkeypatch.setenv(name, "http://127.0.0.1:9")
    moved = b"HTTP/1.1 302 -\r\nLocation: http://127.0.0.1:9/other\r\nContent-Length: 0\r\n\r\n"
    server = await asyncio.start_server(saying(moved), "127.0.0.1", 0)
    reply = await ControlApi(f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}").call("GET", "/")
    server.close()
    assert reply.status == 302


# By `make test-docker`


@pytest.fixture
async def sandbox() -> AsyncIterator[DockerSandbox]:
    opened = DockerSandbox("answerable-sandbox")
    yield opened
    await opened.close()


async def containers() -> Any:
    reply = await ControlApi(os.environ["DOCKER_HOST"]).call("GET", "/containers/json?all=1")
    return [found["Names"] for found in json.loads(reply.body)]


@real
async def test_a_container_is_gone_after_its_run(sandbox: DockerSandbox) -> None:
    await sandbox.start()
    results = await asyncio.gather(*(sandbox.run(SandboxRequest(f"result = {number}")) for number in range(6)))
    assert [result.value for result in results] == list(range(6))
    assert await containers() == []


@real
async def test_the_walls_stand_inside(sandbox: DockerSandbox) -> None:
    code = """
import os
status = dict(line.split(":\\t", 1) for line in open("/proc/self/status").read().splitlines() if ":\\t" in line)
interfaces = [line.split(":")[0].strip() for line in open("/proc/net/dev").readlines()[2:]]
result = {
    "user": os.getuid(), "capabilities": int(status["CapBnd"], 16), "no new privileges": status["NoNewPrivs"],
    "seccomp": status["Seccomp"], "filters": int(status["Seccomp_filters"]), "interfaces": interfaces,
    "writable": [path for path in ("/", "/etc", "/usr", "/dev/shm", "/tmp") if os.access(path, os.W_OK)],
}
"""
    result = await sandbox.run(SandboxRequest(code))
    assert result.value == {
        "user": 65534,
        "capabilities": 0,
        "no new privileges": "1",
        "seccomp": "2",
        "filters": 2,
        "interfaces": ["lo"],
        "writable": ["/tmp"],
    }


@real
@pytest.mark.parametrize(
    ("code", "reason"),
    [
        ("x = bytearray(2 << 30)", "memory"),
        ("import time; time.sleep(60)", "time"),
        ("import os; os._exit(3)", "died"),
    ],
)
async def test_the_daemon_tells_what_stopped_it(sandbox: DockerSandbox, code: str, reason: str) -> None:
    result = await sandbox.run(SandboxRequest(code, limits=SandboxLimits(seconds=5, memory_mb=256)))
    assert (result.outcome, result.reason) == ("stopped", reason)
    assert await containers() == []


@real
async def test_cancelling_removes_the_container(sandbox: DockerSandbox) -> None:
    async def cancel() -> None:
        running.cancel()

    host = HostCalls({"cancel": cancel})
    running = asyncio.ensure_future(sandbox.run(SandboxRequest("while True: cancel()", host=host)))
    with pytest.raises(asyncio.CancelledError):
        await running
    assert await containers() == []


@real
async def test_what_a_killed_process_left_is_swept(sandbox: DockerSandbox) -> None:
    api = ControlApi(os.environ["DOCKER_HOST"])
    left = manifest("answerable-sandbox", SandboxRequest("", limits=SandboxLimits(seconds=-1_000_000)), 1.0)
    made = await api.call("POST", "/containers/create?name=left", left)
    await api.call("POST", f"/containers/{made.json['Id']}/start")
    assert await containers() == [["/left"]]
    await sandbox.start()
    assert await containers() == []


HOST = """
import asyncio
from answerable.sandbox.base import HostCalls, SandboxRequest
from answerable.sandbox.containers.docker import DockerSandbox

async def begun():
    print("begun", flush=True)

request = SandboxRequest("begun()\\nwhile True: pass", host=HostCalls({"begun": begun}))
asyncio.run(DockerSandbox("answerable-sandbox").run(request))
"""


@real
async def test_a_container_ends_when_its_host_is_killed() -> None:
    host = await asyncio.create_subprocess_exec(sys.executable, "-c", HOST, stdout=asyncio.subprocess.PIPE)
    assert host.stdout is not None
    assert await host.stdout.readline() == b"begun\n"
    [[name]] = await containers()
    host.kill()
    await host.wait()
    async with asyncio.timeout(20):
        await ControlApi(os.environ["DOCKER_HOST"]).call("POST", f"/containers{name}/wait?condition=removed")
    assert await containers() == []


@real
async def test_an_image_that_is_missing_is_the_operators_problem(sandbox: DockerSandbox) -> None:
    with pytest.raises(OperatorError) as caught:
        await DockerSandbox("no-such-image").run(SandboxRequest("result = 1"))
    assert caught.value.stable_code == "sandbox_failed"

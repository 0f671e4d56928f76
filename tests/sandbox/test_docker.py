"""The docker backend: what it asks the daemon for, and, by `make test-docker`, what the daemon makes of it."""

import asyncio
import json
import os
import socket
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest

from answerable.core.errors import OperatorError
from answerable.sandbox.base import HostCalls, Request, SandboxLimits
from answerable.sandbox.containers.docker import DockerSandbox, manifest
from answerable.sandbox.containers.http import Endpoint, call

WITH_DOCKER = bool(os.environ.get("ANSWERABLE_TEST_DOCKER"))
"""Read here, before each test is given an environment without the user's settings."""
real = pytest.mark.skipif(not WITH_DOCKER, reason="containers are tested by `make test-docker`")


def test_the_container_has_every_wall_and_limit(orders: Path) -> None:
    limits = SandboxLimits(memory_mb=300, scratch_mb=5)
    made = manifest("image", Request("", frames={"orders": orders}, limits=limits), cpus=0.5)
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


@asynccontextmanager
async def daemon(path: Path, reply: bytes) -> AsyncIterator[str]:
    """Says the same to everyone."""

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.readuntil(b"\r\n\r\n")
        writer.write(reply)
        await writer.drain()
        writer.close()

    server = await asyncio.start_unix_server(serve, path)
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
    monkeypatch.setattr("answerable.sandbox.containers.http._LOOK_SECONDS", 0.2)
    with socket.socket(socket.AF_UNIX) as silent:
        silent.bind(str(tmp_path / "silent"))
        silent.listen()
        found = await DockerSandbox("image", f"unix://{tmp_path}/silent").available()
    assert "no reply in time" in found.detail


async def test_a_daemon_that_fails_in_the_middle_is_the_operators_problem(tmp_path: Path) -> None:
    reply = b'HTTP/1.1 500 -\r\nContent-Length: 21\r\n\r\n{"message":"no room"}'
    async with daemon(tmp_path / "socket", reply) as host:
        with pytest.raises(OperatorError, match=r"no room \(500\)") as caught:
            await DockerSandbox("image", host).run(Request("result = 1"))
    assert caught.value.stable_code == "sandbox_failed"


# By `make test-docker`


@pytest.fixture
def sandbox() -> DockerSandbox:
    return DockerSandbox("answerable-sandbox")


async def containers() -> Any:
    reply = await call(Endpoint(os.environ["DOCKER_HOST"]), "GET", "/containers/json?all=1")
    return [found["Names"] for found in json.loads(reply.body)]


@real
async def test_a_container_is_gone_after_its_run(sandbox: DockerSandbox) -> None:
    await sandbox.start()
    results = await asyncio.gather(*(sandbox.run(Request(f"result = {number}")) for number in range(6)))
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
    result = await sandbox.run(Request(code))
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
    result = await sandbox.run(Request(code, limits=SandboxLimits(seconds=5, memory_mb=256)))
    assert (result.outcome, result.reason) == ("stopped", reason)
    assert await containers() == []


@real
async def test_cancelling_removes_the_container(sandbox: DockerSandbox) -> None:
    async def cancel() -> None:
        running.cancel()

    host = HostCalls({"cancel": cancel})
    running = asyncio.ensure_future(sandbox.run(Request("while True: cancel()", host=host)))
    with pytest.raises(asyncio.CancelledError):
        await running
    assert await containers() == []


@real
async def test_what_a_killed_process_left_is_swept(sandbox: DockerSandbox) -> None:
    endpoint = Endpoint(os.environ["DOCKER_HOST"])
    left = manifest("answerable-sandbox", Request("", limits=SandboxLimits(seconds=-1_000_000)), 1.0)
    made = await call(endpoint, "POST", "/containers/create?name=left", left)
    await call(endpoint, "POST", f"/containers/{made.json['Id']}/start")
    assert await containers() == [["/left"]]
    await sandbox.start()
    assert await containers() == []


HOST = """
import asyncio
from answerable.sandbox.base import HostCalls, Request
from answerable.sandbox.containers.docker import DockerSandbox

async def begun():
    print("begun", flush=True)

request = Request("begun()\\nwhile True: pass", host=HostCalls({"begun": begun}))
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
        await call(Endpoint(os.environ["DOCKER_HOST"]), "POST", f"/containers{name}/wait?condition=removed")
    assert await containers() == []


@real
async def test_an_image_that_is_missing_is_the_operators_problem(sandbox: DockerSandbox) -> None:
    with pytest.raises(OperatorError) as caught:
        await DockerSandbox("no-such-image").run(Request("result = 1"))
    assert caught.value.stable_code == "sandbox_failed"

"""The kubernetes backend against the published schema, and against a simulator that runs a Job's command for real."""

import asyncio
import base64
import hashlib
import json
from asyncio.subprocess import Process
from collections.abc import AsyncIterator, Awaitable, Callable
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, urlsplit

import certifi
import jsonschema_rs
import polars as pl
import pytest

from answerable.core.errors import OperatorError
from answerable.sandbox.base import HostCalls, SandboxLimits, SandboxRequest
from answerable.sandbox.containers.control import ControlApi, ControlError
from answerable.sandbox.containers.kubernetes import KubernetesSandbox, manifest, network_policy
from answerable.sandbox.containers.kubernetes_access import cluster_api
from answerable.sandbox.containers.kubernetes_attach import attached

SCHEMA = json.loads((Path(__file__).parents[1] / "fixtures" / "sandboxes" / "kubernetes.json").read_text())
NAMESPACE = "/namespaces/boxes"
TOKEN = "let-me-in"
CLOSE, PONG = 0x88, 0x8A
MAGIC = "258EAFA5-E914-47DA-95CA-C5AB0DC85B11"

Start = Callable[[list[str]], Awaitable[Process]]


def faults(kind: str, document: Any) -> list[str]:
    validator = jsonschema_rs.validator_for({**SCHEMA, "$ref": f"#/$defs/{kind}"})
    return [str(error) for error in validator.iter_errors(document)]


class Cluster:
    """The calls of the API that the backend makes, on real sockets. A pod is a process with its container's command."""

    def __init__(self, start: Start) -> None:
        self._start = start
        self.jobs: dict[str, Any] = {}
        self.pods: dict[str, Process] = {}
        self.policies: list[Any] = []
        self.deleted: list[str] = []
        self.created = asyncio.Event()
        self.waiting: dict[str, Any] | None = {"reason": "ContainerCreating"}
        self.url = ""

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            head = (await reader.readuntil(b"\r\n\r\n")).decode().split("\r\n")
            method, target, _ = head[0].split(" ")
            headers = {name.lower(): value for name, _, value in (line.partition(": ") for line in head[1:] if line)}
            body = await reader.readexactly(int(headers.get("content-length", 0)))
            if headers.get("authorization") != f"Bearer {TOKEN}":
                _reply(writer, 401, {"message": "Unauthorized"})
            elif headers.get("upgrade") == "websocket":
                await self._attach(target, headers, reader, writer)
            else:
                _reply(writer, *await self._answer(method, urlsplit(target), json.loads(body) if body else None))
            await writer.drain()
        except ConnectionError:
            pass
        finally:
            writer.close()

    async def _answer(self, method: str, target: Any, body: Any) -> tuple[int, Any]:
        query = parse_qs(target.query)
        match method, target.path.replace(NAMESPACE, "").strip("/").split("/"):
            case "GET", ["apis", "batch", "v1", "jobs"]:
                return 200, {"items": []}
            case "POST", ["apis", "networking.k8s.io", "v1", "networkpolicies"]:
                self.policies.append(body)
                return (201, body) if len(self.policies) == 1 else (409, {"message": "already exists"})
            case "POST", ["apis", "batch", "v1", "jobs"]:
                return await self._created(body)
            case "GET", ["api", "v1", "pods"]:
                job = query["labelSelector"][0].removeprefix("job-name=")
                return 200, {"items": [self._pod(job)] if job in self.pods else []}
            case "GET", ["api", "v1", "pods", name]:
                return 200, self._pod(name.removesuffix("-pod"))
            case "DELETE", ["apis", "batch", "v1", "jobs", name]:
                self.deleted.append(name)
                if self.pods[name].returncode is None:
                    self.pods[name].kill()
                return 200, {"propagation": query["propagationPolicy"]}
        return 404, {"message": f"no {method} {target.path}"}

    async def _created(self, job: Any) -> tuple[int, Any]:
        if wrong := faults("Job", job):
            return 422, {"message": wrong[0]}
        name = job["metadata"]["name"]
        self.jobs[name] = job
        self.pods[name] = await self._start(job["spec"]["template"]["spec"]["containers"][0]["command"])
        self.created.set()
        return 201, job

    def _pod(self, job: str) -> Any:
        process, waiting = self.pods[job], self.waiting
        if waiting is not None:
            state: dict[str, Any] = {"waiting": waiting}
            if waiting["reason"] == "ContainerCreating":
                self.waiting = None
        elif process.returncode is None:
            state = {"running": {"startedAt": "2026-01-01T00:00:00Z"}}
        else:
            killed = process.returncode == -9
            code = 128 - process.returncode if process.returncode < 0 else process.returncode
            state = {"terminated": {"exitCode": code, "reason": "OOMKilled" if killed else "Error"}}
        return {"metadata": {"name": f"{job}-pod"}, "status": {"containerStatuses": [{"name": "code", "state": state}]}}

    async def _attach(
        self, target: str, headers: dict[str, str], reader: asyncio.StreamReader, writer: asyncio.StreamWriter
    ) -> None:
        accept = base64.b64encode(hashlib.sha1((headers["sec-websocket-key"] + MAGIC).encode()).digest()).decode()
        protocol = headers["sec-websocket-protocol"].split(", ")[0]
        writer.write(
            f"HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
            f"Sec-WebSocket-Accept: {accept}\r\nSec-WebSocket-Protocol: {protocol}\r\n\r\n".encode()
        )
        process = self.pods[target.split("/pods/")[1].split("-pod/attach?")[0]]
        assert process.stdin is not None
        feeding = asyncio.ensure_future(_feed(reader, process))
        try:
            await _pass_on(process, writer)
        finally:
            feeding.cancel()


async def _feed(reader: asyncio.StreamReader, process: Process) -> None:
    assert process.stdin is not None
    try:
        while True:
            first, second = await reader.readexactly(2)
            if first == CLOSE:
                raise EOFError
            assert first in (0x82, PONG), "a whole binary message"
            assert second & 0x80, "a client masks what it sends"
            size = second & 0x7F
            if size > 125:
                size = int.from_bytes(await reader.readexactly(2 if size == 126 else 8), "big")
            mask = await reader.readexactly(4)
            data = bytes(byte ^ mask[place % 4] for place, byte in enumerate(await reader.readexactly(size)))
            if first == PONG:
                assert data == b"hi"
                continue
            assert data[0] == 0, "standard input"
            process.stdin.write(data[1:])
            await process.stdin.drain()
    except (EOFError, ConnectionError):
        process.stdin.close()


async def _pass_on(process: Process, writer: asyncio.StreamWriter) -> None:
    assert process.stdout is not None
    writer.write(b"\x89\x02hi")  # a ping, as servers send
    while data := await process.stdout.read(40_000):
        for channel, piece in ((2, b"noise"), (1, data)):
            message = bytes([channel]) + piece
            half = len(message) // 2 + 1
            writer.write(_frame(0x02, message[:half]) + _frame(0x80, message[half:]))  # in two fragments
        await writer.drain()
    await process.wait()
    writer.write(_frame(0x82, b'\x03{"status":"Success"}') + _frame(0x88, b"\x03\xe8"))


def _frame(first: int, data: bytes) -> bytes:
    if len(data) < 126:
        return bytes([first, len(data)]) + data
    return bytes([first, 126]) + len(data).to_bytes(2, "big") + data


def _reply(writer: asyncio.StreamWriter, status: int, document: Any) -> None:
    body = json.dumps(document).encode()
    half = len(body) // 2
    pieces = b"".join(b"%x\r\n%s\r\n" % (len(piece), piece) for piece in (body[:half], body[half:]) if piece)
    head = f"HTTP/1.1 {status} -\r\nContent-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\n"
    writer.write(head.encode() + pieces + b"0\r\n\r\n")


@pytest.fixture
async def cluster(local_process: Start) -> AsyncIterator[Cluster]:
    simulated = Cluster(local_process)
    server = await asyncio.start_server(simulated.serve, "127.0.0.1", 0)
    simulated.url = f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}"
    yield simulated
    server.close()


@pytest.fixture
async def sandbox(cluster: Cluster) -> AsyncIterator[KubernetesSandbox]:
    access = ControlApi(cluster.url, {"Authorization": f"Bearer {TOKEN}"})
    opened = KubernetesSandbox("boxes/python:1", "boxes", access)
    yield opened
    await opened.close()


def test_the_manifests_fit_the_published_schema() -> None:
    assert faults("Job", manifest("answerable-1", "image", SandboxRequest("result = 1"))) == []
    assert faults("NetworkPolicy", network_policy()) == []
    wrong = manifest("answerable-1", "image", SandboxRequest(""))
    wrong["spec"]["template"]["spec"]["containers"][0]["securityContext"]["readonlyRootFilesystem"] = True
    assert len(faults("Job", wrong)) == 1


def test_the_job_has_every_wall_and_limit(orders: Path) -> None:
    limits = SandboxLimits(seconds=7, memory_mb=300, scratch_mb=5)
    job = manifest("answerable-1", "image", SandboxRequest("", frames={"orders": orders}, limits=limits), cpus=0.5)
    pod = job["spec"]["template"]["spec"]
    [box] = pod["containers"]
    assert (job["spec"]["backoffLimit"], job["spec"]["activeDeadlineSeconds"]) == (0, 128)
    assert job["spec"]["ttlSecondsAfterFinished"] == 60
    assert pod["restartPolicy"] == "Never"
    assert pod["automountServiceAccountToken"] is pod["enableServiceLinks"] is False
    assert pod["securityContext"]["runAsNonRoot"] is True
    assert pod["securityContext"]["runAsUser"] == 65534
    assert pod["securityContext"]["seccompProfile"] == {"type": "RuntimeDefault"}
    assert box["securityContext"]["readOnlyRootFilesystem"] is True
    assert box["securityContext"]["allowPrivilegeEscalation"] is False
    assert box["securityContext"]["capabilities"] == {"drop": ["ALL"]}
    assert box["resources"]["limits"] == box["resources"]["requests"] == {"cpu": "500m", "memory": "301Mi"}
    assert pod["volumes"] == [{"name": "scratch", "emptyDir": {"medium": "Memory", "sizeLimit": "5Mi"}}]
    policy = network_policy()["spec"]
    assert policy["podSelector"]["matchLabels"] == job["spec"]["template"]["metadata"]["labels"]
    assert set(policy) == {"podSelector", "policyTypes"}, "no rule means that nothing is let through"


async def test_code_runs_in_a_job_that_is_deleted_after_it(
    sandbox: KubernetesSandbox, cluster: Cluster, orders: Path, tmp_path: Path
) -> None:
    async def factor() -> int:
        return 10

    code = "print('hello')\nresult = orders.select(pl.col('amount') * factor())"
    into = tmp_path / "result.arrow"
    await sandbox.start()
    await sandbox.start()
    result = await sandbox.run(
        SandboxRequest(code, frames={"orders": orders}, into=into, host=HostCalls({"factor": factor}))
    )
    assert (result.outcome, result.output, result.message) == ("ok", "hello\n", None)
    assert pl.read_ipc(into)["amount"].to_list() == [105.0, 200.0, 70.0]
    assert cluster.deleted == list(cluster.jobs)
    assert len(cluster.policies) == 2


@pytest.mark.parametrize(
    ("code", "reason"),
    [
        ("import os; os.kill(os.getpid(), 9)", "memory"),
        ("import os; os.kill(os.getpid(), 31)", "forbidden"),
        ("import os; os._exit(5)", "died"),
    ],
)
async def test_the_state_of_the_pod_tells_why_it_ended(
    sandbox: KubernetesSandbox, cluster: Cluster, code: str, reason: str
) -> None:
    result = await sandbox.run(SandboxRequest(code))
    assert (result.outcome, result.reason) == ("stopped", reason)
    assert cluster.deleted == list(cluster.jobs)


async def test_out_of_time_or_cancelled_the_job_is_deleted(sandbox: KubernetesSandbox, cluster: Cluster) -> None:
    result = await sandbox.run(SandboxRequest("while True: pass", limits=SandboxLimits(seconds=0.3)))
    assert (result.outcome, result.reason) == ("stopped", "time")
    cluster.created.clear()
    running = asyncio.ensure_future(sandbox.run(SandboxRequest("while True: pass")))
    await cluster.created.wait()
    running.cancel()
    with pytest.raises(asyncio.CancelledError):
        await running
    assert cluster.deleted == list(cluster.jobs)


async def test_a_pod_that_cannot_start_is_told(sandbox: KubernetesSandbox, cluster: Cluster) -> None:
    cluster.waiting = {"reason": "ImagePullBackOff", "message": "no such image"}
    with pytest.raises(OperatorError, match="ImagePullBackOff: no such image"):
        await sandbox.run(SandboxRequest("result = 1"))
    assert cluster.deleted == list(cluster.jobs)


@pytest.mark.parametrize(
    ("reply", "error"),
    [
        (b"HTTP/1.1 302 -\r\nLocation: ws://127.0.0.1:9/\r\nContent-Length: 0\r\n\r\n", r"\(302\)"),
        (b'HTTP/1.1 403 -\r\nContent-Length: 16\r\n\r\n{"message":"no"}', r"no \(403\)"),
        (b"SSH-2.0\r\n\r\n", "does not speak WebSocket"),
        (b"", "does not speak WebSocket"),
    ],
)
async def test_a_cluster_that_does_not_attach_is_told(reply: bytes, error: str) -> None:
    """The token goes nowhere else: no redirect is followed."""

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.readuntil(b"\r\n\r\n")
        writer.write(reply)
        await writer.drain()
        writer.close()

    server = await asyncio.start_server(serve, "127.0.0.1", 0)
    api = ControlApi(f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}", {"Authorization": f"Bearer {TOKEN}"})
    with pytest.raises(ControlError, match=error):
        async with attached(api, "/attach"):
            pass
    server.close()


async def test_the_token_reaches_no_log(sandbox: KubernetesSandbox, caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(0)
    assert (await sandbox.run(SandboxRequest("result = 1"))).value == 1
    assert TOKEN not in caplog.text


async def test_what_is_missing_is_named(cluster: Cluster, tmp_path: Path) -> None:
    closed = KubernetesSandbox("image", "boxes", ControlApi("http://127.0.0.1:9"))
    stranger = KubernetesSandbox("image", "boxes", ControlApi(cluster.url))
    nameless = KubernetesSandbox("", "boxes", ControlApi(cluster.url))
    found = [await sandbox.available() for sandbox in (closed, stranger, nameless)]
    assert [availability.available for availability in found] == [False] * 3
    assert "does not answer" in found[0].detail
    assert "Unauthorized (401)" in found[1].detail
    assert "No image" in found[2].detail
    with pytest.raises(OperatorError, match="no kubeconfig"):
        cluster_api({"KUBECONFIG": str(tmp_path / "none")}, account=tmp_path)


def test_a_kubeconfig_is_read(tmp_path: Path) -> None:
    config = tmp_path / "config"
    text = """
current-context: here
contexts: [{name: here, context: {cluster: c, user: u}}]
clusters: [{name: c, cluster: {server: "http://127.0.0.1:1"}}]
users: [{name: u, user: {token: abc}}]
"""
    config.write_text(text)
    api = cluster_api({"KUBECONFIG": str(config)})
    assert (api.url, dict(api.headers)) == ("http://127.0.0.1:1", {"Authorization": "Bearer abc"})
    for wrong in (
        text.replace("token: abc", "exec: {command: x}"),
        text.replace("name: here, c", "name: x, c"),
        text.replace('http://127.0.0.1:1"', 'https://127.0.0.1:1", insecure-skip-tls-verify: true'),
        "- a list",
        ": [",
    ):
        config.write_text(wrong)
        with pytest.raises(OperatorError) as caught:
            cluster_api({"KUBECONFIG": str(config)})
        assert caught.value.stable_code == "sandbox_unavailable"


def test_the_account_of_our_own_pod_is_used(tmp_path: Path) -> None:
    (tmp_path / "token").write_text("abc\n")
    (tmp_path / "ca.crt").write_bytes(Path(certifi.where()).read_bytes())
    environment = {"KUBECONFIG": str(tmp_path / "none"), "KUBERNETES_SERVICE_HOST": "10.0.0.1"}
    api = cluster_api(environment, account=tmp_path)
    assert (api.url, api.headers["Authorization"]) == ("https://10.0.0.1:443", "Bearer abc")
    (tmp_path / "ca.crt").write_text("no certificate")
    with pytest.raises(OperatorError, match="account"):
        cluster_api(environment, account=tmp_path)

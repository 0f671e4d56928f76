"""Code that writes to its host without end: the host's loop stays free for others, and the run ends in time."""

import asyncio
import resource
import socket
import struct
import sys
import threading
import time
from collections.abc import AsyncIterator, Coroutine
from contextlib import suppress
from pathlib import Path
from typing import Any, TypeVar

import httpx
import pytest
from event_loop_lag import watched_turns, worst_lag
from served import Server
from tests.sandboxes import available_sandbox

from answerable.sandbox.base import Sandbox, SandboxLimits, SandboxRequest
from answerable.sandbox.exchange import converse
from answerable.sandbox.monty.sandbox import MontySandbox

Ended = TypeVar("Ended")

SECONDS = 1.0
LATE_SECONDS = 5.0
MOST_LAG = 1.0
"""Seconds, on a busy machine. A loop that is kept by a flood does not come back before the flood ends."""
LONGEST_TURN = 0.08
"""Seconds of processor time that one callback may take: less than what `/healthz` may wait."""
FLOODS = {
    "empty prints": """b'{"print":""}'""",
    "prints padded with spaces": """b'{"print":"a"' + b" " * 1000000 + b"}" """,
    "calls of nothing": """b'{"call":"f","args":[],"kwargs":{}}'""",
    "large calls": """b'{"call":"f","args":["' + b"x" * 4000000 + b'"]}'""",
    "no frames at all": "None",
}


@pytest.fixture
async def sandbox() -> AsyncIterator[Sandbox]:
    opened = await available_sandbox("kernel-namespaces", 1)
    await opened.start()
    yield opened
    await opened.close()


@pytest.mark.parametrize("flood", FLOODS)
async def test_a_flood_keeps_neither_the_loop_nor_the_deadline(sandbox: Sandbox, flood: str) -> None:
    code = f"""
import os, struct
body = {FLOODS[flood]}
data = b"\\0" * 1000000 if body is None else struct.pack("!I", len(body)) + body
data *= max(1, 1000000 // len(data))
while True:
    os.write(3, data)
"""
    result = await held(flood, sandbox.run(SandboxRequest(code, limits=SandboxLimits(seconds=SECONDS))))
    assert result.outcome == "stopped"


BODIES = {
    "empty prints": b'{"print":""}',
    "prints padded with spaces": b'{"print":"a"' + b" " * 100_000 + b"}",
    "calls of nothing": b'{"call":"f","args":[],"kwargs":{}}',
    "values": b'{"known":[' + b"1," * 50_000 + b"1]}",
    "no frames at all": None,
}


@pytest.mark.parametrize("flood", BODIES)
async def test_a_host_of_monty_that_was_taken_over_keeps_neither(
    flood: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    body = BODIES[flood]
    python, repeated = tmp_path / "python", tmp_path / "repeated"
    repeated.write_bytes(bytes(4) if body is None else struct.pack("!I", len(body)) + body)
    program = Path(__file__).with_name("flooding_process.py")
    python.write_text(f'#!/bin/sh\nexec {sys.executable} {program} {repeated} "$@"\n')
    python.chmod(0o700)
    sandbox = MontySandbox(1)
    with monkeypatch.context() as patched:
        patched.setattr(sys, "executable", str(python))
        await sandbox.start()
        limits = SandboxLimits(seconds=SECONDS)
        result = await held(flood, sandbox.run(SandboxRequest("result = 1", limits=limits)))
        await sandbox.close()
    assert result.outcome == "stopped"


def lettered(letter: bytes, body: bytes) -> bytes:
    return struct.pack("!cI", letter, len(body)) + body


STREAMS = {
    "empty prints": lettered(b"J", b'{"print":""}'),
    "prints padded with spaces": lettered(b"J", b'{"print":"a"' + b" " * 100_000 + b"}"),
    "calls of nothing": lettered(b"J", b'{"call":"f","args":[],"kwargs":{}}'),
    "rows": lettered(b"B", b"x" * 100_000),
    "rows of nothing": lettered(b"B", b""),
    "a promise of four gigabytes": b"J" + b"\xff" * 100,
    "nonsense": bytes(100),
}


class SocketStream:
    """What containers, pods and virtual machines are for `converse`."""

    def __init__(self, ours: socket.socket) -> None:
        self._ours = ours

    async def send(self, data: bytes) -> None:
        await asyncio.get_running_loop().sock_sendall(self._ours, data)

    async def receive(self) -> bytes:
        return await asyncio.get_running_loop().sock_recv(self._ours, 65_536)


@pytest.mark.parametrize("flood", STREAMS)
async def test_a_container_that_floods_keeps_neither(flood: str, tmp_path: Path) -> None:
    ours, theirs = socket.socketpair()
    ours.setblocking(False)
    data = STREAMS[flood] * max(1, 1_000_000 // len(STREAMS[flood]))

    def write() -> None:
        with theirs, suppress(OSError):
            theirs.sendall(lettered(b"J", b'{"ready":true}'))
            while True:
                theirs.sendall(data)

    writing = threading.Thread(target=write)
    writing.start()
    limits = SandboxLimits(seconds=SECONDS, result_mb=64)
    request = SandboxRequest("result = 1", limits=limits, into=tmp_path / "rows")
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    try:
        record = await held(flood, converse(SocketStream(ours), request))
    finally:
        ours.close()
        writing.join()
    if record.rows is not None:
        record.rows.close()
    assert record.stopped is not None
    assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before < 200_000, "kilobytes"


async def held(flood: str, running: Coroutine[Any, Any, Ended]) -> Ended:
    watching = asyncio.ensure_future(worst_lag())
    await asyncio.sleep(0)  # it begins to watch
    began = time.monotonic()
    with watched_turns() as turns:
        ended = await running
    took, longest = time.monotonic() - began, max(turns, default=0.0)
    watching.cancel()
    lag = await watching
    print(
        f"{flood}: {took:.2f} s, the loop was late by {lag * 1000:.0f} ms, the longest of {len(turns)} turns took "
        f"{longest * 1000:.1f} ms of the processor"
    )
    assert took < SECONDS + LATE_SECONDS
    assert lag < MOST_LAG
    assert longest < LONGEST_TURN
    return ended


def test_a_server_answers_while_code_floods_it(tmp_path: Path) -> None:
    home = tmp_path / "served"
    home.mkdir()
    (home / "settings.yaml").write_text("sandbox_seconds: 1\nbreaker_failures: 100\n")
    (tmp_path / "data").mkdir()
    (tmp_path / "data" / "t.csv").write_text("a\n1\n")
    server = Server(home, tmp_path / "data").start()
    try:
        warm = {"query_type": "python", "code": "result = 1"}  # the first program waits until the sandbox has started
        assert httpx.post(f"{server.url}/api/v1/runs", json=warm, timeout=60).json()["status"] == "done"
        for flood in ("empty prints", "large calls", "no frames at all"):
            flooded(server, flood)
    finally:
        server.kill()


def flooded(server: Server, flood: str) -> None:
    code = f"""
import io
body = {FLOODS[flood]}
data = b"\\0" * 1000000 if body is None else len(body).to_bytes(4, "big") + body
data *= max(1, 1000000 // len(data))
line = io.FileIO(3, "w", closefd=False)
while True:
    line.write(data)
"""
    replies: list[httpx.Response] = []
    asked = {"query_type": "python", "code": code}
    asking = threading.Thread(
        target=lambda: replies.append(httpx.post(f"{server.url}/api/v1/runs", json=asked, timeout=60))
    )
    began = time.monotonic()
    asking.start()
    latencies: list[float] = []
    with httpx.Client() as client:
        while asking.is_alive() or not latencies:
            before = time.monotonic()
            assert client.get(f"{server.url}/healthz", timeout=30).status_code == 200
            latencies.append(time.monotonic() - before)
            asking.join(0.02)
    took = time.monotonic() - began
    said = replies[0].text
    print(f"{flood}: {took:.2f} s; {len(latencies)} times /healthz, the slowest {max(latencies) * 1000:.0f} ms")
    assert "python_" in said
    assert took < SECONDS + LATE_SECONDS
    assert max(latencies) < MOST_LAG

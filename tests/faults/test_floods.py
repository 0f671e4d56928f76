"""Code that writes to its host without end: the host's loop stays free for others, and the run ends in time."""

import asyncio
import time
from collections.abc import AsyncIterator

import pytest
from event_loop_lag import worst_lag
from tests.sandboxes import available_sandbox

from answerable.sandbox.base import Sandbox, SandboxLimits, SandboxRequest

SECONDS = 1.0
LATE_SECONDS = 5.0
MOST_LAG = 1.0
"""Seconds, on a busy machine. A loop that is kept by a flood does not come back before the flood ends."""
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
    watching = asyncio.ensure_future(worst_lag())
    began = time.monotonic()
    result = await sandbox.run(SandboxRequest(code, limits=SandboxLimits(seconds=SECONDS)))
    took = time.monotonic() - began
    watching.cancel()
    lag = await watching
    print(f"{flood}: {result.reason}, {took:.2f} s, the loop was late by {lag * 1000:.0f} ms")
    assert result.outcome == "stopped"
    assert took < SECONDS + LATE_SECONDS
    assert lag < MOST_LAG

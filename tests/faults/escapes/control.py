"""A backend that keeps nothing in. Cases that do harmless things must succeed here: it proves that they bite."""

import asyncio
import json
import sys
from pathlib import Path

from answerable.sandbox.base import Availability, SandboxRequest, SandboxResult

PROGRAM = Path(__file__).with_name("control_process.py")
PATIENCE = 60.0
"""Seconds. What is run here ends by itself."""


class ControlSandbox:
    name = "control"

    async def available(self) -> Availability:
        return Availability(self.name, True, "a plain process")

    async def start(self) -> None:
        return None

    async def run(self, request: SandboxRequest) -> SandboxResult:
        process = await asyncio.create_subprocess_exec(
            sys.executable,
            PROGRAM,
            stdin=asyncio.subprocess.PIPE,
            stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.DEVNULL,
            close_fds=False,
        )
        asked = {
            "code": request.code,
            "values": dict(request.values),
            "frames": {name: str(path) for name, path in request.frames.items()},
        }
        try:
            async with asyncio.timeout(PATIENCE):
                answer, _ = await process.communicate(json.dumps(asked).encode())
        except TimeoutError:
            process.kill()
            await process.wait()
            return SandboxResult("stopped", self.name, "time", "It took too long.", isolated=False)
        if not answer:
            return SandboxResult("stopped", self.name, "died", "It died.", isolated=False)
        return SandboxResult(backend=self.name, isolated=False, **json.loads(answer))

    async def close(self) -> None:
        return None

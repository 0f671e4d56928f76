"""A host in the middle of its work, to be killed: opens a sandbox, says so, and runs code that does not end."""

import asyncio
import sys

from tests.sandboxes import make_sandbox

from answerable.sandbox.base import SandboxLimits, SandboxRequest

ENDLESS = "while True:\n    pass\n"


async def main(name: str) -> None:
    sandbox = make_sandbox(name, 2)
    await sandbox.start()
    running = [
        asyncio.create_task(sandbox.run(SandboxRequest(ENDLESS, limits=SandboxLimits(seconds=60)))) for _ in range(2)
    ]
    await asyncio.sleep(0.7)
    assert not any(task.done() for task in running)
    print("running", flush=True)
    await asyncio.gather(*running)


asyncio.run(main(sys.argv[1]))

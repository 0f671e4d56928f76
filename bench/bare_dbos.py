"""Workflows of one step in bare DBOS, for `placed.py`: `PYTHON bare_dbos.py URL COUNT AT_ONCE`.

In an environment that has DBOS. Prints `ready`, waits for a line, carries out COUNT workflows, AT_ONCE at a time, and
prints the seconds."""

import asyncio
import sys
import time

from dbos import DBOS  # type: ignore[import-not-found,unused-ignore]


async def main(url: str, count: int, at_once: int) -> None:
    DBOS(config={"name": "bench", "system_database_url": url, "log_level": "CRITICAL", "enable_otlp": False})

    @DBOS.step(name="said")  # type: ignore[untyped-decorator,unused-ignore]
    async def said(number: int) -> str:
        return f"n is {number}"

    @DBOS.workflow(name="flow")  # type: ignore[untyped-decorator,unused-ignore]
    async def flow(number: int) -> str:
        return str(await said(number))

    DBOS.launch()
    left = asyncio.Semaphore(at_once)

    async def one(number: int) -> None:
        async with left:
            await flow(number)

    await one(-1)
    print("ready", flush=True)
    await asyncio.to_thread(sys.stdin.readline)
    began = time.monotonic()
    await asyncio.gather(*(one(number) for number in range(count)))
    print(time.monotonic() - began, flush=True)
    DBOS.destroy()


if __name__ == "__main__":
    asyncio.run(main(sys.argv[1], int(sys.argv[2]), int(sys.argv[3])))

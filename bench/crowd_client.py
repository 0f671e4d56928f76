"""Many clients that ask at the same time: `python -m bench.crowd_client PORT CLIENTS SECONDS`.

Each client is one kept connection that asks the next question as soon as it has its answer. HTTP is spoken by hand,
because a client library would take a third of the machine that is being measured. Prints one JSON object.
"""

import asyncio
import json
import sys
import time
from dataclasses import dataclass, field
from itertools import count

from answerable.demo import golden_cases

START_SECONDS = 2.0
"""Answers of the first seconds are not counted: the crowd is still arriving."""


@dataclass
class Crowd:
    port: int
    until: float
    counted_from: float
    answers: list[float] = field(default_factory=list)
    """Seconds until each answer."""
    refused: list[float] = field(default_factory=list)
    """Seconds until each refusal."""
    wrong: dict[int, int] = field(default_factory=dict)
    """How often each other status came."""
    health: list[float] = field(default_factory=list)
    number: "count[int]" = field(default_factory=count)

    async def client(self) -> None:
        reader, writer = await asyncio.open_connection("127.0.0.1", self.port)
        while time.perf_counter() < self.until:
            question = QUESTIONS[next(self.number) % len(QUESTIONS)]
            body = json.dumps({"message": question, "source": "demo"}).encode()
            began = time.perf_counter()
            status, wait = await _exchanged(reader, writer, b"POST /api/v1/chat", body)
            spent = time.perf_counter() - began
            if not self.counted_from <= began + spent < self.until:
                pass
            elif status == 200:
                self.answers.append(spent)
            elif status == 503:
                self.refused.append(spent)
            else:
                self.wrong[status] = self.wrong.get(status, 0) + 1
            if wait:
                await asyncio.sleep(min(wait, max(0.0, self.until - time.perf_counter())))
                # The server closes connections that are quiet for five seconds.
                writer.close()
                reader, writer = await asyncio.open_connection("127.0.0.1", self.port)
        writer.close()

    async def look_after_health(self) -> None:
        """Ten times a second, on a connection of its own."""
        reader, writer = await asyncio.open_connection("127.0.0.1", self.port)
        while time.perf_counter() < self.until:
            began = time.perf_counter()
            await _exchanged(reader, writer, b"GET /healthz", b"")
            if began >= self.counted_from:
                self.health.append(time.perf_counter() - began)
            await asyncio.sleep(0.1)
        writer.close()


QUESTIONS = tuple(json.loads(line)["question"] for line in golden_cases().read_text("utf-8").splitlines())


async def _exchanged(
    reader: asyncio.StreamReader, writer: asyncio.StreamWriter, line: bytes, body: bytes
) -> tuple[int, float]:
    """The status of the reply, 500 for an answer that failed, and how long it says to wait before asking again."""
    writer.write(
        line
        + b" HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Type: application/json\r\nContent-Length: %d\r\n\r\n" % len(body)
        + body
    )
    head = await reader.readuntil(b"\r\n\r\n")
    status, size, wait = int(head.split(b" ", 2)[1]), 0, 0.0
    for header in head.lower().split(b"\r\n")[1:]:
        name, _, value = header.partition(b":")
        if name == b"content-length":
            size = int(value)
        elif name == b"retry-after":
            wait = float(value)
    reply = await reader.readexactly(size)
    # A run that failed is told in a reply of status 200.
    return (500 if b'"status":"failed"' in reply[:200] else status), wait


async def main(port: int, clients: int, seconds: float) -> None:
    now = time.perf_counter()
    crowd = Crowd(port, until=now + START_SECONDS + seconds, counted_from=now + START_SECONDS)
    await asyncio.gather(crowd.look_after_health(), *(crowd.client() for _ in range(clients)))
    print(
        json.dumps({"answers": crowd.answers, "refused": crowd.refused, "wrong": crowd.wrong, "health": crowd.health})
    )


if __name__ == "__main__":
    asyncio.run(main(int(sys.argv[1]), int(sys.argv[2]), float(sys.argv[3])))

"""A sync of Okta against a bare client that fetches the same pages, what has changed, and the question of the seeds.

`python -m bench.okta --users 100000 --groups 2000` is the full form; `--throttled` keeps to Okta's own limits and takes
some minutes. `python -m bench okta [--quick]` is a small one.
"""

import argparse
import asyncio
import multiprocessing
import resource
import statistics
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Callable, Coroutine, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any, TypeAlias

import httpx
import ladybug
import orjson

from answerable.agents.question_request import QuestionRequest
from answerable.app import open_service
from answerable.core.clock import SystemClock
from answerable.core.context import LOCAL
from answerable.okta.simulator.changes import change
from answerable.okta.simulator.populate import simulated_tenant
from answerable.okta.simulator.server import TOKEN, Simulator, served
from answerable.okta.sync.client import OktaClient, OktaPage
from answerable.okta.sync.credentials import ApiToken
from answerable.okta.sync.graph import FOLDER, GRAPH
from answerable.okta.sync.pace import MOST, endpoint_of
from answerable.okta.sync.run import sync
from answerable.settings import Settings
from bench.figures import Figure, compared, table

NOW = datetime(2026, 11, 16, 12, tzinfo=UTC)
PROCESSES = multiprocessing.get_context("spawn")
CHANGES, CHANGES_SECONDS = 1_000, 2.0
BEYOND = 0.150
"""Seconds that the question may take beyond its bare query."""
QUESTION = """MATCH (u:User)-[:MemberOf]->(:UserGroup {name: 'sso-super-admins'})
MATCH (u)-[:MemberOf]->(g:UserGroup) OPTIONAL MATCH (g)-[:Gives]->(a:Application)
RETURN u.name AS name, g.name AS grp, a.name AS application"""


class RecordingClient(OktaClient):
    """Keeps the paths that it was asked for, and the time at which each reply came."""

    def __init__(self, url: str) -> None:
        super().__init__(url, ApiToken(TOKEN, "simulator"), SystemClock())
        self.paths: list[str] = []
        self.replies: list[tuple[float, str, int, int]] = []
        """Time, endpoint, status and limit."""

    async def page(self, path: str, scope: str) -> OktaPage:
        self.paths.append(path)
        return await super().page(path, scope)

    async def _send(self, path: str) -> httpx.Response:
        response = await super()._send(path)
        limit = int(response.headers.get("x-rate-limit-limit", 0))
        self.replies.append((time.monotonic(), endpoint_of(path), response.status_code, limit))
        return response


@contextmanager
def simulated(users: int, groups: int | None, *more: str) -> Iterator[str]:
    """A simulator in a process of its own, so that it shares no interpreter with what is measured."""
    program = str(Path(sys.executable).with_name("answerable"))
    command = [program, "okta", "simulate", f"--users={users}", "--port=0", *more]
    command += [f"--groups={groups}"] if groups is not None else []
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        try:
            line = next(line for line in process.stdout if "is simulated on" in line)
            yield line.split(" on ")[1].split()[0]
        finally:
            process.terminate()


@dataclass(frozen=True, slots=True)
class Spent:
    """Seconds by the clock, and seconds of processor time of this process."""

    clock: float
    processor: float


async def synced(folder: Path, url: str, *, graph: bool = False) -> tuple[Spent, RecordingClient]:
    client = RecordingClient(url)
    started, worked = time.perf_counter(), time.process_time()
    try:
        await sync(folder, client, SystemClock(), graph=graph)
    finally:
        await client.close()
    return Spent(time.perf_counter() - started, time.process_time() - worked), client


async def fetched(url: str, paths: list[str]) -> Spent:
    """A bare client for the same pages: it only decodes them, with as many requests at once."""
    left = iter(paths)
    headers = {"Authorization": f"SSWS {TOKEN}"}
    started, worked = time.perf_counter(), time.process_time()
    async with httpx.AsyncClient(base_url=url, headers=headers, timeout=60, trust_env=False) as client:

        async def worker() -> None:
            for path in left:
                orjson.loads((await client.get(path)).content)

        await asyncio.gather(*(worker() for _ in range(MOST)))
    return Spent(time.perf_counter() - started, time.process_time() - worked)


def against_a_bare_client(users: int, groups: int | None) -> list[Figure]:
    with simulated(users, groups) as url, tempfile.TemporaryDirectory() as folder:
        ours, client = asyncio.run(synced(Path(folder), url))
        bare = asyncio.run(fetched(url, client.paths))
    pages = len(client.paths)
    name = f"okta: pages a second of a sync of {users:,} users"
    return [
        compared(name, pages / ours.clock, pages / bare.clock, "pages/s", 0.8, "higher"),
        compared(f"{name}, processor", pages / ours.processor, pages / bare.processor, "pages/s", 0.8, "higher"),
        Figure("okta: most memory of a sync", _peak(), 0, "MB", 0, 0),
    ]


def _peak() -> float:
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


def _changing(users: int, groups: int | None, pipe: Connection) -> None:
    """A simulator that changes when it is told to."""
    tenant = simulated_tenant(users, 3, NOW, groups)
    with served(Simulator(tenant)) as url:
        pipe.send(url)
        while count := pipe.recv():
            change(tenant, count, 0.5)
            pipe.send(count)


def changes(users: int, groups: int | None) -> list[Figure]:
    """With the graph; the simulator is a process of its own."""
    here, there = PROCESSES.Pipe()
    simulator = PROCESSES.Process(target=_changing, args=(users, groups, there), daemon=True)
    simulator.start()
    there.close()
    url = here.recv()
    with tempfile.TemporaryDirectory() as folder:
        asyncio.run(synced(Path(folder), url, graph=True))
        here.send(CHANGES)
        here.recv()
        spent, _ = asyncio.run(synced(Path(folder), url, graph=True))
    here.send(0)
    simulator.join(10)
    name = f"okta: sync of {CHANGES:,} changes, {users:,} users"
    return [
        compared(name, spent.clock, CHANGES_SECONDS, "s", 1.0),
        compared(f"{name}, processor", spent.processor, CHANGES_SECONDS, "s", 1.0),
    ]


def throttled(users: int) -> list[Figure]:
    """Of the busiest endpoint: what was used of its limit in whole minutes, and refusals after the first minute."""
    with simulated(users, None, "--rate=1") as url, tempfile.TemporaryDirectory() as folder:
        _, client = asyncio.run(synced(Path(folder), url))
    (busiest, _), *_ = Counter(endpoint for _, endpoint, _, _ in client.replies).most_common(1)
    replies = [reply for reply in client.replies if reply[1] == busiest]
    begin = replies[0][0]
    minutes = Counter(int((at - begin) // 60) for at, _, status, _ in replies if status == 200)
    whole = max(minutes)
    used = sum(count for minute, count in minutes.items() if minute < whole)
    refused = sum(status == 429 for at, _, status, _ in client.replies if at - begin > 60)
    return [
        compared("okta: used of the allowed rate", used, replies[0][3] * max(1, whole), "requests", 0.95, "higher"),
        Figure("okta: refusals after the first minute", refused, 0, "requests", refused, 0),
    ]


def question(users: int, groups: int | None, repeats: int) -> Figure:
    """The question of the seeds on the graph, beyond the bare query."""
    tenant = simulated_tenant(users, 3, NOW, groups)
    with served(Simulator(tenant)) as url, tempfile.TemporaryDirectory() as place:
        folder = Path(place)
        asyncio.run(synced(folder, url, graph=True))
        asked, bare = asyncio.run(_asked(folder, folder / FOLDER / GRAPH, repeats))
    return compared(f"okta: the question of the seeds, {users:,} users", asked, bare + BEYOND, "s", 1.0)


async def _asked(folder: Path, file: Path, repeats: int) -> tuple[float, float]:
    settings = Settings(home=folder / "home", sources={"graph": str(file)}, source="graph")
    request = QuestionRequest(f"CYPHER: {QUESTION}", ("graph",))
    async with open_service(settings, any_location=False) as service:
        first = await service.questions.ask(request, LOCAL)
        assert first.status == "done", first.text
        ours = [await _seconds(service.questions.ask(request, LOCAL)) for _ in range(repeats)]
    with ladybug.Database(str(file), read_only=True) as database, ladybug.Connection(database) as connection:
        bare = [_bare(connection) for _ in range(repeats)]
    return statistics.median(ours), statistics.median(bare)


async def _seconds(work: Coroutine[Any, Any, object]) -> float:
    started = time.perf_counter()
    await work
    return time.perf_counter() - started


def _bare(connection: ladybug.Connection) -> float:
    started = time.perf_counter()
    result = connection.execute(QUESTION)
    while result.has_next():  # type: ignore[union-attr]
        result.get_next()  # type: ignore[union-attr]
    return time.perf_counter() - started


Parts: TypeAlias = dict[str, Callable[[int, int | None], list[Figure]]]


def measure(quick: bool) -> list[Figure]:
    users, groups = (300, 5) if quick else (3_000, 60)
    asked = question(users, groups, 3 if quick else 15)
    return [*against_a_bare_client(users, groups), *changes(users, groups), asked]


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m bench.okta")
    parser.add_argument("--users", type=int, default=3_000)
    parser.add_argument("--groups", type=int)
    parser.add_argument("--throttled", action="store_true", help="keep to Okta's own limits; takes some minutes")
    parser.add_argument("--only", action="append", choices=("bare", "changes", "question"))
    options = parser.parse_args()
    users, groups = options.users, options.groups
    if options.throttled:
        figures = throttled(users)
    else:
        parts: Parts = {
            "bare": against_a_bare_client,
            "changes": changes,
            "question": lambda users, groups: [question(users, groups, 15)],
        }
        figures = [figure for name in options.only or parts for figure in parts[name](users, groups)]
    print(table(figures))
    return 0 if all(figure.met for figure in figures) else 1


if __name__ == "__main__":
    sys.exit(main())

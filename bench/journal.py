"""The engine with its SQLite journal against the least with the same guarantee: bare asyncio that writes one row for
each node and commits it before the node's children start. Microseconds a node, on the disk of the temporary folder."""

import asyncio
import json
import sqlite3
import tempfile
from pathlib import Path
from typing import Literal

from answerable.core.context import LOCAL, RunContext
from answerable.core.ids import new_run_id
from answerable.engine.run import Engine
from answerable.store.open import open_store
from bench import graphs
from bench.engine import Nothing, nothing
from bench.figures import Figure, compared, in_turn
from bench.floors import bare_asyncio

Synchronous = Literal["full", "normal"]
LIMITS: dict[Synchronous, float] = {"full": 1.5, "normal": 3.0}
WORKLOADS = {"chain of 100": graphs.chain(100), "fan 1→100→1": graphs.fan(100)}


def measure(quick: bool) -> list[Figure]:
    repeats = 5 if quick else 21
    return [
        asyncio.run(_measured(f"journal {synchronous.upper()}, {name}", dependencies, synchronous, repeats))
        for synchronous in LIMITS
        for name, dependencies in WORKLOADS.items()
    ]


async def _measured(name: str, dependencies: graphs.Dependencies, synchronous: Synchronous, repeats: int) -> Figure:
    with tempfile.TemporaryDirectory(prefix="answerable-bench-") as folder:
        store = await open_store(Path(folder) / "store.db", synchronous=synchronous)
        engine = Engine({"nothing": Nothing()}, store.events)
        graph = graphs.graph(dependencies, "nothing")
        rows = Rows(Path(folder) / "floor.db", synchronous)

        async def ours() -> None:
            context = RunContext(new_run_id(), LOCAL)
            record = await store.runs.create(context, None)
            assert (await engine.run(graph, context, lease=record.lease)).status == "done"

        bare = bare_asyncio(dependencies, nothing, rows.stored)

        async def floor() -> None:
            rows.run += 1
            await bare()

        try:
            seconds, least = await in_turn(ours, floor, repeats)
        finally:
            rows.close()
            await store.close()
    count = len(dependencies)
    return compared(name, seconds / count * 1e6, least / count * 1e6, "µs/node", LIMITS[synchronous])


class Rows:
    """A row for each finished node, in a commit of its own."""

    def __init__(self, path: Path, synchronous: Synchronous) -> None:
        self.run = 0
        self._connection = sqlite3.connect(path, isolation_level=None)
        self._connection.execute("PRAGMA journal_mode = WAL")
        self._connection.execute(f"PRAGMA synchronous = {synchronous}")
        self._connection.execute(
            "CREATE TABLE finished (run INTEGER, node INTEGER, output TEXT, PRIMARY KEY (run, node)) WITHOUT ROWID"
        )

    def stored(self, node: int, output: object) -> None:
        self._connection.execute("INSERT INTO finished VALUES (?, ?, ?)", (self.run, node, json.dumps(output)))

    def close(self) -> None:
        self._connection.close()

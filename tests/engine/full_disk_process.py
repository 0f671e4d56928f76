"""Runs a chain whose journal may not grow beyond a size, as on a full disk; then makes room and continues.

python full_disk_process.py FOLDER
"""

import asyncio
import json
import resource
import sys
from collections import Counter
from pathlib import Path
from typing import Any

from answerable.core.context import LOCAL, RunContext
from answerable.core.errors import AnswerableError
from answerable.core.events import Event
from answerable.core.ids import RunId
from answerable.engine.graph import Graph
from answerable.engine.run import Engine
from answerable.engine.steps.base import Step
from answerable.store.open import open_store

CONTEXT = RunContext(RunId("run_full"), LOCAL)
NODES = 60
ROOM = 100_000


class Verbose:
    def __init__(self) -> None:
        self.calls: Counter[str] = Counter()

    async def run(self, step: Step) -> Any:
        self.calls[step.id] += 1
        return "x" * 4000


def largest_file(folder: Path) -> int:
    return max(path.stat().st_size for path in folder.iterdir() if path.is_file())


def limit_files(size: int) -> None:
    resource.setrlimit(resource.RLIMIT_FSIZE, (size, resource.RLIM_INFINITY))


async def main(folder: Path) -> None:
    kind, heard = Verbose(), list[Event]()
    store = await open_store(folder / "store.db")
    lease = (await store.runs.create(CONTEXT, None)).lease
    chain = [{"id": f"n{i}", "kind": "f", "after": [f"n{i - 1}"] if i else []} for i in range(NODES)]
    limit_files(largest_file(folder) + ROOM)
    failure = None
    try:
        engine = Engine({"f": kind}, store.events)
        await engine.run(Graph.parse({"nodes": chain}), CONTEXT, lease=lease, listeners=[heard.append])
    except AnswerableError as error:
        failure = error
    limit_files(resource.RLIM_INFINITY)
    stored = await store.events.read(CONTEXT.principal, CONTEXT.run)
    done_when_full = len(kind.calls)
    outcome = await Engine({"f": kind}, store.events).resume(CONTEXT, lease=lease)
    await store.close()
    print(
        json.dumps(
            {
                "failure": [type(failure).__name__, failure and failure.stable_code],
                "heard_is_stored": heard == stored,
                "done_when_full": done_when_full,
                "status": outcome.status,
                "repeated": sum(kind.calls.values()) - NODES,
            }
        )
    )


asyncio.run(main(Path(sys.argv[1])))

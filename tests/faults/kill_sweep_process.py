"""Runs a graph in processes of its own and kills them, with SIGKILL, at one exact point after the other.

    python kill_sweep_process.py FOLDER STRATEGY

A point is: before or after a commit of the journal, and before or after a step has done its work. For each point one
process runs until it is killed there, a second continues and is killed at its own third point, and others continue to
the end. Prints one JSON object for each point, with all that was seen.
"""

import asyncio
import itertools
import json
import os
import random
import shutil
import signal
import sys
import time
from collections.abc import Callable, Coroutine, Sequence
from pathlib import Path
from typing import Any

from answerable.core.context import LOCAL, RunContext
from answerable.core.errors import NotFoundError, TransientError
from answerable.core.events import Event, StepFailed, StepFinished, StepRetried, StepSkipped
from answerable.core.ids import NodeId, RunId
from answerable.engine.graph import Graph
from answerable.engine.run import Engine, Outcome
from answerable.engine.steps.base import Step, StepKind
from answerable.engine.steps.subgraph import SubgraphStep
from answerable.store.base import Events, Lease, RunEnd, Store
from answerable.store.open import open_store
from answerable.store.sqlite import SqliteDatabase

CONTEXT = RunContext(RunId("run_killed"), LOCAL)
LEASE_SECONDS = 60.0
"""Longer than any process lives here. No process waits for it: the lease clock is put forward from one to the next."""
Act = Callable[[Engine, Store], Coroutine[Any, Any, Any]]
ON_THE_WAY = 3
"""The point at which the first process that continues is killed too."""

INNER = {
    "nodes": [
        {"id": "x", "kind": "work"},
        {"id": "y", "kind": "work"},
        {"id": "z", "kind": "work", "after": ["x", "y"]},
    ]
}
GRAPH: dict[str, Any] = {
    "nodes": [
        {"id": "a", "kind": "work"},
        {"id": "b", "kind": "work", "after": ["a"], "retry": {"attempts": 3, "base_delay": 0.001}},
        {"id": "c", "kind": "work", "after": ["a"]},
        {"id": "fails", "kind": "work", "after": ["a"], "critical": False},
        {"id": "untaken", "kind": "work", "after": ["c"], "when": [{"input": "c", "op": "empty"}]},
        {"id": "sub", "kind": "subgraph", "after": ["a"], "config": {"graph": INNER}},
        {"id": "send", "kind": "work", "after": ["c"], "effect": True, "idempotent": True},
        {"id": "pay", "kind": "work", "after": ["c"], "effect": True},
        {"id": "join", "kind": "work", "after": ["b", "c", "fails", "untaken", "sub", "send", "pay"]},
        {"id": "end", "kind": "work", "after": ["join"]},
    ]
}


class Fuse:
    """Counts points, and ends this process without a word at one of them."""

    def __init__(self, last: int | None) -> None:
        self._left = last

    def point(self) -> None:
        if self._left is not None:
            self._left -= 1
            if self._left <= 0:
                os.kill(os.getpid(), signal.SIGKILL)


class FusedEvents:
    def __init__(self, events: Events, fuse: Fuse) -> None:
        self._events = events
        self._fuse = fuse
        self.read = events.read
        self.still_ours = events.still_ours

    async def append(self, events: Sequence[Event], lease: Lease, end: RunEnd | None = None) -> None:
        self._fuse.point()
        await asyncio.sleep(0)  # as a slow store would: others go on meanwhile
        await self._events.append(events, lease, end)
        self._fuse.point()


class Work:
    """Writes down, on the disk, that it was done."""

    def __init__(self, diary: Path, fuse: Fuse) -> None:
        self._diary = diary
        self._fuse = fuse

    async def run(self, step: Step) -> Any:
        self._fuse.point()
        with self._diary.open("a") as lines:
            lines.write(json.dumps([step.id, step.attempt, step.idempotency_key]) + "\n")
            lines.flush()
            os.fsync(lines.fileno())
        self._fuse.point()
        for _ in range(random.Random(step.id).randrange(4)):
            await asyncio.sleep(0)
        if step.id == "b" and step.attempt < 3:
            raise TransientError("busy")
        if step.id == "fails":
            raise TransientError("always busy")
        return {"id": step.id, "inputs": dict(step.inputs)}


async def with_engine(folder: Path, fuse: Fuse, act: Act, life: int) -> Any:
    store = await open_store(folder / "store.db", synchronous="normal", lease_seconds=LEASE_SECONDS)
    put_clock_forward(store, life * 2 * LEASE_SECONDS)
    kinds: dict[str, StepKind] = {"work": Work(folder / "diary", fuse), "subgraph": SubgraphStep()}
    try:
        return await act(Engine(kinds, FusedEvents(store.events, fuse)), store)
    finally:
        await store.close()


def put_clock_forward(store: Store, seconds: float) -> None:
    """So that the lease of a process that was killed has lapsed when the next one looks."""
    database = store.database
    assert isinstance(database, SqliteDatabase)
    database._connection.create_function("lease_clock", 0, lambda: time.monotonic() + seconds)


async def claimed(store: Store) -> Lease:
    [record] = await store.runs.adoptable()
    lease = await store.runs.claim(record)
    assert lease is not None
    return lease


def first(graph: Graph) -> Act:
    async def act(engine: Engine, store: Store) -> Any:
        return told(await engine.run(graph, CONTEXT, lease=await claimed(store)))

    return act


async def again(engine: Engine, store: Store) -> Any:
    return told(await engine.resume(CONTEXT, lease=await claimed(store)))


async def approve(engine: Engine, store: Store) -> Any:
    await engine.decide(CONTEXT, NodeId("pay"), verdict="approve", by="tester", lease=await claimed(store))


async def create(engine: Engine, store: Store) -> Any:
    await store.runs.create(CONTEXT, None)


async def stored(engine: Engine, store: Store) -> Any:
    events = await store.events.read(CONTEXT.principal, CONTEXT.run)
    return {
        "finished": [event.node for event in events if isinstance(event, StepFinished)],
        "ended": [event.node for event in events if isinstance(event, StepFinished | StepFailed | StepSkipped)],
        "retried": [[event.node, event.attempt] for event in events if isinstance(event, StepRetried)],
        "numbers": [event.seq for event in events],
        "types": [event.type for event in events],
    }


def told(outcome: Outcome) -> Any:
    errors = {node: error.stable_code for node, error in outcome.errors.items()}
    return {"status": outcome.status, "output": outcome.output, "errors": errors, "skipped": dict(outcome.skipped)}


def in_process(folder: Path, act: Act, last: int | None, life: int) -> Any:
    """What the act gave in a process of its own, or "killed"."""
    result = folder / "result"
    child = os.fork()
    if child == 0:
        try:
            answer = asyncio.run(with_engine(folder, Fuse(last), act, life))
        except NotFoundError as error:
            answer = {"status": error.stable_code}
        except BaseException as error:
            answer = {"status": f"{type(error).__name__}: {error}"}
        result.write_text(json.dumps(answer))
        os._exit(0)
    _, how = os.waitpid(child, 0)
    if os.WIFSIGNALED(how):
        assert os.WTERMSIG(how) == signal.SIGKILL
        return "killed"
    return json.loads(result.read_text())


def diary(folder: Path) -> list[Any]:
    path = folder / "diary"
    return [json.loads(line) for line in path.read_text().splitlines()] if path.exists() else []


def here(folder: Path, act: Act, life: int) -> Any:
    return asyncio.run(with_engine(folder, Fuse(None), act, life))


def sweep_point(folder: Path, prepared: Path, graph: Graph, point: int) -> Any:
    shutil.copytree(prepared, folder)
    lives = []
    act = first(graph)
    fuse: int | None = point
    after = here(folder, stored, 0)
    for life in range(6):
        before, done = after, len(diary(folder))
        ended = in_process(folder, act, fuse, life)
        after = here(folder, stored, life)
        lives.append({"before": before, "done": diary(folder)[done:], "after": after, "ended": ended})
        if ended != "killed" and ended["status"] not in ("waiting", "run_not_begun"):
            break
        if ended != "killed" and ended["status"] == "waiting":
            here(folder, approve, life)
            after = here(folder, stored, life)
        begun = ended == "killed" or ended["status"] != "run_not_begun"
        act, fuse = (again if begun else first(graph)), (ON_THE_WAY if len(lives) == 1 and point % 2 else None)
    return {"point": point, "lives": lives}


def main() -> None:
    folder, strategy = Path(sys.argv[1]), sys.argv[2]
    graph = Graph.parse({**GRAPH, "strategy": strategy})
    prepared = folder / "prepared"
    prepared.mkdir()
    here(prepared, create, 0)
    for point in itertools.count(1):
        seen = sweep_point(folder / str(point), prepared, graph, point)
        print(json.dumps(seen), flush=True)
        if seen["lives"][0]["ended"] != "killed":
            return


main()

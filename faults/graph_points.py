"""Runs a drawn graph in processes of its own and kills them, with SIGKILL, at one point after the other.

    python -m faults.graph_points FOLDER RECORDER WIDTH ROUNDS

A point is before or after a commit of the journal, and before or after a call of the API that records writes. The run
is continued by further processes; a question about a write in doubt is answered by asking the recorder. Prints one JSON
object for each point, the first for a run that nobody disturbed.
"""

import asyncio
import json
import os
import shutil
import signal
import sys
import time
from collections.abc import Callable, Coroutine, Sequence
from pathlib import Path
from typing import Any
from urllib.request import urlopen

from answerable.apis.broker import Broker
from answerable.apis.target import ApiTarget
from answerable.core.clock import SystemClock
from answerable.core.context import LOCAL, RunContext
from answerable.core.events import ApprovalRequested, Event, RunFinished, StepFailed, StepFinished, StepSkipped
from answerable.core.ids import NodeId, RunId
from answerable.engine.bindings import Bindings
from answerable.engine.graph import Graph
from answerable.engine.guards import default_guards
from answerable.engine.journal import asks
from answerable.engine.run import Engine
from answerable.engine.steps.api import ApiStep
from answerable.engine.steps.base import Step, StepKind
from answerable.engine.steps.join import JoinOutputsStep
from answerable.engine.steps.literal import LiteralStep
from answerable.engine.steps.loop import LoopStep
from answerable.engine.steps.map import MapStep
from answerable.engine.steps.router import RouterStep
from answerable.engine.steps.subgraph import SubgraphStep, with_input
from answerable.graphs.compiling import compiled
from answerable.graphs.reading import read_graph
from answerable.store.base import Events, Lease, RunEnd, Store
from answerable.store.open import open_store
from answerable.store.sqlite import SqliteDatabase

CONTEXT = RunContext(RunId("run_swept"), LOCAL)
LEASE_SECONDS = 60.0
"""Longer than any process lives here. No process waits for it: the lease clock is put forward from one to the next."""
MOST_LIVES = 60
"""Each life answers the questions that the one before left; every second point also kills the first that continues."""
ON_THE_WAY = 5
Act = Callable[[Engine, Store], Coroutine[Any, Any, Any]]


def graph_text(width: int) -> str:
    """Branches, a map, a loop and a subgraph that write to two APIs: one recognises keys, the other does not. Each
    write is named as its node is in the run, after the input `n`."""
    given = {"n": "{{ input.n }}"}

    def write(api: str, name: str, **more: Any) -> dict[str, Any]:
        body = {"name": "{{ input.n }}" + name}
        return {"kind": "api", "api": api, "method": "POST", "path": "/write", "body": body, **more}

    nodes: dict[str, Any] = {
        "items": {
            "kind": "map",
            "over": list(range(width)),
            "concurrency": 2,
            "input": given,
            "body": {
                "output": "kept",
                "nodes": {
                    "send": write("keyed", "items/{{ input.index }}/send"),
                    "kept": {"kind": "transform", "value": ["{{ send.data }}", "{{ input.item }}"]},
                },
            },
        },
        "rounds": {
            "kind": "loop",
            "most": 2,
            "input": given,
            "body": {
                "output": "next",
                "nodes": {
                    "pay": write("plain", "rounds/{{ input.round }}/pay"),
                    "next": {"kind": "transform", "value": ["{{ pay.data }}", "{{ input.previous }}"]},
                },
            },
        },
        "sub": {"kind": "subgraph", "input": given, "body": {"nodes": {"inner": write("plain", "sub/inner")}}},
        "way": {"kind": "router", "routes": {"yes": "input.word = hi"}, "default": "no"},
        "taken": write("keyed", "taken", when="way = yes"),
        "never": write("plain", "never", when="way = no"),
    }
    for number in range(width):
        nodes[f"made_{number}"] = {"kind": "transform", "value": number}
        api = "plain" if number % 2 else "keyed"
        nodes[f"write_{number}"] = write(api, f"write_{number}", after=[f"made_{number}"])
    nodes["all"] = {"kind": "join", "after": [name for name in nodes if name not in ("way",)]}
    return json.dumps({"name": "swept", "nodes": nodes, "output": "all"})


def graph(width: int, apis: dict[str, dict[str, Any]]) -> Graph:
    definition, marks = read_graph(graph_text(width), "swept")
    return with_input(compiled(definition, marks, apis=apis).graph, {"word": "hi", "n": ""})


def api_settings(recorder: str) -> dict[str, dict[str, Any]]:
    common = {"paths": ["/write"], "methods": ["POST"], "rate": {"per_second": 1000, "burst": 1000}}
    return {
        "keyed": {**common, "url": f"{recorder}/keyed", "idempotency_header": "Idempotency-Key"},
        "plain": {**common, "url": f"{recorder}/plain"},
    }


class Fuse:
    """Counts points, and ends this process without a word at one of them."""

    def __init__(self, last: int | None) -> None:
        self.points = 0
        self._last = last

    def point(self) -> None:
        self.points += 1
        if self.points == self._last:
            os.kill(os.getpid(), signal.SIGKILL)


class FusedEvents:
    def __init__(self, events: Events, fuse: Fuse) -> None:
        self._events = events
        self._fuse = fuse
        self.read = events.read
        self.still_ours = events.still_ours

    async def append(self, events: Sequence[Event], lease: Lease, end: RunEnd | None = None) -> None:
        self._fuse.point()
        await self._events.append(events, lease, end)
        self._fuse.point()


class FusedCalls:
    def __init__(self, kind: StepKind, fuse: Fuse) -> None:
        self._kind = kind
        self._fuse = fuse

    async def run(self, step: Step) -> Any:
        self._fuse.point()
        reply = await self._kind.run(step)
        self._fuse.point()
        return reply


class Values:
    """The kind `transform`, without the sandbox of its expressions."""

    async def run(self, step: Step) -> Any:
        return step.node.config["value"]


class NoAnswer:
    """The last node of a drawn graph: the answer of the run is no part of this."""

    async def run(self, step: Step) -> Any:
        return None


def engine_of(store: Store, broker: Broker, fuse: Fuse) -> Engine:
    own = (LiteralStep(), MapStep(), LoopStep(), RouterStep(), JoinOutputsStep(), SubgraphStep())
    kinds: dict[str, StepKind] = {kind.descriptor.name: kind for kind in own}
    kinds |= {"api": FusedCalls(ApiStep(broker, 30.0), fuse), "transform": Values(), "graph_answer": NoAnswer()}
    guards = (Bindings(store.artifacts, None), *default_guards(SystemClock()))  # type: ignore[arg-type]
    return Engine(kinds, FusedEvents(store.events, fuse), guards=guards)


async def with_engine(folder: Path, apis: dict[str, dict[str, Any]], fuse: Fuse, act: Act, life: int) -> Any:
    store = await open_store(folder / "store.db", synchronous="normal", lease_seconds=LEASE_SECONDS)
    database = store.database
    assert isinstance(database, SqliteDatabase)
    # So that the lease of a process that was killed has lapsed when the next one looks.
    forward = life * 2 * LEASE_SECONDS
    database._connection.create_function("lease_clock", 0, lambda: time.monotonic() + forward)
    broker = Broker({name: ApiTarget.model_validate(fields) for name, fields in apis.items()})
    try:
        return await act(engine_of(store, broker, fuse), store)
    finally:
        await broker.close()
        await store.close()


async def claimed(store: Store) -> Lease:
    [record] = await store.runs.adoptable()
    lease = await store.runs.claim(record)
    assert lease is not None
    return lease


class Sweep:
    def __init__(self, folder: Path, recorder: str, width: int) -> None:
        self._folder = folder
        self._recorder = recorder
        self._apis = api_settings(recorder)
        self._graph = graph(width, self._apis)
        self._prepared = folder / "prepared"
        self._prepared.mkdir()
        self._here(self._prepared, _create, 0)

    def undisturbed(self) -> Any:
        fuse = Fuse(None)
        folder = self._copy("whole")
        self._begin()
        asyncio.run(with_engine(folder, self._apis, fuse, self._first, 0))
        return {"points": fuse.points, **self._seen(folder, 0)}

    def killed_at(self, point: int) -> Any:
        folder = self._copy(str(point))
        self._begin()
        fuse: int | None = point
        killed = 0
        for life in range(MOST_LIVES):
            begun = bool(self._here(folder, _events, life))
            ended = self._in_process(folder, _again if begun else self._first, fuse, life)
            killed += ended == "killed"
            if ended not in ("killed", "waiting"):
                break
            fuse = ON_THE_WAY if ended == "killed" and point % 2 and killed == 1 else None
            if ended == "waiting":
                self._here(folder, self._decide, life)
        found = {"point": point, "killed": killed, "status": ended, **self._seen(folder, life)}
        shutil.rmtree(folder)
        return found

    def _copy(self, name: str) -> Path:
        return Path(shutil.copytree(self._prepared, self._folder / name))

    def _begin(self) -> None:
        self._ask("/forget")

    def _ask(self, path: str) -> Any:
        with urlopen(f"{self._recorder}{path}", timeout=30) as reply:
            return json.load(reply)

    def _here(self, folder: Path, act: Act, life: int) -> Any:
        return asyncio.run(with_engine(folder, self._apis, Fuse(None), act, life))

    def _in_process(self, folder: Path, act: Act, last: int | None, life: int) -> str:
        child = os.fork()
        if child == 0:
            status = "defect"
            try:
                status = asyncio.run(with_engine(folder, self._apis, Fuse(last), act, life))
            finally:
                (folder / "status").write_text(status)
                os._exit(0)
        _, how = os.waitpid(child, 0)
        return "killed" if os.WIFSIGNALED(how) else (folder / "status").read_text()

    async def _first(self, engine: Engine, store: Store) -> str:
        return (await engine.run(self._graph, CONTEXT, lease=await claimed(store))).status

    async def _decide(self, engine: Engine, store: Store) -> None:
        """A person who looks at the target: it happened, with this result, or it is done again."""
        lease, events, writes = await claimed(store), await _events(engine, store), self._ask("/writes")
        for node in {event.node for event in events if isinstance(event, ApprovalRequested)}:
            if asks(events, node):
                happened = writes.get(node, 0) > 0
                await engine.decide(
                    CONTEXT,
                    NodeId(node),
                    verdict="respond" if happened else "approve",
                    by="ann",
                    data={"data": node} if happened else None,
                    lease=lease,
                )

    def _seen(self, folder: Path, life: int) -> Any:
        events = self._here(folder, _events, life)
        last = events[-1] if events else None
        return {
            "ended": [event.node for event in events if isinstance(event, StepFinished | StepFailed | StepSkipped)],
            "numbers": [event.seq for event in events] == list(range(1, len(events) + 1)),
            "output": last.output if isinstance(last, RunFinished) else None,
            "asked": sum(isinstance(event, ApprovalRequested) for event in events),
            "writes": self._ask("/writes"),
        }


async def _again(engine: Engine, store: Store) -> str:
    return (await engine.resume(CONTEXT, lease=await claimed(store))).status


async def _create(_engine: Engine, store: Store) -> None:
    await store.runs.create(CONTEXT, None)


async def _events(_engine: Engine, store: Store) -> Sequence[Event]:
    return await store.events.read(CONTEXT.principal, CONTEXT.run)


def chosen(points: int, rounds: int) -> Sequence[int]:
    """The points to be killed at: all of them, or so many that are spread over them."""
    if rounds >= points:
        return range(1, points + 1)
    return sorted({1 + (number * (points - 1)) // max(1, rounds - 1) for number in range(rounds)})


def main() -> None:
    sweep = Sweep(Path(sys.argv[1]), sys.argv[2], int(sys.argv[3]))
    whole = sweep.undisturbed()
    print(json.dumps(whole), flush=True)
    for point in chosen(whole["points"], int(sys.argv[4])):
        print(json.dumps(sweep.killed_at(point)), flush=True)


if __name__ == "__main__":
    main()

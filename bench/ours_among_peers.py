"""Our engine among other engines: an adapter for a benchmark that runs each in a process and environment of its own.

The benchmark gives a graph as `spec`: `deps` (for each node the nodes before it), `n`, and `probe`, whose `arun(i)` is
the work of node i and checks that every node runs once and after its parents. Copy this file there as `peers/ours.py`
and set `PEERS_VENV_OURS` to our environment. The graphs are drawn graphs out of the registry: the text is saved in a
store, taken out again, read and compiled; the kind `transform` does the work of the probe instead of its own.
"""

import json
import tempfile
from collections.abc import Awaitable, Callable
from importlib.metadata import version
from pathlib import Path
from typing import Any

from answerable.answers.result_rows import RecentRows
from answerable.core.clock import SystemClock
from answerable.core.context import LOCAL, RunContext
from answerable.core.events import Event
from answerable.core.ids import new_run_id
from answerable.core.values import Json
from answerable.engine.bindings import Bindings
from answerable.engine.graph import Graph
from answerable.engine.guards import default_guards
from answerable.engine.run import Engine
from answerable.engine.steps.base import Step, StepKind
from answerable.engine.steps.literal import LiteralStep
from answerable.engine.steps.subgraph import with_input
from answerable.graphs.compiling import compiled
from answerable.graphs.reading import read_graph
from answerable.store.base import Store
from answerable.store.open import open_store

VERSION = version("answerable")
SCHED = "dependency-driven, one task a node, journal of events"
DUR_MODES = ["NORMAL", "FULL"]
Run = Callable[[], Awaitable[int]]
_opened: list[Store] = []


class Probe:
    def __init__(self, spec: Any) -> None:
        self._spec = spec

    async def run(self, step: Step) -> Json:
        return await self._spec.probe.arun(step.node.config["value"])


class Nothing:
    async def run(self, step: Step) -> Json:
        return None


async def build(spec: Any) -> Run:
    """In memory, with every event told to a listener."""
    with tempfile.TemporaryDirectory(prefix="answerable-peers-") as folder:
        store = await open_store(Path(folder) / "store.db")
        graph, engine = await _graph(store, spec), _engine(store, spec, durable=False)
        await store.close()

    async def run() -> int:
        events: list[Event] = []
        await engine.run(graph, RunContext(new_run_id(), LOCAL), listeners=[events.append])
        return int(spec.probe.count)

    return run


async def build_durable(spec: Any, path: str, mode: str) -> Run:
    """With the journal in SQLite: the end of each node is committed before its children start."""
    synchronous: Any = mode.lower()
    store = await open_store(Path(path) / "store.db", synchronous=synchronous)
    _opened.append(store)
    graph, engine = await _graph(store, spec), _engine(store, spec, durable=True)

    async def run() -> int:
        context = RunContext(new_run_id(), LOCAL)
        record = await store.runs.create(context, None)
        await engine.run(graph, context, lease=record.lease)
        return int(spec.probe.count)

    return run


async def close_durable() -> None:
    while _opened:
        await _opened.pop().close()


async def _graph(store: Store, spec: Any) -> Graph:
    nodes = {
        f"n{number}": {"kind": "transform", "value": number, "after": [f"n{parent}" for parent in parents]}
        for number, parents in enumerate(spec.deps)
    }
    await store.graphs.save(LOCAL, "drawn", json.dumps({"name": "drawn", "nodes": nodes}), note="")
    found = await store.graphs.version(LOCAL, "drawn", None)
    return with_input(compiled(*read_graph(found.text, "drawn")).graph, {})


def _engine(store: Store, spec: Any, *, durable: bool) -> Engine:
    kinds: dict[str, StepKind] = {
        LiteralStep.descriptor.name: LiteralStep(),
        "transform": Probe(spec),
        "graph_answer": Nothing(),
    }
    guards = (Bindings(store.artifacts, RecentRows()), *default_guards(SystemClock()))
    return Engine(kinds, store.events if durable else None, guards=guards)

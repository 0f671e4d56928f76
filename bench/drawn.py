"""Drawn graphs as they come out of the registry: read, compiled and run, every event told to a listener. In memory
against bare asyncio, durable against bare SQLite with a commit for each node, and a map against bare asyncio for each
item."""

import asyncio
import json
import tempfile
import tracemalloc
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

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
from answerable.engine.steps.map import MapStep
from answerable.engine.steps.subgraph import with_input
from answerable.engine.steps.transform import TransformStep
from answerable.graphs.compiling import compiled
from answerable.graphs.reading import read_graph
from answerable.store.base import Store
from answerable.store.open import open_store
from bench import graphs
from bench.engine import nothing
from bench.figures import Figure, compared, in_turn
from bench.floors import bare_asyncio
from bench.journal import Rows

LIMIT, DURABLE_LIMIT, MAP_LIMIT = 3.0, 1.3, 4.0
ITEMS, MAP_BYTES = 10_000, 64e6
WORKLOADS = {
    "chain of 100": graphs.chain(100),
    "fan 1→1000→1": graphs.fan(1000),
    "random DAG 1000/3000": graphs.random_dag(1000, 3000),
}
MAP = """
name: many
nodes:
  many:
    kind: map
    over: "{{ input.items }}"
    body: {nodes: {same: {kind: transform, value: "{{ input.item }}"}}}
"""


class Answer:
    """Stands for the last node of a drawn graph, which stores the answer: a store has benchmarks of its own."""

    async def run(self, step: Step) -> Json:
        return None


def measure(quick: bool) -> list[Figure]:
    repeats = 5 if quick else 21
    return [
        *(asyncio.run(_in_memory(name, dependencies, repeats)) for name, dependencies in WORKLOADS.items()),
        asyncio.run(_durable(repeats)),
        *asyncio.run(_map(repeats)),
    ]


async def _in_memory(name: str, dependencies: graphs.Dependencies, repeats: int) -> Figure:
    async with _registry() as (store, _):
        graph = with_input(await _stored(store, "drawn", _text(dependencies)), {})
        engine, count = _engine(store, durable=False), len(dependencies)

        async def ours() -> None:
            events: list[Event] = []
            outcome = await engine.run(graph, RunContext(new_run_id(), LOCAL), listeners=[events.append])
            assert outcome.status == "done"
            assert len(events) > 2 * count

        seconds, least = await in_turn(ours, bare_asyncio(dependencies, nothing), repeats)
    return compared(f"stored graph, {name}", seconds / count * 1e6, least / count * 1e6, "µs/node", LIMIT)


async def _durable(repeats: int) -> Figure:
    """Nodes of a chain cannot share a commit."""
    dependencies = WORKLOADS["chain of 100"]
    async with _registry() as (store, folder):
        graph = with_input(await _stored(store, "drawn", _text(dependencies)), {})
        engine = _engine(store, durable=True)
        rows = Rows(folder / "floor.db", "full")

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
    count = len(dependencies)
    return compared(
        "stored graph FULL, chain of 100", seconds / count * 1e6, least / count * 1e6, "µs/node", DURABLE_LIMIT
    )


async def _map(repeats: int) -> list[Figure]:
    async with _registry() as (store, _):
        graph = with_input(await _stored(store, "many", MAP), {"items": list(range(ITEMS))})
        engine = _engine(store, durable=False)

        async def ours() -> None:
            events: list[Event] = []
            outcome = await engine.run(graph, RunContext(new_run_id(), LOCAL), listeners=[events.append])
            assert outcome.status == "done"
            assert len(outcome.output) == ITEMS

        seconds, least = await in_turn(ours, bare_asyncio(graphs.fan(ITEMS), nothing), repeats)
        tracemalloc.start()
        await ours()
        peak = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
    return [
        compared("stored graph, map over 10,000", seconds / ITEMS * 1e6, least / ITEMS * 1e6, "µs/item", MAP_LIMIT),
        compared("stored graph, map over 10,000, memory", peak / 1e6, MAP_BYTES / 1e6, "MB", 1.0),
    ]


@asynccontextmanager
async def _registry() -> AsyncIterator[tuple[Store, Path]]:
    """A store in a folder of its own."""
    with tempfile.TemporaryDirectory(prefix="answerable-bench-") as folder:
        store = await open_store(Path(folder) / "store.db", synchronous="full")
        try:
            yield store, Path(folder)
        finally:
            await store.close()


async def _stored(store: Store, name: str, text: str) -> Graph:
    """Saves a graph and takes it out of the registry again, as each run does."""
    await store.graphs.save(LOCAL, name, text, note="")
    found = await store.graphs.version(LOCAL, name, None)
    return compiled(*read_graph(found.text, f"{name}@{found.version}")).graph


def _text(dependencies: graphs.Dependencies) -> str:
    nodes = {
        f"n{number}": {"kind": "transform", "value": 1, "after": [f"n{parent}" for parent in parents]}
        for number, parents in enumerate(dependencies)
    }
    return json.dumps({"name": "drawn", "nodes": nodes})


def _engine(store: Store, *, durable: bool) -> Engine:
    kinds: dict[str, StepKind] = {
        LiteralStep.descriptor.name: LiteralStep(),
        MapStep.descriptor.name: MapStep(),
        TransformStep.descriptor.name: TransformStep(None),  # type: ignore[arg-type]
        "graph_answer": Answer(),
    }
    guards = (Bindings(store.artifacts, RecentRows()), *default_guards(SystemClock()))
    return Engine(kinds, store.events if durable else None, guards=guards)

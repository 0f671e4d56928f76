"""Drawn graphs in memory, compiled from their text, every event told to a listener, against bare asyncio."""

import asyncio

from answerable.core.context import LOCAL, RunContext
from answerable.core.events import Event
from answerable.core.ids import new_run_id
from answerable.core.values import Json
from answerable.engine.graph import Graph
from answerable.engine.run import Engine
from answerable.engine.steps.base import Step, StepKind
from answerable.engine.steps.literal import LiteralStep
from answerable.engine.steps.map import MapStep
from answerable.engine.steps.subgraph import with_input
from answerable.engine.steps.transform import TransformStep
from answerable.graphs.compiling import compiled
from answerable.graphs.reading import read_graph
from bench import graphs
from bench.engine import nothing
from bench.figures import Figure, compared, in_turn
from bench.floors import bare_asyncio

LIMIT = 4.0
ITEMS = 10_000
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
    return [asyncio.run(_map(3 if quick else 9))]


async def _map(repeats: int) -> Figure:
    graph = with_input(_drawn(MAP), {"items": list(range(ITEMS))})
    engine = _engine()

    async def ours() -> None:
        events: list[Event] = []
        outcome = await engine.run(graph, RunContext(new_run_id(), LOCAL), listeners=[events.append])
        assert outcome.status == "done"
        assert len(outcome.output) == ITEMS

    seconds, least = await in_turn(ours, bare_asyncio(graphs.fan(ITEMS), nothing), repeats)
    return compared("drawn graph, map over 10,000", seconds / ITEMS * 1e6, least / ITEMS * 1e6, "µs/item", LIMIT)


def _drawn(text: str) -> Graph:
    return compiled(*read_graph(text, "bench.yaml")).graph


def _engine() -> Engine:
    from answerable.answers.result_rows import RecentRows
    from answerable.core.clock import SystemClock
    from answerable.engine.bindings import Bindings
    from answerable.engine.guards import default_guards

    guards = (Bindings(None, RecentRows()), *default_guards(SystemClock()))  # type: ignore[arg-type]
    kinds: dict[str, StepKind] = {
        LiteralStep.descriptor.name: LiteralStep(),
        MapStep.descriptor.name: MapStep(),
        TransformStep.descriptor.name: TransformStep(None),  # type: ignore[arg-type]
        "graph_answer": Answer(),
    }
    return Engine(kinds, guards=guards)

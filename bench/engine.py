"""The engine in memory, with every event told to a listener, against bare asyncio: microseconds a node."""

import asyncio

from answerable.core.context import LOCAL, RunContext
from answerable.core.events import Event
from answerable.core.ids import new_run_id
from answerable.engine.run import Engine
from answerable.engine.steps.base import Step
from bench import graphs
from bench.figures import Figure, compared, in_turn
from bench.floors import bare_asyncio

LIMIT = 6.0


class Nothing:
    async def run(self, step: Step) -> int:
        return 1


async def nothing(_node: int) -> int:
    return 1


def measure(quick: bool) -> list[Figure]:
    workloads = {
        "engine, chain of 100": graphs.chain(100),
        "engine, fan 1→1000→1": graphs.fan(1000),
        "engine, random DAG 1000/3000": graphs.random_dag(1000, 3000),
    }
    repeats = 5 if quick else 21
    return [asyncio.run(_measured(name, dependencies, repeats)) for name, dependencies in workloads.items()]


async def _measured(name: str, dependencies: graphs.Dependencies, repeats: int) -> Figure:
    engine = Engine({"nothing": Nothing()})
    graph = graphs.graph(dependencies, "nothing")
    count = len(dependencies)

    async def ours() -> None:
        events: list[Event] = []
        outcome = await engine.run(graph, RunContext(new_run_id(), LOCAL), listeners=[events.append])
        assert outcome.status == "done"
        assert len(events) == 2 * count + 2

    seconds, least = await in_turn(ours, bare_asyncio(dependencies, nothing), repeats)
    return compared(name, seconds / count * 1e6, least / count * 1e6, "µs/node", LIMIT)

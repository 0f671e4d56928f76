"""Steps that only wait: how close the wall time comes to the longest way through the graph. The floor is that way, and
the best of the repeats counts: whatever else the machine does can only add to a wait.
"""

import asyncio
import time

from answerable.core.context import RunContext
from answerable.core.ids import new_run_id
from answerable.engine.graph import Graph
from answerable.engine.run import Engine
from answerable.engine.steps.base import Step
from bench import graphs
from bench.figures import Figure, compared

LIMIT = 1.08
QUICK_STEP, SLOW_STEP = 0.005, 0.05


class Sleep:
    async def run(self, step: Step) -> None:
        await asyncio.sleep(step.node.config)


def measure(quick: bool) -> list[Figure]:
    repeats = 5 if quick else 15
    wide = graphs.fan(100)
    wide_sleeps = [0.0, *[0.05] * 100, 0.0]
    return [
        _measured("sleeps, 20 uneven chains of 10", *_skewed(20, 10), repeats),
        _measured("sleeps, 100 x 50 ms at once", wide, wide_sleeps, repeats),
    ]


def _skewed(chains: int, length: int) -> tuple[graphs.Dependencies, list[float]]:
    """In each chain another step is slow, so that every level has slow ones and no chain has more than one."""
    dependencies: list[tuple[int, ...]] = [()]
    sleeps, ends = [0.0], []
    for chain in range(chains):
        before = 0
        for position in range(length):
            dependencies.append((before,))
            sleeps.append(SLOW_STEP if position == chain % length else QUICK_STEP)
            before = len(dependencies) - 1
        ends.append(before)
    return [*dependencies, tuple(ends)], [*sleeps, 0.0]


def _longest(dependencies: graphs.Dependencies, sleeps: list[float]) -> float:
    until: list[float] = []
    for parents, sleep in zip(dependencies, sleeps, strict=True):
        until.append(sleep + max((until[parent] for parent in parents), default=0.0))
    return max(until)


def _measured(name: str, dependencies: graphs.Dependencies, sleeps: list[float], repeats: int) -> Figure:
    graph = graphs.graph(dependencies, "sleep", sleeps)
    seconds = min(asyncio.run(_timed(graph)) for _ in range(repeats))
    return compared(name, seconds * 1e3, _longest(dependencies, sleeps) * 1e3, "ms", LIMIT)


async def _timed(graph: Graph) -> float:
    began = time.perf_counter()
    outcome = await Engine({"sleep": Sleep()}).run(graph, RunContext(new_run_id()))
    assert outcome.status == "done"
    return time.perf_counter() - began

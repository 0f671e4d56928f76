"""Steps that only wait: how close the wall time comes to the longest way through the graph, and to bare asyncio.

Against the longest way the best of the repeats counts, because whatever else the machine does can only add to a wait.
On a busy machine the figures against bare asyncio, which is disturbed in the same way, say more.
"""

import asyncio
import time

from answerable.core.context import LOCAL, RunContext
from answerable.core.ids import new_run_id
from answerable.engine.run import Engine
from answerable.engine.steps.base import Step
from bench import graphs
from bench.figures import Figure, compared, in_turn
from bench.floors import bare_asyncio

LIMIT = 1.08
BARE_LIMIT = 1.15
QUICK_STEP, SLOW_STEP = 0.005, 0.05


class Sleep:
    async def run(self, step: Step) -> None:
        await asyncio.sleep(step.node.config)


def measure(quick: bool) -> list[Figure]:
    repeats = 5 if quick else 41
    wide = graphs.fan(100), [0.0, *[0.05] * 100, 0.0]
    workloads = {"20 uneven chains of 10": _skewed(20, 10), "100 x 50 ms at once": wide}
    return [figure for name, work in workloads.items() for figure in asyncio.run(_measured(name, *work, repeats))]


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


async def _measured(
    name: str, dependencies: graphs.Dependencies, sleeps: list[float], repeats: int
) -> tuple[Figure, Figure]:
    engine = Engine({"sleep": Sleep()})
    graph = graphs.graph(dependencies, "sleep", sleeps)
    best = float("inf")

    async def ours() -> None:
        nonlocal best
        began = time.perf_counter()
        outcome = await engine.run(graph, RunContext(new_run_id(), LOCAL))
        best = min(best, time.perf_counter() - began)
        assert outcome.status == "done"

    async def sleep(node: int) -> None:
        await asyncio.sleep(sleeps[node])

    seconds, bare = await in_turn(ours, bare_asyncio(dependencies, sleep), repeats)
    return (
        compared(f"sleeps, {name}", best * 1e3, _longest(dependencies, sleeps) * 1e3, "ms", LIMIT),
        compared(f"sleeps, {name}, to bare asyncio", seconds * 1e3, bare * 1e3, "ms", BARE_LIMIT),
    )

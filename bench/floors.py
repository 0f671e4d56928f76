"""The floors: the least that must happen in Python for the same work, with no feature at all."""

import asyncio
from collections.abc import Awaitable, Callable

from bench.graphs import Dependencies, children


def bare_asyncio(
    dependencies: Dependencies,
    body: Callable[[int], Awaitable[object]],
    stored: Callable[[int, object], None] | None = None,
) -> Callable[[], Awaitable[None]]:
    """One task for each node, started when a count of missing dependencies reaches zero; `stored` is called before.
    What can be known beforehand is not part of the measured call."""
    after = children(dependencies)
    counts = [len(parents) for parents in dependencies]
    first = [node for node, parents in enumerate(dependencies) if not parents]

    async def run() -> None:
        loop = asyncio.get_running_loop()
        missing, left = counts.copy(), len(counts)
        tasks: set[asyncio.Task[None]] = set()
        ended = loop.create_future()

        def start(node: int) -> None:
            task = loop.create_task(carry_out(node))
            tasks.add(task)
            task.add_done_callback(tasks.discard)

        async def carry_out(node: int) -> None:
            nonlocal left
            output = await body(node)
            if stored is not None:
                stored(node, output)
            left -= 1
            for child in after[node]:
                missing[child] -= 1
                if not missing[child]:
                    start(child)
            if not left:
                ended.set_result(None)

        for node in first:
            start(node)
        await ended

    return run

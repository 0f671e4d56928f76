"""What runs cost on disk: kilobytes a run in the SQLite store, for questions that a model answers in 300 pieces.

Ours is compared with the bare text of what is kept, and with a store in which each piece is an event of its own. A
store that is pruned after each tenth of the runs is compared with what one tenth takes: it must not grow any more.
"""

import asyncio
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from answerable.answers.answer import Answer
from answerable.answers.capsule import capsule_body
from answerable.core.clock import SystemClock
from answerable.core.codec import encode_body, json_bytes
from answerable.core.context import LOCAL, RunContext
from answerable.core.events import Event, StepOutput
from answerable.core.ids import NodeId, RunId, new_run_id
from answerable.engine.graph import Graph
from answerable.engine.run import Engine
from answerable.engine.segments import is_text
from answerable.engine.steps.base import Step
from answerable.service.outbox import OutboxDelivery
from answerable.service.retention import RetentionService
from answerable.store.base import Capsule, RunEnd, Store
from answerable.store.open import open_store
from bench.figures import Figure, compared

BARE_LIMIT = 2.5
PIECES_LIMIT = 0.25
PRUNED_LIMIT = 2.5
"""Between two rounds of pruning the store holds twice as many runs as it keeps; the file does not shrink."""
PIECES = 300
ROWS = 40
NODES = [{"id": "write", "kind": "write"}, {"id": "present", "kind": "present", "after": ["write"]}]
GRAPH = Graph.parse({"nodes": NODES})


def measure(quick: bool) -> list[Figure]:
    return asyncio.run(_measured(100 if quick else 1000))


async def _measured(runs: int) -> list[Figure]:
    with tempfile.TemporaryDirectory(prefix="answerable-bench-") as folder:
        merged = await open_store(Path(folder) / "merged.db", synchronous="normal")
        single = await open_store(Path(folder) / "single.db", synchronous="normal")
        bare = 0
        for _ in range(runs):
            run = await _answered(merged)
            events = await merged.events.read(LOCAL, run)
            capsule = await merged.capsules.get(LOCAL, run)
            bare += sum(len(encode_body(event)) for event in events) + len(json_bytes(capsule.body, "capsule"))
            await _piece_by_piece(single, run, events, capsule)
        ours, pieces = [(await store.retention.use()).database_bytes for store in (merged, single)]
        await merged.close()
        await single.close()
        first, pruned = await _pruned(Path(folder) / "pruned.db", runs // 10)
    name, kilobytes = f"disk, {runs:,} runs", runs * 1000
    return [
        compared(f"{name}, to the bare text", ours / kilobytes, bare / kilobytes, "KB/run", BARE_LIMIT),
        compared(f"{name}, to an event for each piece", ours / kilobytes, pieces / kilobytes, "KB/run", PIECES_LIMIT),
        compared(f"{name}, a tenth of them kept, to a tenth", pruned / 1000, first / 1000, "KB", PRUNED_LIMIT),
    ]


@dataclass(frozen=True, slots=True)
class _Limits:
    keep_runs: int
    keep_days: int = 0
    keep_mb: int = 0


async def _pruned(path: Path, kept: int) -> tuple[int, int]:
    """Bytes of a store with the first `kept` runs, and after ten times as many of which it keeps the last."""
    store, clock = await open_store(path, synchronous="normal"), SystemClock()
    retention = RetentionService(store, _Limits(kept), OutboxDelivery(store, {}), clock)
    sizes = []
    for _ in range(10):
        for _ in range(kept):
            await _answered(store)
        await retention.prune()
        use = await store.retention.use()
        assert use.runs == kept, f"{use.runs} runs are kept"
        sizes.append(use.database_bytes)
    await store.close()
    return sizes[0], sizes[-1]


class _Write:
    async def run(self, step: Step) -> Any:
        for number in range(PIECES):
            step.output("token", {"agent": "write_sql", "text": f" word{number % 50}"})
        return {"sql": "SELECT city, sum(amount) AS total FROM orders GROUP BY city ORDER BY total DESC"}


class _Present:
    def __init__(self, store: Store) -> None:
        self._store = store

    async def run(self, step: Step) -> Any:
        rows = tuple((f"City {number}", number * 1.5) for number in range(ROWS))
        context = step.context
        answer = Answer(run_id=context.run, status="done", kind="table", text="40 cities.", rows=rows, row_count=ROWS)
        capsule = Capsule(context.run, None, SystemClock().now(), capsule_body("total amount by city?", answer))
        await self._store.capsules.put(context.principal, capsule, step.journal.lease)
        return {"status": "done", "kind": "table", "row_count": ROWS}


async def _answered(store: Store) -> RunId:
    context = RunContext(new_run_id(), LOCAL)
    record = await store.runs.create(context, "total amount by city?", sources=("demo",), mode="auto")
    engine = Engine({"write": _Write(), "present": _Present(store)}, store.events)
    outcome = await engine.run(GRAPH, context, lease=record.lease, question=record.question)
    assert outcome.status == "done"
    await store.runs.finish(record.lease, RunEnd("done"))
    return context.run


async def _piece_by_piece(store: Store, run: RunId, events: Sequence[Event], capsule: Capsule) -> None:
    """The same run, as it would be stored if each piece of text were an event."""
    context = RunContext(run, LOCAL)
    record = await store.runs.create(context, "total amount by city?", sources=("demo",), mode="auto")
    text = {"agent": "write_sql"}
    pieces = [
        StepOutput(run, number + 1, 1.0, NodeId("write"), "token", {**text, "text": f" word{number % 50}"})
        for number in range(PIECES)
    ]
    others = [event for event in events if not (isinstance(event, StepOutput) and is_text(event.channel, event.data))]
    for number, event in enumerate(others):
        event.seq = PIECES + number + 1
    await store.events.append([*pieces, *others], record.lease)
    await store.capsules.put(LOCAL, capsule, record.lease)
    await store.runs.finish(record.lease, RunEnd("done"))

"""A run is continued from its stored events alone. Stops are played by cutting the stored list at every length."""

import asyncio
import random
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from answerable.core.context import RunContext
from answerable.core.errors import (
    InternalError,
    NotFoundError,
    OperatorError,
    RefusedError,
    SourceError,
    TransientError,
    UserError,
)
from answerable.core.events import (
    ApprovalRequested,
    RunFinished,
    StepFinished,
    StepRetried,
    StepStarted,
)
from answerable.core.ids import NodeId
from answerable.engine.graph import Graph
from answerable.engine.guards import default_guards
from answerable.engine.outcome import outcome_of
from answerable.engine.run import Engine
from answerable.engine.steps.base import Step
from answerable.engine.steps.subgraph import SubgraphStep
from answerable.store.base import LeaseLostError, Store
from answerable.store.open import open_store

GraphOf = Callable[..., Graph]

INNER = {"nodes": [{"id": "x", "kind": "f"}, {"id": "y", "kind": "f"}, {"id": "z", "kind": "f", "after": ["x", "y"]}]}
WHOLE: dict[str, Any] = {
    "nodes": [
        {"id": "a", "kind": "f"},
        {"id": "b", "kind": "f", "after": ["a"], "retry": {"attempts": 3, "base_delay": 0}},
        {"id": "extra", "kind": "f", "after": ["a"], "critical": False},
        {"id": "untaken", "kind": "f", "after": ["a"], "when": [{"input": "a", "op": "empty"}]},
        {"id": "sub", "kind": "subgraph", "after": ["a"], "config": {"graph": INNER}},
        {"id": "alarm", "kind": "f", "on": "ring"},
        {"id": "never", "kind": "f", "on": "other"},
        {"id": "end", "kind": "f", "after": ["b", "extra", "untaken", "sub", "alarm", "never"]},
    ],
    "strategy": "events",
}


class Worker:
    def __init__(self, seed: int = 0) -> None:
        self.calls: Counter[str] = Counter()
        self._chance = random.Random(seed)

    async def run(self, step: Step) -> Any:
        self.calls[step.id] += 1
        for _ in range(self._chance.randrange(3)):
            await asyncio.sleep(0)
        if step.id == "b" and step.attempt < 3:
            raise TransientError("busy")
        if step.id == "extra":
            raise SourceError("down")
        if step.id == "a":
            step.output("ring", "dring")
        return [step.id, step.event, dict(step.inputs)]


def engine_for(worker: Worker, events: Any, clock: Any) -> Engine:
    guards = default_guards(clock, random.Random(0))
    return Engine({"f": worker, "subgraph": SubgraphStep()}, events, clock, guards)


async def test_from_any_stored_prefix_the_run_comes_to_the_same_end(
    context: RunContext, clock: Any, memory_events: Any
) -> None:
    graph = Graph.parse(WHOLE)
    whole = memory_events()
    undisturbed = await engine_for(Worker(), whole, clock).run(graph, context)
    assert undisturbed.status == "partial"
    for length in range(1, len(whole.stored)):
        cut = whole.stored[:length]
        events, worker = memory_events(cut), Worker(seed=length)
        outcome = await engine_for(worker, events, clock).resume(context)
        assert summary(outcome) == summary(undisturbed)
        assert summary(outcome_of(events.stored)) == summary(undisturbed)
        finished = {event.node for event in cut if isinstance(event, StepFinished)}
        assert not finished & set(worker.calls)
        attempts = Counter(e.node for e in events.stored if isinstance(e, StepRetried))
        assert attempts == {"b": 2}
        assert [event.seq for event in events.stored] == list(range(1, len(events.stored) + 1))
        ends = Counter(e.node for e in events.stored if e.type in ("step.finished", "step.failed", "step.skipped"))
        assert set(ends.values()) == {1}


def summary(outcome: Any) -> Any:
    errors = {node: error.stable_code for node, error in outcome.errors.items()}
    return outcome.status, outcome.outputs, errors, outcome.skipped, outcome.output


async def test_a_run_that_has_ended_is_only_looked_up(context: RunContext, clock: Any, memory_events: Any) -> None:
    events = memory_events()
    first = await engine_for(Worker(), events, clock).run(Graph.parse(WHOLE), context)
    count, worker = len(events.stored), Worker()
    again = await engine_for(worker, events, clock).resume(context)
    assert summary(again) == summary(first)
    assert (len(events.stored), worker.calls) == (count, Counter())


async def test_of_two_processes_that_continue_a_run_only_one_acts(
    store: Store, context: RunContext, clock: Any
) -> None:
    lease = (await store.runs.create(context, None)).lease
    stuck = Stuck()
    await stop_when_begun(stuck, engine_for(stuck, store.events, clock).run(Graph.parse(WHOLE), context, lease=lease))

    first, second = Worker(), Worker()
    race = [engine_for(worker, Slow(store.events), clock).resume(context, lease=lease) for worker in (first, second)]
    results = await asyncio.gather(*race, return_exceptions=True)
    lost = [result for result in results if isinstance(result, InternalError)]
    assert [error.stable_code for error in lost] == ["event_exists"]
    assert not (first.calls and second.calls)


async def test_a_run_that_was_taken_over_is_written_to_no_more(
    store: Store, tmp_path: Path, context: RunContext, clock: Any
) -> None:
    """The first process is only slow: it goes on after another has claimed its run."""
    lease, slow = (await store.runs.create(context, None)).lease, Stuck()
    live = engine_for(slow, store.events, clock).start(Graph.parse(WHOLE), context, lease=lease)
    await slow.begun.wait()
    await store.release()
    heir, worker = await open_store(tmp_path / "store.db"), Worker()
    [record] = await heir.runs.adoptable()
    taken = await heir.runs.claim(record)
    outcome = await engine_for(worker, heir.events, clock).resume(context, lease=taken)
    assert outcome.status == "partial"
    whole = await heir.events.read(context.principal, context.run)
    slow.free.set()
    with pytest.raises(LeaseLostError):
        await live
    assert await heir.events.read(context.principal, context.run) == whole
    await heir.close()


class Stuck(Worker):
    """Begins its work and never ends it."""

    def __init__(self) -> None:
        super().__init__()
        self.begun = asyncio.Event()
        self.free = asyncio.Event()

    async def run(self, step: Step) -> Any:
        self.begun.set()
        await self.free.wait()


async def stop_when_begun(stuck: Stuck, run: Any) -> None:
    """Plays a process that dies while a step works."""
    task = asyncio.ensure_future(run)
    await stuck.begun.wait()
    task.cancel()
    await asyncio.wait([task])


class Slow:
    """Lets both read before one of them writes."""

    def __init__(self, events: Any) -> None:
        self._events = events
        self.append = events.append

    async def read(self, *args: Any, **options: Any) -> Any:
        found = await self._events.read(*args, **options)
        await asyncio.sleep(0)
        return found


@pytest.mark.parametrize(
    ("cut", "error", "code"),
    [
        (lambda events: [], NotFoundError, "run_not_begun"),
        (lambda events: [events[0], *events[2:]], OperatorError, "store_corrupt"),
        (lambda events: [StepStarted(events[0].run, 1, 0, NodeId("a"))], OperatorError, "store_corrupt"),
    ],
)
async def test_what_cannot_be_continued_says_so(
    context: RunContext, clock: Any, memory_events: Any, cut: Any, error: type[Exception], code: str
) -> None:
    whole = memory_events()
    await engine_for(Worker(), whole, clock).run(Graph.parse(WHOLE), context)
    with pytest.raises(error) as caught:
        await engine_for(Worker(), memory_events(cut(whole.stored[:5])), clock).resume(context)
    assert caught.value.stable_code == code  # type: ignore[attr-defined]


# Effects in doubt

PAY: dict[str, Any] = {
    "nodes": [
        {"id": "pay", "kind": "f", "effect": True},
        {"id": "receipt", "kind": "f", "after": ["pay"]},
        {"id": "other", "kind": "f"},
    ]
}


async def stopped_while_paying(context: RunContext, clock: Any, memory_events: Any, document: Any) -> Any:
    """The events of a run whose process died after the effect was started."""
    events, stuck = memory_events(), Stuck()
    await stop_when_begun(stuck, engine_for(stuck, events, clock).run(Graph.parse(document), context))
    return events


async def test_an_effect_in_doubt_waits_for_a_person(context: RunContext, clock: Any, memory_events: Any) -> None:
    events, worker = await stopped_while_paying(context, clock, memory_events, PAY), Worker()
    for _ in range(2):
        outcome = await engine_for(worker, events, clock).resume(context)
        assert (outcome.status, set(outcome.outputs)) == ("waiting", {"other"})
    assert worker.calls == {"other": 1}
    [asked] = [event for event in events.stored if isinstance(event, ApprovalRequested)]
    assert asked.node == "pay"
    assert "may have taken effect" in asked.prompt
    assert asked.effect == {"idempotency_key": f"{context.run}:pay"}
    assert not any(isinstance(event, RunFinished) for event in events.stored)


async def test_a_person_lets_it_be_done_once_more(context: RunContext, clock: Any, memory_events: Any) -> None:
    events, worker = await stopped_while_paying(context, clock, memory_events, PAY), Worker()
    engine = engine_for(worker, events, clock)
    await engine.resume(context)
    await engine.decide(context, "pay", verdict="approve", by="ann", note="checked")  # type: ignore[arg-type]
    assert (await engine.resume(context)).status == "done"
    assert worker.calls == {"pay": 1, "receipt": 1, "other": 1}


async def test_a_decision_is_taken_once_the_other_steps_have_ended(
    context: RunContext, clock: Any, memory_events: Any, kind: Any
) -> None:
    events = await stopped_while_paying(context, clock, memory_events, PAY)
    go, calls = asyncio.Event(), []

    async def work(step: Step) -> None:
        calls.append(step.id)
        if step.id == "other":
            await go.wait()

    engine = Engine({"f": kind(work)}, events, clock)
    live = engine.restart(context)
    async for event in live.events():
        if isinstance(event, ApprovalRequested):
            break
    go.set()
    assert (await live).status == "waiting"
    await engine.decide(context, "pay", verdict="approve", by="ann")  # type: ignore[arg-type]
    assert (await engine.resume(context)).status == "done"
    assert calls == ["other", "pay", "receipt"]


async def test_or_has_it_left(context: RunContext, clock: Any, memory_events: Any) -> None:
    events, worker = await stopped_while_paying(context, clock, memory_events, PAY), Worker()
    engine = engine_for(worker, events, clock)
    await engine.resume(context)
    await engine.decide(context, "pay", verdict="reject", by="ann")  # type: ignore[arg-type]
    outcome = await engine.resume(context)
    assert outcome.status == "failed"
    assert isinstance(outcome.error, RefusedError)
    assert outcome.error.stable_code == "effect_declined"
    assert worker.calls == {"other": 1}


async def test_a_decision_nobody_asked_for_is_refused(context: RunContext, clock: Any, memory_events: Any) -> None:
    events = await stopped_while_paying(context, clock, memory_events, PAY)
    with pytest.raises(UserError, match="waits for no decision"):
        await engine_for(Worker(), events, clock).decide(context, "pay", verdict="approve", by="ann")  # type: ignore[arg-type]


async def test_an_effect_whose_target_knows_the_key_is_issued_again_with_it(
    context: RunContext, clock: Any, memory_events: Any, kind: Any
) -> None:
    document = {"nodes": [{**PAY["nodes"][0], "idempotent": True}]}
    events = await stopped_while_paying(context, clock, memory_events, document)
    keys: list[str] = []

    async def pay(step: Step) -> None:
        keys.append(step.idempotency_key)

    outcome = await Engine({"f": kind(pay)}, events, clock).resume(context)
    assert (outcome.status, keys) == ("done", [f"{context.run}:pay"])


async def test_an_effect_in_doubt_inside_a_subgraph_makes_the_whole_run_wait(
    context: RunContext, clock: Any, memory_events: Any
) -> None:
    document = {"nodes": [{"id": "sub", "kind": "subgraph", "config": {"graph": PAY}}]}
    events, worker = await stopped_while_paying(context, clock, memory_events, document), Worker()
    engine = engine_for(worker, events, clock)
    assert (await engine.resume(context)).status == "waiting"
    await engine.decide(context, "sub/pay", verdict="approve", by="ann")  # type: ignore[arg-type]
    assert (await engine.resume(context)).status == "done"
    assert worker.calls == {"sub/pay": 1, "sub/receipt": 1, "sub/other": 1}

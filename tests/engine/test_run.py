import asyncio
import errno
import logging
import random
from collections.abc import Callable, Sequence
from contextlib import suppress
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from answerable.core.context import LOCAL, RunContext
from answerable.core.errors import (
    GraphError,
    InternalError,
    OperatorError,
    RefusedError,
    SourceError,
    TransientError,
    UserError,
)
from answerable.core.events import (
    AnswerFinal,
    Event,
    RunFailed,
    RunFinished,
    RunStarted,
    StepFinished,
    StepOutput,
    StepProgress,
    StepSkipped,
    StepStarted,
)
from answerable.core.ids import NodeId, new_run_id
from answerable.engine import walk
from answerable.engine.graph import Graph, Node
from answerable.engine.outcome import outcome_of
from answerable.engine.run import Engine
from answerable.engine.steps.base import Step
from answerable.engine.steps.literal import LiteralStep
from answerable.store.base import Store

GraphOf = Callable[..., Graph]


async def joined(step: Step) -> str:
    return "(" + ",".join([step.node.id, *(str(value) for value in step.inputs.values())]) + ")"


async def test_outputs_flow_along_the_edges(context: RunContext, kind: Any, graph_of: GraphOf) -> None:
    graph = graph_of({"a": "", "b": "a", "c": "a", "d": "b c"})
    outcome = await Engine({"f": kind(joined)}).run(graph, context, question="why?")
    assert outcome.status == "done"
    assert outcome.output == "(d,(b,(a)),(c,(a)))"
    assert outcome.outputs[NodeId("b")] == "(b,(a))"


async def test_the_story_of_a_run(context: RunContext, kind: Any, graph_of: GraphOf, clock: Any) -> None:
    events: list[Event] = []

    async def busy(step: Step) -> int:
        step.progress("half way", 1, 2)
        await clock.sleep(3)
        step.output("line", "hello")
        step.emit(AnswerFinal, answer={"text": "42"})
        return 42

    graph = graph_of({"a": ""}, output="a")
    await Engine({"f": kind(busy)}, clock=clock).run(graph, context, question="why?", listeners=[events.append])
    run, at = context.run, events[0].at
    assert events == [
        RunStarted(run, 1, at, {"nodes": [{"id": "a", "kind": "f"}], "output": "a"}, "why?"),
        StepStarted(run, 2, at, NodeId("a"), 1),
        StepProgress(run, 3, at, NodeId("a"), "half way", 1, 2),
        StepOutput(run, 4, at + 3, NodeId("a"), "line", "hello"),
        AnswerFinal(run, 5, at + 3, {"text": "42"}),
        StepFinished(run, 6, at + 3, NodeId("a"), 42, 1, 3000.0),
        RunFinished(run, 7, at + 3, "done", 42),
    ]


@pytest.mark.parametrize(
    ("after", "options", "output"),
    [
        ({"a": "", "b": "a"}, {}, "(b,(a))"),
        ({"a": "", "b": "a"}, {"output": "a"}, "(a)"),
        ({"a": "", "b": ""}, {}, {"a": "(a)", "b": "(b)"}),
    ],
)
async def test_the_output_of_a_run(
    context: RunContext, kind: Any, graph_of: GraphOf, after: Any, options: Any, output: Any
) -> None:
    assert (await Engine({"f": kind(joined)}).run(graph_of(after, **options), context)).output == output


async def test_a_critical_failure_fails_the_run_after_the_other_branches_ended(
    context: RunContext, kind: Any, graph_of: GraphOf
) -> None:
    async def work(step: Step) -> str:
        if step.id == "bad":
            raise SourceError("The table is gone.", code="table_missing", hint="Sync again.")
        await asyncio.sleep(0)
        return "ok"

    events: list[Event] = []
    graph = graph_of({"bad": "", "after_bad": "bad", "good": "", "end": "good"})
    outcome = await Engine({"f": kind(work)}).run(graph, context, listeners=[events.append])
    assert (outcome.status, outcome.failed, outcome.output) == ("failed", "bad", None)
    assert outcome.outputs == {"good": "ok", "end": "ok"}
    assert outcome.skipped == {"after_bad": "`bad` failed"}
    assert isinstance(events[-1], RunFailed)
    assert (events[-1].kind, events[-1].code, events[-1].node) == ("SourceError", "table_missing", "bad")
    assert (events[-1].message, events[-1].hint) == ("The table is gone.", "Sync again.")


async def test_a_failure_that_is_not_critical_makes_the_run_partial(
    context: RunContext, kind: Any, graph_of: GraphOf
) -> None:
    async def work(step: Step) -> Any:
        if step.id == "extra":
            raise SourceError("down")
        return dict(step.inputs)

    graph = graph_of({"extra": "", "end": "extra"}, nodes={"extra": {"critical": False}})
    events: list[Event] = []
    outcome = await Engine({"f": kind(work)}).run(graph, context, listeners=[events.append])
    assert (outcome.status, outcome.output) == ("partial", {"extra": None})
    assert outcome.errors[NodeId("extra")].stable_code == "source_failed"
    assert isinstance(events[-1], RunFinished)
    assert events[-1].status == "partial"


async def test_a_step_may_say_that_it_did_only_a_part(context: RunContext, kind: Any, graph_of: GraphOf) -> None:
    async def work(step: Step) -> int:
        step.partial = True
        return 1

    assert (await Engine({"f": kind(work)}).run(graph_of({"a": ""}), context)).status == "partial"


async def test_early_stop_tells_why_the_rest_was_skipped(context: RunContext, kind: Any, graph_of: GraphOf) -> None:
    async def nothing(step: Step) -> Any:
        return {"frame": {"kind": "frame", "row_count": 0}}

    events: list[Event] = []
    graph = graph_of({"a": "", "b": "a", "c": "b"}, early_stop=True)
    outcome = await Engine({"f": kind(nothing)}).run(graph, context, listeners=[events.append])
    reason = "stopped early: the first step found nothing"
    assert (outcome.status, outcome.output, outcome.skipped) == ("done", None, {"b": reason, "c": reason})
    assert [(e.node, e.reason) for e in events if isinstance(e, StepSkipped)] == [("b", reason), ("c", reason)]


async def test_a_node_fires_on_an_event_of_a_step_that_still_runs(
    context: RunContext, kind: Any, graph_of: GraphOf
) -> None:
    heard = asyncio.Event()

    async def work(step: Step) -> Any:
        if step.id == "search":
            step.output("found", {"id": 7})
            await heard.wait()
            return "all"
        heard.set()
        return step.event

    graph = graph_of(
        {"search": "", "open": "", "unused": ""},
        nodes={"open": {"on": "found"}, "unused": {"on": "lost"}},
        strategy="events",
    )
    outcome = await asyncio.wait_for(Engine({"f": kind(work)}).run(graph, context), 10)
    assert outcome.outputs == {"search": "all", "open": {"id": 7}}
    assert outcome.skipped == {"unused": "`lost` never happened"}


async def test_a_defect_of_a_step_is_told_without_its_trace_and_logged_with_it(
    context: RunContext, kind: Any, graph_of: GraphOf, caplog: pytest.LogCaptureFixture
) -> None:
    async def broken(step: Step) -> None:
        raise KeyError("secret-password")

    with caplog.at_level(logging.ERROR, "answerable.engine"):
        outcome = await Engine({"f": kind(broken)}).run(graph_of({"a": ""}), context)
    assert isinstance(outcome.error, InternalError)
    assert outcome.error.stable_code == "internal"
    assert outcome.error.message == "Step `a` failed because of a defect (KeyError)."
    assert context.run in (outcome.error.hint or "")
    assert "secret-password" in caplog.text
    assert "Traceback" in caplog.text
    assert caplog.records[0].fields == {"run": context.run, "node": "a"}  # type: ignore[attr-defined]


class Panic(BaseException):
    """As raised by libraries written in Rust."""


async def test_a_panic_of_a_library_fails_the_step(context: RunContext, kind: Any, graph_of: GraphOf) -> None:
    async def panics(step: Step) -> None:
        raise Panic

    outcome = await asyncio.wait_for(Engine({"f": kind(panics)}).run(graph_of({"a": ""}), context), 10)
    assert isinstance(outcome.error, InternalError)
    assert outcome.error.message == "Step `a` failed because of a defect (Panic)."


@pytest.mark.parametrize("output", [{1: 2}, object(), {"x": {3}}, 2**70])
async def test_an_output_that_json_cannot_hold_is_the_steps_defect(
    context: RunContext, kind: Any, graph_of: GraphOf, output: Any
) -> None:
    async def odd(step: Step) -> Any:
        return output

    outcome = await Engine({"f": kind(odd)}).run(graph_of({"a": "", "b": "a"}), context)
    assert outcome.error is not None
    assert outcome.error.stable_code == "not_json"


@pytest.mark.parametrize(
    "tell", [lambda step: step.output("x", object()), lambda step: step.emit(AnswerFinal, answer={1: 2})]
)
async def test_telling_what_json_cannot_hold_fails_the_step_and_not_the_journal(
    context: RunContext, kind: Any, graph_of: GraphOf, memory_events: Any, tell: Callable[[Step], None]
) -> None:
    async def odd(step: Step) -> None:
        tell(step)

    outcome = await Engine({"f": kind(odd)}, memory_events()).run(graph_of({"a": ""}), context)
    assert outcome.error is not None
    assert outcome.error.stable_code == "not_json"


async def test_steps_cannot_change_each_others_inputs(context: RunContext, kind: Any, graph_of: GraphOf) -> None:
    shared = {"list": (1, 2)}

    async def work(step: Step) -> Any:
        if not step.inputs:
            return shared
        return [value["list"] for value in step.inputs.values()]

    outcome = await Engine({"f": kind(work)}).run(graph_of({"a": "", "b": "a"}), context)
    shared["list"] = (9, 9)
    assert outcome.output == [[1, 2]]
    assert outcome.outputs[NodeId("a")] == {"list": [1, 2]}


async def test_an_unknown_kind_is_refused_before_anything_runs(
    context: RunContext, kind: Any, graph_of: GraphOf
) -> None:
    with pytest.raises(GraphError) as caught:
        await Engine({"f": kind(joined)}).run(graph_of({"a": "", "b": "a"}, nodes={"b": {"kind": "g"}}), context)
    assert caught.value.message == "Node `b`: there is no step kind `g`."
    assert caught.value.hint == "There are `f`."


async def test_a_step_that_was_cancelled_from_within_has_failed(
    context: RunContext, kind: Any, graph_of: GraphOf
) -> None:
    async def work(step: Step) -> None:
        raise asyncio.CancelledError

    outcome = await asyncio.wait_for(Engine({"f": kind(work)}).run(graph_of({"a": ""}), context), 10)
    assert outcome.error is not None
    assert outcome.error.message == "Step `a` failed because of a defect (CancelledError)."


async def test_a_guard_with_a_defect_fails_the_step_and_not_the_run(
    context: RunContext, kind: Any, graph_of: GraphOf
) -> None:
    def broken(node: Node, call: Any) -> Any:
        raise ValueError("no")

    graph = graph_of({"a": ""}, nodes={"a": {"critical": False}})
    outcome = await asyncio.wait_for(Engine({"f": kind(joined)}, guards=[broken]).run(graph, context), 10)
    assert outcome.status == "partial"


async def test_concurrency_is_limited(context: RunContext, kind: Any, graph_of: GraphOf) -> None:
    running, most = 0, 0

    async def work(step: Step) -> None:
        nonlocal running, most
        running += 1
        most = max(most, running)
        for _ in range(3):
            await asyncio.sleep(0)
        running -= 1

    graph = graph_of({f"n{i}": "" for i in range(20)}, concurrency=4)
    assert (await Engine({"f": kind(work)}).run(graph, context)).status == "done"
    assert most == 4


# Cancelling


async def started(step: Step, begun: asyncio.Event, ended: list[str]) -> None:
    begun.set()
    try:
        await asyncio.Event().wait()
    finally:
        ended.append(step.id)


@pytest.mark.parametrize("stored", [False, True])
async def test_cancel_reaches_the_running_call_and_is_told(
    context: RunContext, kind: Any, graph_of: GraphOf, memory_events: Any, stored: bool
) -> None:
    begun, ended, seen = asyncio.Event(), [], []  # type: ignore[var-annotated]

    async def work(step: Step) -> Any:
        return "first" if step.id == "first" else await started(step, begun, ended)

    engine = Engine({"f": kind(work)}, memory_events() if stored else None)
    live = engine.start(graph_of({"first": "", "x": "first", "y": "x"}), context, listeners=[seen.append])
    await begun.wait()
    live.cancel("not needed any more")
    outcome = await live
    assert (outcome.status, outcome.outputs) == ("cancelled", {"first": "first"})
    assert ended == ["x"]
    assert [e.type for e in seen][-2:] == ["step.started", "run.cancelled"]
    assert seen[-1].reason == "not needed any more"
    assert outcome_of(seen) == outcome
    live.cancel("once more")
    assert live.reason == "not needed any more"


async def test_what_a_step_gives_when_it_is_cancelled_is_not_lost(
    context: RunContext, kind: Any, graph_of: GraphOf, memory_events: Any
) -> None:
    begun = asyncio.Event()

    async def careful(step: Step) -> str:
        begun.set()
        try:
            await asyncio.Event().wait()
        except asyncio.CancelledError:
            return "half"
        return "whole"

    events = memory_events()
    engine = Engine({"f": kind(careful)}, events)
    live = engine.start(graph_of({"a": ""}), context)
    await begun.wait()
    live.cancel()
    assert (await live).status == "cancelled"
    assert [e.type for e in events.stored][-2:] == ["step.finished", "run.cancelled"]


async def test_a_cancellation_that_comes_too_late_changes_nothing(
    context: RunContext, kind: Any, graph_of: GraphOf, memory_events: Any
) -> None:
    events = memory_events()
    live = Engine({"f": kind(joined)}, events).start(graph_of({"a": ""}), context)

    def cancel_late(batch: Sequence[Event]) -> None:
        if isinstance(batch[-1], RunFinished):
            live.cancel("too late")

    events.before = cancel_late
    assert (await live).status == "done"
    assert events.stored[-1].type == "run.finished"


async def test_a_step_that_does_not_let_itself_be_cancelled_is_left_behind(
    context: RunContext,
    kind: Any,
    graph_of: GraphOf,
    memory_events: Any,
    monkeypatch: pytest.MonkeyPatch,
    caplog: pytest.LogCaptureFixture,
) -> None:
    begun, go, ended = asyncio.Event(), asyncio.Event(), asyncio.Event()

    async def stubborn(step: Step) -> str:
        begun.set()
        while not go.is_set():
            with suppress(asyncio.CancelledError):
                await go.wait()
        ended.set()
        return "late"

    monkeypatch.setattr(walk, "GRACE", 0.01)
    events = memory_events()
    live = Engine({"f": kind(stubborn)}, events).start(graph_of({"a": ""}), context)
    await begun.wait()
    live.cancel()
    assert (await live).status == "cancelled"
    assert "did not stop" in caplog.text
    go.set()
    await ended.wait()
    await asyncio.sleep(0)
    assert events.stored[-1].type == "run.cancelled"


async def test_a_process_that_stops_leaves_a_stored_run_to_be_continued(
    context: RunContext, kind: Any, graph_of: GraphOf, memory_events: Any
) -> None:
    begun, ended = asyncio.Event(), []  # type: ignore[var-annotated]
    events = memory_events()
    engine = Engine({"f": kind(lambda step: started(step, begun, ended))}, events)
    task = asyncio.create_task(engine.run(graph_of({"a": ""}), context))
    await begun.wait()
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert ended == ["a"]
    assert [e.type for e in events.stored] == ["run.started", "step.started"]


async def test_without_a_store_a_stopped_run_is_over(context: RunContext, kind: Any, graph_of: GraphOf) -> None:
    begun, ended, seen = asyncio.Event(), [], []  # type: ignore[var-annotated]
    engine = Engine({"f": kind(lambda step: started(step, begun, ended))})
    task = asyncio.create_task(engine.run(graph_of({"a": ""}), context, listeners=[seen.append]))
    await begun.wait()
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert seen[-1].type == "run.cancelled"


# The journal


async def test_each_node_is_stored_before_its_children_start_and_heard_after(
    context: RunContext, kind: Any, graph_of: GraphOf, memory_events: Any
) -> None:
    events = memory_events()

    async def work(step: Step) -> int:
        stored = {e.node for e in events.stored if isinstance(e, StepFinished)}
        assert set(step.node.after) <= stored
        return 1

    def listen(event: Event) -> None:
        assert event in events.stored

    graph = graph_of({"a": "", "b": "a", "c": "a", "d": "b c"})
    outcome = await Engine({"f": kind(work)}, events).run(graph, context, listeners=[listen])
    assert outcome.status == "done"
    finish = ["step.started", "step.finished"]
    assert events.commits == [["run.started"], finish, finish * 2, finish, ["run.finished"]]


async def test_nodes_that_only_compute_share_the_commit_of_what_comes_after(
    context: RunContext, kind: Any, memory_events: Any
) -> None:
    events, seen = memory_events(), []

    async def work(step: Step) -> int:
        seen.append((step.id, [e.node for e in events.stored if isinstance(e, StepFinished)]))
        return 1

    seven = {"kind": "given", "config": 7}
    nodes = [
        {"id": "a", **seven},
        {"id": "b", "after": ["a"], **seven},
        {"id": "read", "kind": "f", "after": ["b"]},
        {"id": "c", "after": ["read"], **seven},
        {"id": "write", "kind": "f", "after": ["c"], "effect": True},
    ]
    engine = Engine({"f": kind(work), "given": LiteralStep()}, events)
    assert (await engine.run(Graph.parse({"nodes": nodes}), context)).status == "done"
    assert seen == [("read", []), ("write", ["a", "b", "read", "c"])], "an effect waits for all before it"
    both = ["step.started", "step.finished"]
    assert events.commits == [
        ["run.started"],
        [*both, *both, *both],
        [*both, "step.started"],
        ["step.finished"],
        ["run.finished"],
    ]
    # Whatever part of the journal is left, the run ends with the same outputs.
    for length in range(1, len(events.stored)):
        again = memory_events(events.stored[:length])
        if any(isinstance(e, StepStarted) and e.node == "write" for e in again.stored):
            break
        assert (await Engine({"f": kind(work), "given": LiteralStep()}, again).resume(context)).output == 1


async def test_a_long_step_is_seen_to_start_at_once(
    context: RunContext, kind: Any, graph_of: GraphOf, memory_events: Any
) -> None:
    events, go = memory_events(), asyncio.Event()

    async def work(step: Step) -> None:
        await go.wait()

    live = Engine({"f": kind(work)}, events).start(graph_of({"a": ""}), context)
    async for event in live.events():
        if isinstance(event, StepStarted):
            assert events.commits[-1] == ["step.started"]
            go.set()
    assert (await live).status == "done"


async def test_an_effect_is_stored_as_started_before_it_acts(
    context: RunContext, kind: Any, graph_of: GraphOf, memory_events: Any
) -> None:
    events = memory_events()

    async def pay(step: Step) -> str:
        assert any(isinstance(e, StepStarted) and e.node == "pay" for e in events.stored)
        return step.idempotency_key

    outcome = await Engine({"f": kind(pay)}, events).run(
        graph_of({"pay": ""}, nodes={"pay": {"effect": True}}), context
    )
    assert outcome.output == f"{context.run}:pay"


async def test_a_full_disk_fails_the_run_cleanly(
    context: RunContext, kind: Any, graph_of: GraphOf, memory_events: Any
) -> None:
    events, seen, ended = memory_events(), [], []  # type: ignore[var-annotated]
    begun = asyncio.Event()

    def full(batch: Sequence[Event]) -> None:
        if any(isinstance(event, StepFinished) for event in batch):
            raise OSError(errno.ENOSPC, "No space left on device")

    async def work(step: Step) -> None:
        if step.id == "long":
            await started(step, begun, ended)
        for _ in range(9):
            await asyncio.sleep(0)

    events.before = full
    engine = Engine({"f": kind(work)}, events)
    with pytest.raises(OperatorError) as caught:
        await engine.run(graph_of({"long": "", "short": "", "next": "short"}), context, listeners=[seen.append])
    assert caught.value.stable_code == "journal_unwritable"
    assert "No space left" in caught.value.message
    assert ended == ["long"]
    assert [e.type for e in seen] == ["run.started", "step.started", "step.started"]
    assert seen == events.stored


@pytest.mark.parametrize("ticks", range(6))
def test_a_loop_that_ends_under_a_run_does_not_hang(
    context: RunContext, kind: Any, graph_of: GraphOf, memory_events: Any, ticks: int
) -> None:
    """At the end of `asyncio.run` every task is cancelled at once, the one that commits too."""
    events = memory_events()

    async def work(step: Step) -> None:
        await asyncio.Event().wait()

    async def main() -> None:
        Engine({"f": kind(work)}, events).start(graph_of({"a": ""}), context)
        for _ in range(ticks):
            await asyncio.sleep(0)

    asyncio.run(main())
    types = ["run.started", "step.started"]
    assert [event.type for event in events.stored] == types[: len(events.stored)]


# Watching


async def test_whoever_watches_late_gets_everything_from_the_store(
    context: RunContext, kind: Any, graph_of: GraphOf, memory_events: Any
) -> None:
    events, go = memory_events(), asyncio.Event()

    async def work(step: Step) -> None:
        await go.wait()

    live = Engine({"f": kind(work)}, events).start(graph_of({"a": "", "b": "a"}), context)
    first = [event async for event in _until(live.events(), StepStarted)]
    assert [e.seq for e in first] == [1, 2]
    late = live.events(after=1)
    go.set()
    assert [e.seq async for e in late] == list(range(2, len(events.stored) + 1))
    assert [e.seq async for e in live.events()] == [e.seq for e in events.stored]


async def test_an_event_that_is_both_stored_and_heard_is_given_once(
    context: RunContext, kind: Any, graph_of: GraphOf, memory_events: Any
) -> None:
    events = memory_events()
    live = Engine({"f": kind(joined)}, events).start(graph_of({"a": "", "b": "a"}), context)
    watched = live.events()
    await live
    assert [event.seq async for event in watched] == [event.seq for event in events.stored]


async def _until(events: Any, last: type[Event]) -> Any:
    async for event in events:
        yield event
        if isinstance(event, last):
            return


async def test_whoever_stops_watching_does_not_stop_the_run(context: RunContext, kind: Any, graph_of: GraphOf) -> None:
    go = asyncio.Event()

    async def work(step: Step) -> str:
        await go.wait()
        return "done"

    live = Engine({"f": kind(work)}).start(graph_of({"a": ""}), context)
    watcher: asyncio.Future[Event] = asyncio.ensure_future(anext(live.events()))
    await watcher
    go.set()
    assert (await live).output == "done"


FAILURES = {"source": SourceError, "user": UserError, "busy": TransientError, "no": RefusedError, "defect": ValueError}


@st.composite
def documents(draw: st.DrawFn) -> dict[str, Any]:
    nodes: list[dict[str, Any]] = []
    for i in range(draw(st.integers(1, 8))):
        after = draw(st.lists(st.sampled_from([n["id"] for n in nodes]), unique=True, max_size=3)) if nodes else []
        config = draw(st.sampled_from([None, None, None, *FAILURES]))
        critical = draw(st.booleans())
        nodes.append({"id": f"n{i}", "kind": "f", "after": after, "config": config, "critical": critical})
    strategy = draw(st.sampled_from(["sequential", "levels", "eager", "events"]))
    return {"nodes": nodes, "strategy": strategy, "early_stop": draw(st.booleans())}


@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(document=documents(), seed=st.integers(0, 99))
async def test_stored_streamed_and_plain_runs_tell_the_same(
    kind: Any, store: Store, document: dict[str, Any], seed: int, caplog: pytest.LogCaptureFixture
) -> None:
    """The same graph in memory, streamed, and with a journal: the same outcome, and numbers without a gap."""
    caplog.set_level(logging.CRITICAL, "answerable.engine")
    graph, chance = Graph.parse(document), random.Random(seed)

    async def work(step: Step) -> Any:
        for _ in range(chance.randrange(4)):
            await asyncio.sleep(0)
        if step.node.config:
            raise FAILURES[step.node.config]("as asked")
        return [step.node.id, dict(step.inputs)]

    engine = Engine({"f": kind(work)})
    plain = await engine.run(graph, RunContext(new_run_id(), LOCAL))
    live = engine.start(graph, RunContext(new_run_id(), LOCAL))
    streamed = [event async for event in live.events()]
    context = RunContext(new_run_id(), LOCAL)
    record = await store.runs.create(context, None)
    await Engine({"f": kind(work)}, store.events).run(graph, context, lease=record.lease)
    stored = await store.events.read(context.principal, context.run)
    for events in (streamed, stored):
        assert [event.seq for event in events] == list(range(1, len(events) + 1))
        assert projection(outcome_of(events)) == projection(plain)


def projection(outcome: Any) -> Any:
    errors = {node: (type(e), e.stable_code, e.message.split("(")[0]) for node, e in outcome.errors.items()}
    return outcome.status, outcome.outputs, errors, outcome.skipped, outcome.output, outcome.failed

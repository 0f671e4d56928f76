import asyncio
import errno
import logging
from collections.abc import Sequence
from typing import Any

import pytest

from answerable.core.context import RunContext
from answerable.core.errors import OperatorError
from answerable.core.events import (
    ApprovalDecided,
    ApprovalRequested,
    Event,
    StepFailed,
    StepFinished,
    StepProgress,
    StepRetried,
    StepStarted,
)
from answerable.core.ids import NodeId
from answerable.engine.journal import Journal


async def test_without_a_store_events_are_shown_at_once(clock: Any, context: RunContext) -> None:
    seen: list[Event] = []
    journal = Journal(context, clock, listeners=[seen.append])
    journal.record(StepStarted, NodeId("a"), 1)
    clock.seconds += 2.5
    journal.record(StepFinished, NodeId("a"), {"x": 1}, 1, 2500.0)
    assert [(e.seq, e.type, e.run) for e in seen] == [
        (1, "step.started", context.run),
        (2, "step.finished", context.run),
    ]
    assert seen[1].at - seen[0].at == 2.5
    assert seen[0].at == pytest.approx(clock.now().timestamp() - 2.5)
    await journal.flush()


async def test_what_is_recorded_in_one_tick_is_one_commit(clock: Any, context: RunContext, memory_events: Any) -> None:
    events = memory_events()
    seen: list[Event] = []
    journal = Journal(context, clock, events, [seen.append])
    journal.record(StepStarted, NodeId("a"), 1)
    journal.record(StepStarted, NodeId("b"), 1)
    assert seen == []
    await journal.flush()
    assert events.commits == [["step.started", "step.started"]]
    assert seen == events.stored


async def test_what_is_recorded_during_a_commit_is_in_the_next(
    clock: Any, context: RunContext, memory_events: Any
) -> None:
    events = memory_events()
    journal = Journal(context, clock, events)

    def record_more(batch: Sequence[Event]) -> None:
        if batch[0].seq == 1:
            journal.record(StepProgress, NodeId("a"), "more")

    events.before = record_more
    journal.record(StepStarted, NodeId("a"), 1)
    await journal.flush()
    await journal.close()
    assert events.commits == [["step.started"], ["step.progress"]]
    assert [event.seq for event in events.stored] == [1, 2]


async def test_a_step_goes_on_only_after_its_event_is_stored(
    clock: Any, context: RunContext, memory_events: Any
) -> None:
    events, order = memory_events(), []
    journal = Journal(context, clock, events, [lambda event: order.append("heard")])
    events.before = lambda batch: order.append("stored")
    journal.record_then(lambda event: order.append("then"), StepFinished, NodeId("a"), 1)
    await journal.flush()
    assert order == ["stored", "heard", "then"]


@pytest.mark.parametrize(
    "failure", [OSError(errno.ENOSPC, "No space left on device"), OperatorError("full", code="store_full")]
)
async def test_a_store_that_fails_is_told_once_and_nothing_unstored_is_shown(
    clock: Any, context: RunContext, memory_events: Any, failure: Exception
) -> None:
    events = memory_events()
    seen: list[Event] = []
    failures: list[Exception] = []
    journal = Journal(context, clock, events, [seen.append])
    journal.on_failure = failures.append

    def fail(batch: Sequence[Event]) -> None:
        raise failure

    journal.record(StepStarted, NodeId("a"), 1)
    await journal.flush()
    events.before = fail
    journal.record(StepFinished, NodeId("a"), 1)
    with pytest.raises(OperatorError) as caught:
        await journal.flush()
    journal.record(StepStarted, NodeId("b"), 1)
    with pytest.raises(OperatorError):
        await journal.close()
    assert [event.seq for event in seen] == [event.seq for event in events.stored] == [1]
    assert failures == [caught.value]
    assert caught.value.stable_code in ("journal_unwritable", "store_full")


async def test_a_listener_that_fails_is_logged_and_stops_nobody(
    clock: Any, context: RunContext, caplog: pytest.LogCaptureFixture
) -> None:
    seen: list[Event] = []

    def broken(event: Event) -> None:
        raise ValueError("broken listener")

    journal = Journal(context, clock, listeners=[broken, seen.append])
    with caplog.at_level(logging.ERROR, "answerable.engine"):
        journal.record(StepStarted, NodeId("a"), 1)
    assert len(seen) == 1
    assert "broken listener" in caplog.text


async def test_a_flush_waits_only_for_what_was_recorded_before_it(
    clock: Any, context: RunContext, memory_events: Any
) -> None:
    """Else a busy run would keep an effect from ever starting."""
    events = memory_events()
    journal = Journal(context, clock, events)
    busy = True

    def keep_busy(batch: Sequence[Event]) -> None:
        if busy:
            journal.record(StepProgress, NodeId("b"), "still here")

    events.before = keep_busy
    journal.record(StepStarted, NodeId("a"), 1)
    await asyncio.wait_for(journal.flush(), 5)
    busy = False
    await journal.close()


async def test_the_past_tells_how_to_go_on_with_each_node(clock: Any, context: RunContext) -> None:
    run = context.run
    past: list[Event] = [
        StepStarted(run, 1, 0, NodeId("done")),
        StepStarted(run, 2, 0, NodeId("open")),
        StepStarted(run, 3, 0, NodeId("again")),
        StepRetried(run, 4, 0, NodeId("again"), 1, 0.5, "try_again", "busy"),
        StepFinished(run, 5, 0, NodeId("done"), 1),
        StepStarted(run, 6, 0, NodeId("bad")),
        StepFailed(run, 7, 0, NodeId("bad"), "SourceError", "source_failed", "down"),
        StepStarted(run, 8, 0, NodeId("third"), 3),
        ApprovalRequested(run, 9, 0, NodeId("asked"), "sure?"),
        ApprovalRequested(run, 10, 0, NodeId("given"), "sure?"),
        ApprovalDecided(run, 11, 0, NodeId("given"), True, "ann"),
        ApprovalDecided(run, 12, 0, NodeId("redone"), True, "ann"),
        StepStarted(run, 13, 0, NodeId("redone")),
    ]
    journal = Journal(context, clock, past=past)
    known = {node: (p.ended is not None, p.attempt, p.unreported, p.approval) for node, p in journal.past.items()}
    assert known == {
        "done": (True, 1, True, None),
        "open": (False, 1, True, None),
        "again": (False, 2, False, None),
        "bad": (True, 1, True, None),
        "third": (False, 3, True, None),
        "asked": (False, 1, False, "asked"),
        "given": (False, 1, False, "given"),
        "redone": (False, 1, True, None),
    }
    seen: list[Event] = []
    journal.listeners.append(seen.append)
    journal.record(StepStarted, NodeId("open"), 1)
    assert seen[0].seq == 14

"""The waterfall of a run, told from its events."""

from answerable.core.events import (
    Event,
    PlanReady,
    RunCancelled,
    RunFinished,
    RunStarted,
    StepFailed,
    StepFinished,
    StepOutput,
    StepRetried,
    StepSkipped,
    StepStarted,
)
from answerable.core.ids import NodeId, RunId
from answerable.core.values import Json
from answerable.engine.timeline import TimelineStep, timeline

RUN = RunId("run_1")
CALL = {"input_tokens": 10, "output_tokens": 5, "cost": 0.25, "duration_ms": 3}


def told(*events: tuple[float, type[Event], dict[str, Json]]) -> dict[str, TimelineStep]:
    made = [cls(run=RUN, seq=number, at=at, **fields) for number, (at, cls, fields) in enumerate(events, 1)]
    return {step.id: step for step in timeline(made).steps}


def node(name: str, kind: str = "sql", after: list[str] | None = None) -> dict[str, Json]:
    return {"id": name, "kind": kind, "config": {"source": "shop"}, "after": after or []}


def started(at: float, name: str, attempt: int = 1) -> tuple[float, type[Event], dict[str, Json]]:
    return at, StepStarted, {"node": NodeId(name), "attempt": attempt}


def finished(at: float, name: str, output: Json = None) -> tuple[float, type[Event], dict[str, Json]]:
    return at, StepFinished, {"node": NodeId(name), "output": output}


def test_steps_attempts_and_use_are_told() -> None:
    steps = told(
        (100.0, RunStarted, {"graph": {"nodes": [node("a"), node("b", after=["a"]), node("c", after=["a"])]}}),
        started(100.0, "a"),
        (100.5, StepRetried, {"node": NodeId("a"), "attempt": 1, "delay": 1.0, "code": "busy", "message": "429"}),
        started(101.5, "a", 2),
        (101.6, StepOutput, {"node": NodeId("a"), "channel": "model_call", "data": CALL}),
        (101.7, StepOutput, {"node": NodeId("a"), "channel": "code", "data": "SELECT 1"}),
        finished(102.0, "a", {"frame": {"row_count": 7}}),
        started(102.0, "b"),
        started(102.0, "c"),
        finished(102.1, "b"),
        (103.0, StepFailed, {"node": NodeId("c"), "kind": "SourceError", "code": "down", "message": "no answer"}),
        (103.0, RunFinished, {"status": "partial"}),
    )
    first = steps["a"]
    assert (first.status, first.start_ms, first.end_ms, first.row_count) == ("done", 0.0, 2000.0, 7)
    assert [(one.outcome, one.start_ms, one.end_ms, one.wait_ms) for one in first.attempts] == [
        ("failed", 0.0, 500.0, 1000.0),
        ("done", 1500.0, 2000.0, None),
    ]
    assert (first.code, first.source, first.model_calls, first.input_tokens) == ("SELECT 1", "shop", 1, 10)
    assert first.cost_usd == 0.25
    assert (steps["c"].status, steps["c"].message, steps["c"].attempts[0].code) == ("failed", "no answer", "down")
    assert [step.id for step in steps.values() if step.critical] == ["a", "c"]


def test_steps_inside_a_step_have_their_own_path() -> None:
    inner = [node("x/p"), node("x/q"), node("x/r", after=["x/p", "x/q"])]
    steps = told(
        (0.0, RunStarted, {"graph": {"nodes": [node("x", "subgraph")]}}),
        started(0.0, "x"),
        (0.1, PlanReady, {"plan": {"nodes": inner}}),
        *(started(0.1, "x/p"), started(0.1, "x/q")),
        *(finished(0.2, "x/p"), finished(0.9, "x/q")),
        started(0.9, "x/r"),
        *(finished(1.0, "x/r"), finished(1.0, "x")),
        (1.0, RunFinished, {"status": "done"}),
    )
    assert [step.id for step in steps.values() if step.critical] == ["x", "x/q", "x/r"]
    assert steps["x/p"].parent == "x"


def test_a_run_that_goes_on_or_was_stopped() -> None:
    begun = (
        (0.0, RunStarted, {"graph": {"nodes": [node("a"), node("b", after=["a"])]}}),
        started(0.0, "a"),
    )
    assert [step.status for step in told(*begun).values()] == ["running", "not_started"]
    stopped = told(*begun, (1.0, StepSkipped, {"node": NodeId("b"), "reason": "stopped"}), (1.5, RunCancelled, {}))
    assert [(step.status, step.end_ms) for step in stopped.values()] == [("failed", 1500.0), ("skipped", None)]
    assert timeline([]).steps == ()

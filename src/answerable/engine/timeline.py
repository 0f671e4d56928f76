"""The timeline of a run, from its events alone: when each step began and ended, its attempts, and its usage."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Literal

from answerable.core.events import (
    ApprovalDecided,
    ApprovalRequested,
    Event,
    PlanReady,
    RunCancelled,
    RunFailed,
    RunFinished,
    RunStarted,
    StepFailed,
    StepFinished,
    StepOutput,
    StepProgress,
    StepRetried,
    StepSkipped,
    StepStarted,
)
from answerable.core.values import Frozen, Json
from answerable.engine.steps.present import MODEL_CALL, usage_of

StepStatus = Literal["not_started", "running", "waiting", "done", "failed", "skipped"]
NOT_YET = float("inf")


class StepAttempt(Frozen):
    number: int
    start_ms: float
    end_ms: float | None = None
    """None while it goes on, or if the process died during it."""
    outcome: Literal["running", "done", "failed"] = "running"
    code: str | None = None
    message: str | None = None
    wait_ms: float | None = None
    """The wait until the next attempt."""


class TimelineStep(Frozen):
    id: str
    """The id of a step inside another one begins with that step's id and a slash."""
    kind: str
    parent: str | None
    after: tuple[str, ...]
    status: StepStatus
    start_ms: float | None
    """Milliseconds since the beginning of the run."""
    end_ms: float | None
    critical: bool
    """Whether the step is on the critical path: if it were faster, the run would be."""
    source: str | None
    code: str | None
    row_count: int | None
    model_calls: int
    input_tokens: int
    output_tokens: int
    cost_usd: float | None
    """None if the price of a model is unknown."""
    message: str | None
    """The last message: its progress, or why it failed, was skipped or waits."""
    attempts: tuple[StepAttempt, ...]


class Timeline(Frozen):
    total_ms: float
    """From the first event to the last."""
    steps: tuple[TimelineStep, ...]


@dataclass
class _Step:
    id: str
    kind: str = ""
    after: tuple[str, ...] = ()
    status: StepStatus = "not_started"
    source: str | None = None
    code: str | None = None
    row_count: int | None = None
    message: str | None = None
    end_ms: float | None = None
    critical: bool = False
    calls: list[Mapping[str, Json]] = field(default_factory=list)
    attempts: list[StepAttempt] = field(default_factory=list)

    @property
    def parent(self) -> str | None:
        return self.id.rpartition("/")[0] or None

    @property
    def start_ms(self) -> float | None:
        return self.attempts[0].start_ms if self.attempts else None

    @property
    def until(self) -> float:
        if self.start_ms is None:
            return -1.0  # a step that never started cannot have held up another one
        return NOT_YET if self.end_ms is None else self.end_ms

    def attempt_ended(self, at: float, **how: Json) -> None:
        if self.attempts:
            self.attempts[-1] = self.attempts[-1].model_copy(update={"end_ms": at, **how})


def timeline(events: Sequence[Event]) -> Timeline:
    """The timeline of a run. Steps come in the order in which they were planned."""
    if not events:
        return Timeline(total_ms=0.0, steps=())
    began = events[0].at
    steps: dict[str, _Step] = {}
    for event in events:
        _fold(steps, event, (event.at - began) * 1000)
    _mark_critical([step for step in steps.values() if step.parent is None], steps.values())
    return Timeline(total_ms=(events[-1].at - began) * 1000, steps=tuple(map(_timeline_step, steps.values())))


def _fold(steps: dict[str, _Step], event: Event, at: float) -> None:
    match event:
        case RunStarted():
            _planned(steps, event.graph.get("nodes", ()))
        case PlanReady():
            _planned(steps, event.plan.get("nodes", ()) if isinstance(event.plan, dict) else ())
        case RunFinished() | RunFailed() | RunCancelled():
            _stopped(steps.values(), at)
        case (
            StepStarted()
            | StepProgress()
            | StepOutput()
            | StepRetried()
            | StepFinished()
            | StepFailed()
            | StepSkipped()
        ):
            _fold_step(steps.setdefault(event.node, _Step(event.node)), event, at)
        case ApprovalRequested():
            step = steps.setdefault(event.node, _Step(event.node))
            step.status, step.message = "waiting", event.prompt
        case ApprovalDecided():
            steps.setdefault(event.node, _Step(event.node)).status = "running"


def _planned(steps: dict[str, _Step], nodes: Iterable[Mapping[str, Json]]) -> None:
    for node in nodes:
        config = node.get("config") or {}
        step = steps.setdefault(node["id"], _Step(node["id"]))
        step.kind, step.after = node["kind"], tuple(node.get("after") or ())
        step.source = config.get("source") if isinstance(config, dict) else None


def _fold_step(step: _Step, event: Event, at: float) -> None:
    match event:
        case StepStarted():
            step.status = "running"
            step.attempts.append(StepAttempt(number=event.attempt, start_ms=at))
        case StepProgress():
            step.message = event.message
        case StepOutput(channel="code"):
            step.code = str(event.data)
        case StepOutput(channel=channel) if channel == MODEL_CALL:
            step.calls.append(event.data)
        case StepRetried():
            step.message = event.message
            wait = event.delay * 1000
            step.attempt_ended(at, outcome="failed", code=event.code, message=event.message, wait_ms=wait)
        case StepFinished():
            step.status, step.end_ms, step.message = "done", at, None
            step.attempt_ended(at, outcome="done")
            step.row_count = _row_count(event.output)
        case StepFailed():
            step.status, step.end_ms, step.message = "failed", at, event.message
            step.attempt_ended(at, outcome="failed", code=event.code, message=event.message)
        case StepSkipped():
            step.status, step.message = "skipped", event.reason


def _stopped(steps: Iterable[_Step], at: float) -> None:
    """Ends the steps that still run when their run ends: a cancelled step records no end of its own."""
    for step in steps:
        if step.status in ("running", "waiting"):
            step.status, step.end_ms = "failed", at
            step.attempt_ended(at, outcome="failed")


def _row_count(output: Json) -> int | None:
    if not isinstance(output, dict):
        return None
    frame = output.get("frame")
    count = frame.get("row_count") if isinstance(frame, dict) else output.get("row_count")
    return count if isinstance(count, int) else None


def _mark_critical(level: Sequence[_Step], every: Iterable[_Step]) -> None:
    """Marks the critical path: from the step that ended last back to the parent that ended last, and so on. The same
    inside each marked step."""
    every = list(every)
    by_id = {step.id: step for step in level}
    last = max(level, key=lambda step: step.until, default=None)
    while last is not None and last.start_ms is not None and not last.critical:
        last.critical = True
        _mark_critical([step for step in every if step.parent == last.id], every)
        before = [by_id[name] for name in last.after if name in by_id]
        last = max(before, key=lambda step: step.until, default=None)


def _timeline_step(step: _Step) -> TimelineStep:
    usage = usage_of(step.calls, 0.0)
    return TimelineStep(
        id=step.id,
        kind=step.kind,
        parent=step.parent,
        after=step.after,
        status=step.status,
        start_ms=step.start_ms,
        end_ms=step.end_ms,
        critical=step.critical,
        source=step.source,
        code=step.code,
        row_count=step.row_count,
        model_calls=usage.model_calls,
        input_tokens=usage.input_tokens,
        output_tokens=usage.output_tokens,
        cost_usd=usage.cost_usd,
        message=step.message,
        attempts=tuple(step.attempts),
    )

"""The events of a run, as one closed union of small classes.

Events are numbered per run from 1 without gaps, and stored. Clients, the page, the audit and a continued run all read
the same list. Events carry counts and samples, never bulk data. Wire formats are encoders over this union. No code
changes an event. The classes are not frozen all the same, because a frozen instance takes five times as long to create,
and every step creates at least two.
"""

from collections.abc import Mapping, Sequence
from typing import ClassVar, Literal, TypeAlias

from answerable.core.ids import NodeId, RunId
from answerable.core.records import dataclass
from answerable.core.values import Json

Verdict = Literal["approve", "reject", "edit", "respond"]
"""What a person decides: go on; do not; go on with other data; go on with this answer or result."""


@dataclass(slots=True)
class _Event:
    run: RunId
    seq: int
    at: float
    """Seconds since the epoch."""


@dataclass(slots=True)
class RunStarted(_Event):
    type: ClassVar[str] = "run.started"
    graph: Json
    """The whole graph, so that the run can be continued from its events alone."""
    question: str | None = None
    taken: Json = None
    """What a run that was forked takes over from inside the nodes that it begins again: see `engine/taken.py`."""


@dataclass(slots=True)
class RunResumed(_Event):
    """Another process goes on with the run. Stored before it does anything, so of two that try only one succeeds."""

    type: ClassVar[str] = "run.resumed"


@dataclass(slots=True)
class RunPaused(_Event):
    """Somebody has the run wait. Steps that were under way have ended; no other starts until it is resumed."""

    type: ClassVar[str] = "run.paused"
    by: str


@dataclass(slots=True)
class PlanReady(_Event):
    type: ClassVar[str] = "plan.ready"
    plan: Json
    """Nodes with their ids, kinds and dependencies, in the order they will be shown."""
    sentence: str | None = None
    """One plain sentence, built from the plan, that says how the question was understood."""


@dataclass(slots=True)
class StepStarted(_Event):
    type: ClassVar[str] = "step.started"
    node: NodeId
    attempt: int = 1


@dataclass(slots=True)
class StepProgress(_Event):
    type: ClassVar[str] = "step.progress"
    node: NodeId
    message: str
    done: float | None = None
    total: float | None = None


@dataclass(slots=True)
class StepOutput(_Event):
    """A piece of a step's output while it runs: a token, a printed line, a host call."""

    type: ClassVar[str] = "step.output"
    node: NodeId
    channel: str
    data: Json


@dataclass(slots=True)
class StepRetried(_Event):
    type: ClassVar[str] = "step.retried"
    node: NodeId
    attempt: int
    """The attempt that failed."""
    delay: float
    code: str
    message: str


@dataclass(slots=True)
class StepFinished(_Event):
    """The journal's record: a node that has one is never run again in this run."""

    type: ClassVar[str] = "step.finished"
    node: NodeId
    output: Json
    attempt: int = 1
    duration_ms: float = 0.0
    partial: bool = False
    """Only a part of the work could be done, for example because a non-critical step of a sub-graph failed."""


@dataclass(slots=True)
class StepFailed(_Event):
    type: ClassVar[str] = "step.failed"
    node: NodeId
    kind: str
    code: str
    message: str
    hint: str | None = None
    attempt: int = 1
    duration_ms: float = 0.0


@dataclass(slots=True)
class StepSkipped(_Event):
    type: ClassVar[str] = "step.skipped"
    node: NodeId
    reason: str


@dataclass(slots=True)
class ApprovalRequested(_Event):
    type: ClassVar[str] = "approval.requested"
    node: NodeId
    prompt: str
    effect: Json = None
    lasting: bool = False
    """Whether the decision counts however often the step is started again, and not for its next attempt alone."""
    until: float | None = None
    """When the step goes on without a decision, in seconds since the epoch. None: never."""


@dataclass(slots=True)
class ApprovalDecided(_Event):
    type: ClassVar[str] = "approval.decided"
    node: NodeId
    approved: bool
    by: str
    note: str | None = None
    verdict: Verdict | None = None
    """None in events of earlier versions: `approved` says it all."""
    data: Json = None
    """With `edit` what to go on with, with `respond` the answer or the result."""


@dataclass(slots=True)
class AnswerMetadata(_Event):
    type: ClassVar[str] = "answer.metadata"
    kind: str
    columns: Sequence[Mapping[str, str]]
    row_count: int
    chart: Json = None


@dataclass(slots=True)
class AnswerBatch(_Event):
    """Rows `offset` to `offset + count` can be read from `GET /runs/{id}/rows`; small ones ride along."""

    type: ClassVar[str] = "answer.batch"
    offset: int
    count: int
    rows: Sequence[Sequence[Json]] | None = None


@dataclass(slots=True)
class AnswerFinal(_Event):
    type: ClassVar[str] = "answer.final"
    answer: Json
    """The answer. It has no rows if they were sent in batches."""


@dataclass(slots=True)
class RunFinished(_Event):
    type: ClassVar[str] = "run.finished"
    status: str
    """`done`, or `partial` if non-critical steps failed."""
    output: Json = None


@dataclass(slots=True)
class RunFailed(_Event):
    type: ClassVar[str] = "run.failed"
    kind: str
    code: str
    message: str
    hint: str | None = None
    node: NodeId | None = None


@dataclass(slots=True)
class RunCancelled(_Event):
    type: ClassVar[str] = "run.cancelled"
    reason: str = "cancelled"


Event: TypeAlias = (
    RunStarted
    | RunResumed
    | RunPaused
    | PlanReady
    | StepStarted
    | StepProgress
    | StepOutput
    | StepRetried
    | StepFinished
    | StepFailed
    | StepSkipped
    | ApprovalRequested
    | ApprovalDecided
    | AnswerMetadata
    | AnswerBatch
    | AnswerFinal
    | RunFinished
    | RunFailed
    | RunCancelled
)

EVENT_TYPES: Mapping[str, type[Event]] = {cls.type: cls for cls in Event.__args__}
TERMINAL: tuple[type[Event], ...] = (RunFinished, RunFailed, RunCancelled)

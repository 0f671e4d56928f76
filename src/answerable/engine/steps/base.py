"""The seam between the engine and the kinds of steps: a kind has one method, which gets a `Step`."""

from collections.abc import Callable, Mapping
from typing import Concatenate, ParamSpec, Protocol, TypeAlias, TypeVar, runtime_checkable

from pydantic import BaseModel, ValidationError

from answerable.core.codec import json_bytes
from answerable.core.context import RunContext
from answerable.core.errors import GraphError
from answerable.core.events import (
    AnswerBatch,
    AnswerFinal,
    AnswerMetadata,
    ApprovalRequested,
    PlanReady,
    StepProgress,
)
from answerable.core.ids import NodeId, RunId
from answerable.core.progress import Progress, throttled
from answerable.core.validation import first_problem
from answerable.core.values import Json
from answerable.engine.frontier import Missing
from answerable.engine.graph import Graph, Node
from answerable.engine.journal import Journal, Past
from answerable.engine.outcome import Outcome

StepEvent: TypeAlias = PlanReady | AnswerMetadata | AnswerBatch | AnswerFinal
"""The events that a step itself may emit. All other events are the engine\'s."""
OutputSink: TypeAlias = Callable[[str, Json], None]
"""Takes a channel and a message, like `Step.output`. Channels of an agent are `prompt` (its name and the estimated
tokens, before anything is sent), `token`, `tool`, and `model_call` (usage and cost, after each call)."""
P = ParamSpec("P")
M = TypeVar("M", bound=BaseModel)


class Suspended(Exception):
    """Raised by a step or a guard that needs a person's decision. The next `resume` starts the step again."""


class StepKind(Protocol):
    """The code of all nodes of one kind. It may be called again with the same step if the process dies before the
    step's end is stored. The events of the first call (progress, output, plan, answer) are then recorded again."""

    async def run(self, step: "Step") -> Json:
        """Returns the output as JSON. Later steps get exactly this as their input, also in a continued run.

        Failures are raised as `AnswerableError`. A `TransientError` is retried if the node asks for retries.
        """
        ...


@runtime_checkable
class ComputedKind(Protocol):
    """A kind of which some nodes only compute: their output follows from config and inputs, at next to no cost."""

    def is_computed(self, node: Node) -> bool: ...


class Nest(Protocol):
    async def nested(self, step: "Step", graph: Graph) -> Outcome: ...


class Step:
    """One node of one run, as its kind sees it."""

    __slots__ = ("_nest", "attempt", "event", "id", "inputs", "journal", "missing", "node", "partial", "past")

    def __init__(
        self,
        node: Node,
        inputs: Mapping[NodeId, Json],
        journal: Journal,
        nest: Nest,
        id: NodeId,
        event: Json = None,
        past: Past | None = None,
        missing: Mapping[NodeId, Missing] | None = None,
    ) -> None:
        self.node = node
        self.inputs = inputs
        """The outputs of the nodes in `after`, by id; null for nodes that failed or were not taken."""
        self.missing = missing or {}
        """The nodes in `after` that failed or were skipped, so that their input is null."""
        self.journal = journal
        self.id = id
        """The node's id in the run; inside sub-graphs it is `parent/child`."""
        self.event = event
        """The data of the event that the node waited for (`on`)."""
        self.past = past
        self.attempt = 1 if past is None else past.attempt  # a crash must not give a step more attempts than it has
        self.partial = False
        """Set to True by a kind whose output is only a part of what was wanted."""
        self._nest = nest

    @property
    def context(self) -> RunContext:
        return self.journal.context

    @property
    def idempotency_key(self) -> str:
        """A key that is the same for every attempt and after every restart, so that a target recognises repetitions."""
        if self.past is not None and self.past.key is not None:
            return self.past.key
        return f"{self.journal.context.run}:{self.id}"

    def config_as(self, model: type[M]) -> M:
        """The node's config as a checked model. Raises a `GraphError` that names node and field if it is wrong."""
        try:
            return model.model_validate(self.node.config)
        except ValidationError as error:
            problem = first_problem(error)
            where = f"`config.{problem.field}`" if problem.field else "`config`"
            raise GraphError(f"Node `{self.id}`: {where}: {problem.message}.", node=self.id) from error

    @property
    def inside(self) -> str:
        """Prefix for the ids of nodes in the sub-graph that this step runs. Each attempt has its own nodes, because a
        node that has ended is never run again."""
        return self.id if self.attempt == 1 else f"{self.id}#{self.attempt}"

    def progress(self, message: str, done: float | None = None, total: float | None = None) -> None:
        self.journal.record(StepProgress, self.id, message, done, total)

    def reporter(self) -> Progress:
        """A callback for long work. It reports progress of this step, at most a few times a second, because each
        report is a stored event."""
        return throttled(self.progress)

    def wait_for_decision(self, prompt: str, shown: Json, until: float | None) -> None:
        """Asks a person or a program. The caller then raises `Suspended`. `until`: when the step is started again
        without a decision."""
        self.journal.record(ApprovalRequested, self.id, prompt, shown, lasting=True, until=until)
        if until is not None:
            self.journal.wakes[self.id] = until

    def output(self, channel: str, data: Json) -> None:
        """Shows a piece of the output before the end: a token, a line, a program. With the strategy `events`, the
        channel is also the name of an event that nodes can wait for."""
        # Raises here, in the step that is at fault, for data that is not JSON; the journal would fail the whole run.
        json_bytes(data, f"The {channel} of step {self.id}")
        self.journal.output(self.id, channel, data)

    def emit(
        self, kind: Callable[Concatenate[RunId, int, float, P], StepEvent], *args: P.args, **fields: P.kwargs
    ) -> None:
        """Records the plan or a part of the answer: `step.emit(AnswerFinal, answer=…)`."""
        json_bytes([args, fields], f"What step {self.id} tells")
        self.journal.record(kind, *args, **fields)

    async def run_graph(self, graph: Graph) -> Outcome:
        """Runs a graph inside this step, in the same run and journal. Its nodes have ids of the form `parent/child`."""
        return await self._nest.nested(self, graph)

"""The seam between the engine and what a step does: one method, and the step that is handed to it."""

from collections.abc import Callable, Mapping
from typing import Concatenate, ParamSpec, Protocol, TypeAlias, TypeVar

from pydantic import BaseModel, ValidationError

from answerable.core.codec import json_bytes
from answerable.core.context import RunContext
from answerable.core.errors import GraphError
from answerable.core.events import (
    AnswerBatch,
    AnswerFinal,
    AnswerMetadata,
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
    """Raised by a step or a guard that cannot go on until somebody has decided; the next `resume` starts it again."""


class StepKind(Protocol):
    """What nodes of one kind do. May be called again with the same step if the process dies before its end is stored;
    what it told until then (progress, output, plan, answer) is then told again."""

    async def run(self, step: "Step") -> Json:
        """The output, as JSON: exactly what later steps, also those of a continued run, get as their input.

        Failures are raised as `AnswerableError`; a `TransientError` is retried if the node says so.
        """
        ...


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
        """By the id of each node it comes after; null for those that failed or were not taken."""
        self.missing = missing or {}
        """Why inputs are null: the nodes it comes after that failed or were skipped."""
        self.journal = journal
        self.id = id
        """Its id in the run: inside sub-graphs `parent/child`."""
        self.event = event
        """The data of the event that it waited for (`on`)."""
        self.past = past
        self.attempt = 1 if past is None else past.attempt
        self.partial = False
        """Set by a kind whose output is only a part of what was wanted."""
        self._nest = nest

    @property
    def context(self) -> RunContext:
        return self.journal.context

    @property
    def idempotency_key(self) -> str:
        """The same for every attempt and after every restart."""
        return f"{self.journal.context.run}:{self.id}"

    def config_as(self, model: type[M]) -> M:
        """The node's config, checked; a `GraphError` that names node and field if it is wrong."""
        try:
            return model.model_validate(self.node.config)
        except ValidationError as error:
            problem = first_problem(error)
            where = f"`config.{problem.field}`" if problem.field else "`config`"
            raise GraphError(f"Node `{self.id}`: {where}: {problem.message}.", node=self.id) from error

    @property
    def inside(self) -> str:
        """How the ids of the nodes of a graph begin that this step runs. Each attempt has nodes of its own, because a
        node that has ended is never run again."""
        return self.id if self.attempt == 1 else f"{self.id}#{self.attempt}"

    def progress(self, message: str, done: float | None = None, total: float | None = None) -> None:
        self.journal.record(StepProgress, self.id, message, done, total)

    def reporter(self) -> Progress:
        """For work that may be long: reports as progress of this step, at most a few times a second."""
        return throttled(self.progress)

    def output(self, channel: str, data: Json) -> None:
        """Tells a piece of the output before the end: a token, a line, a program. With the strategy `events`, the
        channel is also the name of an event that nodes can wait for."""
        json_bytes(data, f"The {channel} of step {self.id}")
        self.journal.output(self.id, channel, data)

    def emit(
        self, kind: Callable[Concatenate[RunId, int, float, P], StepEvent], *args: P.args, **fields: P.kwargs
    ) -> None:
        """Tells the plan or a part of the answer: `step.emit(AnswerFinal, answer=…)`."""
        json_bytes([args, fields], f"What step {self.id} tells")
        self.journal.record(kind, *args, **fields)

    async def run_graph(self, graph: Graph) -> Outcome:
        """Runs a graph inside this step, in the same run and journal; its nodes are told as `parent/child`."""
        return await self._nest.nested(self, graph)

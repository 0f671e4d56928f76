"""The outcome of a run, from its live state or from its stored events. Both give the same outcome."""

from collections.abc import Iterable, Mapping
from dataclasses import field

from answerable.core.errors import AnswerableError, RefusedError, restored
from answerable.core.events import Event, RunCancelled, RunFailed, RunFinished, StepFailed, StepFinished, StepSkipped
from answerable.core.ids import NodeId, RunId
from answerable.core.records import dataclass
from answerable.core.values import Json
from answerable.engine.frontier import Frontier
from answerable.store.base import RunStatus


@dataclass(frozen=True, slots=True)
class Outcome:
    run: RunId
    status: RunStatus
    outputs: Mapping[NodeId, Json] = field(default_factory=dict)
    errors: Mapping[NodeId, AnswerableError] = field(default_factory=dict)
    skipped: Mapping[NodeId, str] = field(default_factory=dict)
    """The reason of each skipped node."""
    output: Json = None
    error: AnswerableError | None = None
    failed: NodeId | None = None
    """The critical node whose error is the run's."""
    wake_at: float | None = None
    """When a run that waits goes on by itself, in seconds since the epoch."""


def reached(run: RunId, frontier: Frontier, status: RunStatus | None = None, wake_at: float | None = None) -> Outcome:
    """The outcome of a graph, once no more nodes run. `status` overrides the status, for a run that was cancelled."""
    # A run that waits has not ended yet, and a cancelled one ends as cancelled whatever failed before.
    failed = None if frontier.held or status else _failed(frontier)
    return Outcome(
        run=run,
        status=status or _status(frontier, failed),
        outputs=frontier.outputs,
        errors=frontier.errors,
        skipped=frontier.skipped,
        output=None if failed or frontier.held or status else _output(frontier),
        error=frontier.errors.get(failed) if failed else None,
        failed=failed,
        wake_at=wake_at,
    )


def _failed(frontier: Frontier) -> NodeId | None:
    """The critical node whose error becomes the run's: the first in the graph's order, so that the result does not
    depend on which branch was faster."""
    graph = frontier.graph
    return next((node for node in graph.order if node in frontier.errors and graph.by_id[node].critical), None)


def _status(frontier: Frontier, failed: NodeId | None) -> RunStatus:
    if frontier.held:
        return "waiting"
    if failed is not None:
        return "failed"
    return "partial" if frontier.partial else "done"


def _output(frontier: Frontier) -> Json:
    graph, outputs = frontier.graph, frontier.outputs
    if graph.output is not None:
        return outputs.get(graph.output)
    if len(graph.last) == 1:
        return outputs.get(graph.last[0])
    return {node: outputs[node] for node in graph.last if node in outputs}


def outcome_of(events: Iterable[Event]) -> Outcome | None:
    """The outcome of a run from its events, or None if it has not ended. Nodes inside sub-graphs are left out."""
    outputs: dict[NodeId, Json] = {}
    errors: dict[NodeId, AnswerableError] = {}
    skipped: dict[NodeId, str] = {}
    for event in events:
        match event:
            # Ids with a slash are nodes of sub-graphs; their ends are part of the output of their step.
            case StepFinished(node=node) if "/" not in node:
                outputs[node] = event.output
            case StepFailed(node=node) if "/" not in node:
                errors[node] = error_in(event)
            case StepSkipped(node=node) if "/" not in node:
                skipped[node] = event.reason
            case RunFinished():
                status: RunStatus = "partial" if event.status == "partial" else "done"
                return Outcome(event.run, status, outputs, errors, skipped, event.output)
            case RunFailed():
                return Outcome(event.run, "failed", outputs, errors, skipped, None, error_in(event), event.node)
            case RunCancelled():
                return Outcome(event.run, "cancelled", outputs, errors, skipped)
    return None


def was_refused(event: RunFailed) -> bool:
    """Whether a rule refused the run. The journal records it like a failure; people see it as a status of its own."""
    return isinstance(error_in(event), RefusedError)


def error_in(event: StepFailed | RunFailed) -> AnswerableError:
    return restored(event.kind, event.code, event.message, event.hint)

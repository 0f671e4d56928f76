"""Figures of each node over several runs: how often it ran and failed, how long it took, what it cost. Pure."""

from collections.abc import Iterable, Sequence

from answerable.core.events import Event, StepOutput
from answerable.core.values import Frozen
from answerable.engine.steps.present import MODEL_CALL, usage_of
from answerable.graphs.node_runs import NodeRun, node_runs


class NodeFigures(Frozen):
    kind: str
    runs: int
    """How often it started."""
    failures: int
    skipped: int
    retries: int
    p50_ms: float | None
    p95_ms: float | None
    cost_usd: float | None
    """None if the price of a model is not known."""


def node_figures(journals: Iterable[Sequence[Event]]) -> dict[str, NodeFigures]:
    """The figures of each node, in the order in which nodes first appear."""
    runs: dict[str, list[NodeRun]] = {}
    calls: dict[str, list[dict[str, float]]] = {}
    for events in journals:
        for id, node in node_runs(events).items():
            runs.setdefault(id, []).append(node)
        for event in events:
            if isinstance(event, StepOutput) and event.channel == MODEL_CALL:
                calls.setdefault(event.node.partition("/")[0], []).append(event.data)
    return {id: _figures(each, calls.get(id, [])) for id, each in runs.items()}


def _figures(runs: Sequence[NodeRun], calls: Sequence[dict[str, float]]) -> NodeFigures:
    times = sorted(run.duration_ms for run in runs if run.status == "done")
    return NodeFigures(
        kind=runs[-1].kind,
        runs=sum(run.attempts > 0 for run in runs),
        failures=sum(run.status == "failed" for run in runs),
        skipped=sum(run.status == "skipped" for run in runs),
        retries=sum(max(0, run.attempts - 1) for run in runs),
        p50_ms=_at(times, 0.5),
        p95_ms=_at(times, 0.95),
        cost_usd=usage_of(calls, 0.0).cost_usd,
    )


def _at(times: Sequence[float], share: float) -> float | None:
    return times[min(len(times) - 1, int(share * len(times)))] if times else None

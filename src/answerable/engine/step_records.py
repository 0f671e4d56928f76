"""The records of a run's steps, from its events. So the answer of a failed run shows the rows that were found."""

from collections.abc import Iterable

from answerable.answers.answer import StepRecord
from answerable.core.events import Event, PlanReady, RunStarted, StepFailed, StepFinished, StepOutput, StepSkipped
from answerable.core.ids import NodeId
from answerable.core.values import Json
from answerable.engine.steps.produced import Produced

WITH_ROWS = frozenset(("sql", "combine", "python"))
"""The kinds whose output is a `Produced`."""


def produced_record(node: NodeId, produced: Produced, *, with_sample: bool = False) -> StepRecord:
    """The record of a finished step, as an answer shows it."""
    return StepRecord(
        id=node.rpartition("/")[2],
        kind=produced.kind,
        source=produced.sources[0] if len(produced.sources) == 1 else None,
        code=produced.code,
        rows_in=produced.rows_in,
        row_count=produced.frame.row_count,
        duration_ms=produced.duration_ms,
        data_source_type=produced.data_source_type or produced.kind,
        language=produced.language,
        sandbox=produced.sandbox,
        inputs=produced.inputs,
        fingerprint=produced.fingerprint,
        last_sync=produced.last_sync,
        artifact=produced.frame.artifact,
        sample=produced.frame.sample if with_sample else (),
    )


def step_records(events: Iterable[Event]) -> tuple[StepRecord, ...]:
    """The steps that produce rows, in the order in which they ended: finished steps with their code and a few rows,
    failed steps with the code that failed, and skipped steps."""
    nodes: dict[NodeId, Json] = {}
    code: dict[NodeId, str] = {}
    records: list[StepRecord] = []
    for event in events:
        match event:
            case RunStarted(graph=graph):
                nodes |= {node["id"]: node for node in graph["nodes"]}
            case PlanReady(plan=plan):
                nodes |= {node["id"]: node for node in plan["nodes"]}
            case StepOutput(channel="code") if isinstance(event.data, str):
                code[event.node] = event.data
            case StepFinished(output={"frame": _, "code": _}):
                produced = Produced.model_validate(event.output)
                records.append(produced_record(event.node, produced, with_sample=True))
            case StepFailed() | StepSkipped() if _kind(nodes.get(event.node)) in WITH_ROWS:
                records.append(_unfinished(event, nodes[event.node], code.get(event.node)))
    return tuple(records)


def _unfinished(event: StepFailed | StepSkipped, node: Json, code: str | None) -> StepRecord:
    failed = isinstance(event, StepFailed)
    config = node.get("config") or {}
    return StepRecord(
        id=event.node.rpartition("/")[2],
        kind=_kind(node),
        source=config.get("source"),
        code=code or config.get("sql") or config.get("code"),
        duration_ms=event.duration_ms if isinstance(event, StepFailed) else 0.0,
        status="failed" if failed else "skipped",
    )


def _kind(node: Json) -> str:
    """The kind of a node. A step whose program a model writes (`write_sql`) has the kind of its program (`sql`)."""
    return str(node["kind"]).removeprefix("write_") if node else ""

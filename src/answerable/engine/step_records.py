"""The records of a run's steps, from its events. So the answer of a failed run shows the rows that were found."""

from collections.abc import Iterable, Mapping

from answerable.answers.answer import StepRecord
from answerable.core.events import Event, PlanReady, RunStarted, StepFailed, StepFinished, StepOutput, StepSkipped
from answerable.core.ids import NodeId
from answerable.core.values import Json
from answerable.engine.steps.descriptor import StepDescriptor, accounted_as
from answerable.engine.steps.produced import Produced


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
        values=produced.values,
        fingerprint=produced.fingerprint,
        last_sync=produced.last_sync,
        artifact=produced.frame.artifact,
        sample=produced.frame.sample if with_sample else (),
    )


def step_records(events: Iterable[Event], step_kinds: Mapping[str, StepDescriptor]) -> tuple[StepRecord, ...]:
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
            # By the shape of the output instead of the kind, so that kinds of plugins are recorded too.
            case StepFinished(output={"frame": _, "code": _}):
                produced = Produced.model_validate(event.output)
                records.append(produced_record(event.node, produced, with_sample=True))
            case StepFailed() | StepSkipped() if event.node in nodes:
                node = nodes[event.node]
                if (kind := accounted_as(node["kind"], step_kinds)) is not None:
                    records.append(_unfinished(event, node.get("config") or {}, kind, code.get(event.node)))
    return tuple(records)


def _unfinished(event: StepFailed | StepSkipped, config: Json, kind: StepDescriptor, code: str | None) -> StepRecord:
    failed = isinstance(event, StepFailed)
    planned = config.get(kind.code_field) if kind.code_field is not None else None
    return StepRecord(
        id=event.node.rpartition("/")[2],
        kind=kind.name,
        source=config.get("source"),
        # A failed step has usually shown its code before it ran; otherwise the config holds what it would have run.
        code=code or planned,
        language=kind.language,
        duration_ms=event.duration_ms if isinstance(event, StepFailed) else 0.0,
        status="failed" if failed else "skipped",
    )

"""Kind `present`: makes the answer, keeps its capsule, and tells it as events.

From 1,000 rows on, rows are announced in batches that clients fetch by range; below, they ride along.
"""

import asyncio
from collections.abc import Mapping, Sequence
from typing import Literal

from answerable.answers.answer import Answer, Binding, Choice, Provenance, StepRecord, Usage
from answerable.answers.capsule import capsule_body
from answerable.core.clock import Clock
from answerable.core.events import AnswerBatch, AnswerFinal, AnswerMetadata
from answerable.core.ids import NodeId
from answerable.core.values import Frozen, Json
from answerable.engine.steps.base import Step
from answerable.engine.steps.produced import Produced, oldest
from answerable.query.plan import QueryPlan
from answerable.store.base import Artifacts, Capsule, Capsules

STREAM_FROM = 1_000
BATCH = 10_000


class Presentation(Frozen):
    """What is known about the answer before there are rows."""

    question: str
    mind: str = "reader"
    understood: str | None = None
    bindings: tuple[Binding, ...] = ()
    confidence: Literal["high", "medium", "low"] | None = None
    confidence_reason: str | None = None
    plan: QueryPlan | None = None
    findings: tuple[str, ...] = ()
    clarify: str | None = None
    """Set for a question back: its text."""
    choices: tuple[Choice, ...] = ()


class PresentStep:
    def __init__(self, artifacts: Artifacts, capsules: Capsules, clock: Clock) -> None:
        self._artifacts = artifacts
        self._capsules = capsules
        self._clock = clock

    async def run(self, step: Step) -> Json:
        presentation = step.config_as(Presentation)
        results = {node: Produced.model_validate(output) for node, output in step.inputs.items() if output}
        missing = [node for node, output in step.inputs.items() if not output]
        answer = await self._answer(step, _with_missing(presentation, missing), results)
        capsule = Capsule(
            run=step.context.run,
            thread=step.context.thread,
            created_at=self._clock.now(),
            body=capsule_body(presentation.question, answer),
        )
        await self._capsules.put(step.context.scope, capsule)
        _tell(step, answer)
        return {"status": answer.status, "kind": answer.kind, "row_count": answer.row_count}

    async def _answer(self, step: Step, presentation: Presentation, results: Mapping[NodeId, Produced]) -> Answer:
        from answerable.answers.present import asked_back, present

        provenance = _provenance(presentation, results)
        if presentation.clarify is not None:
            return asked_back(step.context.run, presentation.clarify, presentation.choices, provenance)
        last = list(results.values())[-1]
        path = await self._artifacts.path(step.context.scope, last.frame.artifact)
        return await asyncio.to_thread(
            present,
            step.context.run,
            presentation.question,
            path,
            last.frame,
            plan=presentation.plan,
            provenance=provenance,
            steps=tuple(_record(node, result) for node, result in results.items()),
            drawn=last.chart,
            status="partial" if len(results) < len(step.inputs) else "done",
            usage=Usage(duration_ms=sum(result.duration_ms for result in results.values())),
        )


def _with_missing(presentation: Presentation, missing: Sequence[NodeId]) -> Presentation:
    notes = tuple(f"Step {node} gave nothing; the answer goes without it." for node in missing)
    return presentation.model_copy(update={"findings": (*presentation.findings, *notes)}) if notes else presentation


def _provenance(presentation: Presentation, results: Mapping[NodeId, Produced]) -> Provenance:
    outputs = list(results.values())
    kinds = {output.kind for output in outputs}
    findings = dict.fromkeys([*presentation.findings, *(text for output in outputs for text in output.findings)])
    return Provenance(
        mind=presentation.mind,
        understood=presentation.understood,
        bindings=presentation.bindings,
        confidence=presentation.confidence,
        confidence_reason=presentation.confidence_reason,
        sources=tuple(dict.fromkeys(source for output in outputs for source in output.sources)),
        data_source_type=None if not kinds else kinds.pop() if len(kinds) == 1 else "hybrid",
        last_sync=oldest(outputs),
        fingerprint=outputs[-1].fingerprint if outputs else None,
        plan=presentation.plan.model_dump(mode="json", exclude_none=True) if presentation.plan else None,
        findings=tuple(findings),
    )


def _record(node: NodeId, result: Produced) -> StepRecord:
    return StepRecord(
        id=node.rpartition("/")[2],
        kind=result.kind,
        source=result.sources[0] if len(result.sources) == 1 else None,
        code=result.code,
        row_count=result.frame.row_count,
        duration_ms=result.duration_ms,
        data_source_type=result.kind,
        sandbox=result.sandbox,
        inputs=result.inputs,
        fingerprint=result.fingerprint,
        last_sync=result.last_sync,
        artifact=result.frame.artifact,
    )


def _tell(step: Step, answer: Answer) -> None:
    body = answer.model_dump(mode="json")
    if answer.row_count >= STREAM_FROM:
        body["rows"] = []
    columns = [column.model_dump() for column in answer.columns]
    chart = answer.provenance.chart
    step.emit(AnswerMetadata, answer.kind, columns, answer.row_count, chart)
    if answer.row_count >= STREAM_FROM:
        for offset in range(0, answer.row_count, BATCH):
            step.emit(AnswerBatch, offset=offset, count=min(BATCH, answer.row_count - offset))
    step.emit(AnswerFinal, answer=body)

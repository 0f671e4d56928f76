"""Kind `present`: builds the answer, stores its capsule, and emits the answer as events.

The event of an answer with fewer than 1,000 rows holds the rows. Rows of larger answers are announced in batches, which
clients fetch by range.
"""

import asyncio
import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Literal

from answerable.answers.answer import Answer, Binding, Choice, Provenance, StepRecord, Usage
from answerable.answers.answer_graph import Stop, drawn_ways, path_ways, row_ways, ways_in_words
from answerable.answers.capsule import capsule_body
from answerable.answers.requested_format import RequestedFormat
from answerable.answers.result_rows import RecentRows
from answerable.core.clock import Clock
from answerable.core.errors import UserError
from answerable.core.events import AnswerBatch, AnswerFinal, AnswerMetadata, Event, StepOutput
from answerable.core.ids import NodeId
from answerable.core.values import FrameRef, Frozen, Json
from answerable.engine.frontier import STOPPED_EARLY
from answerable.engine.step_records import produced_record
from answerable.engine.steps.base import Step
from answerable.engine.steps.descriptor import StepDescriptor, accounted_as
from answerable.engine.steps.produced import Produced, oldest, produced_before
from answerable.query.plan import QueryPlan
from answerable.store.base import Artifacts, Capsule, Capsules

READER, MODEL, MODEL_CALL = "reader", "model", "model_call"
"""Who understood the question (the `mind` of an answer), and the output channel that reports each call of a model."""
STREAM_FROM = 1_000
"""From this number of rows on, clients fetch the rows: events are stored, and should stay small."""
_LEVELS = ("low", "medium", "high")
CLARIFY = "clarify"
"""The status of an answer that asks back."""
MOST_WAYS_IN_WORDS = 3
"""So many ways are told in words too."""
FIRST_BATCH = 100
BATCH = 10_000


Confidence = Literal["high", "medium", "low"]


class Advice(Frozen):
    """Remarks of a model that looked at the rows. They are checked before they are shown, and the answer does not
    depend on them."""

    prose: str | None = None
    format: RequestedFormat | None = None
    """The form that the user asked for, and heads for columns."""
    confidence: Confidence | None = None
    """None if nothing was checked that decides."""
    reason: str | None = None
    findings: tuple[str, ...] = ()
    doubt: str | None = None
    """What speaks against the answer. It is said in the answer's text."""
    revised: Produced | None = None
    """The rows that take the place of the answer's, because a check did not hold for these."""


class Presentation(Frozen):
    """The parts of the answer that are known before there are rows."""

    question: str
    mind: str = READER
    understood: str | None = None
    bindings: tuple[Binding, ...] = ()
    confidence: Confidence | None = None
    confidence_reason: str | None = None
    plan: QueryPlan | None = None
    findings: tuple[str, ...] = ()
    clarify: str | None = None
    """The text of a question back, or None if there are rows to present."""
    choices: tuple[Choice, ...] = ()
    text: str | None = None
    """An answer in words alone, such as a plan, or None if there are rows to present."""
    reply: NodeId | None = None
    """The step whose reply is shown in words: text as it is, an object as JSON. None if there are rows to present."""
    second_opinion: NodeId | None = None
    """A step that answers the same question in another way: agreement raises confidence, disagreement is shown."""
    advice: tuple[NodeId, ...] = ()
    """Steps whose output is an `Advice` about the rows."""
    reviewed: Advice | None = None
    """Advice about the rows that is there already."""
    format: RequestedFormat | None = None
    """The form that the user asked for, and heads for columns."""
    prose: str | None = None
    """A model's sentences about the rows. Sentences with numbers that the rows do not confirm are removed."""
    path: Mapping[str, str] = {}
    """The columns that each row is a way through, and what leads to each of them. Such an answer is drawn too."""
    incomplete: bool = False
    """Whether rows are missing: a step failed or was skipped, or calls failed of a step that may be partial."""


class PresentStep:
    descriptor = StepDescriptor(
        name="present",
        config=Presentation,
        title="Check and write",
        label="answer",
        produces="answer",
        rows_from="steps",
    )

    def __init__(
        self,
        artifacts: Artifacts,
        recent: RecentRows,
        capsules: Capsules,
        clock: Clock,
        step_kinds: Mapping[str, StepDescriptor],
    ) -> None:
        """`recent`: rows that steps before this one have just computed; `step_kinds`: every kind that a step before
        this one can have."""
        self._artifacts = artifacts
        self._recent = recent
        self._capsules = capsules
        self._clock = clock
        self._step_kinds = step_kinds

    async def run(self, step: Step) -> Json:
        presentation = step.config_as(Presentation)
        advisers, spoken = presentation.advice, presentation.reply
        if spoken is not None:
            presentation = presentation.model_copy(update={"text": _reply_text(step.inputs[spoken]["reply"])})
        # An adviser that failed has null as its output: the answer is shown without its advice.
        advice = [Advice.model_validate(step.inputs[node]) for node in advisers if step.inputs.get(node)]
        advice += [presentation.reviewed] if presentation.reviewed is not None else []
        outputs = {node: output for node, output in step.inputs.items() if node not in advisers and node != spoken}
        results = produced_before(outputs)
        second = results.pop(presentation.second_opinion, None) if presentation.second_opinion else None
        # A second opinion that failed is not missing: the answer does not depend on it.
        wanted = [node for node in outputs if node != presentation.second_opinion]
        presentation = _with_missing(presentation, step, [node for node in wanted if node not in results])
        if any(each.incomplete for each in results.values()):
            presentation = presentation.model_copy(update={"incomplete": True})
        if results and (revised := next((each.revised for each in advice if each.revised), None)) is not None:
            results[list(results)[-1]] = revised
        if second is not None and results:
            presentation = await self._compared(step, presentation, list(results.values())[-1], second)
        answer = _doubted(await self._answer(step, _advised(presentation, advice), results), advice)
        capsule = Capsule(
            run=step.context.run,
            thread=step.context.thread,
            created_at=self._clock.now(),
            body=capsule_body(presentation.question, answer),
        )
        # The capsule is stored before the events: whoever hears of the answer can read it. The lease keeps a process
        # that has lost the run from overwriting the capsule of the process that continued it.
        await self._capsules.put(step.context.principal, capsule, step.journal.lease)
        _emit_answer(step, answer)
        output = {"status": answer.status, "kind": answer.kind, "row_count": answer.row_count, "text": answer.text}
        last = next(reversed(results.values()), None)
        return output if last is None else {**output, "frame": last.frame.model_dump(mode="json")}

    async def _answer(self, step: Step, presentation: Presentation, results: Mapping[NodeId, Produced]) -> Answer:
        from answerable.answers.present import asked_back, present

        provenance = _provenance(presentation, results)
        if presentation.clarify is not None:
            usage = self._usage(step, presentation.mind, results)
            return asked_back(step.context.run, presentation.clarify, presentation.choices, provenance, usage)
        if presentation.text is not None:
            return Answer(
                run_id=step.context.run,
                status="done",
                kind="text",
                text=presentation.text,
                choices=presentation.choices,
                provenance=provenance,
                usage=self._usage(step, presentation.mind, results),
            )
        if not results:
            raise UserError("No step gave any rows." + "".join(_because(step, node) for node in step.missing))
        last = await self._arranged(step, presentation.format, list(results.values())[-1])
        path = await self._artifacts.path(step.context.principal, last.frame.artifact)
        # In a thread: reading, totals and charts compute over all rows, and would block the event loop.
        answer = await asyncio.to_thread(
            present,
            step.context.run,
            presentation.question,
            path,
            last.frame,
            known_rows=self._recent.of(last.frame.artifact),
            plan=presentation.plan,
            provenance=provenance,
            steps=(
                *(produced_record(node, result) for node, result in results.items()),
                *_unfinished(step, presentation, self._step_kinds),
            ),
            units=last.units,
            quantities=last.quantities,
            drawn=last.chart,
            proposed=presentation.prose,
            headers=last.headers,
            noun=last.noun,
            requested=presentation.format,
            status="partial" if presentation.incomplete else "done",
            usage=self._usage(step, presentation.mind, results),
        )
        ways = _ways(answer, presentation, last)
        in_words = f" {ways_in_words(ways)}" if 0 < answer.row_count <= MOST_WAYS_IN_WORDS and any(ways) else ""
        text = answer.text + in_words + _early_stop_note(step, presentation, results)
        return answer.model_copy(update={"text": text, "graph": drawn_ways(ways)})

    async def _arranged(self, step: Step, requested: RequestedFormat | None, last: Produced) -> Produced:
        """The rows in the order and with the columns that the user asked for, stored by themselves: the step's own
        rows stay as they are, so that it can be replayed."""
        if requested is None or not requested.arranges or requested.unknown_columns(last.frame.columns):
            return last
        from answerable.answers.arranged import arrange
        from answerable.answers.result_table import result_table

        principal, staging = step.context.principal, self._artifacts.staging()
        path = await self._artifacts.path(principal, last.frame.artifact)
        try:
            await asyncio.to_thread(arrange, path, staging, requested)
            table = await asyncio.to_thread(result_table, staging, None)
            artifact = await self._artifacts.adopt(principal, staging)
        finally:
            staging.unlink(missing_ok=True)  # still there only if it failed: `adopt` moves the file
        arranged = FrameRef(
            artifact=artifact,
            columns=table.columns,
            row_count=table.row_count,
            byte_count=table.byte_count,
            sample=table.sample,
        )
        return last.model_copy(update={"frame": arranged})

    async def _compared(
        self, step: Step, presentation: Presentation, first: Produced, second: Produced
    ) -> Presentation:
        """Compares the answer's rows with those of the second opinion. The same rows in two independent ways raise the
        confidence; different rows lower it and are reported."""
        from answerable.answers.checking.agreement import agree

        principal = step.context.principal
        paths = [await self._artifacts.path(principal, each.frame.artifact) for each in (first, second)]
        same = await asyncio.to_thread(agree, *paths)
        if same is None:
            return presentation  # the tables are too large to compare
        if same:
            reason = "The model's query and the reader's own give the same rows."
            return presentation.model_copy(update={"confidence": "high", "confidence_reason": reason})
        note = f"The reader reads this differently; its query: {second.code}"
        reason = "The model's query and the reader's own give different rows."
        update = {"confidence": "low", "confidence_reason": reason, "findings": (*presentation.findings, note)}
        return presentation.model_copy(update=update)

    def _usage(self, step: Step, mind: str, results: Mapping[NodeId, Produced]) -> Usage:
        """The usage of the run so far, from its journal."""
        spent = sum(result.duration_ms for result in results.values())
        return usage_in(step.journal.outputs, spent) if mind == MODEL else Usage(duration_ms=spent)


def _ways(answer: Answer, presentation: Presentation, result: Produced) -> Sequence[Sequence[Stop]]:
    """The ways that the rows describe."""
    if presentation.path:
        return list(row_ways(answer.columns, answer.rows, presentation.path))
    return list(path_ways(answer.columns, answer.rows, result.connections))


def _reply_text(reply: Json) -> str:
    return reply if isinstance(reply, str) else json.dumps(reply, ensure_ascii=False, indent=2)


def usage_in(events: Iterable[Event], duration_ms: float = 0.0) -> Usage:
    """The usage of models in a run. Also for failed runs, whose calls cost money too."""
    return usage_of((e.data for e in events if isinstance(e, StepOutput) and e.channel == MODEL_CALL), duration_ms)


def usage_of(calls: Iterable[Mapping[str, Json]], duration_ms: float) -> Usage:
    """The sum over calls of models. The total cost is None if the cost of one call is unknown."""
    calls = list(calls)
    costs = [call["cost"] for call in calls]
    return Usage(
        input_tokens=sum(call["input_tokens"] for call in calls),
        output_tokens=sum(call["output_tokens"] for call in calls),
        cost_usd=None if None in costs else sum(costs),
        model_calls=len(calls),
        duration_ms=duration_ms + sum(call["duration_ms"] for call in calls),
    )


def _advised(presentation: Presentation, advice: Sequence[Advice]) -> Presentation:
    """The presentation with all advice added. The lowest of several levels of confidence wins."""
    for each in advice:
        update: dict[str, Json] = {"findings": (*presentation.findings, *each.findings)}
        if each.prose is not None:
            update["prose"] = each.prose
        if each.format is not None:
            update["format"] = each.format
        levels = [level for level in (presentation.confidence, each.confidence) if level is not None]
        if each.confidence is not None and each.confidence == min(levels, key=_LEVELS.index):
            update |= {"confidence": each.confidence, "confidence_reason": each.reason}
        presentation = presentation.model_copy(update=update)
    if advice and presentation.confidence is None:
        undecided = {"confidence": "medium", "confidence_reason": "No independent check could decide."}
        presentation = presentation.model_copy(update=undecided)
    return presentation


def _doubted(answer: Answer, advice: Sequence[Advice]) -> Answer:
    """The answer with its doubts in its text. At the end, so that links to places in the text stay right."""
    doubts = [each.doubt for each in advice if each.doubt]
    return answer.model_copy(update={"text": " ".join([answer.text, *doubts])})


def _with_missing(presentation: Presentation, step: Step, nodes: Sequence[NodeId]) -> Presentation:
    """The presentation with a note for each step without an output. Steps that an early stop skipped get no note."""
    missing = [node for node in nodes if node not in _left_out(step)]
    notes = tuple(f"Step {node} gave nothing; the answer goes without it.{_because(step, node)}" for node in missing)
    update = {"findings": (*presentation.findings, *notes), "incomplete": True}
    return presentation.model_copy(update=update) if notes else presentation


def _because(step: Step, node: NodeId) -> str:
    return f" The reason: {step.missing[node].reason}" if node in step.missing else ""


def _left_out(step: Step) -> list[NodeId]:
    """The steps that an early stop has skipped."""
    return [node for node, missing in step.missing.items() if missing.reason.startswith(STOPPED_EARLY)]


def _early_stop_note(step: Step, presentation: Presentation, results: Mapping[NodeId, Produced]) -> str:
    """Says which steps were not run, and why; empty if there was no early stop."""
    skipped = [node for node in _left_out(step) if node not in presentation.advice]
    if not skipped:
        return ""
    first, left = " and ".join(results), " and ".join(skipped)
    return f" Step {first} found nothing, so {left} did not run."


def _unfinished(
    step: Step, presentation: Presentation, step_kinds: Mapping[str, StepDescriptor]
) -> Iterator[StepRecord]:
    """Records of the steps that failed or were skipped, so that the answer lists every step of the plan."""
    for node, missing in step.missing.items():
        kind = accounted_as(missing.kind, step_kinds)
        if node != presentation.second_opinion and kind is not None:
            status: Literal["failed", "skipped"] = "failed" if missing.failed else "skipped"
            yield StepRecord(id=node, kind=kind.name, language=kind.language, status=status)


def _provenance(presentation: Presentation, results: Mapping[NodeId, Produced]) -> Provenance:
    outputs = list(results.values())
    # A program over rows of earlier steps reads no data of its own, so it does not say where the data comes from.
    reading = [output for output in outputs if not output.inputs or output.data_source_type == "api"] or outputs
    kinds = {output.data_source_type or output.kind for output in reading}
    # Steps hand the findings of their inputs on, so the same finding comes several times.
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


def show_rows(step: Step, result: FrameRef, rows: Sequence[Sequence[Json]]) -> None:
    """Emits the first rows of an answer before the answer itself, which may take longer and replaces them."""
    step.emit(AnswerMetadata, "table", [column.model_dump() for column in result.columns], result.row_count)
    first = [list(row) for row in rows[:FIRST_BATCH]]
    step.emit(AnswerBatch, offset=0, count=len(first), rows=first)


def _emit_answer(step: Step, answer: Answer) -> None:
    """Emits the answer as events. The first batch of a large answer holds its rows, so that clients can show some rows
    at once."""
    body = answer.model_dump(mode="json")
    columns = [column.model_dump() for column in answer.columns]
    step.emit(AnswerMetadata, answer.kind, columns, answer.row_count, answer.provenance.chart)
    if answer.row_count >= STREAM_FROM:
        first, body["rows"] = body["rows"][:FIRST_BATCH], []
        step.emit(AnswerBatch, offset=0, count=len(first), rows=first)
        for offset in range(len(first), answer.row_count, BATCH):
            step.emit(AnswerBatch, offset=offset, count=min(BATCH, answer.row_count - offset))
    step.emit(AnswerFinal, answer=body)

"""The reply to the user when a run ended without an answer."""

from collections.abc import Sequence

from answerable.answers.answer import Answer, ErrorRecord, Provenance, StepRecord, Usage
from answerable.core.errors import AnswerableError, RefusedError, kind_of
from answerable.core.ids import RunId


def failed(
    run: RunId,
    error: AnswerableError,
    *,
    step: str | None = None,
    steps: Sequence[StepRecord] = (),
    usage: Usage | None = None,
) -> Answer:
    """A refusal by rule, or a failure with what to do. `steps`: what was found before, which stays of use."""
    refused = isinstance(error, RefusedError)
    record = ErrorRecord(kind=kind_of(error), code=error.stable_code, message=str(error), hint=error.hint, step=step)
    return Answer(
        run_id=run,
        status="refused" if refused else "failed",
        kind="refusal" if refused else "text",
        text=str(error),
        steps=tuple(steps),
        provenance=Provenance(error=record, sources=_sources(steps)),
        usage=usage or Usage(),
    )


def cancelled(run: RunId, reason: str, usage: Usage, steps: Sequence[StepRecord] = ()) -> Answer:
    return Answer(
        run_id=run,
        status="cancelled",
        kind="text",
        text=f"Stopped: {reason}.",
        steps=tuple(steps),
        provenance=Provenance(sources=_sources(steps)),
        usage=usage,
    )


def _sources(steps: Sequence[StepRecord]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(step.source for step in steps if step.source))

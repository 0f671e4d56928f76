"""What the user is told when a run has no answer."""

from answerable.answers.answer import Answer, ErrorRecord, Provenance, Usage
from answerable.core.errors import AnswerableError, RefusedError, kind_of
from answerable.core.ids import RunId


def failed(run: RunId, error: AnswerableError, *, step: str | None = None, usage: Usage | None = None) -> Answer:
    """A refusal by rule, or a failure with what to do."""
    refused = isinstance(error, RefusedError)
    record = ErrorRecord(kind=kind_of(error), code=error.stable_code, message=str(error), hint=error.hint, step=step)
    return Answer(
        run_id=run,
        status="refused" if refused else "failed",
        kind="refusal" if refused else "text",
        text=str(error),
        provenance=Provenance(error=record),
        usage=usage or Usage(),
    )


def cancelled(run: RunId, reason: str, usage: Usage) -> Answer:
    return Answer(run_id=run, status="cancelled", kind="text", text=f"Stopped: {reason}.", usage=usage)

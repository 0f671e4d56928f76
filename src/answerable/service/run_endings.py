"""How runs end: what is stored and said of one that finished, failed, was cancelled, or is not carried out here."""

from collections.abc import Mapping, Sequence

from answerable.answers.answer import Answer
from answerable.answers.unanswered import cancelled, failed
from answerable.core.errors import InternalError, OperatorError, TransientError, restored
from answerable.core.events import Event, RunCancelled, RunFailed, RunFinished
from answerable.core.ids import RunId
from answerable.engine.outcome import was_refused
from answerable.engine.step_records import step_records
from answerable.engine.steps.descriptor import StepDescriptor
from answerable.engine.steps.present import usage_in
from answerable.store.base import RunResult, RunStatus

RETRY_SECONDS = 5
"""Seconds that a client is asked to wait before it tries again: by then another process may have taken the run over."""


def status_of(last: Event) -> RunStatus:
    match last:
        case RunFinished(status=status):
            return "partial" if status == "partial" else "done"
        case RunCancelled():
            return "cancelled"
        case RunFailed() if was_refused(last):
            return "refused"
        case _:
            return "failed"


def result_of(answer: Answer) -> RunResult:
    """What listings show."""
    usage, kind = answer.usage, answer.kind if answer.status not in ("failed", "cancelled") else None
    rows = answer.row_count if answer.provenance.artifact is not None else None
    return RunResult(kind, rows, usage.input_tokens + usage.output_tokens, usage.cost_usd)


def account_of(events: Sequence[Event], step_kinds: Mapping[str, StepDescriptor]) -> Answer:
    """What became of a run that has no answer."""
    steps, usage = step_records(events, step_kinds), usage_in(events)
    match events[-1]:
        case RunFailed(run=run, kind=kind, code=code, message=message, hint=hint, node=node):
            return failed(run, restored(kind, code, message, hint), step=node, steps=steps, usage=usage)
        case RunCancelled(run=run, reason=reason):
            return cancelled(run, reason, usage, steps)
        case last:
            raise InternalError(f"{last.type} is not the end of a failed run.")


def process_stopping(run: RunId | None = None) -> TransientError:
    details = {"retry_after": RETRY_SECONDS, **({"run_id": run} if run is not None else {})}
    if run is None:
        return TransientError("The server is stopping.", code="server_stopping", hint="Ask again.", **details)
    return TransientError(
        f"The server is stopping. {run} goes on when a server runs again.",
        code="server_stopping",
        hint="Ask for the run again in a few seconds; it is not lost.",
        **details,
    )


def run_quarantined(run: RunId) -> OperatorError:
    return OperatorError(
        f"Three processes in a row died at the same place of {run}, so it is not continued.",
        code="run_quarantined",
        hint="Its steps are kept: look at the last one, and into the log of that time. "
        "To try it all the same, ask again; a graph goes on from there with `answerable graph fork`.",
    )

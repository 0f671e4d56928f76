"""Kind `approval`: asks a person, and waits for the decision. The question and the decision are in the journal, so the
run can wait through restarts, and nobody is asked twice. After a deadline the default counts."""

from typing import Literal

from pydantic import Field

from answerable.core.clock import Clock
from answerable.core.errors import RefusedError
from answerable.core.events import ApprovalDecided, Verdict
from answerable.core.values import Frozen, Json
from answerable.engine.steps.base import Step, Suspended
from answerable.engine.steps.descriptor import StepDescriptor

BY_DEADLINE = "deadline"
"""Who has decided if nobody did in time."""


class ApprovalConfig(Frozen):
    prompt: str = Field(min_length=1)
    """The question to the person."""
    show: Json = None
    """What the person decides about."""
    rejected: Literal["fail", "continue"] = "fail"
    """What a rejection does: fail the node, or let later nodes see the decision."""
    deadline: float | None = Field(default=None, gt=0)
    """After so many seconds `default` is the decision."""
    default: Literal["approve", "reject"] = "reject"


class ApprovalStep:
    descriptor = StepDescriptor(name="approval", config=ApprovalConfig, produces="value", label="approval")

    def __init__(self, clock: Clock) -> None:
        self._clock = clock

    async def run(self, step: Step) -> Json:
        config = step.config_as(ApprovalConfig)
        verdict, by, note, data = self._decided(step, config)
        if verdict == "reject" and config.rejected == "fail":
            raise RefusedError(
                f"Step `{step.id}` was rejected by {by}{f': {note}' if note else ''}.", code="approval_rejected"
            )
        return {"decision": verdict, "by": by, "note": note, "data": data}

    def _decided(self, step: Step, config: ApprovalConfig) -> tuple[Verdict, str, str | None, Json]:
        past = step.past
        if past is not None and past.decision is not None:
            decided = past.decision
            verdict = decided.verdict or ("approve" if decided.approved else "reject")
            data = decided.data if verdict in ("edit", "respond") else config.show
            return verdict, decided.by, decided.note, data
        if past is not None and past.approval == "asked":  # it is started again only when its deadline has passed
            approved = config.default == "approve"
            step.journal.record(ApprovalDecided, step.id, approved, BY_DEADLINE, None, config.default)
            return config.default, BY_DEADLINE, None, config.show
        until = None if config.deadline is None else self._clock.now().timestamp() + config.deadline
        step.wait_for_decision(config.prompt, config.show, until)
        raise Suspended

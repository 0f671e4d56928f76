"""What one run may use in all: its nodes and the graphs inside of them share it. Pure."""

from collections.abc import Iterable, Sequence
from itertools import pairwise

from pydantic import Field

from answerable.core.errors import LimitError
from answerable.core.events import ApprovalDecided, Event, RunResumed, StepOutput
from answerable.core.values import Frozen

MODEL_CALL = "model_call"
"""The channel on which each call of a model is recorded with its usage."""
_AFTER_WAITING = (RunResumed, ApprovalDecided)


class RunBudget(Frozen):
    """A limit that is None does not count."""

    model_calls: int | None = Field(default=None, ge=0)
    tokens: int | None = Field(default=None, ge=0)
    cost: float | None = Field(default=None, ge=0, description="Dollars. A call of unknown price counts as nothing.")
    seconds: float | None = Field(default=None, gt=0, description="While it runs; waiting for people is free.")

    def check_time(self, seconds: float) -> None:
        """Raises a `LimitError` if no time is left. Asked before each step."""
        self._check(seconds=seconds)

    def check_call(self, outputs: Iterable[StepOutput], seconds: float, under_way: int = 0) -> None:
        """Raises a `LimitError` if no further model may be called. `under_way`: calls that are not recorded yet."""
        calls = [each.data for each in outputs if each.channel == MODEL_CALL]
        self._check(
            model_calls=len(calls) + under_way,
            tokens=sum(call["input_tokens"] + call["output_tokens"] for call in calls),
            cost=sum(call["cost"] or 0.0 for call in calls),
            seconds=seconds,
        )

    def _check(self, **used: float) -> None:
        for name, amount in used.items():
            limit = getattr(self, name)
            if limit is not None and amount >= limit:
                raise LimitError(
                    f"The budget of the run is spent: {name.replace('_', ' ')} {amount:,.6g} of {limit:,.6g}.",
                    code="run_budget_spent",
                    hint="`answerable graph fork RUN` goes on from here with the same budget once more.",
                )


def active_seconds(events: Sequence[Event]) -> float:
    """How long a run was carried out, without the times in which it waited for a person or for a process."""
    return sum(max(0.0, late.at - early.at) for early, late in pairwise(events) if not isinstance(late, _AFTER_WAITING))

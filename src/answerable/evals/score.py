"""The figures that `answerable eval` prints, from the outcome of each case. Their JSON form is a contract."""

from collections.abc import Sequence
from typing import Literal

from pydantic import Field

from answerable.core.values import Frozen

Outcome = Literal["correct", "wrong", "asked", "declined", "failed"]


Confidence = Literal["high", "medium", "low"]


class Spent(Frozen):
    """What a case took."""

    seconds: float = 0.0
    calls: int = 0
    """Calls of language models."""
    input_tokens: int = 0
    output_tokens: int = 0
    cost_usd: float | None = 0.0
    """None if the price of the model is unknown."""


class Scored(Frozen):
    """What became of one case."""

    id: str
    outcome: Outcome
    offered: bool = False
    """Whether the right reading was among the choices of a question back."""
    unanswerable: bool = False
    """Whether the data cannot answer the case: then only `declined` is right."""
    code: str | None = None
    """The program that ran, or the code of the error after a failure."""
    reason: str | None = None
    """The sentence of the error after a failure."""
    confidence: Confidence | None = Field(default=None, exclude=True)
    """How sure the answer claims to be. Only `evals/measured.py` reports it."""
    spent: Spent = Field(default=Spent(), exclude=True)
    """Time and cost. Only `evals/measured.py` reports them, so they are excluded from JSON here."""


class Report(Frozen):
    cases: int
    answered: int
    correct: int
    accuracy: float
    """The share of correct cases among those that the data can answer."""
    given_or_offered: float
    """The share of cases, among those that the data can answer, whose right reading was given or offered."""
    coverage: float
    """The share of answered cases among all cases."""
    precision: float
    """The share of correct cases among the answered ones; 0 if no case was answered."""
    asked: int
    offered: int
    unanswerable: int
    """Cases that the data cannot answer."""
    declined: int
    """Those of them that were not answered, which is right."""
    failed: int
    seconds: float
    results: tuple[Scored, ...]


def report(results: Sequence[Scored], seconds: float) -> Report:
    correct = _count(results, "correct")
    answered = correct + _count(results, "wrong")
    unanswerable = sum(result.unanswerable for result in results)
    answerable = len(results) - unanswerable
    offered = sum(result.offered for result in results)
    return Report(
        cases=len(results),
        answered=answered,
        correct=correct,
        accuracy=_share(correct, answerable),
        given_or_offered=_share(correct + offered, answerable),
        coverage=_share(answered, len(results)),
        precision=_share(correct, answered),
        asked=_count(results, "asked"),
        offered=offered,
        unanswerable=unanswerable,
        declined=_count(results, "declined"),
        failed=_count(results, "failed"),
        seconds=round(seconds, 3),
        results=tuple(results),
    )


def _count(results: Sequence[Scored], outcome: Outcome) -> int:
    return sum(result.outcome == outcome for result in results)


def _share(part: int, whole: int) -> float:
    return round(part / whole, 6) if whole else 0.0

"""What the reader replies with: it answers when sure, asks when not, and says which word it did not know."""

from typing import TypeAlias

from answerable.answers.answer import Binding
from answerable.core.values import Frozen
from answerable.query.plan import QueryPlan


class Reading(Frozen):
    """One way to understand the question."""

    plan: QueryPlan
    sentence: str
    """Built from the plan, so it is always true of the query that runs."""
    confidence: float
    """The estimated probability that the user meant this reading, 0 to 1."""
    bindings: tuple[Binding, ...] = ()
    sql: str | None = None
    example: str | None = None
    """What it would answer, in a few words, if a dry run was made to show it."""


class Read(Frozen):
    """Sure enough to answer."""

    best: Reading
    others: tuple[Reading, ...] = ()


class Unsure(Frozen):
    """No reading is likely enough: the user chooses one."""

    question: str
    """What to ask back, in one sentence."""
    readings: tuple[Reading, ...]
    """The best first, three at most."""
    unknown: tuple[str, ...] = ()
    """Words that were not understood."""


class Unreadable(Frozen):
    """The question matches no data. `unknown` names the words that were not understood."""

    message: str
    unknown: tuple[str, ...] = ()


Reply: TypeAlias = Read | Unsure | Unreadable

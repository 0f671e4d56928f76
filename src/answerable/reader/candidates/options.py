"""The pieces that candidates are put together from, each with how likely it is."""

from dataclasses import dataclass
from math import log
from typing import NamedTuple

from answerable.reader.plans.draft import DraftCondition, DraftOrder, Term

# An option below one in seventy is not worth the drafts that it would cost.
LEAST_CHANCE = 0.015


class SelectOption(NamedTuple):
    """A piece of the query with the place in the question that it comes from."""

    term: Term
    place: float
    chance: float
    last: float = 0.0
    """The last place where it could come from; lists of what to show often stand at the end."""


class ConditionOption(NamedTuple):
    """A condition with the tokens that it accounts for."""

    condition: DraftCondition
    start: int
    end: int
    chance: float
    negated: bool = False
    """Stands in the scope of a negation."""


class SortOption(NamedTuple):
    order: tuple[DraftOrder, ...]
    limit: int | None
    chance: float


class HavingOption(NamedTuple):
    condition: DraftCondition
    place: int
    chance: float


@dataclass
class ClauseOptions:
    parts: list[SelectOption]
    tests: list[list[ConditionOption]]
    """For each phrase its possible conditions; one of them, or none, is used."""
    nested: list[ConditionOption]
    """Comparisons with other rows or columns; at most one is used."""
    sortings: list[SortOption]
    havings: list[HavingOption]
    tables: list[float]
    groups: list[tuple[int, float]]


def logit(chance: float) -> float:
    bounded = min(max(chance, 0.002), 0.998)
    return log(bounded / (1.0 - bounded))

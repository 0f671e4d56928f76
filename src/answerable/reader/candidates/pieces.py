"""The pieces that candidates are put together from, each with how likely it is."""

from dataclasses import dataclass
from math import log
from typing import NamedTuple

from answerable.reader.plans.draft import Condition, Order, Term


class Part(NamedTuple):
    """A piece of the query with the place in the question that it comes from."""

    term: Term
    place: float
    chance: float
    last: float = 0.0
    """The last place where it could come from; lists of what to show often stand at the end."""


class Test(NamedTuple):
    """A condition with the tokens that it accounts for."""

    condition: Condition
    start: int
    end: int
    chance: float
    negated: bool = False
    """Stands in the scope of a negation."""


class Sorting(NamedTuple):
    order: tuple[Order, ...]
    limit: int | None
    chance: float


class Having(NamedTuple):
    condition: Condition
    place: int
    chance: float


@dataclass
class Options:
    parts: list[Part]
    tests: list[list[Test]]
    """For each phrase its possible conditions; one of them, or none, is used."""
    nested: list[Test]
    """Comparisons with other rows or columns; at most one is used."""
    sortings: list[Sorting]
    havings: list[Having]
    tables: list[float]
    groups: list[tuple[int, float]]


def logit(chance: float) -> float:
    bounded = min(max(chance, 0.002), 0.998)
    return log(bounded / (1.0 - bounded))

"""What a form of the grammar returns."""

from dataclasses import dataclass

from answerable.query.plan import QueryPlan


@dataclass(frozen=True, slots=True)
class Parse:
    """A plan, and the places of the words of the question that it uses."""

    plan: QueryPlan
    words: frozenset[int]

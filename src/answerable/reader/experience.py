"""Saved questions as examples: the same question in a little other words, or with another value or period."""

from answerable.core.values import Frozen
from answerable.core.words import normalise, stem
from answerable.query.plan import QueryPlan
from answerable.reader.linking.lexicon import STOPWORDS

LIKE_AN_EXAMPLE = 0.8
"""How sure a reading by analogy is: fairly, because the two questions are not the same."""
MOST_EXAMPLES = 20
"""So many saved questions are compared closely, the newest first."""


class Example(Frozen):
    """A question whose answer was saved as right, and the plan of that answer."""

    question: str
    plan: QueryPlan


def are_alike(one: str, other: str) -> bool:
    """Whether it is worth comparing two questions closely: they have a content word in common."""
    return not _content(one).isdisjoint(_content(other))


def _content(question: str) -> set[str]:
    return {stem(word) for word in normalise(question).split() if word not in STOPWORDS}

"""Boosted trees as plain lists: probabilities from lists of numbers, without a numeric library."""

from collections.abc import Callable, Sequence
from functools import cached_property
from math import exp
from typing import Any, TypeAlias

from answerable.core.records import dataclass

_Node = tuple[int, float, Any, Any]
"""A feature, its threshold, and the nodes for values up to the threshold and above it. A leaf has its value in the
place of the threshold, and no nodes."""
_STAGE = 20
"""The number of trees after which unlikely vectors are dropped."""
_UNLIKELY = -5.6
"""A chance below 0.4%: no later stage looks at it, and the trees that are left seldom save it."""

Least: TypeAlias = Callable[[Sequence[float]], float]
"""Takes the scores so far and returns a bound. The remaining trees skip vectors below it, because the first trees
decide most vectors already."""


def _likely(_scores: Sequence[float]) -> float:
    return _UNLIKELY


@dataclass(frozen=True)
class Trees:
    """All trees in flat lists. A node is a split when its feature is not negative, else a leaf with a value."""

    roots: Sequence[int]
    feature: Sequence[int]
    threshold: Sequence[float]
    """A split goes left if the feature is at most this. For a leaf it is the value."""
    right: Sequence[int]
    """The left child of a split is the next node."""

    def scores(self, vectors: Sequence[Sequence[float]], least: Least | None = None) -> list[float]:
        """The sum of all trees for each vector. Tree by tree, because one fits the processor's cache, all do not."""
        totals = [0.0] * len(vectors)
        going = list(enumerate(vectors))
        for start in range(0, len(self._linked), _STAGE):
            if start and least:
                bound = least(totals)
                going = [one for one in going if totals[one[0]] >= bound]
            for root in self._linked[start : start + _STAGE]:
                for number, vector in going:
                    feature, threshold, left, right = root
                    # A leaf has no left node, and its threshold is its value.
                    while left is not None:
                        feature, threshold, left, right = left if vector[feature] <= threshold else right
                    totals[number] += threshold
        return totals

    def probabilities(self, vectors: Sequence[Sequence[float]]) -> list[float]:
        return [1.0 / (1.0 + exp(-score)) for score in self.scores(vectors, _likely)]

    @cached_property
    def _linked(self) -> list[_Node]:
        """The roots, each node with the two that follow it: a third quicker to walk than the lists."""
        nodes: list[Any] = [None] * len(self.feature)
        # Children follow their parents in the lists, so this order links each child before its parent.
        for place in reversed(range(len(nodes))):
            feature, threshold = self.feature[place], self.threshold[place]
            split = feature >= 0
            following = (nodes[place + 1], nodes[self.right[place]]) if split else (None, None)
            nodes[place] = (feature, threshold, *following)
        return [nodes[root] for root in self.roots]

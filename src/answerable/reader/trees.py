"""Boosted trees as plain lists: a probability from a list of numbers, without a numeric library."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from math import exp
from typing import Any

_Node = tuple[int, float, Any, Any]
"""A feature, its threshold, and the nodes to go on with at most that or above; a leaf has its value, and none."""


@dataclass(frozen=True)
class Trees:
    """All trees in flat lists. A node is a split when its feature is not negative, else a leaf with a value."""

    roots: Sequence[int]
    feature: Sequence[int]
    threshold: Sequence[float]
    """Of a split: go left when the feature is at most this. Of a leaf: its value."""
    right: Sequence[int]
    """The left child of a split is the next node."""

    def score(self, vector: Sequence[float]) -> float:
        total = 0.0
        for feature, threshold, left, right in self._linked:
            while left is not None:
                feature, threshold, left, right = left if vector[feature] <= threshold else right
            total += threshold
        return total

    def probability(self, vector: Sequence[float]) -> float:
        return 1.0 / (1.0 + exp(-self.score(vector)))

    @cached_property
    def _linked(self) -> list[_Node]:
        """The roots, each node with the two that follow it: a third quicker to walk than the lists."""
        nodes: list[Any] = [None] * len(self.feature)
        for place in reversed(range(len(nodes))):
            feature, threshold = self.feature[place], self.threshold[place]
            split = feature >= 0
            following = (nodes[place + 1], nodes[self.right[place]]) if split else (None, None)
            nodes[place] = (feature, threshold, *following)
        return [nodes[root] for root in self.roots]

"""Boosted trees as plain lists: a probability from a list of numbers, without a numeric library."""

from collections.abc import Sequence
from dataclasses import dataclass
from math import exp


@dataclass(frozen=True, slots=True)
class Trees:
    """All trees in flat lists. A node is a split when its feature is not negative, else a leaf with a value."""

    roots: Sequence[int]
    feature: Sequence[int]
    threshold: Sequence[float]
    """Of a split: go left when the feature is at most this. Of a leaf: its value."""
    right: Sequence[int]
    """The left child of a split is the next node."""

    def score(self, vector: Sequence[float]) -> float:
        feature, threshold, right = self.feature, self.threshold, self.right
        total = 0.0
        for node in self.roots:
            split = feature[node]
            while split >= 0:
                node = node + 1 if vector[split] <= threshold[node] else right[node]
                split = feature[node]
            total += threshold[node]
        return total

    def probability(self, vector: Sequence[float]) -> float:
        return 1.0 / (1.0 + exp(-self.score(vector)))

"""A linear model of the words of a question: what each n-gram says for each class of each part."""

from collections.abc import Mapping, Sequence
from math import exp, log

from answerable.core.records import dataclass


@dataclass(frozen=True, slots=True)
class LinearPart:
    """The weights of one part of the shape: what each n-gram says for each class."""

    classes: Sequence[str]
    bias: Sequence[float]
    rows: Mapping[int, int]
    """From the number of an n-gram to its row; most say nothing of this part."""
    weights: Sequence[float]
    """Row by row, one number for each class."""

    def chances(self, known: Sequence[int]) -> dict[str, float]:
        sums = list(self.bias)
        width, weights = len(sums), self.weights
        for number in known:
            row = self.rows.get(number)
            if row is not None:
                start = row * width
                for place in range(width):
                    sums[place] += weights[start + place]
        # The largest sum is subtracted, so that `exp` cannot overflow.
        top = max(sums)
        total = log(sum(exp(value - top) for value in sums)) + top
        return {name: value - total for name, value in zip(self.classes, sums, strict=True)}


@dataclass(frozen=True, slots=True)
class Linear:
    """Soft-max of sums of weights, one model for each part of the shape."""

    grams: Mapping[str, int]
    parts: Mapping[str, LinearPart]

    def chances(self, features: Sequence[str]) -> dict[str, dict[str, float]]:
        """For each part the logarithm of the probability of each class."""
        known = [self.grams[feature] for feature in features if feature in self.grams]
        return {name: part.chances(known) for name, part in self.parts.items()}

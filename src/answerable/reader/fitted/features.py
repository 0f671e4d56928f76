"""Features: what a fitted model looks at, as a vector of numbers that each have a name."""

from collections.abc import Sequence
from typing import TypeAlias

Vector: TypeAlias = list[float]


def prefixed(prefix: str, names: Sequence[str]) -> tuple[str, ...]:
    return tuple(f"{prefix}.{name}" for name in names)

"""What a check found in a request."""

from dataclasses import dataclass

THRESHOLD = 5
"""A request with so many points is an attack."""


@dataclass(frozen=True, slots=True)
class Finding:
    check: str
    points: int
    place: str
    why: str


def violation(check: str, place: str, why: str) -> Finding:
    """A finding that is enough by itself to refuse a request."""
    return Finding(check, THRESHOLD, place, why)

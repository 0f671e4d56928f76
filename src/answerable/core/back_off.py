"""How long to wait before trying again. The schedule is a pure function; whoever retries waits by its own clock."""

import math


def back_off(attempt: int, *, first: float, factor: float = 2.0, longest: float = math.inf) -> float:
    """Seconds to wait after this attempt, counted from 1: each wait is `factor` times the one before it."""
    return min(longest, first * factor ** (attempt - 1))

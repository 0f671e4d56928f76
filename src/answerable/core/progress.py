"""How long work reports how far it has come."""

from collections.abc import Callable
from typing import TypeAlias

Progress: TypeAlias = Callable[[str, float | None, float | None], None]
"""Called with a message, how much is done, and how much there is in total. The numbers are None if not known."""


def no_progress(_message: str, _done: float | None = None, _total: float | None = None) -> None:
    """For callers that show no progress."""

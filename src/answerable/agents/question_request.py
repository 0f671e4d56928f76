"""What somebody asks."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date

from answerable.core.ids import ThreadId
from answerable.engine.steps.understand import Mode


@dataclass(frozen=True, slots=True)
class QuestionRequest:
    """A message in a thread: a question in plain words, or a query after `SQL:` or `PYTHON:`."""

    message: str
    sources: Sequence[str] = ()
    """What the question is about; empty for the default source."""
    thread: ThreadId | None = None
    """None for a new thread."""
    choice: int | None = None
    force: bool = False
    today: date | None = None
    mode: Mode = "auto"
    plan_only: bool = False

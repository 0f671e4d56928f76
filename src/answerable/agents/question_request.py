"""The request to answer a question, as all three doors hand it to the service."""

from collections.abc import Sequence
from datetime import date

from answerable.core.ids import ThreadId
from answerable.core.records import dataclass
from answerable.engine.steps.understand import Mode


@dataclass(frozen=True, slots=True)
class QuestionRequest:
    """A message in a thread: a question in plain words, or a query after `SQL:`, `CYPHER:` or `PYTHON:`."""

    message: str
    sources: Sequence[str] = ()
    """The sources that the question is about; empty for the default source."""
    thread: ThreadId | None = None
    """None for a new thread."""
    choice: int | None = None
    """The number of a choice that the last answer of the thread offered."""
    force: bool = False
    """Answer with the best reading even if the reader is not sure of it."""
    today: date | None = None
    """The day from which "last month" is counted; None for the real one."""
    mode: Mode = "auto"
    plan_only: bool = False
    """Show the plan as the answer, and run no query."""
    stand_in: bool = True
    """Whether the reader answers or asks back if a model fails."""
    experience: bool = True
    """Whether saved questions of the source may serve as examples. Measuring goes without them: a golden case would be
    its own example."""

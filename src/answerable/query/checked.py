"""The one thing that a source executes: a query that the checker of its language has approved.

Each query language has a subclass of its own, and only the checker or compiler of that language creates it. A source
takes no plain text, so text that nobody checked cannot reach it. The one exception is a gold statement of an
evaluation (`query/sql/operator.py`), for which the operator vouches. `tests/query/test_checked.py` makes sure of both.
"""

from answerable.core.records import dataclass
from answerable.core.values import Language


@dataclass(frozen=True, slots=True)
class CheckedQuery:
    language: Language
    text: str
    """What runs. The checker wrote it; it is never the text that came in, save for an operator's gold statement."""

    def __post_init__(self) -> None:
        if type(self) is CheckedQuery:
            raise TypeError("Only the checker of a language can create a checked query.")

"""A report of each call of a model: who, how much, how long, how it went. Never what was said, nor any key."""

from collections.abc import Callable
from dataclasses import asdict
from typing import TypeAlias

from answerable.core.ids import RunId
from answerable.core.records import dataclass
from answerable.core.values import Json
from answerable.models.config import Role

DONE, CANCELLED = "done", "cancelled"


@dataclass(frozen=True, slots=True)
class ModelCalled:
    run: RunId
    role: Role
    provider: str
    model: str
    attempt: int
    outcome: str
    """`done`, `cancelled`, or the code of the error."""
    streamed: bool
    input_tokens: int
    output_tokens: int
    cached_tokens: int
    cost: float | None
    """Dollars; None if the price of the model is not known. Then only budgets of tokens hold."""
    estimated: bool
    """The provider did not say how many tokens it counted."""
    duration_ms: float
    first_token_ms: float | None = None

    def as_json(self) -> dict[str, Json]:
        return asdict(self)


Listener: TypeAlias = Callable[[ModelCalled], None]

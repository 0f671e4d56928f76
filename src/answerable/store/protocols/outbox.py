"""What must be delivered at least once, written in the commit of what it announces."""

from collections.abc import Sequence
from dataclasses import field
from typing import Protocol

from answerable.core.context import Principal
from answerable.core.records import dataclass
from answerable.core.values import Json


@dataclass(frozen=True, slots=True)
class Notice:
    """Something that must be delivered at least once."""

    stream: str
    """Notices of one stream are delivered in the order of their numbers. For events this is the run."""
    number: int
    principal: Principal
    topic: str
    """For an event, its type."""
    body: Json = field(repr=False)
    made_at: float
    """Seconds since the epoch."""
    attempt: int


class Outbox(Protocol):
    async def claim(self) -> Sequence[Notice]:
        """Open notices that are due and that no living process delivers, for this process to deliver."""
        ...

    async def delivered(self, notice: Notice) -> None: ...

    async def failed(self, notice: Notice, again_in: float) -> None:
        """The notice is due again after that many seconds."""
        ...

    def rest(self) -> None:
        """This process delivers nothing at the moment."""
        ...

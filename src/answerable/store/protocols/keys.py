"""Requests with an Idempotency-Key: a repeated one is carried out once."""

from dataclasses import dataclass
from typing import Protocol

from answerable.core.context import Principal
from answerable.core.ids import RunId


@dataclass(frozen=True, slots=True)
class KeyClaim:
    """What is known of a request with an Idempotency-Key."""

    run: RunId
    """The id that was chosen when the key first came."""
    mine: bool
    """Whether whoever claimed it just now is to carry the request out."""
    here: bool = False
    """Whether this process has claimed it, now or before."""
    note: str | None = None
    reply: str | None = None
    """None until the request has been carried out."""


class IdempotencyKeys(Protocol):
    async def run_for(self, principal: Principal, key: str, fingerprint: str, run: RunId) -> RunId:
        """The run that this key of the principal stands for: `run` if the key is new, else the one that was named
        first. A key is valid for a day. Raises a `UserError` if the key was used with another fingerprint."""
        ...

    async def claim(self, principal: Principal, key: str, fingerprint: str, run: RunId) -> KeyClaim:
        """Claims a request that nobody has carried out and no living process is carrying out. `run`: the id to choose
        if the key is new."""
        ...

    async def remember(self, principal: Principal, key: str, note: str) -> None:
        """A note for those who carry the request out after this process has died."""
        ...

    async def finish(self, principal: Principal, key: str, reply: str | None) -> None:
        """Stores the reply to a request that this process has claimed; with None, gives the request back."""
        ...

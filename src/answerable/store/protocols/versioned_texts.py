"""Texts that people keep in versions: graphs that they drew, and agents that they wrote."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Protocol

from answerable.core.context import Principal


@dataclass(frozen=True, slots=True)
class TextRecord:
    name: str
    owner: Principal
    """Who saved it first."""
    tags: tuple[str, ...]
    version: int
    """Of the text that counts."""
    created_at: datetime
    updated_at: datetime


@dataclass(frozen=True, slots=True)
class TextVersion:
    name: str
    version: int
    principal: Principal
    """Who saved it."""
    made_at: datetime
    note: str
    text: str = field(repr=False)
    """As it was written, to the byte."""


class VersionedTexts(Protocol):
    """Versions are numbered from 1 without gaps and never change."""

    async def save(
        self,
        principal: Principal,
        name: str,
        text: str,
        *,
        note: str,
        tags: Sequence[str] | None = None,
        expected: int | None = None,
    ) -> TextVersion:
        """Adds a version. The text that counts already is not added again. `tags`: None leaves them. `expected`: the
        version that the caller knows; if another one counts by now, nothing is stored."""
        ...

    async def get(self, principal: Principal, name: str) -> TextRecord: ...

    async def list(self, principal: Principal, *, tag: str | None = None) -> Sequence[TextRecord]:
        """Sorted by name."""
        ...

    async def version(self, principal: Principal, name: str, version: int | None = None) -> TextVersion:
        """One version; None for the one that counts."""
        ...

    async def versions(self, principal: Principal, name: str, *, limit: int = 100) -> Sequence[TextVersion]:
        """Newest first."""
        ...

    async def delete(self, principal: Principal, name: str) -> None:
        """Removes all versions."""
        ...

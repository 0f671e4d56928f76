"""Graphs that users drew, in every version."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Protocol

from answerable.core.context import Principal


@dataclass(frozen=True, slots=True)
class GraphRecord:
    name: str
    owner: Principal
    """Who saved it first."""
    tags: tuple[str, ...]
    version: int
    """Of the text that counts."""
    created_at: datetime
    updated_at: datetime


@dataclass(frozen=True, slots=True)
class GraphVersion:
    name: str
    version: int
    principal: Principal
    """Who saved it."""
    made_at: datetime
    note: str
    text: str = field(repr=False)
    """As it was written, to the byte."""


class Graphs(Protocol):
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
    ) -> GraphVersion:
        """Adds a version. The text that counts already is not added again. `tags`: None leaves them. `expected`: the
        version that the caller knows; if another one counts by now, nothing is stored (`graph_changed`)."""
        ...

    async def get(self, principal: Principal, name: str) -> GraphRecord: ...

    async def list(self, principal: Principal, *, tag: str | None = None) -> Sequence[GraphRecord]:
        """The stored graphs, sorted by name."""
        ...

    async def version(self, principal: Principal, name: str, version: int | None = None) -> GraphVersion:
        """One version; None for the one that counts."""
        ...

    async def versions(self, principal: Principal, name: str, *, limit: int = 100) -> Sequence[GraphVersion]:
        """Newest first."""
        ...

    async def delete(self, principal: Principal, name: str) -> None:
        """Removes all versions."""
        ...

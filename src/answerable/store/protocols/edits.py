"""The history of what people said about their sources."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Protocol

from answerable.core.context import Principal
from answerable.core.ids import EditId


@dataclass(frozen=True, slots=True)
class EditRecord:
    """A change of what is said about a source."""

    edit: EditId
    principal: Principal
    source: str
    made_at: datetime
    note: str
    before: str = field(repr=False)
    after: str = field(repr=False)


class Edits(Protocol):
    """The history of semantic files. A file and a row cannot be written in one commit: the row comes first, names the
    process that is about to write the file, and is settled afterwards. What a process that died has left is settled by
    the next that looks at the source. Only settled edits are history."""

    async def begin(
        self, principal: Principal, source: str, *, before: str, after: str, note: str, edit: EditId | None = None
    ) -> EditRecord:
        """`edit`: the id to give it, if it was chosen before."""
        ...

    async def settle(self, edit: EditRecord) -> None:
        """The file holds the edit."""
        ...

    async def withdraw(self, edit: EditRecord) -> None:
        """The file was not written."""
        ...

    async def unsettled(self, principal: Principal, source: str) -> Sequence[EditRecord]:
        """Edits that were begun, the oldest first, and that no other living process works on."""
        ...

    async def get(self, principal: Principal, edit: EditId) -> EditRecord: ...

    async def of_source(self, principal: Principal, source: str, *, limit: int = 100) -> Sequence[EditRecord]:
        """Newest first."""
        ...

"""What is said about a source: names, synonyms, descriptions, relationships. Every change is checked and recorded."""

import asyncio
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from datetime import datetime

from pydantic import Field

from answerable.core.context import Principal
from answerable.core.errors import AnswerableError, NotFoundError, SemanticError, UserError
from answerable.core.ids import EditId
from answerable.core.values import Frozen
from answerable.sources.base import Source
from answerable.sources.editing import (
    Meaning,
    SemanticEdit,
    check_joinable,
    checked,
    edited,
    exclusive,
    read_meaning,
    write_meaning,
)
from answerable.sources.registry import SourceRegistry
from answerable.sources.semantic import Semantic
from answerable.store.base import Store
from answerable.store.protocols.edits import EditRecord


class SemanticProblem(Frozen):
    message: str
    hint: str | None
    line: int | None
    column: int | None
    field: str | None


class SemanticDocument(Frozen):
    source: str
    file: str = Field(description="Where changes are written.")
    version: str = Field(description="Give it with a change, so that nobody's work is overwritten.")
    text: str
    document: Semantic | None = Field(description="Null while the text has a mistake.")
    problem: SemanticProblem | None


class SemanticChange(Frozen):
    change_id: str
    at: datetime
    user: str
    note: str
    before: str
    after: str


class SemanticService:
    def __init__(self, registry: SourceRegistry, store: Store) -> None:
        self._registry = registry
        self._store = store
        self._editing = asyncio.Lock()
        """Held by whoever reads a semantic file in order to change it. Other processes are kept out by `exclusive`."""

    async def read(self, name: str, principal: Principal) -> SemanticDocument:
        """Everything that is said about a source."""
        source = await self._registry.get(name, principal)
        return await _document(name, source, await read_meaning(source))

    async def rewrite(
        self,
        name: str,
        text: str,
        principal: Principal,
        *,
        version: str | None = None,
        note: str = "",
        change: EditId | None = None,
    ) -> SemanticDocument:
        """Replaces the whole text. A mistake is an error with its line and field, and changes nothing. `change`: the id
        to give the change; one of that id that was made already is not made again."""
        async with self._changing(name, principal):
            if await self._is_made(name, change, principal):
                return await self.read(name, principal)
            return await self._write(name, text, version, note, principal, change)

    async def edit(
        self,
        name: str,
        edits: Sequence[SemanticEdit],
        principal: Principal,
        *,
        version: str | None = None,
        note: str = "",
        change: EditId | None = None,
    ) -> SemanticDocument:
        """Makes all of the edits or none; the next question is understood by them. `change`: as in `rewrite`."""
        async with self._changing(name, principal):
            if await self._is_made(name, change, principal):
                return await self.read(name, principal)
            source = await self._registry.get(name, principal)
            check_joinable(await source.describe_plainly(), edits)
            text = edited((await read_meaning(source)).text, edits)
            return await self._write(name, text, version, note, principal, change)

    async def history(self, name: str, principal: Principal, *, limit: int = 100) -> Sequence[SemanticChange]:
        """Who changed what, the newest first."""
        self._registry.location(name, principal)
        if await self._store.edits.unsettled(principal, name):
            async with self._changing(name, principal):
                await self._settle(name, principal)
        records = await self._store.edits.of_source(principal, name, limit=limit)
        if not records:
            await self._registry.get(name, principal)  # a path that leads nowhere is an error, not an empty history
        return [_change(record) for record in records]

    async def undo(
        self, name: str, change_id: str, principal: Principal, *, change: EditId | None = None
    ) -> SemanticDocument:
        """Puts back how it was before the newest change; that is a change too, and can be undone. `change`: as in
        `rewrite`."""
        async with self._changing(name, principal):
            if await self._is_made(name, change, principal):
                return await self.read(name, principal)
            await self._settle(name, principal)
            undone = await self._store.edits.get(principal, EditId(change_id))
            meaning = await read_meaning(await self._registry.get(name, principal))
            if undone.source != name or undone.after != meaning.text:
                raise UserError(
                    "It was changed again since.", code="semantic_changed", hint="Undo the newer changes first."
                )
            note = f"Undone: {undone.note}" if undone.note else "Undone"
            return await self._write(name, undone.before, meaning.version, note, principal, change)

    @asynccontextmanager
    async def _changing(self, name: str, principal: Principal) -> AsyncIterator[None]:
        async with self._editing, exclusive(await self._registry.get(name, principal)):
            yield

    async def _write(
        self,
        name: str,
        text: str,
        version: str | None,
        note: str,
        principal: Principal,
        change: EditId | None = None,
    ) -> SemanticDocument:
        source = await self._registry.get(name, principal)
        await self._settle(name, principal)
        before = (await read_meaning(source)).text
        if before == text:
            await write_meaning(source, text, version=version)  # for its checks
            return await _document(name, source, await read_meaning(source))
        # History comes first: a name in force that history does not know could not be undone.
        edit = await self._store.edits.begin(principal, name, before=before, after=text, note=note, edit=change)
        try:
            await write_meaning(source, text, version=version)
        except AnswerableError:
            await self._store.edits.withdraw(edit)
            raise
        await self._store.edits.settle(edit)
        return await _document(name, source, await read_meaning(source))

    async def _is_made(self, name: str, change: EditId | None, principal: Principal) -> bool:
        if change is None:
            return False
        await self._settle(name, principal)
        try:
            await self._store.edits.get(principal, change)
        except NotFoundError:
            return False
        return True

    async def _settle(self, name: str, principal: Principal) -> None:
        """Finds out what became of edits whose process died between the history and the file."""
        left = await self._store.edits.unsettled(principal, name)
        if not left:
            return
        now = (await read_meaning(await self._registry.get(name, principal))).text
        for edit in left:
            if now == edit.before != edit.after:
                await self._store.edits.withdraw(edit)
            else:
                await self._store.edits.settle(edit)


async def _document(name: str, source: Source, meaning: Meaning) -> SemanticDocument:
    document, problem = None, None
    try:
        document = await checked(source, meaning.text, meaning.file)
    except SemanticError as error:
        place = {part: error.details.get(part) for part in ("line", "column", "field")}
        problem = SemanticProblem(message=error.message, hint=error.hint, **place)
    return SemanticDocument(
        source=name,
        file=str(meaning.file),
        version=meaning.version,
        text=meaning.text,
        document=document,
        problem=problem,
    )


def _change(record: EditRecord) -> SemanticChange:
    return SemanticChange(
        change_id=record.edit,
        at=record.made_at,
        user=record.principal.user,
        note=record.note,
        before=record.before,
        after=record.after,
    )

"""What is said about a source: names, synonyms, descriptions, relationships. Every change is checked and remembered."""

from datetime import datetime
from typing import Annotated

from fastapi import APIRouter, Query
from pydantic import Field

from answerable.core.context import Principal
from answerable.core.errors import SemanticError, UserError
from answerable.core.ids import EditId
from answerable.gateway.access import EditingOf, PrincipalOf, ServiceOf, SourcePath
from answerable.gateway.problems import documented
from answerable.gateway.wire import API, Wire
from answerable.service import Service
from answerable.sources.base import Source
from answerable.sources.editing import (
    Meaning,
    SemanticEdit,
    check_joinable,
    checked,
    edited,
    read_meaning,
    write_meaning,
)
from answerable.sources.semantic import Semantic
from answerable.store.base import EditRecord

router = APIRouter(prefix=API, tags=["semantic"])

LARGEST = 500_000


class SemanticProblem(Wire):
    message: str
    hint: str | None
    line: int | None
    column: int | None
    field: str | None


class SemanticDocument(Wire):
    source: str
    file: str = Field(description="Where changes are written.")
    version: str = Field(description="Give it with a change, so that nobody's work is overwritten.")
    text: str
    document: Semantic | None = Field(description="Null while the text has a mistake.")
    problem: SemanticProblem | None


class SemanticText(Wire):
    text: str = Field(max_length=LARGEST)
    version: str | None = Field(None, max_length=64)
    note: str = Field("", max_length=500)


class SemanticChanges(Wire):
    edits: list[SemanticEdit] = Field(min_length=1, max_length=500)
    version: str | None = Field(None, max_length=64)
    note: str = Field("", max_length=500)


class SemanticChange(Wire):
    change_id: str
    at: datetime
    user: str
    note: str
    before: str
    after: str


class SemanticHistory(Wire):
    changes: list[SemanticChange]


class UndoRequest(Wire):
    change_id: str = Field(pattern=r"^edt_[0-9a-z]{24}$")


@router.get("/sources/{name}/semantic", responses=documented(404, 422, 502, 503))
async def semantic(name: SourcePath, service: ServiceOf) -> SemanticDocument:
    """All that is said about a source."""
    source = await service.registry.get(name)
    return await _document(name, source, await read_meaning(source))


@router.put("/sources/{name}/semantic", responses=documented(400, 404, 413, 422, 502, 503))
async def rewrite(
    name: SourcePath, body: SemanticText, service: ServiceOf, principal: PrincipalOf, editing: EditingOf
) -> SemanticDocument:
    """Replace the whole text. A mistake is told with its line and field, and changes nothing."""
    async with editing:
        return await _written(name, body.text, body.version, body.note, service, principal)


@router.patch("/sources/{name}/semantic", responses=documented(400, 404, 413, 422, 502, 503))
async def edit(
    name: SourcePath, body: SemanticChanges, service: ServiceOf, principal: PrincipalOf, editing: EditingOf
) -> SemanticDocument:
    """Say some things differently, all of them or none; the next question is understood by it."""
    async with editing:
        source = await service.registry.get(name)
        check_joinable(await source.describe_plainly(), body.edits)
        text = edited((await read_meaning(source)).text, body.edits)
        return await _written(name, text, body.version, body.note, service, principal)


@router.get("/sources/{name}/semantic/history", responses=documented(404, 422))
async def history(
    name: SourcePath, service: ServiceOf, principal: PrincipalOf, limit: Annotated[int, Query(ge=1, le=500)] = 100
) -> SemanticHistory:
    """Who changed what, the newest first."""
    service.registry.location(name)
    records = await service.store.edits.of_source(principal, name, limit=limit)
    return SemanticHistory(changes=[_change(record) for record in records])


@router.post("/sources/{name}/semantic/undo", responses=documented(400, 404, 413, 422, 502, 503))
async def undo(
    name: SourcePath, body: UndoRequest, service: ServiceOf, principal: PrincipalOf, editing: EditingOf
) -> SemanticDocument:
    """Put back how it was before the newest change; that is a change too, and can be undone."""
    async with editing:
        change = await service.store.edits.get(principal, EditId(body.change_id))
        meaning = await read_meaning(await service.registry.get(name))
        if change.source != name or change.after != meaning.text:
            raise UserError(
                "It was changed again since.", code="semantic_changed", hint="Undo the newer changes first."
            )
        note = f"Undone: {change.note}" if change.note else "Undone"
        return await _written(name, change.before, meaning.version, note, service, principal)


async def _written(
    name: str, text: str, version: str | None, note: str, service: Service, principal: Principal
) -> SemanticDocument:
    source = await service.registry.get(name)
    before = await write_meaning(source, text, version=version)
    if before.text != text:
        await service.store.edits.add(principal, name, before=before.text, after=text, note=note)
    return await _document(name, source, await read_meaning(source))


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

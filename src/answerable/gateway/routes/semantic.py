"""What is said about a source: names, synonyms, descriptions, relationships."""

from typing import Annotated

from fastapi import APIRouter, Query
from pydantic import Field

from answerable.core.ids import edit_of
from answerable.gateway.access import AttemptOf, PrincipalOf, ServiceOf, SourcePath, needs
from answerable.gateway.middleware.idempotency import OnceRoute
from answerable.gateway.problems import documented
from answerable.gateway.wire import API, Wire
from answerable.service.learning import Learned
from answerable.service.semantic import SemanticChange, SemanticDocument
from answerable.sources.editing import SemanticEdit

router = APIRouter(prefix=API, tags=["semantic"], route_class=OnceRoute, dependencies=[needs("edit_names")])

LARGEST = 500_000


class SemanticText(Wire):
    text: str = Field(max_length=LARGEST)
    version: str | None = Field(None, max_length=64)
    note: str = Field("", max_length=500)


class SemanticChanges(Wire):
    edits: list[SemanticEdit] = Field(min_length=1, max_length=500)
    version: str | None = Field(None, max_length=64)
    note: str = Field("", max_length=500)


class SemanticHistory(Wire):
    changes: list[SemanticChange]


class UndoRequest(Wire):
    change_id: str = Field(pattern=r"^edt_[0-9a-z]{24}$")


@router.get("/sources/{name}/semantic", responses=documented(404, 422, 502, 503))
async def semantic(name: SourcePath, service: ServiceOf, principal: PrincipalOf) -> SemanticDocument:
    """Show the names, relationships and measures that are defined for a source."""
    return await service.semantic.read(name, principal)


@router.put("/sources/{name}/semantic", responses=documented(400, 404, 413, 422, 502, 503))
async def rewrite(
    name: SourcePath, body: SemanticText, service: ServiceOf, principal: PrincipalOf, attempt: AttemptOf
) -> SemanticDocument:
    """Replace the whole file. If it has a mistake, the error names the line and the field, and nothing is changed."""
    change = edit_of(attempt.run) if attempt is not None else None
    return await service.semantic.rewrite(
        name, body.text, principal, version=body.version, note=body.note, change=change
    )


@router.patch("/sources/{name}/semantic", responses=documented(400, 404, 413, 422, 502, 503))
async def edit(
    name: SourcePath, body: SemanticChanges, service: ServiceOf, principal: PrincipalOf, attempt: AttemptOf
) -> SemanticDocument:
    """Apply all of the edits or none of them. The next question uses the new definitions."""
    change = edit_of(attempt.run) if attempt is not None else None
    return await service.semantic.edit(name, body.edits, principal, version=body.version, note=body.note, change=change)


@router.get("/sources/{name}/semantic/history", responses=documented(404, 422))
async def history(
    name: SourcePath, service: ServiceOf, principal: PrincipalOf, limit: Annotated[int, Query(ge=1, le=500)] = 100
) -> SemanticHistory:
    """List the changes and who made them, newest first."""
    return SemanticHistory(changes=[*await service.semantic.history(name, principal, limit=limit)])


@router.post("/sources/{name}/semantic/undo", responses=documented(400, 404, 413, 422, 502, 503))
async def undo(
    name: SourcePath, body: UndoRequest, service: ServiceOf, principal: PrincipalOf, attempt: AttemptOf
) -> SemanticDocument:
    """Undo the newest change. The undo is a change too, and can be undone."""
    change = edit_of(attempt.run) if attempt is not None else None
    return await service.semantic.undo(name, body.change_id, principal, change=change)


class LearnRequest(Wire):
    accept: bool = Field(False, description="Whether to put the proposal in force; otherwise it is only shown.")
    max_tokens: int = Field(100_000, ge=1_000, le=10_000_000, description="No further call once these are used.")


@router.post("/sources/{name}/learn", responses=documented(400, 404, 413, 422, 429, 500, 502, 503))
async def learn(name: SourcePath, body: LearnRequest, service: ServiceOf, principal: PrincipalOf) -> Learned:
    """Let a model write names and questions of a source, check them against the data, and propose a semantic.yaml."""
    return await service.learning.learn(name, principal, accept=body.accept, max_tokens=body.max_tokens)

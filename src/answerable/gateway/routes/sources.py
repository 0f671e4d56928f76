"""Sources: what is there, how it looks, adding and removing."""

from typing import Annotated

from fastapi import APIRouter, Query
from pydantic import Field

from answerable.gateway.access import AttemptOf, PrincipalOf, ServiceOf, SourcePath, TablePath, needs, within
from answerable.gateway.middleware.idempotency import OnceRoute
from answerable.gateway.problems import documented
from answerable.gateway.wire import API, RowPage, Wire
from answerable.service.source_views import RelationshipView, SourceList, SourceSummary, SourceTest
from answerable.sources.statistics import TableStatistics

router = APIRouter(prefix=API, tags=["sources"], route_class=OnceRoute, dependencies=[within("ask", "add_sources")])

CHANGES = needs("add_sources")


class NewSource(Wire):
    url: str = Field(min_length=1, max_length=4_000, description="postgresql://user:password@host:5432/database")
    name: str | None = Field(None, min_length=1, max_length=60, description="After the database when left out.")


class RelationshipList(Wire):
    relationships: list[RelationshipView]


@router.get("/sources", responses=documented(422, 503))
async def sources(service: ServiceOf, principal: PrincipalOf) -> SourceList:
    """List the sources. Those that were not checked for a while are checked in the background."""
    return service.sources.list(principal)


@router.get("/sources/{name}/status", responses=documented(404, 422))
async def source_status(name: SourcePath, service: ServiceOf, principal: PrincipalOf) -> SourceSummary:
    """Show one source and how much of it has been read."""
    return service.sources.status(name, principal)


@router.post("/sources/{name}/sync", status_code=202, dependencies=[CHANGES], responses=documented(404, 422))
async def sync(name: SourcePath, service: ServiceOf, principal: PrincipalOf) -> SourceSummary:
    """Read a source again, in the background."""
    return service.sources.sync(name, principal)


@router.post("/sources", status_code=201, dependencies=[CHANGES], responses=documented(400, 403, 413, 422, 503))
async def add(body: NewSource, service: ServiceOf, principal: PrincipalOf, attempt: AttemptOf) -> SourceSummary:
    """Add a database. Its password is stored, and never shown."""
    return await service.sources.add(body.url, principal, name=body.name, attempt=attempt)


@router.post("/sources/test", dependencies=[CHANGES], responses=documented(400, 403, 413, 422, 503))
async def test(body: NewSource, service: ServiceOf, principal: PrincipalOf) -> SourceTest:
    """Try a database without adding it. A database that cannot be read is a reply with a `problem`."""
    return await service.sources.test(body.url, principal, name=body.name)


@router.delete("/sources/{name}", status_code=204, dependencies=[CHANGES], responses=documented(403, 404, 422, 503))
async def remove(name: SourcePath, service: ServiceOf, principal: PrincipalOf) -> None:
    """Remove a source that was added or uploaded; uploaded files are deleted."""
    await service.sources.remove(name, principal)


@router.get("/sources/{name}/tables/{table}/rows", responses=documented(400, 404, 413, 422, 502, 503))
async def table_rows(
    name: SourcePath,
    table: TablePath,
    service: ServiceOf,
    principal: PrincipalOf,
    offset: Annotated[int, Query(ge=0, le=10**9)] = 0,
    limit: Annotated[int, Query(ge=1, le=500)] = 50,
) -> RowPage:
    """Show some rows of a table, as they are stored."""
    found = await service.sources.preview(name, table, principal, offset=offset, limit=limit)
    columns = [column.model_dump() for column in found.columns]
    return RowPage(columns=columns, rows=found.rows, offset=offset, row_count=found.row_count)


@router.get("/sources/{name}/tables/{table}/statistics", responses=documented(400, 404, 413, 422, 502, 503))
async def statistics(name: SourcePath, table: TablePath, service: ServiceOf, principal: PrincipalOf) -> TableStatistics:
    """Show how the values of each column are distributed. The counts are cached until the data changes."""
    return await service.sources.statistics(name, table, principal)


@router.get("/sources/{name}/relationships", responses=documented(400, 404, 413, 422, 502, 503))
async def relationships(name: SourcePath, service: ServiceOf, principal: PrincipalOf) -> RelationshipList:
    """List the relationships and how many rows have no partner. The counts are cached until the data changes."""
    return RelationshipList(relationships=[*await service.sources.relationships(name, principal)])

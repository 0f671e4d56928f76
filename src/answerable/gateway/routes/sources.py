"""Sources: what is there, how it looks, adding and removing."""

from collections.abc import Sequence
from datetime import datetime
from typing import Annotated, Literal
from urllib.parse import urlsplit

from fastapi import APIRouter, Query, Request
from pydantic import Field

from answerable.core.catalog import Relationship
from answerable.core.errors import RefusedError, UserError
from answerable.gateway.access import AddedOf, ServiceOf, SettingsOf, SourcePath, TablePath, WatchOf
from answerable.gateway.problems import documented
from answerable.gateway.wire import API, RowPage, Wire
from answerable.service import Service
from answerable.settings import Settings
from answerable.sources.added import MB, AddedSources, source_name
from answerable.sources.base import browsable
from answerable.sources.sql.postgres import SCHEMES
from answerable.sources.statistics import (
    TableStatistics,
    plain,
    table_named,
)
from answerable.sources.watch import Watch

router = APIRouter(prefix=API, tags=["sources"])

KEPT_STATISTICS = 500


class SourceProblem(Wire):
    code: str
    message: str
    hint: str | None


class SourceProgress(Wire):
    message: str
    done: int
    total: int
    counted: bool = Field(description="Tables are counted; else it is the stages of reading.")
    seconds: float = Field(description="Since it began.")


class SourceSummary(Wire):
    name: str
    kind: str | None = Field(description="`files`, `sqlite`, `duckdb`, `postgres`; null until it was opened.")
    location: str = Field(description="Never with a password.")
    origin: Literal["bundled", "settings", "added", "uploaded"]
    default: bool = Field(description="Asked when a question names no source.")
    removable: bool
    state: Literal["unread", "reading", "ready", "failed"]
    tables: int | None
    rows: int | None = Field(description="Of all tables together.")
    last_sync: datetime | None = Field(description="When the data was last written, as far as the source can tell.")
    read_at: datetime | None
    fingerprint: str | None = Field(description="Another one whenever the data has changed; null until it was read.")
    progress: SourceProgress | None
    error: SourceProblem | None
    files: list[str] = Field(description="Of an uploaded source.")


class SourceList(Wire):
    sources: list[SourceSummary]
    upload_mb: int = Field(description="Largest file that may be uploaded; 0 when nothing may be added.")
    upload_room_mb: int = Field(description="How much more may be uploaded before something has to be removed.")


class NewSource(Wire):
    url: str = Field(min_length=1, max_length=4_000, description="postgresql://user:password@host:5432/database")
    name: str | None = Field(None, min_length=1, max_length=60, description="After the database when left out.")


class RelationshipView(Relationship):
    orphan_rows: int | None = Field(description="Rows that point to nothing; null when that could not be counted.")


class RelationshipList(Wire):
    relationships: list[RelationshipView]


@router.get("/sources", responses=documented(422, 503))
async def sources(service: ServiceOf, settings: SettingsOf, added: AddedOf, watch: WatchOf) -> SourceList:
    """What can be asked. Sources that were not looked at for a while are looked at in the background."""
    for name in service.registry.names:
        watch.look(name)
    listed = [summary(name, service, settings, added, watch) for name in service.registry.names]
    room = max(0, added.room(settings.upload_total_mb * MB) // MB)
    return SourceList(sources=listed, upload_mb=settings.upload_mb, upload_room_mb=room)


@router.get("/sources/{name}/status", responses=documented(404, 422))
async def source_status(
    name: SourcePath, service: ServiceOf, settings: SettingsOf, added: AddedOf, watch: WatchOf
) -> SourceSummary:
    service.registry.location(name)
    watch.look(name)
    return summary(name, service, settings, added, watch)


@router.post("/sources/{name}/sync", status_code=202, responses=documented(404, 422))
async def sync(
    name: SourcePath, service: ServiceOf, settings: SettingsOf, added: AddedOf, watch: WatchOf
) -> SourceSummary:
    """Look at it again, in the background."""
    service.registry.location(name)
    watch.read(name)
    return summary(name, service, settings, added, watch)


@router.post("/sources", status_code=201, responses=documented(400, 403, 413, 422, 503))
async def add(
    body: NewSource, service: ServiceOf, settings: SettingsOf, added: AddedOf, watch: WatchOf
) -> SourceSummary:
    """Add a database. Its password is kept, and never shown."""
    check_adding(settings)
    if body.url.partition("://")[0].lower() not in SCHEMES:
        raise UserError(
            "Only databases can be added by URL.",
            code="source_url_invalid",
            hint="Write it as postgresql://user:password@host:5432/database; upload files instead.",
        )
    name = _free_name(body.name or _database(body.url), service, given=body.name is not None)
    added.add_database(name, body.url)
    service.registry.add(name, body.url)
    watch.read(name)
    return summary(name, service, settings, added, watch)


@router.delete("/sources/{name}", status_code=204, responses=documented(403, 404, 422, 503))
async def remove(name: SourcePath, service: ServiceOf, added: AddedOf, watch: WatchOf) -> None:
    """Remove a source that was added or uploaded; uploaded files are deleted."""
    service.registry.location(name)
    added.remove(name)
    await watch.forget(name)
    await service.registry.remove(name)


@router.get("/sources/{name}/tables/{table}/rows", responses=documented(404, 413, 422, 502, 503))
async def table_rows(
    name: SourcePath,
    table: TablePath,
    service: ServiceOf,
    offset: Annotated[int, Query(ge=0, le=10**9)] = 0,
    limit: Annotated[int, Query(ge=1, le=500)] = 50,
) -> RowPage:
    """Some rows of a table, as they are stored."""
    source = await service.registry.get(name)
    found = table_named(await source.describe(), table)
    rows = await browsable(source).first_rows(found, offset, limit)
    return RowPage(
        columns=[{"name": column.name, "type": column.type} for column in found.columns],
        rows=[[plain(value) for value in row] for row in rows],
        offset=offset,
        row_count=found.row_count or 0,
    )


@router.get("/sources/{name}/tables/{table}/statistics", responses=documented(404, 413, 422, 502, 503))
async def statistics(name: SourcePath, table: TablePath, service: ServiceOf, request: Request) -> TableStatistics:
    """How the values of each column are spread; counted once for as long as the data stays as it is."""
    source = await service.registry.get(name)
    catalog = await source.describe()
    found = table_named(catalog, table)
    kept: dict[tuple[object, ...], TableStatistics] = request.app.state.statistics
    key = (name, found.name, found.fingerprint or catalog.fingerprint, tuple(c.name for c in found.columns))
    if key not in kept:
        if len(kept) >= KEPT_STATISTICS:
            kept.clear()
        kept[key] = await browsable(source).statistics(found)
    return kept[key]


@router.get("/sources/{name}/relationships", responses=documented(404, 413, 422, 502, 503))
async def relationships(name: SourcePath, service: ServiceOf, request: Request) -> RelationshipList:
    """How tables belong together, and how many rows point to nothing; counted once as long as both stay as they are."""
    source = await service.registry.get(name)
    catalog = await source.describe()
    kept: dict[str, tuple[tuple[object, ...], RelationshipList]] = request.app.state.relationships
    state = (catalog.fingerprint, catalog.relationships)
    if name not in kept or kept[name][0] != state:
        checks = await browsable(source).relationship_checks(catalog)
        views = [RelationshipView(**check.relationship.model_dump(), orphan_rows=check.orphan_rows) for check in checks]
        kept[name] = (state, RelationshipList(relationships=views))
    return kept[name][1]


def check_adding(settings: Settings) -> None:
    if not settings.upload_mb:
        raise RefusedError(
            "Sources cannot be added here.",
            code="adding_off",
            hint="Whoever runs the server can allow it with the setting `upload_mb`.",
        )


def _free_name(wanted: str, service: Service, *, given: bool) -> str:
    """A name that was asked for is taken or refused; one that was made up may get a number."""
    name = source_name(wanted)
    if name not in service.registry.names:
        return name
    if given:
        raise UserError(f"There is a source {name!r} already.", code="source_exists", hint="Choose another name.")
    return free_name(name, service.registry.names)


def free_name(name: str, taken: Sequence[str]) -> str:
    number = 2
    while (numbered := f"{name}_{number}") in taken:
        number += 1
    return name if name not in taken else numbered


def _database(url: str) -> str:
    try:
        return urlsplit(url).path.strip("/") or "database"
    except ValueError:
        return "database"


def summary(name: str, service: Service, settings: Settings, added: AddedSources, watch: Watch) -> SourceSummary:
    seen, own = watch.seen(name), added.get(name)
    catalog, error = seen.catalog, seen.error
    counts = [table.row_count for table in catalog.tables] if catalog else []
    return SourceSummary(
        name=name,
        kind=seen.kind,
        location=service.registry.location(name),
        origin="settings" if name in settings.sources else own.origin if own else "bundled",
        default=name == service.default_source,
        removable=own is not None and name not in settings.sources,
        state=seen.state,
        tables=len(catalog.tables) if catalog else None,
        rows=sum(count for count in counts if count is not None) if catalog else None,
        last_sync=catalog.last_sync if catalog else None,
        read_at=seen.read_at,
        fingerprint=catalog.fingerprint if catalog else None,
        progress=_progress(name, watch) if seen.state == "reading" else None,
        error=SourceProblem(code=error.stable_code, message=error.message, hint=error.hint) if error else None,
        files=list(own.files) if own else [],
    )


def _progress(name: str, watch: Watch) -> SourceProgress:
    message, done, total, counted = watch.progress(name)
    seconds = round(watch.seconds(name), 3)
    return SourceProgress(message=message, done=done, total=total, counted=counted, seconds=seconds)

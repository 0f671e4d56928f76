"""Sources: listed, described, added, uploaded, removed, read again and looked into."""

from collections.abc import AsyncIterator, Sequence
from pathlib import Path

from answerable.core.catalog import Catalog
from answerable.core.clock import Clock
from answerable.core.context import Principal, Visibility
from answerable.core.errors import AnswerableError, NotFoundError, RefusedError, UserError
from answerable.core.hidden_paths import HiddenPaths
from answerable.core.values import OutputColumn
from answerable.service.keyed_requests import KeyedAttempt
from answerable.service.source_views import (
    RelationshipView,
    SourceList,
    SourceProblem,
    SourceProgress,
    SourceSummary,
    SourceTest,
    TablePreview,
    UploadedFile,
)
from answerable.service.uploads import UploadRoom, received
from answerable.settings import Settings
from answerable.sources.added import MB, AddedSources, safe_file_name, source_name
from answerable.sources.base import browsable
from answerable.sources.open import API_SCHEMES, api_refused, shown_location
from answerable.sources.registry import SourceRegistry
from answerable.sources.sql.postgres_url import SCHEMES, parsed
from answerable.sources.statistics import TableStatistics, plain, table_named
from answerable.sources.watch import Watch

KEPT_STATISTICS = 500


class SourceService:
    def __init__(
        self, registry: SourceRegistry, settings: Settings, clock: Clock, *, any_location: bool, hidden: HiddenPaths
    ) -> None:
        """`any_location`: whether the caller is the person at the machine, who may name any path. `hidden`: what the
        errors of sources leave out."""
        self._hidden = hidden
        self._registry = registry
        self._settings = settings
        self._any_location = any_location
        self._watch = Watch(registry, clock)
        self._statistics: dict[tuple[Visibility, object], TableStatistics] = {}
        self._relationships: dict[tuple[Visibility, str], tuple[object, list[RelationshipView]]] = {}

    async def close(self) -> None:
        await self._watch.close()

    # Listing

    @property
    def default(self) -> str:
        """The source of a question that names none."""
        return self._settings.source

    def names(self, principal: Principal) -> Sequence[str]:
        return self._registry.names(principal)

    def list(self, principal: Principal, *, look: bool = True) -> SourceList:
        """What can be asked. With `look`, sources that were not looked at for a while are read in the background."""
        names = self._registry.names(principal)
        for name in names if look else ():
            self._watch.look(name, principal)
        room = max(0, self._added(principal).room(self._settings.upload_total_mb * MB) // MB)
        listed = [self._summary(name, principal) for name in names]
        return SourceList(sources=listed, upload_mb=self._settings.upload_mb, upload_room_mb=room)

    def status(self, name: str, principal: Principal) -> SourceSummary:
        self._registry.location(name, principal)
        self._watch.look(name, principal)
        return self._summary(name, principal)

    def sync(self, name: str, principal: Principal) -> SourceSummary:
        """Begins to read a source again, in the background."""
        self._registry.check_named(name, principal)  # a path that stands for a source has nothing to be read again
        self._watch.read(name, principal)
        return self._summary(name, principal)

    async def wait(self, name: str, principal: Principal) -> SourceSummary:
        """Waits until a source has been read."""
        await self._watch.wait(name, principal)
        return self._summary(name, principal)

    # Adding and removing

    async def add_api(
        self,
        document: str,
        base_url: str,
        principal: Principal,
        *,
        name: str | None = None,
        secret_env: str | None = None,
        secret_header: str | None = None,
        entities: Sequence[str] = (),
    ) -> SourceSummary:
        """Adds an API by its OpenAPI document and its address. `secret_env`: the environment variable that holds its
        credential; `secret_header`: the header for it, if not as the document says; `entities`: those that become
        tables, else all."""
        location = self.api_location(
            document, base_url, secret_env=secret_env, secret_header=secret_header, entities=entities
        )
        return await self.add(location, principal, name=name or Path(document).stem)

    def api_location(
        self,
        document: str,
        base_url: str,
        *,
        secret_env: str | None = None,
        secret_header: str | None = None,
        entities: Sequence[str] = (),
    ) -> str:
        """The location of an API, as `add` and `test` take it."""
        from answerable.sources.api.location import api_location

        _check_not_empty(document, "document")
        path = str(_existing(document)) if self._any_location else document
        return api_location(
            path, base_url, secret_env=secret_env, secret_header=secret_header, entities=tuple(entities)
        ).text

    async def test(self, location: str, principal: Principal, *, name: str | None = None) -> SourceTest:
        """Opens and reads a location as `add` would, says what is wrong, and adds nothing."""
        self._check_adding()
        location, wanted = self._addable(location)
        called = self._free_name(name or wanted, principal, chosen=name is not None)
        shown = shown_location(location)
        try:
            kind, catalog = await self._registry.tried(location)
        except AnswerableError as error:
            problem = _problem(self._hidden.of(error))
            return SourceTest(name=called, location=shown, kind=None, tables=None, rows=None, problem=problem)
        rows = sum(table.row_count or 0 for table in catalog.tables)
        return SourceTest(name=called, location=shown, kind=kind, tables=len(catalog.tables), rows=rows, problem=None)

    async def add(
        self, location: str, principal: Principal, *, name: str | None = None, attempt: KeyedAttempt | None = None
    ) -> SourceSummary:
        """Adds a database by its URL; its password is stored, and never shown. The person at the machine may also add a
        file or a folder, which stays where it is. `attempt`: of a request that may have been carried out before; its
        source is then not added again."""
        self._check_adding()
        _check_not_empty(name, "name")
        location, wanted = self._addable(location)
        known = self._added(principal).get(attempt.note) if attempt is not None and attempt.note is not None else None
        if attempt is not None and attempt.note is not None and known is not None and known.location == location:
            called = attempt.note
        else:
            called = self._free_name(name or wanted, principal, chosen=name is not None)
            if attempt is not None:
                await attempt.remember(called)
            self._added(principal).add_location(called, location, by_operator=self._any_location)
        self._watch.read(called, principal)
        return self._summary(called, principal)

    async def upload(
        self,
        file_name: str,
        content: AsyncIterator[bytes],
        principal: Principal,
        *,
        source: str | None = None,
        replace: bool = False,
        announced: int = 0,
        attempt: KeyedAttempt | None = None,
    ) -> UploadedFile:
        """Stores one file. Without `source` it becomes a source that is named after it; `announced` is its size, where
        that is known beforehand. `attempt`: of a request that may have been carried out in part before; the file then
        goes where it went then."""
        self._check_adding()
        _check_not_empty(source, "name")
        added = self._added(principal)
        safe_name = safe_file_name(file_name)
        if attempt is not None and attempt.note is not None:
            into, replace = attempt.note, True
        else:
            into = self._upload_target(source, safe_name, principal)
            if attempt is not None and not (added.uploads / into / safe_name).exists():
                await attempt.remember(into)
        room = UploadRoom(added, self._settings.upload_mb, self._settings.upload_total_mb)
        try:
            size, format_ = await received(content, added, room, safe_name, into, replace=replace, announced=announced)
        except BaseException:
            added.unclaim(into)
            raise
        self._watch.read(into, principal)
        return UploadedFile(file=safe_name, format=format_, bytes=size, source=self._summary(into, principal))

    async def remove(self, name: str, principal: Principal) -> None:
        """Removes a source that was added or uploaded; uploaded files are deleted."""
        self._registry.check_named(name, principal)
        self._added(principal).remove(name)
        await self._watch.forget(name, principal)
        await self._registry.release(name, principal)

    # Looking into a source

    async def describe(self, name: str, principal: Principal, *more: str) -> Catalog:
        """Returns tables, columns, keys, relationships and measures. With `more` sources, combines their catalogs."""
        if more:
            return await (await self._registry.federated((name, *more), principal)).describe()
        return await (await self._registry.get(name, principal)).describe()

    async def preview(
        self, name: str, table: str, principal: Principal, *, offset: int = 0, limit: int = 50
    ) -> TablePreview:
        """Some rows of a table, as they are stored."""
        source = await self._registry.get(name, principal)
        found = table_named(await source.describe(), table)
        rows = await browsable(source).first_rows(found, offset, limit)
        return TablePreview(
            columns=tuple(OutputColumn(name=column.name, type=column.type) for column in found.columns),
            rows=[[plain(value) for value in row] for row in rows],
            offset=offset,
            row_count=found.row_count or 0,
        )

    async def statistics(self, name: str, table: str, principal: Principal) -> TableStatistics:
        """How the values of each column are distributed; counted once for as long as the data stays as it is."""
        source = await self._registry.get(name, principal)
        catalog = await source.describe()
        found = table_named(catalog, table)
        state = (name, found.name, found.fingerprint or catalog.fingerprint, tuple(c.name for c in found.columns))
        key = (self._registry.visibility(principal), state)
        if key not in self._statistics:
            if len(self._statistics) >= KEPT_STATISTICS:
                self._statistics.clear()
            self._statistics[key] = await browsable(source).statistics(found)
        return self._statistics[key]

    async def relationships(self, name: str, principal: Principal) -> Sequence[RelationshipView]:
        """How tables belong together, and how many rows refer to none; counted once while both stay as they are."""
        source = await self._registry.get(name, principal)
        catalog = await source.describe()
        key, state = (self._registry.visibility(principal), name), (catalog.fingerprint, catalog.relationships)
        if key not in self._relationships or self._relationships[key][0] != state:
            checks = await browsable(source).relationship_checks(catalog)
            views = [
                RelationshipView(**check.relationship.model_dump(), orphan_rows=check.orphan_rows) for check in checks
            ]
            self._relationships[key] = (state, views)
        return self._relationships[key][1]

    # Parts

    def _added(self, principal: Principal) -> AddedSources:
        return self._settings.added_sources(principal)

    def _addable(self, location: str) -> tuple[str, str]:
        """The location that this caller may add, in full, and what it would be called."""
        _check_not_empty(location, "location")
        scheme = location.partition("://")[0].lower()
        if scheme in API_SCHEMES:
            return location, self._api_name(location)
        if "://" not in location and self._any_location:
            path = _existing(location)
            return str(path), path.stem or "files"
        if scheme in SCHEMES:
            return location, self._database(location)
        raise UserError(
            "Only databases can be added by URL.",
            code="source_url_invalid",
            hint="Write it as postgresql://user:password@host:5432/database; "
            + ("name files by their path." if self._any_location else "upload files instead."),
        )

    def _database(self, url: str) -> str:
        """The name of the database in a URL that this caller may add."""
        parameters = parsed(url)
        if not self._any_location:
            self._settings.allowed_hosts.check(parameters)
        return parameters.get("dbname") or "database"

    def _api_name(self, location: str) -> str:
        """The name of an API that this caller may add."""
        from answerable.sources.api.location import parsed

        if not self._any_location:
            raise api_refused()
        return Path(parsed(location).document).stem

    def _check_adding(self) -> None:
        if not self._settings.upload_mb and not self._any_location:
            raise RefusedError(
                "Sources cannot be added here.",
                code="adding_off",
                hint="Whoever runs the server can allow it with the setting `upload_mb`.",
            )

    def _free_name(self, wanted: str, principal: Principal, *, chosen: bool) -> str:
        """A name that somebody chose is taken or refused; one that was derived may get a number."""
        name, taken = source_name(wanted), self._registry.names(principal)
        if chosen and name in taken:
            raise UserError(f"There is a source {name!r} already.", code="source_exists", hint="Choose another name.")
        return _numbered(name, taken)

    def _upload_target(self, source: str | None, file_name: str, principal: Principal) -> str:
        taken = self._registry.names(principal)
        if source is None:
            return self._added(principal).claim(source_name(Path(file_name.removesuffix(".gz")).stem), taken)
        name = source_name(source)
        known = self._added(principal).get(name)
        if name in taken and (known is None or known.origin != "uploaded"):
            raise RefusedError(
                f"Files can be added only to sources that were uploaded; {name!r} was not.", code="source_not_uploaded"
            )
        return name

    def _summary(self, name: str, principal: Principal) -> SourceSummary:
        seen, own = self._watch.seen(name, principal), self._added(principal).get(name)
        catalog, error, configured = seen.catalog, seen.error, name in self._settings.sources
        counts = [table.row_count for table in catalog.tables] if catalog else []
        return SourceSummary(
            name=name,
            kind=seen.kind,
            location=self._registry.location(name, principal),
            origin="settings" if configured else own.origin if own else "bundled",
            default=name == self.default,
            removable=own is not None and not configured,
            state=seen.state,
            tables=len(catalog.tables) if catalog else None,
            rows=sum(count for count in counts if count is not None) if catalog else None,
            last_sync=catalog.last_sync if catalog else None,
            read_at=seen.read_at,
            fingerprint=catalog.fingerprint if catalog else None,
            progress=self._progress(name, principal) if seen.state == "reading" else None,
            error=_problem(self._hidden.of(error)) if error else None,
            files=[*own.files] if own else [],
        )

    def _progress(self, name: str, principal: Principal) -> SourceProgress:
        message, done, total, counted = self._watch.progress(name, principal)
        seconds = round(self._watch.seconds(name, principal), 3)
        return SourceProgress(message=message, done=done, total=total, counted=counted, seconds=seconds)


def _problem(error: AnswerableError) -> SourceProblem:
    return SourceProblem(code=error.stable_code, message=error.message, hint=error.hint)


def _numbered(name: str, taken: Sequence[str]) -> str:
    """The name, with the first free number behind it if it is taken."""
    number = 2
    while (numbered := f"{name}_{number}") in taken:
        number += 1
    return name if name not in taken else numbered


def _check_not_empty(text: str | None, what: str) -> None:
    if text is not None and not text.strip():
        raise UserError(f"The {what} of the source is empty.", code="source_unnamed", hint=f"Give a {what}.")


def _existing(location: str) -> Path:
    path = Path(location).expanduser().absolute()
    if not path.exists():
        raise NotFoundError(f"There is no file or folder at {path}.", code="source_missing", hint="Check the path.")
    return path

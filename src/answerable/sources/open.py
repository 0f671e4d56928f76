"""From a path or a URL to a source. What a file is, its content says; its name only when the content leaves it open."""

import asyncio
import re
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

from answerable.core.errors import FileError, NotFoundError, RefusedError, SourceError, UserError
from answerable.core.file_errors import cannot_read
from answerable.core.records import dataclass
from answerable.sources.base import Source
from answerable.sources.discovery import named_file
from answerable.sources.fingerprints import digest
from answerable.sources.graph.backend import GraphFileBackend, graph_file, schema_file
from answerable.sources.sql import duckdb, files, postgres, sqlite
from answerable.sources.sql.backend import SourceOptions, SqlBackend
from answerable.sources.sql.database_files import database_kind
from answerable.sources.sql.postgres import EXAMPLE
from answerable.sources.sql.postgres_access import AllowedHosts
from answerable.sources.sql.postgres_url import SCHEMES, is_connection_string, shown_url
from answerable.sources.sql.source import SqlSource
from answerable.sources.worker_source import WorkerSource

API_SCHEMES = ("api+https", "api+http")

if TYPE_CHECKING:
    from answerable.access.view import SourceAccess


@dataclass(frozen=True, slots=True)
class Opening:
    """What is known of a source that is about to be opened."""

    location: str
    name: str | None
    """The name that the user gave."""
    cache: Path
    """A folder of its own."""
    options: SourceOptions
    hosts: AllowedHosts | None
    """Hosts that whoever named the location may name; None if that was the operator."""
    access: "SourceAccess | None" = None
    """What the person for whom it is opened may see; None for all of it."""

    @property
    def path(self) -> Path:
        return Path(self.location)

    def served_by(self, backend: SqlBackend, name: str) -> Source:
        return self.served(SqlSource, backend, name)

    def served(self, kind: type[WorkerSource], backend: SqlBackend, name: str) -> Source:
        # What is cached about the data is for those who see the same; a backend's own files hold the data itself.
        cache = self.cache if self.access is None else self.cache / "seen" / self.access.view.key
        return kind(self.name or name, backend, cache, self.options, self.access)


@dataclass(frozen=True, slots=True)
class SourceKind:
    name: str
    open: Callable[[Opening], Source]
    schemes: tuple[str, ...] = ()
    """URL schemes; empty for files and folders."""
    recognises: Callable[[Path], bool] = lambda _path: False
    """Whether a file or folder is of this kind, by its content."""


def _postgres(opening: Opening) -> Source:
    backend = postgres.PostgresBackend(opening.location, opening.options, opening.hosts)
    return opening.served_by(backend, backend.database)


def _files(opening: Opening) -> Source:
    if not opening.path.is_dir():
        named_file(opening.path)
    return opening.served_by(files.FilesBackend(opening.path, opening.cache, opening.options), _stem(opening.path))


def _graph(opening: Opening) -> Source:
    from answerable.sources.graph.source import GraphSource  # brings the parser of Cypher

    if file := graph_file(opening.path):
        return opening.served(GraphSource, GraphFileBackend(file, opening.options), _stem(opening.path))
    from answerable.sources.graph.files_backend import GraphFilesBackend

    schema = schema_file(opening.path)
    assert schema is not None
    backend = GraphFilesBackend(schema, opening.cache, opening.options)
    return opening.served(GraphSource, backend, schema.parent.name or "graph")


def api_refused() -> RefusedError:
    return RefusedError(
        "An API can be added only by whoever runs the server: it is asked with the server's own credentials.",
        code="api_source_refused",
        hint="They add it with `answerable sources add`, or in the settings.",
    )


_OPENAPI = re.compile(rb"""\A[\s{]*["']?openapi["']?\s*:\s*["']?3\.""")


def _is_openapi_document(path: Path) -> bool:
    if not path.is_file():
        return False
    with path.open("rb") as file:
        return _OPENAPI.match(file.read(200)) is not None


def _api(opening: Opening) -> Source:
    from answerable.sources.api.backend import ApiBackend  # brings the HTTP client and the SQL parser
    from answerable.sources.api.location import parsed
    from answerable.sources.api.source import ApiSource

    if opening.hosts is not None:
        raise api_refused()
    if "://" not in opening.location:
        raise UserError(
            f"{opening.path.name} is the OpenAPI document of an API. It does not say which address may be asked.",
            code="api_base_url_missing",
            hint=f"answerable sources add {opening.path.name} --base-url https://…",
        )
    location = parsed(opening.location)
    backend = ApiBackend(location, opening.cache, opening.options)
    cache = opening.cache if opening.access is None else opening.cache / "seen" / opening.access.view.key
    return ApiSource(opening.name or _stem(Path(location.document)), backend, cache, opening.access)


SOURCE_KINDS: tuple[SourceKind, ...] = (
    SourceKind("api", _api, schemes=API_SCHEMES, recognises=_is_openapi_document),
    SourceKind(postgres.PostgresBackend.kind, _postgres, schemes=SCHEMES),
    SourceKind(
        sqlite.SqliteBackend.kind,
        lambda o: o.served_by(sqlite.SqliteBackend(o.path, o.options), _stem(o.path)),
        recognises=lambda path: database_kind(path) == sqlite.SqliteBackend.kind,
    ),
    SourceKind(
        duckdb.DuckDbBackend.kind,
        lambda o: o.served_by(duckdb.DuckDbBackend(o.path, o.options), _stem(o.path)),
        recognises=lambda path: database_kind(path) == duckdb.DuckDbBackend.kind,
    ),
    SourceKind(GraphFileBackend.kind, _graph, recognises=lambda path: bool(graph_file(path) or schema_file(path))),
    SourceKind(files.FilesBackend.kind, _files, recognises=lambda _path: True),
)
"""Every kind of source. The first that recognises a location opens it. A new kind is a file and a row here."""


async def open_source(
    location: str,
    *,
    name: str | None = None,
    cache: Path,
    options: SourceOptions | None = None,
    semantic: Path | None = None,
    hosts: AllowedHosts | None = None,
    access: "SourceAccess | None" = None,
) -> Source:
    """Opens a file, a folder or a URL. What cannot be read is found out here or when it is first described.
    A file at `semantic` wins over a `semantic.yaml` beside the data. With `hosts`, a URL was named by somebody other
    than the operator: it may name only these hosts, and uses no credentials but its own. With `access`, the source
    shows only what that person may see."""
    if not location.strip():
        raise UserError("No source was named.", code="source_unnamed", hint="Name a file, a folder or a database URL.")
    if is_connection_string(location):
        raise UserError("A database is named by its URL.", code="source_url_invalid", hint=f"Write it as {EXAMPLE}.")
    by = _by_url if "://" in location else _by_path
    source = await asyncio.to_thread(by, location, name, cache, options or SourceOptions(), hosts, access)
    if semantic is not None:
        source.semantic_files = (semantic, *source.semantic_files)
    return source


def _by_url(
    location: str,
    name: str | None,
    cache: Path,
    options: SourceOptions,
    hosts: AllowedHosts | None,
    access: "SourceAccess | None",
) -> Source:
    scheme = location.partition("://")[0].lower()
    kind = next((kind for kind in SOURCE_KINDS if scheme in kind.schemes), None)
    if kind is None:
        raise UserError(
            f"A source of type {scheme!r} cannot be opened.",
            code="source_unsupported",
            hint=f"Use a file, a folder, or a URL such as {EXAMPLE}.",
        )
    return kind.open(Opening(location, name, cache / _folder(shown_location(location)), options, hosts, access))


def _by_path(
    location: str,
    name: str | None,
    cache: Path,
    options: SourceOptions,
    hosts: AllowedHosts | None,
    access: "SourceAccess | None",
) -> Source:
    try:
        path = Path(location).expanduser().absolute()
        found = path.exists()
    except (OSError, RuntimeError, ValueError) as error:
        raise UserError(f"{location[:200]!r} is not a path that can be used.", code="source_path_invalid") from error
    if not found:
        raise NotFoundError(
            f"There is no file or folder at {path}.",
            code="source_missing",
            hint=_nearby(path),
        )
    try:
        kind = _kind_at(path)
        return kind.open(Opening(str(path), name, cache / _folder(str(path)), options, hosts, access))
    except OSError as error:
        raise cannot_read(path, error) from error


def _kind_at(path: Path) -> SourceKind:
    if not path.is_dir():
        if not path.is_file():
            raise SourceError(f"{path} is neither a file nor a folder.", code="source_unsupported")
        if path.stat().st_size == 0:
            raise FileError(f"{path} is empty.", code="file_empty", hint="Put data into it, or name another file.")
    return next(kind for kind in SOURCE_KINDS if kind.recognises(path))


def _stem(path: Path) -> str:
    return path.stem or path.name or "files"


def _folder(location: str) -> str:
    """Each location has a folder of its own in the cache."""
    return digest(location).removeprefix("sha256:")[:24]


def _nearby(path: Path) -> str:
    if path.parent.is_dir():
        names = sorted(entry.name for entry in path.parent.iterdir() if not entry.name.startswith("."))[:8]
        return f"{path.parent} holds {', '.join(names)}." if names else f"{path.parent} is empty."
    return "Check the path."


def shown_location(location: str) -> str:
    """A location as it may be shown and recorded: without anything that is secret, or that could be."""
    scheme, is_url, rest = location.partition("://")
    if is_connection_string(location):
        return "…"
    if not is_url or location.startswith("sqlite:///"):
        return location
    if scheme.lower() in SCHEMES:
        return shown_url(location)
    if scheme.lower() in API_SCHEMES and "@" not in location.partition("?")[0]:
        return location  # it names the variable that holds the credential, not the credential
    # Of other addresses nobody knows which part is secret: all before the last `@`, and the query, may be.
    return f"{scheme}://{re.split('[?#]', rest.rpartition('@')[2])[0]}"

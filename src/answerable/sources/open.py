"""From a path or a URL to a source. What a file is, its content says; its name only when the content leaves it open."""

import asyncio
from pathlib import Path
from urllib.parse import urlsplit

from answerable.core.errors import NotFoundError, SourceError, UserError
from answerable.sources.base import Source
from answerable.sources.discovery import database_kind, named_file
from answerable.sources.fingerprints import digest
from answerable.sources.sql.duckdb import DuckDbBackend
from answerable.sources.sql.files import FilesBackend
from answerable.sources.sql.postgres import SCHEMES, PostgresBackend
from answerable.sources.sql.source import SourceOptions, SqlBackend, SqlSource
from answerable.sources.sql.sqlite import SqliteBackend


async def open_source(
    location: str,
    *,
    name: str | None = None,
    cache: Path,
    options: SourceOptions | None = None,
    semantic: Path | None = None,
) -> Source:
    """Opens a file, a folder or a database URL. What cannot be read is found out here or when it is first described.
    A file at `semantic` wins over a `semantic.yaml` beside the data."""
    chosen = options or SourceOptions()
    if not location.strip():
        raise UserError("No source was named.", code="source_unnamed", hint="Name a file, a folder or a database URL.")
    if "://" in location:
        source = await asyncio.to_thread(_by_url, location, name, cache, chosen)
    else:
        source = await asyncio.to_thread(_by_path, location, name, cache, chosen)
    if semantic is not None:
        source.semantic_files = (semantic, *source.semantic_files)
    return source


def _by_url(location: str, name: str | None, cache: Path, options: SourceOptions) -> SqlSource:
    scheme = location.partition("://")[0].lower()
    if scheme not in SCHEMES:
        raise UserError(
            f"A source of type {scheme!r} cannot be opened.",
            code="source_unsupported",
            hint="Use a file, a folder, or a URL such as postgresql://user@host/database.",
        )
    backend = PostgresBackend(location, options)
    return _served(shown_location(location), name or backend.database, backend, cache, options)


def _by_path(location: str, name: str | None, cache: Path, options: SourceOptions) -> SqlSource:
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
        backend = _backend(path, cache / _folder(str(path)), options)
    except OSError as error:
        raise SourceError(
            f"{path} cannot be read: {error.strerror}.",
            code="source_unreadable",
            hint="Check that you may read it.",
        ) from error
    return _served(str(path), name or path.stem or path.name or "files", backend, cache, options)


def _served(location: str, name: str, backend: SqlBackend, cache: Path, options: SourceOptions) -> SqlSource:
    return SqlSource(name, backend, cache / _folder(location), options)


def _folder(location: str) -> str:
    """Each place has a folder of its own in the cache."""
    return digest(location).removeprefix("sha256:")[:24]


def _backend(path: Path, cache: Path, options: SourceOptions) -> SqlBackend:
    if path.is_dir():
        return FilesBackend(path, cache, options)
    if not path.is_file():
        raise SourceError(f"{path} is neither a file nor a folder.", code="source_unsupported")
    if path.stat().st_size == 0:
        raise SourceError(f"{path} is empty.", code="file_empty", hint="Put data into it, or name another file.")
    kind = database_kind(path)
    if kind == "sqlite":
        return SqliteBackend(path, options)
    if kind == "duckdb":
        return DuckDbBackend(path, options)
    named_file(path)
    return FilesBackend(path, cache, options)


def _nearby(path: Path) -> str:
    if path.parent.is_dir():
        names = sorted(entry.name for entry in path.parent.iterdir() if not entry.name.startswith("."))[:8]
        return f"{path.parent} holds {', '.join(names)}." if names else f"{path.parent} is empty."
    return "Check the path."


def shown_location(location: str) -> str:
    """A location as it may be shown: without the password."""
    if "://" not in location:
        return location
    scheme = location.partition("://")[0]
    try:
        parts = urlsplit(location)
    except ValueError:
        return f"{scheme}://…"
    login, _, host = parts.netloc.rpartition("@")
    user = login.partition(":")[0]
    query = "&".join(item for item in parts.query.split("&") if not item.lower().startswith("password="))
    return f"{scheme}://{user}{'@' if user else ''}{host}{parts.path}{'?' if query else ''}{query}"

"""From a path or a URL to a source. What a file is, its content says; its name only when the content leaves it open."""

from pathlib import Path
from urllib.parse import urlsplit, urlunsplit

from answerable.core.errors import NotFoundError
from answerable.sources.base import Source
from answerable.sources.discovery import database_kind
from answerable.sources.duckdb import DuckDbPlace
from answerable.sources.files import FilesPlace
from answerable.sources.served import Options, Place, ServedSource
from answerable.sources.sqlite import SqlitePlace


async def open_source(location: str, *, name: str | None = None, cache: Path, options: Options | None = None) -> Source:
    path = Path(location).expanduser().absolute()
    if not path.exists():
        raise NotFoundError(f"There is no file or folder at {path}.", code="source_missing")
    return ServedSource(name or path.stem, _place(path, cache, options or Options()), cache, options or Options())


def _place(path: Path, cache: Path, options: Options) -> Place:
    if path.is_dir():
        return FilesPlace(path, cache, options)
    kind = database_kind(path)
    if kind == "sqlite":
        return SqlitePlace(path, options)
    if kind == "duckdb":
        return DuckDbPlace(path, options)
    return FilesPlace(path, cache, options)


def shown_location(location: str) -> str:
    """A location as it may be shown: without the password."""
    parts = urlsplit(location)
    if not parts.password:
        return location
    return urlunsplit(parts._replace(netloc=f"{parts.username}@{parts.netloc.rpartition('@')[2]}"))

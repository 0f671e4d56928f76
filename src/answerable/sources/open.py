"""From a path or a URL to a source. What a file is, its content says; its name only when the content leaves it open."""

from pathlib import Path
from urllib.parse import urlsplit, urlunsplit

from answerable.core.errors import NotFoundError
from answerable.sources.base import Source
from answerable.sources.duckdb import DuckDbPlace
from answerable.sources.files import FilesPlace
from answerable.sources.served import Options, Place, ServedSource
from answerable.sources.sqlite import SqlitePlace

_SQLITE_MAGIC = b"SQLite format 3\0"
_DUCKDB_MAGIC = b"DUCK"
"""At byte 8, after the checksum of the first block."""


async def open_source(location: str, *, name: str | None = None, cache: Path, options: Options | None = None) -> Source:
    path = Path(location).expanduser().absolute()
    if not path.exists():
        raise NotFoundError(f"There is no file or folder at {path}.", code="source_missing")
    return ServedSource(name or path.stem, _place(path, cache, options or Options()), cache, options or Options())


def _place(path: Path, cache: Path, options: Options) -> Place:
    if path.is_dir():
        return FilesPlace(path, cache, options)
    with path.open("rb") as file:
        head = file.read(16)
    if head.startswith(_SQLITE_MAGIC):
        return SqlitePlace(path, options)
    if head[8:12] == _DUCKDB_MAGIC:
        return DuckDbPlace(path, options)
    return FilesPlace(path, cache, options)


def shown_location(location: str) -> str:
    """A location as it may be shown: without the password."""
    parts = urlsplit(location)
    if not parts.password:
        return location
    return urlunsplit(parts._replace(netloc=f"{parts.username}@{parts.netloc.rpartition('@')[2]}"))

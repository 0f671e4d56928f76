"""Files that are whole databases, recognised by their first bytes."""

from pathlib import Path

from answerable.core.records import dataclass


@dataclass(frozen=True, slots=True)
class DatabaseFile:
    kind: str
    name: str
    """In words."""
    magic: bytes
    offset: int
    """Where in the file the magic bytes are."""
    suffixes: tuple[str, ...]


DATABASE_FILES = (
    DatabaseFile("sqlite", "a SQLite database", b"SQLite format 3\0", 0, (".sqlite", ".sqlite3", ".db", ".db3")),
    DatabaseFile("duckdb", "a DuckDB database", b"DUCK", 8, (".duckdb", ".ddb")),  # after a checksum
    DatabaseFile("graph", "a Ladybug graph", b"LBUG", 0, (".lbug", ".lbdb")),
    DatabaseFile("graph", "a Kuzu graph", b"KUZU", 0, (".kuzu", ".kz")),
)
DATABASE_KINDS = frozenset(file.kind for file in DATABASE_FILES)
DATABASE_SUFFIXES = tuple(suffix for file in DATABASE_FILES for suffix in file.suffixes)
_LONGEST = max(file.offset + len(file.magic) for file in DATABASE_FILES)


def database_kind(path: Path) -> str | None:
    """The kind of source that opens the file, or None if it is no database."""
    if not path.is_file():
        return None
    with path.open("rb") as file:
        head = file.read(_LONGEST)
    return next((each.kind for each in DATABASE_FILES if head[each.offset :].startswith(each.magic)), None)

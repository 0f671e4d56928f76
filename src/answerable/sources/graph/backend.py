"""A graph in a file: the file, its write-ahead log, and the worker that opens it."""

from collections.abc import Mapping
from pathlib import Path

from answerable.core.values import Json, Language
from answerable.query.cypher.language import LANGUAGE
from answerable.sources.sql.database_file import DatabaseFileBackend
from answerable.sources.sql.database_files import database_kind

SCHEMA, COPIES = "schema.cypher", "copy.cypher"
"""The files that make a folder of tables a graph: what its tables are, and which file fills which."""


class GraphFileBackend(DatabaseFileBackend):
    kind = "graph"
    dialect: Language = LANGUAGE
    log_suffix = ".wal"

    def _engine_options(self) -> Mapping[str, Json]:
        return {"threads": self._options.threads}


def graph_file(path: Path) -> Path | None:
    """The graph at a path: the file itself, or the only graph in a folder. None if there is none."""
    if path.is_file():
        return path if database_kind(path) == GraphFileBackend.kind else None
    if not path.is_dir():
        return None
    found = [file for file in sorted(path.iterdir()) if file.is_file() and database_kind(file) == GraphFileBackend.kind]
    return found[0] if len(found) == 1 else None


def schema_file(path: Path) -> Path | None:
    """The schema of a graph that is given as files: the file itself, or the one in a folder. None if there is none."""
    if path.is_dir():
        path = path / SCHEMA
    return path if path.suffix.lower() == ".cypher" and path.is_file() else None

"""A graph in a file: the file, its write-ahead log, and the worker that opens it."""

from collections.abc import Mapping
from pathlib import Path

from answerable.core.values import Json, Language
from answerable.query.cypher.language import LANGUAGE
from answerable.sources.sql.database_file import DatabaseFileBackend
from answerable.sources.sql.database_files import database_kind


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

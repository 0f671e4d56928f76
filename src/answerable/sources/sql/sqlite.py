"""A SQLite database file."""

from collections.abc import Mapping

from answerable.core.values import Json, Language
from answerable.sources.sql.database_file import DatabaseFileBackend


class SqliteBackend(DatabaseFileBackend):
    kind = "sqlite"
    dialect: Language = "sqlite"
    log_suffix = "-wal"

    def _engine_options(self) -> Mapping[str, Json]:
        return {"threads": 1}

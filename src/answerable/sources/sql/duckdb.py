"""A DuckDB database file."""

from collections.abc import Mapping

from answerable.core.values import Json, Language
from answerable.sources.sql.database_file import DatabaseFileBackend

_IDLE_SECONDS = 3.0
"""A reader keeps writers out, so it does not stay for long."""


class DuckDbBackend(DatabaseFileBackend):
    kind = "duckdb"
    dialect: Language = "duckdb"
    log_suffix = ".wal"

    def _engine_options(self) -> Mapping[str, Json]:
        return {"threads": self._options.threads, "idle_seconds": _IDLE_SECONDS}

"""A DuckDB database file."""

from collections.abc import Sequence
from pathlib import Path

from answerable.core.progress import Progress
from answerable.core.values import Language
from answerable.sources.fingerprints import beside, digest, identity, sync_time
from answerable.sources.sql.source import Snapshot, SourceOptions

_IDLE_SECONDS = 3.0
"""A reader keeps writers out, so it does not stay for long."""


class DuckDbBackend:
    kind = "duckdb"
    dialect: Language = "duckdb"
    is_local = True

    def __init__(self, path: Path, options: SourceOptions) -> None:
        self._path = path
        self._options = options
        self.semantic_files: Sequence[Path] = beside(path)

    async def look(self, _progress: Progress) -> Snapshot:
        files = [self._path, self._path.with_name(self._path.name + ".wal")]
        fingerprint = digest(*(identity(file) for file in files))
        spec = {
            "engine": "duckdb",
            "database": str(self._path),
            "memory_mb": self._options.memory_mb,
            "threads": self._options.threads,
            "generation": fingerprint,
            "idle_seconds": _IDLE_SECONDS,
        }
        return Snapshot(spec, fingerprint, sync_time(files))

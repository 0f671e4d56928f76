"""A SQLite database file."""

from collections.abc import Sequence
from pathlib import Path

from answerable.core.progress import Progress
from answerable.core.values import Language
from answerable.sources.fingerprints import beside, digest, identity, sync_time
from answerable.sources.sql.source import Snapshot, SourceOptions


class SqliteBackend:
    kind = "sqlite"
    dialect: Language = "sqlite"
    is_local = True

    def __init__(self, path: Path, options: SourceOptions) -> None:
        self._path = path
        self._options = options
        self.semantic_files: Sequence[Path] = beside(path)

    async def look(self, _progress: Progress) -> Snapshot:
        files = [self._path, self._path.with_name(self._path.name + "-wal")]
        fingerprint = digest(*(identity(file) for file in files))
        spec = {
            "engine": "sqlite",
            "database": str(self._path),
            "memory_mb": self._options.memory_mb,
            "threads": 1,
            "generation": fingerprint,
        }
        return Snapshot(spec, fingerprint, sync_time(files))

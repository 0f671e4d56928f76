"""A database that lives in one file: the file, its write-ahead log, and the worker that opens it."""

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from pathlib import Path

from answerable.core.file_errors import cannot_read
from answerable.core.progress import Progress
from answerable.core.values import Json, Language
from answerable.sources.fingerprints import beside, digest, identity, sync_time
from answerable.sources.sql.backend import Snapshot, SourceOptions


class DatabaseFileBackend(ABC):
    kind: str
    dialect: Language
    log_suffix: str
    """Suffix of the write-ahead log, after the name of the file."""
    is_local = True
    functions: Sequence[str] = ()

    def __init__(self, path: Path, options: SourceOptions) -> None:
        self._path = path
        self._options = options
        self.semantic_files: Sequence[Path] = beside(path)

    async def look(self, _progress: Progress) -> Snapshot:
        try:
            self._path.stat()
        except OSError as error:
            raise cannot_read(self._path, error) from error
        files = [self._path, self._path.with_name(self._path.name + self.log_suffix)]
        fingerprint = digest(*(identity(file) for file in files))
        spec = {
            "engine": self.kind,
            "database": str(self._path),
            "memory_mb": self._options.memory_mb,
            "generation": fingerprint,
            **self._engine_options(),
        }
        return Snapshot(spec, fingerprint, sync_time(files))

    @abstractmethod
    def _engine_options(self) -> Mapping[str, Json]:
        """What the worker of this engine needs to know besides."""

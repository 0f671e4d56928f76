"""A folder of tables, or a single file that holds one or several.

Parquet is read in place. CSV, JSON and Excel are read once by a worker of their own into Parquet in the cache; the copy
is used for as long as the file stays as it was.
"""

import secrets
import shutil
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from answerable.core.catalog import Warning
from answerable.core.errors import SourceError
from answerable.core.values import Dialect, Frozen
from answerable.sources.fingerprints import beside, digest, identity, sync_time
from answerable.sources.pool import WorkerPool
from answerable.sources.readers import DataFile, data_file, table_name
from answerable.sources.served import Options, Snapshot, write_whole

_FORMAT = "1"
_LOAD_SECONDS = 600.0


class _Loaded(Frozen):
    """What became of one file."""

    tables: tuple["_LoadedTable", ...]
    warnings: tuple[str, ...] = ()


class _LoadedTable(Frozen):
    name: str | None
    file: str


class FilesPlace:
    kind = "files"
    dialect: Dialect = "duckdb"

    def __init__(self, path: Path, cache: Path, options: Options) -> None:
        self._path = path
        self._cache = cache
        self._options = options
        self._last: Snapshot | None = None
        self.semantic_files: Sequence[Path] = (path / "semantic.yaml",) if path.is_dir() else beside(path)

    async def look(self) -> Snapshot:
        found = [file for path in self._walked() if (file := data_file(path))]
        fingerprint = digest(_FORMAT, *(identity(file.path) for file in found))
        if self._last is None or self._last.fingerprint != fingerprint:
            self._last = await self._read(found, fingerprint)
        return self._last

    def _walked(self) -> list[Path]:
        if self._path.is_file():
            return [self._path]
        return sorted(path for path in self._path.rglob("*") if path.is_file() and not path.name.startswith("."))

    async def _read(self, found: Sequence[DataFile], fingerprint: str) -> Snapshot:
        warnings: list[Warning] = []
        views: list[dict[str, Any]] = []
        for file in found:
            try:
                views += await self._views(file, warnings)
            except SourceError as error:
                warnings.append(Warning(subject=file.path.name, message=error.message))
        files = [name for view in views for name in view["files"]]
        spec = {
            "engine": "duckdb",
            "views": views,
            "files": files,
            "threads": self._options.threads,
            "memory_mb": self._options.memory_mb,
        }
        return Snapshot(spec, fingerprint, sync_time(file.path for file in found), tuple(warnings))

    async def _views(self, file: DataFile, warnings: list[Warning]) -> list[dict[str, Any]]:
        if file.format == "parquet":
            return [{"name": table_name(file.stem), "files": [str(file.path)]}]
        folder = self._cache / "tables" / f"{digest(str(file.path))[7:23]}-{digest(_FORMAT, identity(file.path))[7:23]}"
        if not folder.exists():
            await self._load(file, folder)
        loaded = _Loaded.model_validate_json((folder / "loaded.json").read_bytes())
        warnings += [Warning(subject=file.path.name, message=message) for message in loaded.warnings]
        return [
            {
                "name": table_name(file.stem if table.name is None else f"{file.stem} {table.name}"),
                "files": [str(folder / table.file)],
            }
            for table in loaded.tables
        ]

    async def _load(self, file: DataFile, folder: Path) -> None:
        staging = folder.with_name(f".{secrets.token_hex(8)}")
        staging.mkdir(parents=True, mode=0o700)
        spec = {"engine": "loader", "threads": self._options.threads, "memory_mb": self._options.memory_mb}
        pool = WorkerPool(spec, 1)
        try:
            async with pool.worker() as worker:
                request = {
                    "path": str(file.path),
                    "format": file.format,
                    "compressed": file.compressed,
                    "into": str(staging),
                }
                loaded = await worker.ask("load", request, seconds=_LOAD_SECONDS)
            write_whole(staging / "loaded.json", _Loaded.model_validate(loaded).model_dump_json().encode())
            staging.rename(folder)
        finally:
            shutil.rmtree(staging, ignore_errors=True)
            await pool.close()

    async def close(self) -> None:
        pass

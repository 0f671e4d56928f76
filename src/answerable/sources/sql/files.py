"""A folder of tables, or a single file that holds one or more tables.

Parquet is read in place. CSV, JSON and Excel are read once, by a worker of their own, into Parquet in the cache; that
copy is used for as long as the file stays as it was.
"""

import asyncio
import secrets
import shutil
from collections.abc import Mapping, Sequence
from contextlib import suppress
from datetime import datetime
from pathlib import Path
from typing import Any

from answerable.core.catalog import Warning
from answerable.core.errors import (
    AnswerableError,
    FileError,
    InternalError,
    LimitError,
    OperatorError,
    SourceError,
    TransientError,
)
from answerable.core.file_errors import cannot_read
from answerable.core.progress import Progress
from answerable.core.records import dataclass
from answerable.core.values import Frozen, Language
from answerable.isolation.own_folder import own_folder
from answerable.sources.discovery import (
    DataFile,
    Found,
    Naming,
    found_in,
    named_file,
    parquet_tables,
    sheet_names,
    unique_table_names,
    walked,
)
from answerable.sources.fingerprints import beside, digest, identity, sync_time
from answerable.sources.pool import WorkerPool
from answerable.sources.sql.backend import Snapshot, SourceOptions
from answerable.sources.sql.duckdb import DuckDbBackend
from answerable.store.whole_files import cache_file, writing_cache

_FORMAT = "3"
"""Version of the cached files: raised whenever reading the same file gives something else."""
_LOAD_SECONDS = 900.0
_SPLIT = "Split it, or store it as Parquet."
_UNREAD = "Reading the file ended the process that read it: it takes too much memory, or is damaged."


class _View(Frozen):
    """A table, and the Parquet files that hold its rows."""

    name: str
    files: tuple[str, ...]
    fingerprint: str


class _Listing(Frozen):
    """The tables of the files, cached for the next process that looks at the same files."""

    views: tuple[_View, ...]
    warnings: tuple[Warning, ...]


class _LoadedTable(Frozen):
    name: str | None
    file: str


class _Loaded(Frozen):
    tables: tuple[_LoadedTable, ...]
    notes: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class _Rows:
    """A table that has no name yet."""

    naming: Naming
    files: tuple[Path, ...]
    fingerprint: str


class FilesBackend:
    kind = "files"
    dialect: Language = DuckDbBackend.dialect
    is_local = True
    functions: Sequence[str] = ()

    def __init__(self, path: Path, cache: Path, options: SourceOptions) -> None:
        self._path = path
        self._cache = cache
        self._options = options
        self._last: Snapshot | None = None
        self.semantic_files: Sequence[Path] = (path / "semantic.yaml",) if path.is_dir() else beside(path)

    async def look(self, progress: Progress) -> Snapshot:
        paths, fingerprint, last_sync = await asyncio.to_thread(self._seen)
        if self._last is None or self._last.fingerprint != fingerprint:
            listing = await self._listing(paths, fingerprint, progress)
            self._last = self._snapshot(listing, fingerprint, last_sync)
        return self._last

    def _seen(self) -> tuple[list[Path], str, datetime | None]:
        try:
            paths = [self._path] if self._path.is_file() else walked(self._path, self._options.max_files)
        except OSError as error:
            raise cannot_read(self._path, error) from error
        data = [path for path in paths if path not in self.semantic_files]  # what it is called is not what it holds
        return data, digest(_FORMAT, *map(identity, data)), sync_time(data)

    def _snapshot(self, listing: _Listing, fingerprint: str, last_sync: datetime | None) -> Snapshot:
        spec = {
            "engine": DuckDbBackend.kind,
            "views": [{"name": view.name, "files": list(view.files)} for view in listing.views],
            "files": [file for view in listing.views for file in view.files],
            "threads": self._options.threads,
            "memory_mb": self._options.memory_mb,
            "generation": fingerprint,
        }
        tables = {view.name: view.fingerprint for view in listing.views}
        return Snapshot(spec, fingerprint, last_sync, listing.warnings, tables)

    async def _listing(self, paths: Sequence[Path], fingerprint: str, progress: Progress) -> _Listing:
        # Without the prefix `sha256:`; 32 of the hexadecimal digits are enough for a name.
        file = self._cache / "files" / f"{digest(str(self._path), fingerprint)[7:39]}.json"
        if cached := await asyncio.to_thread(_complete, file):
            return cached
        found = await asyncio.to_thread(self._found, paths)
        listing = await self._read(found, progress)
        with cache_file(file) as partial:
            partial.write_bytes(listing.model_dump_json().encode())
        return listing

    def _found(self, paths: Sequence[Path]) -> Found:
        try:
            found = named_file(self._path) if self._path.is_file() else found_in(self._path, paths)
            size = sum(file.path.stat().st_size for file in found.files if file.format != "parquet")
        except OSError as error:
            raise cannot_read(error.filename or self._path, error) from error
        if size > self._options.max_mb * 1_000_000:
            raise LimitError(
                f"The files of {self._path} that are not Parquet have {size // 1_000_000:,} MB,"
                f" more than {self._options.max_mb:,}.",
                code="source_too_large",
                hint="Store large tables as Parquet, which is read in place.",
            )
        return found

    async def _read(self, found: Found, progress: Progress) -> _Listing:
        async with _FileReader(self, found, self._cache, self._options, progress) as reading:
            rows = [*await reading.parquet(), *await reading.others()]
        if not rows:
            raise self._nothing_readable(reading)
        rows.sort(key=lambda table: table.naming.shown)
        names, clashes = unique_table_names([table.naming for table in rows])
        views = tuple(
            _View(name=name, files=tuple(map(str, table.files)), fingerprint=table.fingerprint)
            for name, table in zip(names, rows, strict=True)
        )
        reading.warnings += clashes
        return _Listing(views=views, warnings=tuple(reading.sorted_warnings()))

    def _nothing_readable(self, reading: "_FileReader") -> AnswerableError:
        if (self._path.is_file() and reading.failures) or len(reading.failures) == len(reading.warnings) == 1:
            return reading.failures[0]
        reasons = "; ".join(f"{warning.subject}: {warning.message}" for warning in reading.sorted_warnings()[:5])
        return SourceError(
            f"{self._path} holds no table that can be read." + (f" {reasons}" if reasons else ""),
            code="source_unreadable" if reading.failures else "source_empty",
            hint="Put CSV, TSV, JSON, Parquet or Excel files into it.",
        )

    def shown(self, path: Path) -> str:
        return path.name if path == self._path else str(path.relative_to(self._path))

    def naming(self, wanted: str, path: Path) -> Naming:
        return Naming(wanted, path.parent.name, path.suffix.lstrip("."), self.shown(path))


def _complete(file: Path) -> _Listing | None:
    """The cached listing; None if it is missing, damaged or of an older form, or if a file of its tables is gone."""
    try:
        listing = _Listing.model_validate_json(file.read_bytes())
    except (OSError, ValueError):
        return None
    return listing if all(Path(name).exists() for view in listing.views for name in view.files) else None


class _FileReader:
    """One pass over files that are new: a worker that may read them and write to one folder, and nothing else."""

    def __init__(
        self, backend: FilesBackend, found: Found, cache: Path, options: SourceOptions, progress: Progress
    ) -> None:
        self._backend = backend
        self._progress = progress
        self._files = found.files
        self._tables = cache / "tables"
        self._options = options
        with writing_cache(cache):
            for folder in (self._tables, cache / "staging"):
                folder.mkdir(parents=True, exist_ok=True, mode=0o700)
            self._staging = own_folder(cache / "staging") / secrets.token_hex(8)
        self.warnings = list(found.warnings)
        self.failures: list[AnswerableError] = []
        self._pool = WorkerPool(
            {
                "engine": "loader",
                "read": [str(file.path) for file in found.files],
                "parquet": [str(file.path) for file in found.files if file.format == "parquet"],
                "write": str(self._staging),
                "threads": options.threads,
                "memory_mb": options.memory_mb,
            },
            size=1,
            places=options.places,
        )

    async def __aenter__(self) -> "_FileReader":
        with writing_cache(self._staging):
            await asyncio.to_thread(self._staging.mkdir, mode=0o700)
        return self

    async def __aexit__(self, *_: object) -> None:
        await self._pool.close()
        await asyncio.to_thread(shutil.rmtree, self._staging, ignore_errors=True)

    def sorted_warnings(self) -> list[Warning]:
        return sorted(self.warnings, key=lambda warning: warning.subject)

    async def parquet(self) -> list[_Rows]:
        files = [file for file in self._files if file.format == "parquet"]
        if not files:
            return []
        seen = await self._ask("inspect", {})
        for file in files:
            if problem := seen[str(file.path)].get("error"):
                self._failed(file, FileError(problem, code="file_malformed"))
        schemas = [(file.path, columns) for file in files if (columns := seen[str(file.path)].get("columns"))]
        return [
            _Rows(
                self._backend.naming(table.stem, table.files[0] if len(table.files) == 1 else table.place / table.stem),
                table.files,
                digest(*map(identity, table.files)),
            )
            for table in parquet_tables(schemas)
        ]

    async def others(self) -> list[_Rows]:
        rows: list[_Rows] = []
        files = [file for file in self._files if file.format != "parquet"]
        for done, file in enumerate(files):
            self._progress(f"Reading {self._backend.shown(file.path)}", done, len(files))
            try:
                rows += await self._loaded(file)
            except (SourceError, LimitError, InternalError) as error:
                self._failed(file, error)
            except TransientError as error:
                # A file that ends the process that reads it would do so again, and must not take the others with it.
                if error.stable_code != "worker_aborted":
                    raise
                self._failed(file, LimitError(_UNREAD, code="file_too_large", hint=_SPLIT))
        return rows

    def _failed(self, file: DataFile, error: AnswerableError) -> None:
        shown = self._backend.shown(file.path)
        # The sentences of these errors speak of a query, and nobody has asked one yet.
        if error.stable_code in ("query_memory", "query_time"):
            error = LimitError("Reading the file takes too much time or memory.", code="file_too_large", hint=_SPLIT)
        self.warnings.append(Warning(subject=shown, message=error.message))
        self.failures.append(type(error)(f"{shown}: {error.message}", code=error.stable_code, hint=error.hint))

    async def _loaded(self, file: DataFile) -> list[_Rows]:
        before = identity(file.path)
        owner = digest(str(file.path))[7:23]
        folder = self._tables / f"{owner}-{digest(_FORMAT, before)[7:23]}"
        loaded = await asyncio.to_thread(_loaded_before, folder)
        if loaded is None:
            loaded = await self._load(file, folder)
            # The copy may mix old and new rows. It lies under the old identity, so no later look finds it.
            if identity(file.path) != before:
                raise TransientError(f"{file.path} was changed while it was read.", code="source_changed")
        self.warnings += [Warning(subject=self._backend.shown(file.path), message=note) for note in loaded.notes]
        names = sheet_names(file.stem, [table.name for table in loaded.tables])
        return [
            _Rows(self._backend.naming(name, file.path), (folder / table.file,), digest(before, table.file))
            for name, table in zip(names, loaded.tables, strict=True)
        ]

    async def _load(self, file: DataFile, folder: Path) -> _Loaded:
        into = self._staging / folder.name
        with writing_cache(into):
            into.mkdir(mode=0o700)
        job = {
            "path": str(file.path),
            "format": file.format,
            "compressed": file.compressed,
            "into": str(into),
            "max_bytes": self._options.max_mb * 1_000_000,
        }
        loaded = _Loaded.model_validate(await self._ask("load", {"load": job}))
        with cache_file(into / "loaded.json") as partial:
            partial.write_bytes(loaded.model_dump_json().encode())
        await asyncio.to_thread(_replace_folder, into, folder)
        return loaded

    async def _ask(self, do: str, request: Mapping[str, Any]) -> Any:
        limits = {
            "seconds": _LOAD_SECONDS,
            "memory_mb": self._options.memory_mb,
            "bytes": self._options.max_mb * 1_000_000,
        }
        async with self._options.places.loading:
            return await self._pool.ask_again(do, {**limits, **request}, self._options.memory_mb)


def _loaded_before(folder: Path) -> _Loaded | None:
    """What an earlier reading of the file gave, or None if there was none or its copy is incomplete."""
    try:
        loaded = _Loaded.model_validate_json((folder / "loaded.json").read_bytes())
    except (OSError, ValueError):
        return None
    return loaded if all((folder / table.file).is_file() for table in loaded.tables) else None


def _replace_folder(new: Path, final: Path) -> None:
    """Copies of earlier states of the same file go away; another process may have been quicker to make the new one."""
    owner = final.name.partition("-")[0]
    for old in final.parent.glob(f"{owner}-*"):
        if old != final or _loaded_before(final) is None:
            shutil.rmtree(old, ignore_errors=True)
    with suppress(OSError):
        new.rename(final)
        return
    if _loaded_before(final) is None:
        raise OperatorError(
            f"The cache at {final.parent} cannot be written.",
            code="cache_unwritable",
            hint="Check that the folder may be written to and has room.",
        )

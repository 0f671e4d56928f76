"""A graph that is given as files: a schema in Cypher, and CSV or Parquet files with the rows of its tables.

A worker reads them once into a graph in the cache; that graph is used for as long as the files stay as they were.
"""

import asyncio
import secrets
import shutil
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from answerable.core.errors import FileError, LimitError, TransientError
from answerable.core.file_errors import cannot_read
from answerable.core.progress import Progress
from answerable.core.values import Language
from answerable.isolation.own_folder import own_folder
from answerable.query.cypher.language import LANGUAGE
from answerable.query.scope import nearest
from answerable.sources.fingerprints import digest, identity, sync_time
from answerable.sources.graph.backend import COPIES, GraphFileBackend
from answerable.sources.graph.definition_parser import read_definitions
from answerable.sources.graph.definitions import EdgeTable, Filling, GraphTable, written_option
from answerable.sources.pool import WorkerPool
from answerable.sources.sql.backend import Snapshot, SourceOptions
from answerable.store.whole_files import writing_cache

_FORMAT = "1"
"""Version of the cached graphs: raised whenever reading the same files gives something else."""
_TEXT, _PARQUET = (".csv", ".tsv"), (".parquet",)
_LOAD_SECONDS = 900.0
_SMALLEST_MB = 1024
_GROWTH = 4
"""How many times as large as its files a graph may be."""
_LARGEST_SCHEMA = 1_000_000


class GraphFilesBackend:
    kind = GraphFileBackend.kind
    dialect: Language = LANGUAGE
    is_local = True
    functions: Sequence[str] = ()

    def __init__(self, schema: Path, cache: Path, options: SourceOptions) -> None:
        self._schema = schema
        self._folder = schema.parent
        self._cache = cache
        self._options = options
        self._read: tuple[str, tuple[GraphTable, ...], tuple[Filling, ...]] | None = None
        self.semantic_files: Sequence[Path] = (self._folder / "semantic.yaml",)

    async def look(self, progress: Progress) -> Snapshot:
        files, fingerprint = await asyncio.to_thread(self._seen)
        built = self._cache / "graphs" / f"{fingerprint[7:39]}" / "graph.lbug"
        if not built.is_file():
            progress(f"Building the graph of {self._folder.name}", 0, len(files))
            await self._build(files, fingerprint, built)
        spec = {
            "engine": self.kind,
            "database": str(built),
            "memory_mb": self._options.memory_mb,
            "threads": self._options.threads,
            "generation": fingerprint,
        }
        return Snapshot(spec, fingerprint, sync_time([self._schema, *files]))

    def _seen(self) -> tuple[list[Path], str]:
        """The files that fill the tables, one for each filling, and by what all files are known to be the same."""
        definitions = [self._schema, self._folder / COPIES]
        try:
            state = digest(*map(identity, definitions))
            if self._read is None or self._read[0] != state:
                existing = dict.fromkeys(file for file in definitions if file.is_file())
                tables, fillings = read_definitions({file.name: _text(file) for file in existing})
                self._read = (state, tables, fillings or tuple(map(self._named_like, tables)))
            files = [self._file(filling) for filling in self._read[2]]
            return files, digest(_FORMAT, str(self._schema), state, *map(identity, files))
        except OSError as error:
            raise cannot_read(Path(error.filename or self._schema), error) from error

    def _named_like(self, table: GraphTable) -> Filling:
        """Where no COPY says which file fills a table, it is the one of the same name."""
        found = [
            file.name
            for file in sorted(self._folder.iterdir())
            if file.stem.casefold() == table.name.casefold() and file.suffix.lower() in (*_TEXT, *_PARQUET)
        ]
        if len(found) > 1:
            raise FileError(
                f"{found[0]} and {found[1]} could both fill the table {table.name}.",
                code="graph_schema_invalid",
                hint=f'Say which in {COPIES}: COPY {table.name} FROM "{found[0]}"',
            )
        return Filling(table, found[0] if found else f"{table.name}.csv", (), {}, table.place)

    def _file(self, filling: Filling) -> Path:
        """The file in the folder. A schema often names a place on the machine where it was written: then the name
        counts. What lies elsewhere is never read."""
        named = Path(filling.file)
        inside = not named.is_absolute() and ".." not in named.parts and (self._folder / named).is_file()
        file = self._folder / (named if inside else named.name)
        if not file.is_file():
            names = [each.name for each in self._folder.iterdir() if each.suffix.lower() in (*_TEXT, *_PARQUET)]
            raise FileError(
                f"{filling.place}: there is no file {named.name!r} in {self._folder} for the table"
                f" {filling.table.name}.",
                code="graph_file_missing",
                hint=nearest(named.name, names) or "Put the file beside the schema.",
            )
        if not file.resolve().is_relative_to(self._folder.resolve()):
            raise FileError(
                f"{filling.place}: {file.name} is a link that leads out of {self._folder}.",
                code="graph_file_missing",
                hint="Put the file itself there.",
            )
        if file.suffix.lower() not in (*_TEXT, *_PARQUET):
            raise FileError(
                f"{filling.place}: {file.name} is neither CSV nor Parquet.",
                code="graph_schema_invalid",
                hint="Store it as .csv, .tsv or .parquet, unpacked.",
            )
        return file

    async def _build(self, files: Sequence[Path], fingerprint: str, built: Path) -> None:
        with writing_cache(self._cache):
            for folder in (built.parent.parent, self._cache / "staging"):
                folder.mkdir(parents=True, exist_ok=True, mode=0o700)
            staging = own_folder(self._cache / "staging") / secrets.token_hex(8)
            staging.mkdir(mode=0o700)
        try:
            await self._load(files, staging, staging / built.name)
            # The graph may mix old and new rows.
            if (await asyncio.to_thread(self._seen))[1] != fingerprint:
                raise TransientError(f"{self._folder} was changed while it was read.", code="source_changed")
            await asyncio.to_thread(_publish, staging / built.name, built)
        finally:
            await asyncio.to_thread(shutil.rmtree, staging, ignore_errors=True)

    async def _load(self, files: Sequence[Path], staging: Path, graph: Path) -> None:
        assert self._read is not None
        _state, tables, fillings = self._read
        size_mb = sum(file.stat().st_size for file in files) // 1_000_000
        if size_mb > self._options.max_mb:
            raise LimitError(
                f"The files of {self._folder} have {size_mb:,} MB, more than {self._options.max_mb:,}.",
                code="source_too_large",
                hint="Build the graph with Ladybug, and name its file.",
            )
        largest_mb = 1 << (max(_SMALLEST_MB, _GROWTH * size_mb) - 1).bit_length()
        spec = {
            "engine": "graph_loader",
            "read": [str(file.resolve()) for file in files],
            "write": str(staging),
            "database": str(graph),
            "largest_mb": largest_mb,
            "threads": self._options.threads,
            "memory_mb": self._options.memory_mb,
        }
        request = {
            "tables": [{"statement": table.statement, "place": table.place} for table in tables],
            "fillings": [
                _asked(filling, file, staging / str(number))
                for number, (filling, file) in enumerate(zip(fillings, files, strict=True))
            ],
            "seconds": _LOAD_SECONDS,
            "memory_mb": self._options.memory_mb,
            "bytes": largest_mb * 1_000_000,
        }
        pool = WorkerPool(spec, size=1, places=self._options.places)
        try:
            async with self._options.places.loading, pool.worker(self._options.memory_mb) as worker:
                await worker.ask("load", request)
        finally:
            await pool.close()


def _asked(filling: Filling, file: Path, link: Path) -> Mapping[str, Any]:
    """A filling as the worker gets it. The link has a name that the engine knows the kind of file by, that needs no
    quotes and is no pattern of names."""
    is_text = file.suffix.lower() in _TEXT
    link = link.with_suffix(".csv" if is_text else ".parquet")
    link.symlink_to(file.resolve())
    options = {"DELIM": "\t", **filling.options} if file.suffix.lower() == ".tsv" else filling.options
    ends = {option: value for option, value in options.items() if option in ("FROM", "TO")}
    reading = {option: value for option, value in options.items() if option not in ends} if is_text else {}
    return {
        "table": filling.table.name,
        "path": str(link),
        "shown": file.name,
        "is_text": is_text,
        "columns": list(filling.columns),
        "known": list(filling.table.columns),
        "leading": 2 if isinstance(filling.table, EdgeTable) else 0,
        "header": reading.get("HEADER"),
        "reading": [*(["PARALLEL=false"] if is_text else []), *(written_option(*each) for each in reading.items())],
        "ends": [written_option(*each) for each in ends.items()],
    }


def _text(file: Path) -> str:
    with file.open("rb") as opened:
        content = opened.read(_LARGEST_SCHEMA + 1)
    if len(content) > _LARGEST_SCHEMA:
        raise FileError(f"{file.name} has more than {_LARGEST_SCHEMA:,} bytes.", code="graph_schema_invalid")
    try:
        return content.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise FileError(f"{file.name} is not text in UTF-8.", code="graph_schema_invalid") from error


def _publish(graph: Path, built: Path) -> None:
    """Graphs of earlier states of the files go away; another process may have been quicker to build this one."""
    for old in built.parent.parent.iterdir():
        if old != built.parent:
            shutil.rmtree(old, ignore_errors=True)
    with writing_cache(built.parent):
        built.parent.mkdir(mode=0o700, exist_ok=True)
        graph.replace(built)

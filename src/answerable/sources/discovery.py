"""Which files are tables, by their content first and their names second, and what each table is called."""

import gzip
import os
import re
import unicodedata
import zipfile
import zlib
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from itertools import groupby
from pathlib import Path

from answerable.core.catalog import Warning
from answerable.core.errors import FileError, LimitError
from answerable.core.file_errors import no_descriptors
from answerable.core.records import dataclass
from answerable.sources.sql.database_files import DATABASE_FILES, DATABASE_SUFFIXES, database_kind
from answerable.sources.workers.content import HEAD, content_named, other_than_text

_PARQUET_MAGIC, _ZIP_MAGIC, _GZIP_MAGIC, _OLD_EXCEL_MAGIC = b"PAR1", b"PK\x03\x04", b"\x1f\x8b", b"\xd0\xcf\x11\xe0"

_FORMATS = {
    **dict.fromkeys((".csv", ".txt"), "csv"),
    **dict.fromkeys((".tsv", ".tab"), "tsv"),
    **dict.fromkeys((".json", ".ndjson", ".jsonl"), "json"),
    **dict.fromkeys((".parquet", ".pq"), "parquet"),
    **dict.fromkeys((".xlsx", ".xlsm", ".xlsb", ".xls", ".ods"), "excel"),
}
_EXPECTED = {
    "csv": "a table of text",
    "tsv": "a table of text",
    "json": "JSON",
    "parquet": "a Parquet file",
    "excel": "a workbook",
    **{file.kind: file.name for file in DATABASE_FILES},
}
_NOT_IN_FOLDERS = (".txt",)
"""Read when named, but in a folder more often a note than a table."""
_LONGEST_END = 65_557
"""Bytes at the end of a ZIP archive in which the place of its directory must stand."""
_LARGEST_DIRECTORY = 4 << 20
"""A workbook has some hundred parts."""
_COMPRESSED = (".gz", ".gzip")
_COMPRESSIBLE = ("csv", "tsv", "json")
_UNREMARKABLE = re.compile(r"(readme|license|licence|notice|changelog|semantic)\b.*|.*\.semantic\.yaml", re.IGNORECASE)
_PART = re.compile(r"(part|chunk|file|data|output|split)?[-_.]?[0-9].*", re.IGNORECASE)
_GENERIC_SHEET = re.compile(r"(sheet|tabelle|feuille|hoja|foglio|blad|лист)[ _]?[0-9]*", re.IGNORECASE)
_DEEPEST = 8


@dataclass(frozen=True, slots=True)
class DataFile:
    path: Path
    format: str
    """`csv`, `tsv`, `json`, `excel` or `parquet`."""
    stem: str
    compressed: bool = False


def data_file(path: Path, *, named: bool) -> DataFile | None:
    """Returns None for what cannot be a table. `named` files, which the user asked for, are looked at more closely.
    Raises `FileError` if the content is certainly not what the name says."""
    compressed = path.suffix.lower() in _COMPRESSED
    inner = path.with_suffix("") if compressed else path
    by_name = _FORMATS.get(inner.suffix.lower())
    if (by_name is None and not named) or (inner.suffix.lower() in _NOT_IN_FOLDERS and not named):
        return None
    head = _head(path)
    compressed = head.startswith(_GZIP_MAGIC)
    by_content = _by_content(path, head, compressed)
    if by_content is None:
        _check_name(path, by_name, head, compressed)
    kind = by_content or by_name or (_as_text(path, compressed) if named else None)
    if kind is None or (compressed and kind not in _COMPRESSIBLE):
        return None
    return DataFile(path, kind, inner.stem, compressed)


def _check_name(path: Path, by_name: str | None, head: bytes, compressed: bool) -> None:
    """Refuses a file that is no table of a known form, unless it may be the text that its name says."""
    expected = expected_by_name(path.name)
    is_text = other_than_text(head) is None or compressed
    if expected and not (by_name in _COMPRESSIBLE and is_text):
        raise FileError(
            f"{path.name} is {content_of(path)}, not {expected}, as its name says.",
            code="file_mismatch",
            hint="Check that it is the right file, and that it was saved in the format that its name says.",
        )


def expected_by_name(name: str) -> str | None:
    """What a file of this name should be, in words."""
    ending = Path(name).suffix.lower()
    kind = next((file.kind for file in DATABASE_FILES if ending in file.suffixes), None)
    by_name = kind or _FORMATS.get(Path(name).with_suffix("").suffix.lower() if ending in _COMPRESSED else ending)
    return _EXPECTED[by_name] if by_name else None


def content_of(path: Path) -> str:
    """What a file is, in words."""
    name = content_named(_head(path))
    return f"{name} that is damaged or incomplete" if name == "a ZIP archive" and not zipfile.is_zipfile(path) else name


def sniffed(path: Path, name: str) -> str | None:
    """The format of a file that came from somewhere under `name`: only where name and content agree."""
    kind = database_kind(path)
    ending = Path(name).suffix.lower()
    if kind or ending in DATABASE_SUFFIXES:
        return kind if ending in DATABASE_SUFFIXES else None
    compressed = ending in _COMPRESSED
    by_name = _FORMATS.get(Path(name).with_suffix("").suffix.lower() if compressed else ending)
    head = _head(path)
    if by_name is None or head.startswith(_GZIP_MAGIC) != compressed:
        return None
    if by_name in _COMPRESSIBLE:
        is_text = _by_content(path, head, compressed) is None and _as_text(path, compressed) is not None
        return by_name if is_text else None
    return by_name if _by_content(path, head, compressed) == by_name else None


def _head(path: Path) -> bytes:
    with path.open("rb") as file:
        return file.read(HEAD)


def _by_content(path: Path, head: bytes, compressed: bool) -> str | None:
    if compressed:
        return None
    if head.startswith(_PARQUET_MAGIC) and b"\0" in head:
        return "parquet"
    if head.startswith(_OLD_EXCEL_MAGIC) or (head.startswith(_ZIP_MAGIC) and _is_workbook(path)):
        return "excel"
    return None


def _is_workbook(path: Path) -> bool:
    if not 0 < _directory_bytes(path) < _LARGEST_DIRECTORY:
        return False
    try:
        with zipfile.ZipFile(path) as packed:
            # The parts of a workbook of Excel, and of OpenDocument.
            return any(name.startswith("xl/") or name == "content.xml" for name in packed.namelist())
    except (zipfile.BadZipFile, OSError):
        return False


def _directory_bytes(path: Path) -> int:
    """The size of the list of parts in a ZIP archive, which would be read whole; 0 if it is none."""
    with path.open("rb") as file:
        file.seek(max(0, path.stat().st_size - _LONGEST_END))
        end = file.read()
    place = end.rfind(b"PK\x05\x06")
    return int.from_bytes(end[place + 12 : place + 16], "little") if place >= 0 else 0


def _as_text(path: Path, compressed: bool) -> str | None:
    try:
        with gzip.open(path) if compressed else path.open("rb") as file:
            start = file.read(4096)
    except (OSError, EOFError, zlib.error):
        return None
    # UTF-16 is full of NUL bytes, but begins with a byte order mark.
    if other_than_text(start) or (b"\0" in start and not start.startswith((b"\xff\xfe", b"\xfe\xff"))):
        return None
    return "json" if start.lstrip().startswith((b"{", b"[")) else "csv"


@dataclass(frozen=True, slots=True)
class Found:
    files: tuple[DataFile, ...]
    warnings: tuple[Warning, ...] = ()


def walked(folder: Path, most: int) -> list[Path]:
    """Every file below a folder that is not hidden, in a fixed order; a folder that cannot be opened stands for what it
    holds. Raises `OSError` if the folder itself cannot be opened."""
    paths: list[Path] = []

    def note(error: OSError) -> None:
        """`os.walk` passes over a folder that it cannot open, and would turn a failure into emptiness."""
        if Path(error.filename) == folder or no_descriptors(error):
            raise error
        paths.append(Path(error.filename))

    for place, folders, names in os.walk(folder, onerror=note):
        depth = len(Path(place).relative_to(folder).parts)
        folders[:] = sorted(name for name in folders if not name.startswith(".")) if depth < _DEEPEST else []
        # `~$` begins the lock files that Excel puts beside an open workbook.
        paths += [Path(place, name) for name in sorted(names) if not name.startswith((".", "~$"))]
        if len(paths) > most:
            raise LimitError(
                f"{folder} holds more than {most:,} files.",
                code="source_too_large",
                hint="Point to a folder that holds only the tables.",
            )
    return paths


def found_in(folder: Path, paths: Sequence[Path]) -> Found:
    files, warnings, others = [], [], []
    root = folder.resolve()
    for path in paths:
        shown = os.fsencode(path.relative_to(folder)).decode(errors="replace")
        if (problem := _unusable(path, root)) is not None:
            warnings.append(Warning(subject=shown, message=problem))
            continue
        try:
            database = path.suffix.lower() in DATABASE_SUFFIXES and database_kind(path)
            file = None if database else data_file(path, named=False)
        except FileError as error:
            warnings.append(Warning(subject=shown, message=error.message))
            continue
        except OSError as error:
            if exhausted := no_descriptors(error):
                raise exhausted from error
            warnings.append(Warning(subject=shown, message=f"cannot be opened: {error.strerror}"))
            continue
        if database:
            warnings.append(Warning(subject=shown, message=f"is a {database} database; ask it as a source of its own"))
        elif file is not None:
            files.append(file)
        elif not _UNREMARKABLE.fullmatch(path.name):
            others.append(shown)
    if others:
        listed = ", ".join(others[:5]) + (", …" if len(others) > 5 else "")
        warnings.append(Warning(subject=folder.name, message=f"{len(others)} files are not tables: {listed}"))
    return Found(tuple(files), tuple(warnings))


def _unusable(path: Path, root: Path) -> str | None:
    """Why a path is not even opened, or None if it is a file below `root`."""
    if os.fsencode(path).decode(errors="replace") != str(path):
        return "has a name that is not UTF-8 text; rename it"
    if path.is_symlink() and path.exists() and not path.resolve().is_relative_to(root):
        return "is a link that leads out of the folder; it is not followed"
    if path.is_dir():
        return "is a folder that cannot be opened"
    # A pipe keeps whoever opens it waiting for ever.
    return "is a pipe, a socket or a device, not a file" if path.exists() and not path.is_file() else None


def named_file(path: Path) -> Found:
    file = data_file(path, named=True)
    if file is None:
        raise FileError(
            f"{path} is {content_of(path)}: of no type that can be read.",
            code="source_unsupported",
            hint="Use CSV, TSV, JSON, Parquet, Excel, SQLite or DuckDB files, a folder of them, or a PostgreSQL URL.",
        )
    return Found((file,))


# Parts of one table


@dataclass(frozen=True, slots=True)
class ParquetTable:
    """One file, or the parts of one table."""

    files: tuple[Path, ...]
    stem: str
    place: Path
    """The folder that it lies in."""


def parquet_tables(schemas: Sequence[tuple[Path, str]]) -> Iterator[ParquetTable]:
    """Files of the same columns are parts of one table when they are numbered, or lie in `key=value` folders."""
    by_base = groupby(
        sorted(schemas, key=lambda item: (str(_base(item[0])), item[1])), key=lambda i: (_base(i[0]), i[1])
    )
    for (base, _columns), members in by_base:
        paths = sorted(path for path, _columns in members)
        parts = [path for path in paths if _PART.fullmatch(path.stem) or path.parent != base]
        # A single file with a number in its name is a table of its own, unless it lies in a `key=value` folder.
        if len(parts) > 1 or any(path.parent != base for path in parts):
            yield ParquetTable(tuple(parts), base.name, base.parent)
            paths = [path for path in paths if path not in parts]
        for path in paths:
            yield ParquetTable((path,), path.stem, path.parent)


def _base(path: Path) -> Path:
    """The folder above all `key=value` folders."""
    folder = path.parent
    while "=" in folder.name:
        folder = folder.parent
    return folder


# Names


def table_name(text: str) -> str:
    """Small letters, digits and underscores, of any script: `Sales 2024 (final)` becomes `sales_2024_final`."""
    words = re.findall(r"\w+", unicodedata.normalize("NFC", text).lower())
    name = "_".join(words).strip("_") or "table"
    # SQL needs quotes around a name that begins with a digit.
    return f"t_{name}" if name[0].isdigit() else name


def sheet_names(stem: str, sheets: Sequence[str | None]) -> list[str]:
    """A single sheet gets the name of its file. More sheets keep their own names, unless a name such as `Sheet1` says
    nothing."""
    if len(sheets) == 1:
        return [stem]
    return [f"{stem} {sheet}" if not sheet or _GENERIC_SHEET.fullmatch(sheet) else sheet for sheet in sheets]


@dataclass(frozen=True, slots=True)
class Naming:
    """What a table would like to be called, and what tells it apart if another would too."""

    wanted: str
    folder: str
    suffix: str
    shown: str

    def named(self, form: str) -> str:
        return table_name(form.format(folder=self.folder, wanted=self.wanted, suffix=self.suffix))


def unique_table_names(namings: Sequence[Naming]) -> tuple[list[str], list[Warning]]:
    """Equal names get their folder in front, then their type behind, then a number; a warning names each."""
    first = [table_name(naming.wanted) for naming in namings]
    clashing = _repeated(first)
    names = first
    for form in ("{folder} {wanted}", "{wanted} {suffix}", "{folder} {wanted} {suffix}"):
        repeated = _repeated(names)
        names = [n.named(form) if name in repeated else name for name, n in zip(names, namings, strict=True)]
    names = _numbered(names)
    warnings = [
        Warning(subject=naming.shown, message=f"another table is called {before!r} too; this one is {name!r}")
        for naming, before, name in zip(namings, first, names, strict=True)
        if before in clashing
    ]
    return names, warnings


def _repeated(names: Iterable[str]) -> set[str]:
    return {name for name, count in Counter(names).items() if count > 1}


def _numbered(names: Sequence[str]) -> list[str]:
    taken: set[str] = set()
    numbered = []
    for name in names:
        candidate, number = name, 1
        while candidate in taken:
            number += 1
            candidate = f"{name}_{number}"
        taken.add(candidate)
        numbered.append(candidate)
    return numbered

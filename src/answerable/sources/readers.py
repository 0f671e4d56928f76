"""Which files of a folder are tables, and what each table is called."""

import re
import unicodedata
from dataclasses import dataclass
from pathlib import Path

_FORMATS = {
    ".csv": "csv",
    ".tsv": "csv",
    ".tab": "csv",
    ".parquet": "parquet",
    ".pq": "parquet",
    ".json": "json",
    ".ndjson": "json",
    ".jsonl": "json",
    ".xlsx": "excel",
    ".xlsm": "excel",
    ".xls": "excel",
    ".xlsb": "excel",
    ".ods": "excel",
}
_COMPRESSED = (".gz", ".gzip")
_COMPRESSIBLE = ("csv", "json")


@dataclass(frozen=True, slots=True)
class DataFile:
    path: Path
    format: str
    """`csv`, `json`, `excel` or `parquet`."""
    stem: str
    compressed: bool = False


def data_file(path: Path) -> DataFile | None:
    suffixes = [suffix.lower() for suffix in path.suffixes]
    compressed = bool(suffixes) and suffixes[-1] in _COMPRESSED
    name = path.with_suffix("") if compressed else path
    kind = _FORMATS.get(name.suffix.lower())
    if kind is None or (compressed and kind not in _COMPRESSIBLE):
        return None
    return DataFile(path, kind, name.stem, compressed)


def table_name(text: str) -> str:
    """Small letters, digits and underscores, of any script: `Sales 2024 (final)` becomes `sales_2024_final`."""
    words = re.findall(r"\w+", unicodedata.normalize("NFC", text).casefold())
    name = "_".join(words).strip("_") or "table"
    return f"t_{name}" if name[0].isdigit() else name

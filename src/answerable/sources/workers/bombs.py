"""Files that unpack to far more than they hold."""

import zipfile
from pathlib import Path

from answerable.sources.workers.failures import Failure

_HARMLESS = 64 * 1024 * 1024
"""Bytes up to which nobody minds."""
_MOST_RATIO = 200
"""Tables of real data shrink to a tenth or a fiftieth."""


def check_ratio(unpacked: int, packed: int) -> None:
    """Refuses content of which so many bytes have been unpacked already, or would be."""
    if unpacked > _HARMLESS and unpacked > _MOST_RATIO * packed:
        raise Failure(
            "LimitError",
            "file_bomb",
            f"The file unpacks to more than {_MOST_RATIO} times its size, as no table does.",
            "Store it without compression, or as Parquet, if it really is one.",
        )


def check_archive(path: Path, max_bytes: int) -> None:
    """Refuses an archive that would unpack to too much. Its directory says how large its parts are."""
    with zipfile.ZipFile(path) as archive:
        unpacked = sum(part.file_size for part in archive.infolist())
    check_ratio(unpacked, path.stat().st_size)
    if unpacked > max_bytes:
        raise Failure(
            "LimitError",
            "file_too_large",
            f"Unpacked, the file is larger than {max_bytes // 1_000_000:,} MB.",
            "Split it, or raise the limit on the size of files.",
        )

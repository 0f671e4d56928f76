"""By what a file is known to be the same: where it is, how long, when it was written. Its content is not read again."""

import errno
import hashlib
from collections.abc import Iterable
from datetime import UTC, datetime
from pathlib import Path


def identity(path: Path) -> str:
    """Another text whenever the file has been written or replaced; a fixed one while there is none."""
    try:
        seen = path.stat()
    except FileNotFoundError:
        return f"{path}|absent"
    except OSError as error:
        if error.errno != errno.ELOOP:  # links that lead to each other lead to no file
            raise
        return f"{path}|absent"
    return f"{path}|{seen.st_ino}|{seen.st_size}|{seen.st_mtime_ns}"


def digest(*parts: str) -> str:
    return "sha256:" + hashlib.sha256("\0".join(parts).encode("utf-8", "surrogateescape")).hexdigest()


def sync_time(paths: Iterable[Path]) -> datetime | None:
    times = [path.stat().st_mtime for path in paths if path.exists()]
    return datetime.fromtimestamp(max(times), UTC) if times else None


def beside(path: Path) -> tuple[Path, ...]:
    """Where the `semantic.yaml` of a single file may be."""
    return (path.with_name(f"{path.stem}.semantic.yaml"), path.with_name("semantic.yaml"))

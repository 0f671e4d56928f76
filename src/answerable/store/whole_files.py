"""Files that are written whole: a reader finds the old file or the new one, and never half of either."""

import secrets
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from answerable.core.errors import OperatorError
from answerable.core.file_errors import no_descriptors


@contextmanager
def whole_file(path: Path) -> Iterator[Path]:
    """Yields a name in the same folder to write to. The file takes its place at the end; after an error it is gone."""
    # Short, because the name of the file itself may be as long as names can be.
    partial = path.with_name(f".{secrets.token_hex(8)}")
    try:
        yield partial
        partial.replace(path)
    finally:
        with suppress(OSError):  # the error that matters is the one that ended the block
            partial.unlink(missing_ok=True)


@contextmanager
def cache_file(path: Path) -> Iterator[Path]:
    """`whole_file` in a folder of the cache, which is made if it is missing."""
    with writing_cache(path.parent):
        path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
        with whole_file(path) as partial:
            yield partial


@contextmanager
def writing_cache(folder: Path) -> Iterator[None]:
    """Says of a system error inside of it that the cache cannot be written."""
    try:
        yield
    except OSError as error:
        raise no_descriptors(error) or OperatorError(
            f"The cache at {folder} cannot be written: {error.strerror or error}.",
            code="cache_unwritable",
            hint="Check that the folder may be written to and has room.",
        ) from error

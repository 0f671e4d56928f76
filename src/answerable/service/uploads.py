"""Uploads: a file goes to the disk as it comes, and joins a source once it is whole and known to be readable."""

import asyncio
import os
from collections.abc import AsyncIterator
from pathlib import Path

from answerable.core.errors import LimitError, OperatorError, UserError
from answerable.sources.added import MB, AddedSources

PIECE = 1 << 20


class UploadRoom:
    """How much may be uploaded: in one file, and in all files together. Files that are on their way count too."""

    def __init__(self, added: AddedSources, file_mb: int, total_mb: int) -> None:
        self._added = added
        self._file_mb, self._total_mb = file_mb, total_mb
        self._left = added.room(total_mb * MB)

    def check(self, size: int) -> None:
        if size > self._file_mb * MB:
            raise LimitError(
                f"The file has more than {self._file_mb:,} MB.",
                code="upload_too_large",
                hint="Store it as Parquet, or split it.",
            )
        if size > self._left:
            left_mb = max(0, self._left) // MB
            raise LimitError(
                f"All uploads may have {self._total_mb:,} MB together, of which {left_mb:,} MB are left.",
                code="upload_no_room",
                hint="Remove a source that is not needed any more, or raise the setting `upload_total_mb`.",
            )

    def check_all(self) -> None:
        self._left = self._added.room(self._total_mb * MB)
        self.check(0)


async def received(
    content: AsyncIterator[bytes],
    added: AddedSources,
    room: UploadRoom,
    file_name: str,
    source: str,
    *,
    replace: bool,
    announced: int,
) -> tuple[int, str]:
    """Writes the content to the disk and moves it into the source; returns its size and format."""
    staged = added.staging()
    try:
        room.check(announced)
        size = await _written(content, staged, room)
        room.check_all()
        return size, await asyncio.to_thread(added.adopt, staged, file_name, source, replace=replace)
    finally:
        staged.unlink(missing_ok=True)


async def _written(content: AsyncIterator[bytes], into: Path, room: UploadRoom) -> int:
    """Writes a megabyte at a time, and makes sure that it is on the disk."""
    size, pending = 0, bytearray()
    try:
        with os.fdopen(os.open(into, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "wb") as file:
            async for piece in content:
                size += len(piece)
                room.check(size)
                pending += piece
                if len(pending) >= PIECE:
                    await asyncio.to_thread(file.write, bytes(pending))
                    pending.clear()
            file.write(pending)
            file.flush()
            await asyncio.to_thread(os.fsync, file.fileno())
    except OSError as error:
        raise OperatorError(
            f"The upload could not be written: {error.strerror}.", code="home_unwritable", hint="Make room on the disk."
        ) from error
    if not size:
        raise UserError("The file is empty.", code="file_empty", hint="Choose a file that holds data.")
    return size

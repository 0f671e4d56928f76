"""Uploads: a file goes to the disk as it comes, and becomes a source once it is whole and known to be readable."""

import asyncio
import os
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Annotated

from fastapi import APIRouter, Query, Request
from pydantic import Field
from starlette.requests import ClientDisconnect

from answerable.core.errors import LimitError, OperatorError, RefusedError, UserError
from answerable.gateway.access import AddedOf, ServiceOf, SettingsOf, WatchOf
from answerable.gateway.problems import documented
from answerable.gateway.routes.sources import SourceSummary, check_adding, free_name, summary
from answerable.gateway.wire import API, Wire
from answerable.service import Service
from answerable.settings import Settings
from answerable.sources.added import MB, AddedSources, safe_file_name, source_name

router = APIRouter(prefix=API, tags=["sources"])

PIECE = 1 << 20
_BYTES = {"application/octet-stream": {"schema": {"type": "string", "format": "binary"}}}
FILE_BODY = {"requestBody": {"required": True, "content": _BYTES}}


class UploadedFile(Wire):
    file: str = Field(description="The name under which it is kept.")
    format: str
    bytes: int
    source: SourceSummary


@router.post("/uploads", status_code=201, responses=documented(400, 403, 413, 422, 503), openapi_extra=FILE_BODY)
async def upload(
    request: Request,
    service: ServiceOf,
    settings: SettingsOf,
    added: AddedOf,
    watch: WatchOf,
    name: Annotated[str, Query(min_length=1, max_length=500, description="The file's own name.")],
    source: Annotated[
        str | None, Query(min_length=1, max_length=60, description="Join this uploaded source, or make it.")
    ] = None,
    replace: Annotated[bool, Query(description="Take the place of a file of the same name.")] = False,
) -> UploadedFile:
    """Upload one file: its bytes are the body. Without `source` it becomes a source that is named after it."""
    check_adding(settings)
    file_name = safe_file_name(name)
    into = _target(source, file_name, service, added)
    staged = added.staging()
    room = _Room(settings, added)
    try:
        room.check(_announced(request))
        size = await _received(request.stream(), staged, room)
        room.check_all()
        format_ = await asyncio.to_thread(added.adopt, staged, file_name, into, replace=replace)
    finally:
        staged.unlink(missing_ok=True)
    if into not in service.registry.names:
        service.registry.add(into, added.all()[into].location)
    watch.read(into)
    return UploadedFile(
        file=file_name, format=format_, bytes=size, source=summary(into, service, settings, added, watch)
    )


def _target(source: str | None, file_name: str, service: Service, added: AddedSources) -> str:
    taken = service.registry.names
    if source is None:
        return free_name(source_name(Path(file_name.removesuffix(".gz")).stem), taken)
    name = source_name(source)
    known = added.get(name)
    if name in taken and (known is None or known.origin != "uploaded"):
        raise RefusedError(
            f"Files can be added only to sources that were uploaded; {name!r} was not.", code="source_not_uploaded"
        )
    return name


class _Room:
    """How much may come: of one file, and of all files together, others counted that come at the same time."""

    def __init__(self, settings: Settings, added: AddedSources) -> None:
        self._added = added
        self._file_mb, self._total_mb = settings.upload_mb, settings.upload_total_mb
        self._left = added.room(self._total_mb * MB)

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


def _announced(request: Request) -> int:
    """What the client says it will send: enough to refuse it before the first byte."""
    told = request.headers.get("content-length", "")
    return int(told) if told.isdecimal() else 0


async def _received(stream: AsyncIterator[bytes], into: Path, room: _Room) -> int:
    """Writes what comes, a megabyte at a time, and makes sure that it is on the disk."""
    size, pending = 0, bytearray()
    try:
        with os.fdopen(os.open(into, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "wb") as file:
            async for piece in stream:
                size += len(piece)
                room.check(size)
                pending += piece
                if len(pending) >= PIECE:
                    await asyncio.to_thread(file.write, bytes(pending))
                    pending.clear()
            file.write(pending)
            file.flush()
            await asyncio.to_thread(os.fsync, file.fileno())
    except ClientDisconnect:
        raise UserError("The upload was broken off.", code="upload_cut", hint="Upload the file again.") from None
    except OSError as error:
        raise OperatorError(
            f"The upload could not be written: {error.strerror}.", code="home_unwritable", hint="Make room on the disk."
        ) from error
    if not size:
        raise UserError("The file is empty.", code="file_empty", hint="Choose a file that holds data.")
    return size

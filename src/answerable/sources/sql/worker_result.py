"""The file that a worker writes the rows of a query to: created, watched while it grows, and checked.

A worker that was taken over can send anything, so its account is held against the file."""

import asyncio
import os
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from pathlib import Path
from typing import Any

from pydantic import Field, ValidationError

from answerable.core.errors import InternalError, OperatorError
from answerable.core.file_errors import no_descriptors
from answerable.core.progress import Progress, no_progress
from answerable.core.values import ColumnType, Frozen, Scalar
from answerable.sources.result_files import check_result_file

_SCALARS = frozenset({str, int, float, bool, type(None)})
"""What a plain row can hold."""
_REPORT_SECONDS = 0.5
"""Between two reports of how much a query has written."""


@asynccontextmanager
async def reporting_size(output: int, progress: Progress) -> AsyncIterator[None]:
    """Reports how much a worker has written. The size of the file tells, so the worker is not asked."""
    if progress is no_progress:
        yield
        return

    async def report() -> None:
        while True:
            await asyncio.sleep(_REPORT_SECONDS)
            if written := os.fstat(output).st_size:
                progress(f"{written / 1_000_000:,.1f} MB of rows written", written, None)

    reporting = asyncio.create_task(report())
    try:
        yield
    finally:
        reporting.cancel()


class ExecutedQuery(Frozen):
    """What a worker says about the file that it wrote."""

    columns: tuple[tuple[str, ColumnType], ...]
    rows: int = Field(ge=0)
    bytes: int
    milliseconds: float
    plain_rows: list[list[Any]] | None


def executed_query(reply: object, written: int) -> ExecutedQuery:
    """Checks the reply against the size of the file, because a worker that was taken over can send anything."""
    try:
        executed = ExecutedQuery.model_validate(reply)
    except ValidationError as error:
        raise InternalError("A worker described its result in an unknown way.", code="worker_failed") from error
    if executed.bytes != written:
        raise InternalError("A worker wrote another result than it described.", code="worker_failed")
    return executed


def check_file(file: Path, executed: ExecutedQuery) -> None:
    try:
        check_result_file(file, executed.columns, executed.rows)
    except ValueError as error:
        raise InternalError(f"A worker wrote rows that cannot be read: {error}.", code="worker_failed") from error


def plain_rows(rows: Any, count: int, width: int) -> tuple[tuple[Scalar, ...], ...] | None:
    """The rows that a worker sent beside the file, or None if it sent none. They are looked at, because a worker that
    was taken over can send anything."""
    if rows is None:
        return None
    if len(rows) != count or not all(len(row) == width and _SCALARS.issuperset(map(type, row)) for row in rows):
        raise InternalError("A worker sent rows that are none.", code="worker_failed")
    return tuple(map(tuple, rows))


def removed(path: Path) -> None:
    with suppress(OSError):
        path.unlink()


def created(path: Path) -> int:
    try:
        return os.open(path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_CLOEXEC, 0o600)
    except OSError as error:
        raise no_descriptors(error) or OperatorError(
            f"The result cannot be written to {path}: {error.strerror}.",
            code="result_unwritable",
            hint="Check that the folder exists, may be written to, and has room.",
        ) from error

"""The worker processes that make tables, as the server sees them."""

from __future__ import annotations

import asyncio
import errno
import os
import tempfile
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, BinaryIO, Literal, TypeAlias

import orjson

from answerable.core.errors import OperatorError
from answerable.core.file_errors import cannot_write, no_descriptors
from answerable.isolation import wire
from answerable.isolation.frames import TooMuch
from answerable.isolation.worker_process import Gone, WorkerProcess
from answerable.sandbox.base import Frame
from answerable.sandbox.bounds import LARGEST_MESSAGE, Broken, message_of

if TYPE_CHECKING:
    from answerable.core.values import Json  # brings pydantic, which worker processes do without

Form: TypeAlias = Literal["arrow", "json"]

_MODULE = "answerable.sandbox.tables.worker"
_ENVIRONMENT = {"POLARS_MAX_THREADS": "1", "_RJEM_MALLOC_CONF": "background_thread:false"}
_SECONDS = 60.0
"""The longest that a table may take; a worker that takes longer is killed."""
_MEMORY_MB = 768
"""What a table may take beside its own size."""
_MB = 1 << 20


class NoTable(Exception):
    """The result cannot become a table. The message is a sentence for whoever wrote the code."""


class TableWorkers:
    """Runs one process for each table under construction, and keeps one ready for the next."""

    def __init__(self, at_once: int = 2) -> None:
        self._places = asyncio.Semaphore(at_once)
        self._idle: list[WorkerProcess] = []
        self._ending: set[asyncio.Task[None]] = set()

    def warm(self) -> None:
        """Starts a process ahead of the first result."""
        if not self._idle:
            self._idle.append(_started())

    async def from_records(self, records: list[dict[str, Json]], into: Path, result_mb: int) -> Frame:
        """Writes plain records as an Arrow IPC file. Raises `NoTable`."""
        with _temporary(orjson.dumps(records)) as file:
            return await self.from_file("json", file, into, result_mb)

    async def from_file(self, form: Form, file: BinaryIO, into: Path, result_mb: int) -> Frame:
        """Writes what is in `file` as an Arrow IPC file. Raises `NoTable`."""
        async with self._places:
            worker = self._taken()
            try:
                async with asyncio.timeout(_SECONDS):
                    reply = await _asked(worker, form, file, into, result_mb)
            except BaseException as error:
                # Its reply is still to come, and would be taken for that of the next table.
                self._end(worker)
                if isinstance(error, TimeoutError):
                    raise NoTable(f"Making a table of the result took longer than {_SECONDS:g} seconds.") from None
                if isinstance(error, OSError):
                    raise cannot_write(error) from error
                if isinstance(error, Gone | TooMuch | Broken):
                    # A library that cannot get memory ends its process, and so does one that the result has misled.
                    raise NoTable("The result needs too much memory as a table, or is damaged.") from None
                raise
            self._returned(worker)
        if "disk_full" in reply:
            _remove(into)
            raise cannot_write(OSError(errno.ENOSPC, os.strerror(errno.ENOSPC)))
        if "refused" in reply:
            _remove(into)
            raise NoTable(str(reply["refused"])[:1_000])
        return frame_of(reply)

    async def close(self) -> None:
        while self._idle:
            self._end(self._idle.pop())
        while self._ending:
            await asyncio.wait(self._ending)

    def _taken(self) -> WorkerProcess:
        while self._idle:
            worker = self._idle.pop()
            if worker.open:
                return worker
            self._end(worker)
        return _started()

    def _returned(self, worker: WorkerProcess) -> None:
        if worker.open and not self._idle:
            self._idle.append(worker)
        else:
            self._end(worker)

    def _end(self, worker: WorkerProcess) -> None:
        worker.kill()
        task = asyncio.ensure_future(worker.ended())
        self._ending.add(task)
        task.add_done_callback(self._ending.discard)


def _remove(file: Path) -> None:
    """What was begun must not be taken for a table."""
    file.unlink(missing_ok=True)


def _temporary(content: bytes) -> BinaryIO:
    """A file without a name, to be read from its beginning."""
    try:
        file = tempfile.TemporaryFile()  # noqa: SIM115 - the caller closes it
        file.write(content)
        file.seek(0)
    except OSError as error:
        raise cannot_write(error) from error
    return file


def _started() -> WorkerProcess:
    try:
        return WorkerProcess(_MODULE, _ENVIRONMENT)
    except OSError as error:
        unstartable = OperatorError(
            f"The process that makes tables cannot be started: {error.strerror or error}.",
            code="worker_unstartable",
            hint="Check the limits on processes, open files and memory.",
        )
        raise no_descriptors(error) or unstartable from error


async def _asked(worker: WorkerProcess, form: Form, file: BinaryIO, into: Path, result_mb: int) -> dict[str, Json]:
    message = {"do": form, "memory_mb": _MEMORY_MB + 3 * result_mb, "bytes": 2 * result_mb * _MB}
    with into.open("wb") as output:
        await worker.send(wire.encoded(message), [file.fileno(), output.fileno()])
        return message_of(await worker.receive(LARGEST_MESSAGE))


def frame_of(reply: Mapping[str, Json]) -> Frame:
    """What a worker says of a table that it has written."""
    from answerable.core.values import OutputColumn

    columns = tuple(OutputColumn(name=name, type=kind) for name, kind in reply["columns"])
    return Frame(columns=columns, row_count=reply["rows"], byte_count=reply["bytes"])

"""Writes an Arrow IPC file batch by batch to a descriptor, holding no more than one batch.

nanoarrow writes the stream format. A file is that stream between two magic words, plus a footer that says where each
batch begins, see `arrow_footer.py`.
"""

import os
import struct
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from typing import Any

import nanoarrow
from nanoarrow.ipc import StreamWriter

from answerable.sources.workers import null_slots
from answerable.sources.workers.arrow_footer import BEGINNING, block, ending
from answerable.sources.workers.failures import Failure, too_many_bytes, too_many_rows

_FEW_ROWS = 1_000
_FEW_BYTES = 256 * 1024


class ArrowFile:
    def __init__(self, descriptor: int, *, max_rows: int, max_bytes: int) -> None:
        self._sink = _Sink(descriptor, max_bytes)
        self._max_rows = max_rows
        self._blocks: list[bytes] = []
        self._schema = b""
        self._writer: Any = None
        self._batches: list[Any] = []
        self.row_count = 0

    @property
    def byte_count(self) -> int:
        return self._sink.position

    @property
    def all_batches(self) -> list[Any] | None:
        """All that was written, or None if it is more than a few rows."""
        few = self.row_count <= _FEW_ROWS and self.byte_count <= _FEW_BYTES
        return self._batches if few else None

    def start(self, schema: Any) -> None:
        """Begins the file, or begins it again with another schema."""
        self._sink.rewind()
        self._blocks.clear()
        self._batches.clear()
        self.row_count = 0
        self._writer = StreamWriter.from_writable(self._sink)
        self._sink.write(BEGINNING)
        self._sink.keep = bytearray()
        with self._sink.own_failures():
            self._writer.write_stream(nanoarrow.c_array_stream([], schema))
        self._schema = _metadata(self._sink.keep)
        self._sink.keep = None

    def add(self, batch: Any) -> None:
        """`batch` is a struct array: a record batch."""
        if batch.length == 0:
            return
        self.row_count += batch.length
        if self.row_count > self._max_rows:
            raise too_many_rows(self._max_rows)
        null_slots.clear(batch)
        begin = self._sink.position
        self._sink.head = b""
        with self._sink.own_failures():
            self._writer.write_array(batch)
        head = 8 + _metadata_length(self._sink.head)
        self._blocks.append(block(begin, head, self._sink.position - begin - head))
        if self.all_batches is not None:
            self._batches.append(batch)
        else:
            self._batches.clear()

    def finish(self) -> None:
        with self._sink.own_failures():
            self._writer.close()
        self._sink.write(ending(self._schema, self._blocks))
        self._sink.flush()

    def write_all(self, schema: Any, batches: Iterable[Any]) -> None:
        self.start(schema)
        for batch in batches:
            self.add(batch)
        self.finish()


class _Sink:
    """Counts what is written and refuses too much. Small pieces are gathered; large ones go straight to the file."""

    _GATHER = 1 << 16

    def __init__(self, descriptor: int, limit: int) -> None:
        self._descriptor = descriptor
        self._limit = limit
        self._gathered = bytearray()
        self.position = 0
        self.keep: bytearray | None = None
        """Gets a copy of all that is written while it is set."""
        self.head = b""
        """The first eight bytes since it was last emptied."""
        self._failure: BaseException | None = None

    @contextmanager
    def own_failures(self) -> Iterator[None]:
        """nanoarrow keeps only the text of what went wrong in `write`; this raises the thing itself."""
        try:
            yield
        except RuntimeError:
            if self._failure is None:
                raise
            raise self._failure from None

    def write(self, data: Any) -> int:
        try:
            return self._write(memoryview(data).cast("B"))
        except (Failure, OSError) as error:
            self._failure = error
            raise

    def _write(self, view: memoryview) -> int:
        self.position += view.nbytes
        if self.position > self._limit:
            raise too_many_bytes(self._limit)
        if self.keep is not None:
            self.keep += view
        if len(self.head) < 8:
            self.head += bytes(view[: 8 - len(self.head)])
        self._gathered += view if view.nbytes < self._GATHER else b""
        if view.nbytes >= self._GATHER or len(self._gathered) >= self._GATHER:
            self.flush()
        if view.nbytes >= self._GATHER:
            self._write_fully(view)
        return view.nbytes

    def flush(self) -> None:
        self._write_fully(memoryview(self._gathered))
        self._gathered = bytearray()

    def rewind(self) -> None:
        if self.position == 0:
            return
        self._gathered = bytearray()
        self.position = 0
        os.ftruncate(self._descriptor, 0)
        os.lseek(self._descriptor, 0, os.SEEK_SET)

    def _write_fully(self, view: memoryview) -> None:
        while view:
            view = view[os.write(self._descriptor, view) :]


def _metadata_length(message: bytes | bytearray) -> int:
    return int(struct.unpack_from("<i", message, 4)[0])


def _metadata(message: bytes | bytearray) -> bytes:
    """The flatbuffer of an encapsulated message, without its prefix; its length is a multiple of eight."""
    return bytes(message[8 : 8 + _metadata_length(message)])

"""The rows that a worker has written, looked at before anything reads them.

A worker may have been taken over by the data that it reads, and polars trusts its input: a number of nulls or an offset
that is wrong makes it read memory that is not of the file, or end the process. The file must be exactly what a good
worker writes: a small dialect of Arrow, every buffer inside of the file, aligned and long enough, every offset in its
place, nulls counted right, the footer as our own code lays it out.
"""

import mmap
import os
from collections.abc import Callable, Sequence
from pathlib import Path

from answerable.core.values import ColumnType
from answerable.isolation import arrow_stream
from answerable.isolation.arrow_stream import ArrowTable, ArrowValues, Forged
from answerable.sources.workers.arrow_footer import BEGINNING, block, ending

_MOST_BATCHES = 100_000
_ALIGNED = 8
_READ_WHOLE = 4 << 20
"""Larger files are mapped."""
_PIECE = 16_384
"""Offsets that are compared at a time."""
_FORMATS: dict[ColumnType, tuple[str, ...]] = {
    "text": ("u", "U"),
    "json": ("u", "U"),
    "integer": ("l",),
    "number": ("g",),
    "boolean": ("b",),
    "date": ("tdD",),
    "time": ("ttu",),
    "datetime": ("tsu:", "tsu:UTC"),
    "binary": ("z", "Z"),
}
_WIDE_OFFSETS = ("U", "Z")
_OFFSETS = ("u", "z", *_WIDE_OFFSETS)


def check_result_file(path: Path, columns: Sequence[tuple[str, ColumnType]], rows: int) -> None:
    """Raises `Forged` if the file is not what a worker should have written for these columns and rows."""
    with path.open("rb") as file:
        if os.fstat(file.fileno()).st_size <= _READ_WHOLE:
            _check(memoryview(file.read()), columns, rows, lambda: None)
            return
        mapped = mmap.mmap(file.fileno(), 0, prot=mmap.PROT_READ)
    # The mapping goes with the last view into it, which an error may still hold.
    _check(memoryview(mapped), columns, rows, lambda: mapped.madvise(mmap.MADV_DONTNEED))


def _check(whole: memoryview, columns: Sequence[tuple[str, ColumnType]], rows: int, let_go: Callable[[], None]) -> None:
    """`let_go`: gives back the memory of what was read so far."""
    if bytes(whole[: len(BEGINNING)]) != BEGINNING:
        raise Forged("it is not an Arrow file")
    table = arrow_stream.read(whole[len(BEGINNING) :], _MOST_BATCHES)
    if [column.name for column in table.columns] != [name for name, _type in columns]:
        raise Forged("its columns have other names")
    if any(found.format not in _FORMATS[kind] for found, (_, kind) in zip(table.columns, columns, strict=True)):
        raise Forged("its columns have other types")
    if sum(length for length, _values in table.batches) != rows:
        raise Forged("it has another number of rows")
    for _length, batch in table.batches:
        for column, values in zip(table.columns, batch, strict=True):
            _check_values(column.format, values)
        let_go()
    _check_footer(whole, table)


def _check_footer(whole: memoryview, table: ArrowTable) -> None:
    first, *batches = table.places
    if any(part % _ALIGNED for place in table.places for part in (place.start, place.head, place.body)):
        raise Forged("a message is not aligned")
    schema = bytes(whole[len(BEGINNING) + first.start + 8 :][: first.head])
    # The writer begins with a batch without rows, which the footer leaves out.
    filled = [place for place, (length, _values) in zip(batches, table.batches, strict=True) if length]
    blocks = [block(len(BEGINNING) + each.start, each.head + 8, each.body) for each in filled]
    last = table.places[-1]
    end = len(BEGINNING) + last.start + 8 + last.head + last.body
    # The mark of the end of the stream: a message without a length.
    if bytes(whole[end:]) != b"\xff\xff\xff\xff\0\0\0\0" + ending(schema, blocks):
        raise Forged("its footer is another than that of its rows")


def _check_values(format: str, values: ArrowValues) -> None:
    validity, *others = values.buffers
    if values.nulls_said != _nulls(validity, values.length):
        raise Forged("it says a wrong number of nulls")
    if format in _OFFSETS and values.length:
        _check_offsets(format in _WIDE_OFFSETS, values.length, others[0], len(others[1]))


def _nulls(validity: memoryview, length: int) -> int:
    if not len(validity):
        return 0
    if 8 * len(validity) < length:
        raise Forged("a column does not say which of its values are there")
    return length - (int.from_bytes(validity, "little") & ((1 << length) - 1)).bit_count()


def _check_offsets(wide: bool, length: int, buffer: memoryview, inside: int) -> None:
    """Each value begins where the one before it ends, and all lie inside."""
    offsets = buffer[: (length + 1) * 8].cast("q") if wide else buffer[: (length + 1) * 4].cast("i")
    if offsets[0] < 0 or offsets[-1] > inside or not _is_sorted(offsets):
        raise Forged("a value points out of its column")


def _is_sorted(offsets: "memoryview[int]") -> bool:
    """Whether numbers are sorted. Reads pieces that overlap by one, so that few numbers are held at a time."""
    for begin in range(0, len(offsets), _PIECE):
        piece = offsets[begin : begin + _PIECE + 1].tolist()
        if piece != sorted(piece):  # quick for what is sorted already
            return False
    return True

"""Cuts a record batch into smaller ones. DuckDB gives a million rows at a time, however large each is; whoever reads a
result holds a whole batch in memory."""

from array import array
from bisect import bisect_right
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Literal

from nanoarrow.c_array import c_array_from_buffers

LARGEST = 16 << 20
"""Bytes of a batch. A row that is larger is a batch of its own."""
_OFFSETS: Mapping[str, Literal["i", "q"]] = {"u": "i", "z": "i", "U": "q", "Z": "q"}
"""What the numbers are that say where a text begins."""


def parts(batch: Any) -> Iterator[Any]:
    """The rows of a batch of plain columns, in batches of about `LARGEST` bytes at most."""
    columns = [_Column(column) for column in batch.children]
    small = sum(len(buffer) for column in columns for buffer in column.buffers) <= LARGEST
    ends = [batch.length] if small else _ends(columns, batch.length)
    if len(ends) == 1:
        yield batch
        return
    for start, end in zip([0, *ends], ends, strict=False):
        children = [column.part(start, end) for column in columns]
        yield c_array_from_buffers(batch.schema, end - start, [None], null_count=0, children=children)


def _ends(columns: Sequence["_Column"], rows: int) -> list[int]:
    """Where each part ends. Texts decide it; other values have at most 8 bytes."""
    texts = [column.offsets for column in columns if column.offsets is not None]

    def size_before(row: int) -> int:
        return 8 * len(columns) * row + sum(offsets[row] for offsets in texts)

    ends = [0]
    while ends[-1] < rows:
        fitting = bisect_right(range(rows + 1), size_before(ends[-1]) + LARGEST, key=size_before) - 1
        ends.append(max(fitting, ends[-1] + 1))
    return ends[1:]


class _Column:
    def __init__(self, column: Any) -> None:
        self._schema, self._length = column.schema, column.length
        self.buffers = [memoryview(buffer).cast("B") for buffer in column.view().buffers]
        self._offset_type = _OFFSETS.get(self._schema.format)
        self.offsets = self.buffers[1].cast(self._offset_type) if self._offset_type else None

    def part(self, start: int, end: int) -> Any:
        validity = self.buffers[0]
        bits = _bits(validity, start, end) if len(validity) else None
        nulls = -1 if len(validity) else 0
        return c_array_from_buffers(self._schema, end - start, [bits, *self._values(start, end)], null_count=nulls)

    def _values(self, start: int, end: int) -> list[Any]:
        if self.offsets is not None and self._offset_type is not None:
            first, last = self.offsets[start], self.offsets[end]
            rebased = (offset - first for offset in self.offsets[start : end + 1])
            return [array(self._offset_type, rebased), self.buffers[2][first:last]]
        if self._schema.format == "b":
            return [_bits(self.buffers[1], start, end)]
        width = len(self.buffers[1]) // self._length
        return [self.buffers[1][start * width : end * width]]


def _bits(bits: memoryview, start: int, end: int) -> bytearray:
    """Bits `start` to `end`, moved to the beginning."""
    there = bits[start // 8 : (end + 7) // 8]
    moved = (int.from_bytes(there, "little") >> start % 8) & ((1 << (end - start)) - 1)
    return bytearray(moved.to_bytes((end - start + 7) // 8, "little"))

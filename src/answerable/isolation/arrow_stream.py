"""Arrow's stream format, read without believing it: what the columns are, and which bytes are theirs.

Only Python touches what describes the columns, because a forged description ends a process that reads it in C, and so
does a length that is too large for C to multiply. What comes out of here are columns whose bytes lie inside the stream,
each after the other, and are as many as their length asks for; whether offsets among them point to where they may is
asked by those who use them. A small dialect is taken: no compression, no dictionaries, nothing whose values take no
room. A table can therefore not be much larger than its bytes.
"""

import struct
from collections.abc import Iterator
from typing import TypeAlias

from answerable.core.records import dataclass

_MOST_COLUMNS = 10_000
"""Those inside of others are counted too."""
_MOST_BATCHES = 1_000
_DEEPEST = 16
LONGEST_NAME = 1_000
_ALIGNED = 8
_CONTINUED = -1
_SCHEMA, _BATCH = 1, 3
"""Kinds of messages; 2 is a dictionary."""
_UNITS = "smun"
_BITS = {"b": 1, "c": 8, "C": 8, "s": 16, "S": 16, "e": 16, "i": 32, "I": 32, "f": 32, "l": 64, "L": 64, "g": 64}
_TIME_BITS = {"tdD": 32, "tdm": 64, "tts": 32, "ttm": 32, "ttu": 64, "ttn": 64}
_OFFSET_BITS = {"z": 32, "u": 32, "+l": 32, "Z": 64, "U": 64, "+L": 64}
"""How wide the numbers are that say where the bytes or the list of a row begin."""
Buffer: TypeAlias = memoryview


class Forged(ValueError):
    """The bytes are not an Arrow stream, or use a part of the format that this module does not read."""


@dataclass(frozen=True, slots=True)
class ArrowColumn:
    name: str
    format: str
    """The type, as Arrow's C data interface writes it."""
    children: tuple["ArrowColumn", ...] = ()


@dataclass(frozen=True, slots=True)
class ArrowValues:
    """The values of one column in one batch."""

    length: int
    nulls_said: int
    """How many of them are null, as the sender says."""
    buffers: tuple[Buffer, ...]
    children: tuple["ArrowValues", ...]


@dataclass(frozen=True, slots=True)
class ArrowTable:
    columns: tuple[ArrowColumn, ...]
    batches: tuple[tuple[int, tuple[ArrowValues, ...]], ...]
    """How many rows, and the columns of them."""
    places: tuple["MessagePlace", ...]
    """Where the messages are: that of the columns, then one for each batch."""


@dataclass(frozen=True, slots=True)
class MessagePlace:
    """Where a message is, in bytes."""

    start: int
    head: int
    """Length of what describes the message, without the eight bytes before it."""
    body: int


def read(data: memoryview, most_batches: int = _MOST_BATCHES) -> ArrowTable:
    try:
        return _read(data, most_batches)
    except struct.error as error:
        raise Forged("a message is cut short") from error


def _read(data: memoryview, most_batches: int) -> ArrowTable:
    messages = _messages(data, most_batches)
    first = next(messages, None)
    if first is None or first.kind != _SCHEMA:
        raise Forged("it does not begin with the columns")
    columns = _Columns().of(first.header.tables(1), _DEEPEST)
    if not columns:
        raise Forged("it has no columns")
    rest = list(messages)
    batches = tuple(_batch(message, columns) for message in rest)
    return ArrowTable(columns, batches, tuple(message.place for message in (first, *rest)))


# Messages


@dataclass(frozen=True, slots=True)
class _Message:
    kind: int
    header: "_Described"
    body: memoryview
    place: MessagePlace


def _messages(data: memoryview, most_batches: int) -> Iterator[_Message]:
    """Up to the mark of the end, or the end."""
    at = 0
    for _ in range(most_batches + 2):
        if at == len(data):
            return
        mark, length = struct.unpack_from("<ii", data, at)
        if mark != _CONTINUED or length < 0:
            raise Forged("it is not an Arrow stream")
        if length == 0:
            return
        message = _Described.root_of(_part(data, at + 8, length))
        body = _part(data, at + 8 + length, message.number(3, "<q"))
        yield _Message(message.number(1, "<B"), message.table(2), body, MessagePlace(at, length, len(body)))
        at += 8 + length + len(body)
    raise Forged(f"it is in more than {most_batches:,} pieces")


def _part(data: memoryview, start: int, length: int) -> memoryview:
    if start < 0 or length < 0 or start + length > len(data):
        raise Forged("a message is cut short")
    return data[start : start + length]


class _Described:
    """A table of a flatbuffer: numbered fields, any of which may be left out."""

    def __init__(self, data: memoryview, at: int) -> None:
        self._data = data
        self._at = at
        self._fields = at - self._read("<i", at)
        self._end = self._read("<H", self._fields)

    @classmethod
    def root_of(cls, data: memoryview) -> "_Described":
        return cls(data, struct.unpack_from("<I", data)[0])

    def has(self, field: int) -> bool:
        return self._place(field) is not None

    def number(self, field: int, kind: str, otherwise: int = 0) -> int:
        place = self._place(field)
        return otherwise if place is None else self._read(kind, place)

    def text(self, field: int) -> str:
        start, length = self._vector(field)
        if length > LONGEST_NAME:
            raise Forged("a name is too long")
        text = bytes(_part(self._data, start, length)).decode()
        if "\x00" in text:  # libraries written in C would read it up to there
            raise Forged("a name holds a zero byte")
        return text

    def table(self, field: int) -> "_Described":
        place = self._place(field)
        if place is None:
            raise Forged("something is left out")
        return _Described(self._data, place + self._read("<I", place))

    def tables(self, field: int) -> list["_Described"]:
        start, length = self._vector(field)
        places = range(start, start + 4 * min(length, _MOST_COLUMNS + 1), 4)
        return [_Described(self._data, place + self._read("<I", place)) for place in places]

    def pairs(self, field: int) -> list[tuple[int, int]]:
        start, length = self._vector(field)
        return list(struct.iter_unpack("<qq", _part(self._data, start, 16 * length)))

    def _vector(self, field: int) -> tuple[int, int]:
        place = self._place(field)
        if place is None:
            return 0, 0
        start = place + self._read("<I", place)
        return start + 4, self._read("<I", start)

    def _place(self, field: int) -> int | None:
        entry = 4 + 2 * field
        offset = self._read("<H", self._fields + entry) if entry < self._end else 0
        return self._at + offset if offset else None

    def _read(self, kind: str, at: int) -> int:
        if at < 0:
            raise struct.error("before the beginning")
        return int(struct.unpack_from(kind, self._data, at)[0])


# Columns


class _Columns:
    """Counts, because one description may be pointed at from many places."""

    def __init__(self) -> None:
        self._left = _MOST_COLUMNS

    def of(self, fields: list[_Described], room: int) -> tuple[ArrowColumn, ...]:
        self._left -= len(fields)
        if self._left < 0 or not room:
            raise Forged("it has too many columns")
        columns = tuple(self._column(field, room) for field in fields)
        if len({column.name for column in columns}) < len(columns):
            raise Forged("two columns have the same name")
        return columns

    def _column(self, field: _Described, room: int) -> ArrowColumn:
        name = field.text(0)
        format = None if field.has(4) else _format(field.number(2, "<B"), field.table(3))
        children = self.of(field.tables(5), room - 1) if field.has(5) else ()
        if format is None or not _fit(format, len(children)):
            raise Forged(f"the column {name!r} is of a kind that is not taken")
        return ArrowColumn(name, format, children)


def _fit(format: str, children: int) -> bool:
    if format == "+s":
        return children > 0
    return children == (1 if format.startswith("+") else 0)


def _format(kind: int, described: _Described) -> str | None:
    """Returns None for a type outside of the dialect. The numbers are those of Arrow's `Schema.fbs`."""
    simple = {4: "z", 5: "u", 6: "b", 12: "+l", 13: "+s", 19: "Z", 20: "U", 21: "+L"}
    readers = {2: _integer, 3: _floating, 7: _decimal, 8: _date, 9: _time, 10: _timestamp, 16: _array, 18: _duration}
    return readers[kind](described) if kind in readers else simple.get(kind)


def _integer(described: _Described) -> str | None:
    letter = {8: "c", 16: "s", 32: "i", 64: "l"}.get(described.number(0, "<i"))
    return letter if letter is None or described.number(1, "<B") else letter.upper()


def _floating(described: _Described) -> str | None:
    return {0: "e", 1: "f", 2: "g"}.get(described.number(0, "<h"))


def _decimal(described: _Described) -> str | None:
    precision, scale = described.number(0, "<i"), described.number(1, "<i")
    fits = described.number(2, "<i", 128) == 128 and 1 <= precision <= 38 and 0 <= scale <= precision
    return f"d:{precision},{scale}" if fits else None


def _date(described: _Described) -> str | None:
    return {0: "tdD", 1: "tdm"}.get(described.number(0, "<h", 1))


def _time(described: _Described) -> str | None:
    unit, bits = described.number(0, "<h", 1), described.number(1, "<i", 32)
    return f"tt{_UNITS[unit]}" if bits == {0: 32, 1: 32, 2: 64, 3: 64}.get(unit) else None


def _timestamp(described: _Described) -> str | None:
    unit = described.number(0, "<h")
    zone = described.text(1)
    return f"ts{_UNITS[unit]}:{zone}" if 0 <= unit < len(_UNITS) and zone.isascii() and "\0" not in zone else None


def _array(described: _Described) -> str | None:
    size = described.number(0, "<i")
    return f"+w:{size}" if size > 0 else None


def _duration(described: _Described) -> str | None:
    unit = described.number(0, "<h", 1)
    return f"tD{_UNITS[unit]}" if 0 <= unit < len(_UNITS) else None


# Values


def _batch(message: _Message, columns: tuple[ArrowColumn, ...]) -> tuple[int, tuple[ArrowValues, ...]]:
    if message.kind != _BATCH:
        raise Forged("it holds something else than rows")
    header = message.header
    if header.has(3):
        raise Forged("it is compressed")
    nodes, buffers = iter(header.pairs(1)), iter(_parts(message.body, header.pairs(2)))
    length = header.number(0, "<q")
    found = tuple(_values(column, length, nodes, buffers) for column in columns)
    if next(nodes, None) is not None or next(buffers, None) is not None:
        raise Forged("it has more than its columns")
    return length, found


def _parts(body: memoryview, places: list[tuple[int, int]]) -> Iterator[Buffer]:
    end = 0
    for start, length in places:
        if start < end:
            raise Forged("two columns share their bytes")
        if start % _ALIGNED:
            raise Forged("a column is not aligned")
        end = start + max(length, 0)
        yield _part(body, start, length)


def _values(
    column: ArrowColumn, length: int | None, nodes: Iterator[tuple[int, int]], buffers: Iterator[Buffer]
) -> ArrowValues:
    """`length`: how long it must be, if that is known."""
    count, nulls = next(nodes, (-1, 0))
    if count < 0 or length not in (None, count):
        raise Forged(f"the column {column.name!r} is not as long as its table")
    own = tuple(_of_size(bits, next(buffers, None)) for bits in _sizes(column.format, count))
    inside = _length_inside(column.format, count)
    return ArrowValues(count, nulls, own, tuple(_values(child, inside, nodes, buffers) for child in column.children))


def _of_size(bits: int, found: Buffer | None) -> Buffer:
    if found is None or 8 * len(found) < bits:
        raise Forged("a column has fewer bytes than its values take")
    return found


def _sizes(format: str, length: int) -> tuple[int, ...]:
    """How many bits each of its buffers holds at least. The first says which values are there, and may be left out."""
    if format == "+s" or format.startswith("+w:"):
        return (0,)
    if format in _OFFSET_BITS:
        offsets = _OFFSET_BITS[format] * (length + 1) if length else 0
        return (0, offsets) if format.startswith("+") else (0, offsets, 0)
    return (0, _width(format) * length)


def _width(format: str) -> int:
    if format.startswith("d:"):
        return 128
    return _BITS.get(format) or _TIME_BITS.get(format, 64)  # moments and spans have 64


def _length_inside(format: str, length: int) -> int | None:
    if format == "+s":
        return length
    return length * int(format[3:]) if format.startswith("+w:") else None

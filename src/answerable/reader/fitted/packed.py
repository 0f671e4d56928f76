"""Named lists of numbers in one compressed piece of bytes, quick to read: arrays as they are, not as text."""

import json
import sys
import zlib
from array import array
from collections.abc import Iterable
from dataclasses import field
from typing import Any

from answerable.core.records import dataclass


@dataclass
class Packed:
    """A head of plain facts, and arrays by name. On disk: length of the head, the head as JSON, the arrays."""

    facts: dict[str, Any]
    arrays: dict[str, "array[Any]"] = field(default_factory=dict)

    def put(self, name: str, kind: str, numbers: Iterable[float]) -> None:
        """`kind` as in the module `array`."""
        self.arrays[name] = array(kind, numbers)

    def get(self, name: str) -> list[Any]:
        return self.arrays[name].tolist()

    def pack(self) -> bytes:
        index = [[name, one.typecode, len(one)] for name, one in self.arrays.items()]
        head = json.dumps({"facts": self.facts, "arrays": index}, separators=(",", ":")).encode()
        body = b"".join(_little(one).tobytes() for one in self.arrays.values())
        return zlib.compress(len(head).to_bytes(4, "little") + head + body, 9)


def unpack(raw: bytes) -> Packed:
    plain = memoryview(zlib.decompress(raw))
    end = 4 + int.from_bytes(plain[:4], "little")
    head = json.loads(bytes(plain[4:end]))
    packed = Packed(head["facts"])
    for name, kind, count in head["arrays"]:
        one = array(kind)
        start, end = end, end + count * one.itemsize
        one.frombytes(plain[start:end])
        packed.arrays[name] = _little(one)
    return packed


def _little(one: "array[Any]") -> "array[Any]":
    """The bytes on disk are little-endian wherever they are written and read."""
    if sys.byteorder == "big":
        one = one[:]
        one.byteswap()
    return one

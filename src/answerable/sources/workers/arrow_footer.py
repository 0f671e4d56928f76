"""What makes an Arrow file of an Arrow stream: a word before it, and behind it a footer that says where each batch is.

The footer is a flatbuffer small enough to lay out by hand, around a copy of the schema message. Whoever reads a file of
a worker makes the footer anew and compares, so that a forged one is never read.
"""

import struct
from collections.abc import Sequence

_MAGIC = b"ARROW1"
BEGINNING = _MAGIC + b"\0\0"
_METADATA_V5 = 4
_BLOCK = struct.Struct("<qi4xq")
_FOOTER_HEAD = 40
"""Root offset, table, vtable and the length of the vector of blocks; the blocks follow, then the schema message."""


def block(start: int, head: int, body: int) -> bytes:
    """Where a batch begins in the file, and how long its head, with the eight bytes before it, and its body are."""
    return _BLOCK.pack(start, head, body)


def ending(schema: bytes, blocks: Sequence[bytes]) -> bytes:
    """All that follows the stream. `schema`: the flatbuffer of the schema message."""
    footer = _footer(schema, blocks)
    return footer + struct.pack("<i", len(footer)) + _MAGIC


def _schema_position(message: bytes) -> int:
    """Where in a flatbuffer of type Message its header, here a Schema, begins."""
    table = struct.unpack_from("<I", message, 0)[0]
    vtable = table - struct.unpack_from("<i", message, table)[0]
    field = table + struct.unpack_from("<H", message, vtable + 4 + 2 * 2)[0]
    return int(field + struct.unpack_from("<I", message, field)[0])


def _footer(schema: bytes, blocks: Sequence[bytes]) -> bytes:
    copied_at = _FOOTER_HEAD + sum(map(len, blocks))
    head = struct.pack(
        "<I HHHHHH i IIh2x 4xI",
        16,  # root: the table stands at 16
        *(12, 16, 12, 4, 0, 8),  # vtable at 4: its size, the table's size, then version, schema, dictionaries, batches
        12,  # the table: back to its vtable
        copied_at + _schema_position(schema) - 20,
        36 - 24,
        _METADATA_V5,
        len(blocks),
    )
    return head + b"".join(blocks) + schema

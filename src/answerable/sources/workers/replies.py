"""What a worker sends in reply to one statement: small messages, a long list in parts.

Each message is decoded on the event loop of the parent, so each must be quick to decode. The parent holds these bounds
against workers that do not keep to them.
"""

from collections.abc import Iterator
from typing import Any

from answerable.isolation import wire
from answerable.sources.workers.failures import Failure

LARGEST_FRAME = 32 << 20
"""One row may hold a long text."""
REPLY_BYTES = 256 << 20
_PART_BYTES = 256 << 10
REPLY_FRAMES = 8 * REPLY_BYTES // _PART_BYTES
"""Parts are smaller where short rows follow long ones."""
MOST_VALUES = 400_000
"""In one message. Decoding this many takes some hundredths of a second."""


def values_in(body: bytes) -> int:
    """More than there are: commas and brackets inside of texts count too."""
    return body.count(b",") + body.count(b"[") + body.count(b"{")


def frames(number: int, reply: Any) -> Iterator[bytes]:
    """The messages that carry a reply. Raises `Failure` if it is more than may be sent."""
    if not isinstance(reply, list):
        yield _bounded(wire.encoded({"id": number, "done": reply}))
        return
    begin, count, sent = 0, 64, 0
    while begin < len(reply):
        part = reply[begin : begin + count]
        frame = wire.encoded({"id": number, "part": part})
        fitting = max(1, len(part) * _PART_BYTES // len(frame))
        if len(part) > 1 and len(frame) > 2 * _PART_BYTES:
            count = fitting
            continue
        sent += len(frame)
        if sent > REPLY_BYTES:
            raise _too_large(REPLY_BYTES)
        yield _bounded(frame)
        begin, count = begin + len(part), min(4 * count, fitting)
    yield wire.encoded({"id": number, "done": []})


def _bounded(frame: bytes) -> bytes:
    if len(frame) > LARGEST_FRAME or values_in(frame) > MOST_VALUES:
        raise _too_large(LARGEST_FRAME)
    return frame


def _too_large(limit: int) -> Failure:
    return Failure(
        "LimitError",
        "result_bytes",
        f"What was asked for is larger than {limit >> 20:,} MB.",
        "Ask for fewer rows or columns, or for a part of each value.",
    )

"""What lies under the nulls of a batch, set to zero.

A null has a slot of its own, and DuckDB leaves in it whatever its memory held: values of hidden rows, of masked
columns, of other statements. A file of Arrow would carry them to whoever asked. It would also differ each time that the
same statement runs.
"""

import ctypes
from functools import cache
from typing import Any

_WIDTHS = {
    **dict.fromkeys(("c", "C"), 1),
    **dict.fromkeys(("s", "S", "e"), 2),
    **dict.fromkeys(("i", "I", "f", "tdD", "tts", "ttm", "tiM"), 4),
    **dict.fromkeys(("l", "L", "g", "tdm", "ttu", "ttn", "tiD"), 8),
    **dict.fromkeys(("tin", "vu", "vz"), 16),
}
"""Bytes of a slot, by the format of its type in Arrow's C interface. Text has no slots: a null has no length there."""
_TEXT_AND_NESTED = ("u", "U", "z", "Z", "n", "+s", "+l", "+L", "+m")
_AT_ONCE = 8_192
"""Bytes of validity; eight slots each."""


def clear(batch: Any) -> None:
    """Changes the batch in place. Its memory was made for it alone."""
    for place in range(batch.n_children):
        child = batch.child(place)
        clear(child)
        if child.null_count != 0 and child.buffers and child.buffers[0]:
            _clear(child, child.schema.format)


def _clear(array: Any, format: str) -> None:
    if format in _TEXT_AND_NESTED:
        return
    validity, data = array.buffers[:2]
    size = (array.offset + array.length + 7) // 8
    width = 0 if format == "b" else _width(format)
    for start in range(0, size, _AT_ONCE):
        valid = ctypes.string_at(validity + start, min(_AT_ONCE, size - start))
        mask = b"".join(map(_masks(width).__getitem__, valid)) if width else valid
        last = start + _AT_ONCE >= size
        slots = ((array.offset + array.length) - start * 8) * width if last and width else len(mask)
        place = data + start * 8 * width if width else data + start
        before = int.from_bytes(ctypes.string_at(place, slots), "little")
        after = before & int.from_bytes(mask[:slots], "little")
        ctypes.memmove(place, after.to_bytes(slots, "little"), slots)


def _width(format: str) -> int:
    if format in _WIDTHS:
        return _WIDTHS[format]
    kind, _, rest = format.partition(":")
    if kind == "d":  # decimals: d:precision,scale[,bits]
        bits = rest.split(",")[2:]
        return int(bits[0]) // 8 if bits else 16
    if kind == "w":
        return int(rest)
    if format.startswith(("ts", "tD")):
        return 8
    raise ValueError(f"The width of Arrow's {format!r} is not known.")


@cache
def _masks(width: int) -> tuple[bytes, ...]:
    """Masks of eight slots for each byte of validity: a valid slot stays, any other becomes zero."""
    slots = (b"\x00" * width, b"\xff" * width)
    return tuple(b"".join(slots[(valid >> bit) & 1] for bit in range(8)) for valid in range(256))

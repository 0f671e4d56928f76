"""Values as JSON holds them: what a result, or an argument of a host function, becomes on its way to the host."""

import json
from collections.abc import Mapping, Sequence
from typing import Any

DEEPEST = 32
"""How deeply lists and dictionaries of a result may be nested. Deeper ones make polars take gigabytes."""
MOST_VALUES = 200_000
"""In a result that is not a table."""
VALUE_BYTES = 15 << 20
"""The most that a result which is not a table may have as JSON."""
_CONTAINERS = (Sequence, set, frozenset, Mapping)


class TooLarge(Exception):
    """The result is larger than it may be."""

    def __init__(self, limit: int) -> None:
        super().__init__(f"The result is larger than {limit // (1 << 20):,} MB.")


class Unreturnable(Exception):
    """The result is of a kind that cannot be returned."""


def plain(value: Any) -> Any:
    """The value as JSON holds it: dates as ISO text, numpy and tuples as numbers and lists. Raises `Unreturnable`, or
    `TooLarge`."""
    return Plain(VALUE_BYTES).of(value)


class Plain:
    """Counts while it converts, because a value may be endless: a list in itself, a sequence that never stops."""

    def __init__(self, limit: int) -> None:
        self._limit = limit
        self._bytes_left = limit
        self._values_left = MOST_VALUES

    def of(self, value: Any, room: int = DEEPEST) -> Any:
        self._values_left -= 1
        if self._values_left < 0:
            raise Unreturnable(f"The result holds more than {MOST_VALUES:,} values; give it as a table.")
        if value is None or isinstance(value, bool):
            return value
        if isinstance(value, str):
            return self._text(value)
        if isinstance(value, int | float):
            return _number(value)
        if not holds_others(value):
            return self._from_library(value, room)
        if room <= 0:
            raise Unreturnable(f"The result is nested more than {DEEPEST} deep.")
        if isinstance(value, Mapping):
            return self._object(value, room - 1)
        found = [self.of(item, room - 1) for item in value]
        if isinstance(value, Sequence):
            return found
        return sorted(found, key=lambda item: (type(item).__name__, str(item)))

    def _text(self, text: str) -> str:
        self._bytes_left -= len(text)
        if self._bytes_left < 0:
            raise TooLarge(self._limit)
        return str(text).encode("utf-8", "replace").decode()

    def _object(self, value: Mapping[Any, Any], room: int) -> dict[str, Any]:
        found: dict[str, Any] = {}
        for key, item in value.items():
            name = self._key(key)
            if name in found:
                raise Unreturnable("The result holds a dictionary with two keys that are the same as text.")
            found[name] = self.of(item, room)
        return found

    def _key(self, key: Any) -> str:
        found = self.of(key)
        if isinstance(found, list | dict):
            raise Unreturnable("The result holds a dictionary whose keys are not text.")
        return found if isinstance(found, str) else json.dumps(found)

    def _from_library(self, value: Any, room: int) -> Any:
        kind = type(value)
        if kind.__module__.partition(".")[0] in ("numpy", "pandas") and hasattr(value, "tolist"):
            # An array in an array of objects nests as a list does.
            return self.of(value.tolist(), room - 1)
        return _from_library(value)


def _from_library(value: Any) -> Any:
    kind = type(value)
    if kind.__module__ == "datetime" and hasattr(value, "isoformat"):
        return value.isoformat()
    if kind.__module__ == "datetime" and hasattr(value, "total_seconds"):
        return f"PT{value.total_seconds():g}S"
    if kind.__name__ == "Decimal" and kind.__module__ in ("decimal", "_decimal"):
        return _number(int(value) if value == value.to_integral_value() else float(value))
    if kind.__module__ == "uuid":
        return str(value)
    if kind.__module__.partition(".")[0] == "pandas" and hasattr(value, "isoformat"):
        return value.isoformat()
    raise Unreturnable(
        f"The result holds {_article(kind.__name__[:200])}, which cannot be given back. "
        "Give a frame, a number, text, a date, or lists and dictionaries of these."
    )


def _number(number: float) -> float | int:
    if isinstance(number, int):
        if not -(1 << 63) <= number < 1 << 64:
            raise Unreturnable("The result holds a whole number of more than 64 bits; give it as text.")
        return int(number)
    if number != number or number in (float("inf"), float("-inf")):
        raise Unreturnable(f"The result holds {number}, which JSON has no number for; give nothing (None) or text.")
    return float(number)


def holds_others(value: Any) -> bool:
    return isinstance(value, _CONTAINERS) and not isinstance(value, str | bytes | bytearray | memoryview)


def _article(name: str) -> str:
    return f"{'an' if name[:1].lower() in 'aeiou' else 'a'} {name}"

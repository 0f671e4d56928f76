"""Compares two results.

Two numbers are equal if they agree to four decimals. Other values are equal if their text is the same. True and false
count as 1 and 0, because some databases have no boolean type. Two results are equal if they have the same rows the same
number of times, and in the same order if order counts. Names of columns do not matter; their order does.
"""

from collections import Counter
from collections.abc import Hashable, Sequence
from datetime import date, datetime
from decimal import Decimal
from math import isfinite
from typing import TypeAlias

from answerable.core.values import Json

Rows: TypeAlias = Sequence[Sequence[Json]]

DECIMALS = 4


def same_rows(got: Rows, want: Rows, ordered: bool) -> bool:
    if len(got) != len(want):
        return False
    mine, theirs = [_row_key(row) for row in got], [_row_key(row) for row in want]
    return mine == theirs if ordered else Counter(mine) == Counter(theirs)


def _row_key(row: Sequence[Json]) -> tuple[Hashable, ...]:
    return tuple(_key(value) for value in row)


def _key(value: Json) -> Hashable:
    """A key that is the same for all values that count as equal. A number equals its text, because some tables store
    numbers as text."""
    match value:
        case None:
            return None
        case int() | float() | Decimal():
            return _number_key(value)
        case datetime():
            return value.isoformat(sep=" ")
        case date():
            return value.isoformat()
        case str():
            return _text_key(value)
        case bytes() | bytearray() | memoryview():
            return ("bytes", bytes(value).hex())
    return str(value)


def _number_key(value: int | float | Decimal) -> Hashable:
    if isinstance(value, int):
        return str(int(value))
    if not isfinite(value):
        return ("number", str(float(value)))
    rounded = round(float(value), DECIMALS)
    return str(int(rounded)) if rounded.is_integer() else str(rounded)


def _text_key(text: str) -> str:
    """The text itself. A timestamp has a blank between date and time, because sources write a T or a blank."""
    if len(text) >= 16 and text[10] == "T" and text[:4].isdigit():  # cheap, before the slow parsing of most texts
        try:
            datetime.fromisoformat(text)
        except ValueError:
            return text
        return f"{text[:10]} {text[11:]}"
    return text

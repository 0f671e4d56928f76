"""Compares two results.

Two numbers are equal if they agree to four decimals. Other values are equal if their text is the same. True and false
count as 1 and 0, because some databases have no boolean type. Two results are equal if they have the same rows the same
number of times, and in the same order if order counts. Names of columns do not matter; their order does.

The loose comparison (`holds_rows`) is for questions in people's own words, which leave open what else is shown: the
gold columns may stand among others and in any order, and numbers agree to four digits.
"""

from collections import Counter
from collections.abc import Hashable, Sequence
from datetime import date, datetime
from decimal import Decimal
from itertools import islice, product
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


# Columns with equal values can be assigned in many ways; a few hundred of them are enough to find one that fits.
_MOST_ASSIGNMENTS = 500
_FLAGS = {"yes": 1.0, "true": 1.0, "no": 0.0, "false": 0.0}


def holds_rows(got: Rows, want: Rows, ordered: bool) -> bool:
    """Whether the columns of `want` are all in `got`, row by row."""
    if len(got) != len(want) or not want:
        return len(got) == len(want)
    mine, theirs = [_loose_row(row) for row in got], [_loose_row(row) for row in want]
    columns = list(zip(*mine, strict=True))
    possible = [
        [place for place, column in enumerate(columns) if Counter(column) == Counter(wanted)]
        for wanted in zip(*theirs, strict=True)
    ]
    for places in islice(product(*possible), _MOST_ASSIGNMENTS):
        if len(set(places)) == len(places):
            seen = [tuple(row[place] for place in places) for row in mine]
            if Counter(seen) == Counter(theirs) and (not ordered or _same_order(seen, theirs)):
                return True
    return False


def _same_order(seen: Sequence[Sequence[Hashable]], want: Sequence[Sequence[Hashable]]) -> bool:
    """Rows that tie in the last column, which is what they are sorted by, may swap."""
    if len(want[0]) == 1:
        return list(seen) == list(want)
    return [row[-1] for row in seen] == [row[-1] for row in want]


def _loose_row(row: Sequence[Json]) -> tuple[Hashable, ...]:
    return tuple(_loose_key(value) for value in row)


def _loose_key(value: Json) -> Hashable:
    key = _key(value)
    if not isinstance(key, str):
        return key
    text = " ".join(key.split()).casefold()
    number = _FLAGS.get(text)
    if number is None:
        try:
            number = float(text)
        except ValueError:
            day = text.removesuffix(" 00:00:00")
            return f"{day}-01" if len(day) == 7 and day[:4].isdigit() and day[4] == "-" else day
    if not isfinite(number) or number.is_integer():
        return number
    return float(f"{number:.4g}")

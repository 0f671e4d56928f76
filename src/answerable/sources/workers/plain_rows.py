"""Small results as values that JSON can hold, so that the parent need not read their file to show them.

The forms are those of `answers/frame.py`, which decides for all types; a test compares the two.
"""

import math
from collections.abc import Callable, Iterable, Sequence
from datetime import date, datetime, time
from typing import Any

from nanoarrow.iterator import iter_tuples


def plain_rows(batches: Iterable[Any], types: Sequence[str]) -> list[list[Any]] | None:
    """The rows, or None if a value has no plain form: what to do then is decided where the file is read."""
    try:
        rows = [list(row) for batch in batches for row in iter_tuples(batch)]
        for place, kind in enumerate(types):
            if form := _FORMS[kind]:
                for row in rows:
                    row[place] = None if row[place] is None else form(row[place])
    except (ValueError, OverflowError, KeyError):  # a date that Python does not have, a number that JSON does not have
        return None
    return rows


def _finite(value: float) -> float:
    if not math.isfinite(value):
        raise ValueError("JSON has no such number")
    return value


def _moment(value: datetime | time) -> str:
    """The moment with as many digits of the second as it needs: none, three or six."""
    digits = "seconds" if not value.microsecond else "microseconds" if value.microsecond % 1_000 else "milliseconds"
    return value.isoformat(timespec=digits)


_FORMS: dict[str, Callable[[Any], Any] | None] = {
    "text": None,
    "json": None,
    "integer": None,
    "boolean": None,
    "number": _finite,
    "date": date.isoformat,
    "datetime": _moment,
    "time": _moment,
}
"""By our types. Binary is not among them: nobody reads it in a table."""

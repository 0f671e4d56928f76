"""Columns that hold a part of a date by itself: the year as a number, the month or the day of the week by number or
name."""

from collections.abc import Sequence
from typing import Literal

from answerable.reader.linking.name_words import spelled_out
from answerable.reader.linking.schema import ColumnView, Schema

CalendarPart = Literal["year", "month", "weekday"]

_YEARS = (1000, 2200)
_MONTHS = [
    "january",
    "february",
    "march",
    "april",
    "may",
    "june",
    "july",
    "august",
    "september",
    "october",
    "november",
    "december",
]
_WEEKDAYS = ["monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday"]
_LEAST_LETTERS = 3


def calendar_part(view: ColumnView) -> CalendarPart | None:
    words = spelled_out(view.words)
    low, high = view.source.minimum, view.source.maximum
    numbers = isinstance(low, int) and isinstance(high, int) and view.source.type == "integer"
    if numbers and "year" in words and _YEARS[0] <= int(low or 0) and int(high or 0) <= _YEARS[1]:
        return "year"
    if numbers and "month" in words and int(low or 0) >= 1 and int(high or 0) <= len(_MONTHS):
        return "month"
    if view.source.type == "text" and view.source.examples:
        if all(_number_of(text, _WEEKDAYS) is not None for text in view.source.examples):
            return "weekday"
        if all(_number_of(text, _MONTHS) is not None for text in view.source.examples):
            return "month"
    return None


def calendar_columns(schema: Schema, table: int, part: str) -> list[ColumnView]:
    views = (schema.columns[column] for column in schema.tables[table].columns)
    return [view for view in views if calendar_part(view) == part]


def stored_part(view: ColumnView, numbers: Sequence[int]) -> list[str | int]:
    """Months and days of the week, which count from 1, as the column writes them."""
    if view.numeric:
        return list(numbers)
    names = _WEEKDAYS if calendar_part(view) == "weekday" else _MONTHS
    return [text for text in view.source.examples if (_number_of(text, names) or 0) in numbers]


def _number_of(text: str, names: Sequence[str]) -> int | None:
    """The number of the month or day that the text is the beginning of."""
    plain = text.strip().lower().rstrip(".")
    matches = [number for number, name in enumerate(names, 1) if name.startswith(plain)]
    return matches[0] if len(plain) >= _LEAST_LETTERS and len(matches) == 1 else None

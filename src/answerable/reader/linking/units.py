"""Units of numbers in questions: 50 thousand, 5 kg."""

from collections.abc import Iterable

SCALES = {"thousand": 10**3, "million": 10**6, "billion": 10**9, "trillion": 10**12, "grand": 10**3}
"""Words after a number, with what they multiply it by."""

_SMALLER = {
    **dict.fromkeys(("kg", "kilo", "kilos", "kilogram", "kilograms"), (("g", 1000),)),
    **dict.fromkeys(("cm", "centimeters", "centimetres"), (("mm", 10),)),
    **dict.fromkeys(("km", "kilometers", "kilometres"), (("m", 1000),)),
    **dict.fromkeys(("hour", "hours"), (("ms", 3_600_000), ("s", 3_600), ("min", 60))),
    **dict.fromkeys(("minute", "minutes", "mins"), (("ms", 60_000), ("s", 60))),
    **dict.fromkeys(("second", "seconds", "secs"), (("ms", 1_000),)),
}
"""Units of questions, with the smaller units that a column may be in and how many of those one is."""
_SPELLED = {
    "g": {"g", "gram", "grams"},
    "mm": {"mm", "millimeters", "millimetres"},
    "m": {"m", "meters", "metres"},
    "min": {"min", "mins", "minutes"},
    "s": {"s", "sec", "secs", "seconds"},
    "ms": {"ms", "millis", "milliseconds"},
}


def is_unit(word: str) -> bool:
    return word in _SMALLER


def size_in(unit: str, words: Iterable[str]) -> int | None:
    """How many of the column's units one of the question is: 60,000 for minutes of a column of milliseconds. None if no
    word of the column names a smaller unit."""
    named = set(words)
    return next((size for name, size in _SMALLER.get(unit, ()) if not named.isdisjoint(_SPELLED[name])), None)


SPANS = {
    **dict.fromkeys(("minute", "minutes", "mins", "min"), ("minute", 1)),
    **dict.fromkeys(("hour", "hours", "hrs"), ("hour", 1)),
    **dict.fromkeys(("day", "days"), ("day", 1)),
    **dict.fromkeys(("week", "weeks"), ("day", 7)),
    **dict.fromkeys(("month", "months"), ("day", 30)),
    **dict.fromkeys(("year", "years"), ("day", 365)),
}
"""Units of time, as the unit that a duration is measured in and how many of those one is."""

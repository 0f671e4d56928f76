"""The types of a SQLite result. The values say them: a column may hold anything, and an expression declares nothing."""

from collections.abc import Iterable, Sequence
from datetime import date, datetime
from typing import Any

LONG_INTEGER = "long_integer"
"""Integers of which a double cannot hold one: beside numbers with a fraction they become text."""
_EXACT_IN_DOUBLE = 1 << 53
_ALONE: dict[type, str] = {bool: "boolean", int: "integer", float: "number", bytes: "binary", str: "text"}
_WIDER: dict[frozenset[str], str] = {
    frozenset({"boolean", "integer"}): "integer",
    frozenset({"integer", "number"}): "number",
    frozenset({"boolean", "number"}): "number",
    frozenset({"date", "datetime"}): "datetime",
    frozenset({"integer", LONG_INTEGER}): LONG_INTEGER,
    frozenset({"boolean", LONG_INTEGER}): LONG_INTEGER,
}


def joined(one: str | None, other: str | None) -> str | None:
    """The narrowest type that holds what either holds, or None if neither has a value yet."""
    if one is None or other is None or one == other:
        return one or other
    return _WIDER.get(frozenset({one, other}), "text")


def type_of(values: Sequence[Any]) -> str | None:
    found: str | None = None
    for kind in set(map(type, values)):
        if kind is int:
            found = joined(found, integer_type(values))
        elif kind is not type(None):
            found = joined(found, _ALONE[kind])
    return _of_texts(values) if found == "text" else found


def integer_type(values: Iterable[Any]) -> str:
    is_long = any(type(value) is int and abs(value) > _EXACT_IN_DOUBLE for value in values)
    return LONG_INTEGER if is_long else "integer"


def settled(types: Sequence[str | None], if_null: str) -> list[str]:
    """The types of the result. `if_null`: the type of a column in which every value is null."""
    return [if_null if kind is None else "integer" if kind == LONG_INTEGER else kind for kind in types]


def _of_texts(values: Sequence[Any]) -> str:
    texts = [value for value in values if value is not None]
    if all(map(_is_date, texts)):
        return "date"
    if all(map(_is_moment, texts)):
        return "datetime"
    return "text"


def _is_date(value: Any) -> bool:
    if not isinstance(value, str) or len(value) != 10 or value[4] + value[7] != "--":
        return False
    try:
        date.fromisoformat(value)
    except ValueError:
        return False
    return True


def _is_moment(value: Any) -> bool:
    """A date alone counts as its midnight; a time with a zone stays text, as SQLite cannot compare it."""
    if not isinstance(value, str) or not (len(value) == 10 or 16 <= len(value) <= 26):
        return False
    if value[4] + value[7] != "--":  # Python also reads weeks: 2024-W01-1
        return False
    try:
        return datetime.fromisoformat(value).tzinfo is None
    except ValueError:
        return False


def widened(types: Iterable[str | None], columns: Iterable[Sequence[Any]]) -> list[str | None]:
    """The types so far, stretched to hold one more batch. A column that has become text is not looked at again."""
    return [
        known if known == "text" else joined(known, type_of(values))
        for known, values in zip(types, columns, strict=True)
    ]


# The order counts: DATETIME contains DATE, and TIMESTAMP contains TIME.
_DECLARED: tuple[tuple[str, str], ...] = (
    ("BOOL", "boolean"),
    ("DATETIME", "datetime"),
    ("TIMESTAMP", "datetime"),
    ("DATE", "date"),
    ("TIME", "time"),
    ("JSON", "json"),
    ("INT", "integer"),
    ("CHAR", "text"),
    ("CLOB", "text"),
    ("TEXT", "text"),
    ("BLOB", "binary"),
    ("REAL", "number"),
    ("FLOA", "number"),
    ("DOUB", "number"),
    ("NUM", "number"),
    ("DEC", "number"),
    ("MONEY", "number"),
)


def declared_type(declaration: str) -> str:
    """What a declaration promises; the first of these words that it contains, as SQLite itself reads it."""
    upper = declaration.upper()
    return next((kind for word, kind in _DECLARED if word in upper), "text")

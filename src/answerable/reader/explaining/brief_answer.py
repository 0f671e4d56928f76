"""What a reading would answer, in a few words, to show beside the choice."""

from collections.abc import Sequence

_LISTED = 3
_LONGEST = 60


def brief_answer(rows: Sequence[Sequence[object]]) -> str:
    """The only value; else the first rows, and how many there are."""
    if not rows:
        return "nothing matches"
    if len(rows) == 1:
        return _row(rows[0])
    first = ", ".join(dict.fromkeys(_row(row[:2]) for row in rows[:_LISTED]))
    return f"{len(rows):,} rows: {_cut(first)}{', …' if len(rows) > _LISTED else ''}"


def _row(row: Sequence[object]) -> str:
    # What a number is about comes before the number.
    ordered = sorted(row, key=lambda value: isinstance(value, int | float))
    return _cut(" ".join(_value(value) for value in ordered))


def _value(value: object) -> str:
    if value is None:
        return "no value"
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, int):
        return str(value) if 1900 <= value <= 2100 else f"{value:,}"
    if isinstance(value, float):
        return f"{value:,.2f}".rstrip("0").rstrip(".")
    return str(value)


def _cut(text: str) -> str:
    return text if len(text) <= _LONGEST else text[: _LONGEST - 1].rstrip() + "…"

"""Whether two results say the same, however their columns are called, ordered and sorted."""

from collections import Counter
from pathlib import Path

from answerable.answers import frame
from answerable.core.values import Json

MOST_ROWS = 10_000
"""Results that are larger are not compared."""
_DIGITS = 9


def agree(first: Path, second: Path) -> bool | None:
    """Whether both files say the same; None if they are too large to compare."""
    counts = [frame.row_count(path) for path in (first, second)]
    if counts[0] != counts[1]:
        return False
    if counts[0] > MOST_ROWS:
        return None
    return _said(first) == _said(second)


def _said(path: Path) -> Counter[tuple[str, ...]]:
    return Counter(tuple(sorted(map(_plain, row))) for row in frame.rows(path, 0, MOST_ROWS))


def _plain(value: Json) -> str:
    """Whole numbers and decimals of the same value are the same."""
    if isinstance(value, bool) or not isinstance(value, int | float):
        return repr(value)
    return f"{value:.{_DIGITS}g}"

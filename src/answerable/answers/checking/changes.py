"""How columns tell of change: two that are the same quantity at two times, and ones that are called so."""

from collections.abc import Sequence
from decimal import Decimal
from itertools import combinations

from answerable.answers.checking.lexicon import AT_FIRST, AT_LAST, CHANGES, DOWN, LOSSES, UP
from answerable.answers.checking.numerals import MONTHS
from answerable.answers.roles import Field, words

_MONTHS = {name[:length]: number for number, name in enumerate(MONTHS, 1) for length in (3, len(name))}


def is_change(field: Field) -> bool:
    """Whether the name of a column says that it is a change."""
    return bool(CHANGES & set(words(field.name)))


def directed(field: Field, cells: Sequence[Decimal | None]) -> list[Decimal | None]:
    """The cells of a column of changes, where a loss is negative: those of `jobs_lost` are written without a minus."""
    loses = LOSSES & set(words(field.name)) and all(cell is None or cell >= 0 for cell in cells)
    sign = DOWN if loses else UP
    return [None if cell is None else cell * sign for cell in cells]


def paired(measures: Sequence[Field]) -> tuple[Field, Field] | None:
    """Two columns that are one quantity at two times, the earlier first: `price_jan_2005`, `price_dec_2009`."""
    for one, other in combinations(measures, 2):
        names = [set(words(field.name)) for field in (one, other)]
        times = [_time(names[0] - names[1]), _time(names[1] - names[0])]
        if names[0] & names[1] and times[0] is not None and times[1] is not None and times[0] != times[1]:
            return (one, other) if times[0] < times[1] else (other, one)
    return None


def _time(said: set[str]) -> tuple[int, int] | None:
    """The year and the month that words say, if they say nothing else."""
    if len(said) == 1 and said & (AT_FIRST | AT_LAST):
        return (0, 0) if said & AT_FIRST else (1, 0)
    years = [int(word) for word in said if word.isdigit()]
    months = [_MONTHS[word] for word in said if word in _MONTHS]
    if len(years) + len(months) != len(said) or len(years) > 1 or len(months) > 1 or not said:
        return None
    return (years[0] if years else 0, months[0] if months else 0)

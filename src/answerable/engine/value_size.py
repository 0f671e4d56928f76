"""How large the values of a run may be. They are measured before anything is made of them: one list that stands in a
thousand places is small in memory, and endless once it is written out."""

from typing import Any

from answerable.core.errors import LimitError
from answerable.core.values import Json

LARGEST = 32 << 20
"""Bytes of the output of a step, about as JSON has them. Rows are stored in files and do not count."""
LARGEST_FILLED = 16 << 20
"""Bytes of what a template makes of outputs."""
LARGEST_RUN = 256 << 20
"""Bytes of all outputs of a run."""
DEEPEST = 200
_ITEM = 32
"""Bytes that are counted for each item beside its text: many small values take longer than one large text."""
_HINT = "Pass on only the fields that later nodes need, or keep rows in a table."


def check_filled(value: Json) -> None:
    """Raises a `LimitError` if the value is too large, or nested too deeply. Stops counting at the limit."""
    what, left, level = "A filled template", LARGEST_FILLED, [[value]]
    for _ in range(DEEPEST):
        below: list[Any] = []
        for items in level:
            for item in items:
                kind = type(item)
                if kind is str:
                    left -= len(item)
                elif kind is dict:
                    left -= sum(_ITEM + len(key) for key in item if type(key) is str)
                    below.append(item.values())
                elif kind is list or kind is tuple:
                    left -= _ITEM * len(item)
                    below.append(item)
            if left < 0:
                raise too_large(what, LARGEST_FILLED)
        if not below:
            return
        level = below
    raise LimitError(f"{what} is nested more than {DEEPEST} deep.", code="value_too_deep", hint=_HINT)


def too_large(what: str, largest: int) -> LimitError:
    return LimitError(f"{what} is larger than {largest >> 20} MB.", code="value_too_large", hint=_HINT)

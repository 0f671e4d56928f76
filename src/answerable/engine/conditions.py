"""Tests whether an output meets a condition, and whether it is empty. Pure."""

from collections.abc import Callable, Mapping
from operator import ge, gt, le, lt

from answerable.core.values import Json
from answerable.engine.graph import Condition, Path

_TESTS: Mapping[str, Callable[[Json, Json], bool]] = {
    "=": lambda found, value: bool(found == value),
    "!=": lambda found, value: bool(found != value),
    "<": lt,
    "<=": le,
    ">": gt,
    ">=": ge,
    "in": lambda found, value: found in value,
    "contains": lambda found, value: value in found,
    "empty": lambda found, _: is_empty(found),
    "not_empty": lambda found, _: not is_empty(found),
}


def holds(condition: Condition, output: Json) -> bool:
    try:
        return _TESTS[condition.op](_at(output, condition.path), condition.value)
    except TypeError:
        return False  # values that cannot be compared, such as a text and a number, do not meet a condition


def is_empty(output: Json) -> bool:
    """Whether the output is null, zero, an empty text, list or object, or a table without rows."""
    if isinstance(output, Mapping):
        # A step's output holds its table under `frame`; a bare table is its own frame.
        frame = output.get("frame", output)
        if isinstance(frame, Mapping) and frame.get("kind") == "frame":
            return not frame.get("row_count")
    return not output


def _at(output: Json, path: Path) -> Json:
    """The value at the end of the path, or null if the path does not exist in the output."""
    for key in path:
        try:
            output = output[key]
        except (LookupError, TypeError):
            return None
    return output

"""Whether an output meets a condition, and what counts as having found nothing. Pure."""

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
        return False


def is_empty(output: Json) -> bool:
    """Whether a value counts as empty: null, zero, an empty text, list or object, or a table without rows."""
    if isinstance(output, Mapping):
        frame = output.get("frame", output)
        if isinstance(frame, Mapping) and frame.get("kind") == "frame":
            return not frame.get("row_count")
    return not output


def _at(output: Json, path: Path) -> Json:
    """The value at the end of the path; null where the path leads nowhere."""
    for key in path:
        try:
            output = output[key]
        except (LookupError, TypeError):
            return None
    return output

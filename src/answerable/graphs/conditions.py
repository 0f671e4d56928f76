"""Conditions as people write them (`orders.row_count > 0`), parsed to conditions of the engine. Pure."""

import re
from collections.abc import Sequence
from typing import Any

import orjson

from answerable.core.errors import UserError
from answerable.core.ids import NodeId
from answerable.core.values import Json
from answerable.engine.graph import Condition, Operator, Path
from answerable.engine.steps.stored_frame import SAMPLE_RECORDS
from answerable.engine.templates import Reference, reference

_WRITTEN = re.compile(
    r"\s*([^\s=!<>]+)\s*(?:(==?|!=|<=|>=|<|>)|(?<=\s)(in|contains|empty|not_empty)\b)\s*(.*?)\s*", re.DOTALL
)
_ALONE = ("empty", "not_empty")


def listed(written: str | Sequence[str]) -> tuple[str, ...]:
    return (written,) if isinstance(written, str) else tuple(written)


def parsed(text: str) -> tuple[Reference, Operator, Json]:
    match = _WRITTEN.fullmatch(text)
    if match is None:
        raise UserError(
            f"`{text[:80]}` is no condition.",
            code="condition_invalid",
            hint="Write a field, an operator and a value: `orders.row_count > 0`, `check = high`, `notes not_empty`. "
            "Operators: = != < <= > >= in contains empty not_empty.",
        )
    left, sign, word, right = match.groups()
    operator: Any = "=" if sign == "==" else sign or word
    if (operator in _ALONE) != (not right):
        problem = "takes no value" if right else "needs a value"
        raise UserError(f"`{text[:80]}`: `{operator}` {problem}.", code="condition_invalid")
    return reference(left), operator, _literal(right) if right else None


def condition(wanted: Reference, operator: Operator, value: Json, *, of_table: bool) -> Condition:
    path = _path_in_table(wanted) if of_table else wanted.path
    return Condition(input=NodeId(wanted.name), path=path, op=operator, value=value)


def _literal(text: str) -> Json:
    """A value of JSON, or else the text itself: `high` needs no quotes."""
    try:
        return orjson.loads(text)
    except orjson.JSONDecodeError:
        return text[1:-1] if len(text) > 1 and text[0] == text[-1] == "'" else text


def _path_in_table(wanted: Reference) -> Path:
    """Where the engine finds a field of a table: the row count and the first rows are part of the output itself."""
    match wanted.path:
        case () | ("row_count",):
            return ("frame", "row_count")
        case ("rows",):
            return ("frame", "sample")
        case ("rows", int() as number, *rest) if number < SAMPLE_RECORDS:
            return ("frame", "sample", number, *rest)
        case ("text" | "status" | "kind", *_):
            return wanted.path
    raise UserError(
        f"A condition cannot look at `{wanted}`: only at `row_count` and the first {SAMPLE_RECORDS} rows of a table.",
        code="condition_invalid",
        hint="Compute the value in a `transform` node first.",
    )

"""Templates: text that refers to the outputs of earlier nodes, such as `{{ orders.rows.0.total }}`. Pure.

A reference is a name and a path of fields and numbers. There is nothing else: no calls, no loops, no expressions. So a
template cannot run for long, and reaches only the names that it is given.
"""

import re
from collections.abc import Callable, Iterator, Mapping
from functools import lru_cache
from typing import Any, TypeAlias

import orjson

from answerable.core.errors import LimitError, UserError
from answerable.core.records import dataclass
from answerable.core.values import Json
from answerable.engine.graph import Filling, Path
from answerable.engine.value_size import LARGEST_FILLED, check_filled

Writer: TypeAlias = Callable[[Json], str]
LONGEST = 1_000_000
"""Characters of a filled template."""
_MARK = re.compile(r"\{\{(.*?)\}\}", re.DOTALL)
_CONTROL = re.compile(r"[\x00-\x1f\x7f]")
_REFERENCE = re.compile(r"([A-Za-z_][A-Za-z0-9_]*)((?:\.[A-Za-z0-9_ -]+)*)")


@dataclass(frozen=True, slots=True)
class Reference:
    name: str
    path: Path

    def __str__(self) -> str:
        return ".".join([self.name, *map(str, self.path)])


@lru_cache(maxsize=1_024)  # a map fills the same template for each of its items
def reference(text: str) -> Reference:
    """The reference in a text such as `orders.rows.0.total`."""
    match = _REFERENCE.fullmatch(text.strip())
    if match is None:
        raise UserError(
            f"`{text.strip()[:80]}` is no reference: it must be a name and fields, such as `orders.row_count`.",
            code="template_invalid",
        )
    name, fields = match.groups()
    return Reference(name, tuple(int(part) if part.isdigit() else part for part in fields.split(".")[1:]))


@lru_cache(maxsize=1_024)
def reference_alone(template: str) -> Reference | None:
    """The reference that is all of a text, which then keeps its type: a list stays a list."""
    whole = _MARK.fullmatch(template.strip())
    return reference(whole[1]) if whole is not None and "{{" not in whole[1] else None


def references(template: Json) -> Iterator[Reference]:
    """Every reference in a template: a text, or a list or object that holds texts."""
    if isinstance(template, str):
        yield from (reference(match[1]) for match in _MARK.finditer(template))
    elif isinstance(template, Mapping):
        for each in template.values():
            yield from references(each)
    elif isinstance(template, list | tuple):
        for each in template:
            yield from references(each)


def with_references(template: str, replaced: Callable[[str], str]) -> str:
    """The text with something else in place of each reference."""
    return _MARK.sub(lambda match: replaced(match[1]), template)


def filled(template: Json, how: Filling, scope: Mapping[str, Json]) -> Json:
    """The template with the values of the scope in place of its references."""
    if how == "value":
        value = _value(template, scope, _Room(LARGEST_FILLED))
        check_filled(value)
        return value
    return _filled_text(template, _WRITERS[how], scope, _Room(LONGEST)) if isinstance(template, str) else template


class _Room:
    """Counts while a template is filled: many references to one long text must not be put together first."""

    def __init__(self, most: int) -> None:
        self._most = self._left = most

    def take(self, text: str) -> str:
        self._left -= len(text)
        if self._left < 0:
            raise LimitError(f"A filled template has more than {self._most:,} characters.", code="template_too_long")
        return text


def _filled_text(template: str, write: Writer, scope: Mapping[str, Json], room: _Room) -> str:
    room.take(template)
    return _MARK.sub(lambda match: room.take(write(resolved(reference(match[1]), scope))), template)


def resolved(wanted: Reference, scope: Mapping[str, Json]) -> Json:
    """The value that a reference stands for. A node that was not taken has null as its output, and so has every field
    of it."""
    value: Any = scope[wanted.name]
    for key in wanted.path:
        if value is None:
            return None
        try:
            value = value[key]
        except (LookupError, TypeError):
            raise UserError(
                f"`{wanted}`: there is no `{key}`.",
                code="template_missing",
                hint=_known(value),
            ) from None
    return value


def _value(template: Json, scope: Mapping[str, Json], room: _Room) -> Json:
    if isinstance(template, str):
        alone = reference_alone(template)
        return _filled_text(template, _text, scope, room) if alone is None else resolved(alone, scope)
    if isinstance(template, Mapping):
        return {key: _value(each, scope, room) for key, each in template.items()}
    if isinstance(template, list | tuple):
        return [_value(each, scope, room) for each in template]
    return template


def _text(value: Json) -> str:
    if value is None:
        return ""
    return value if isinstance(value, str) else orjson.dumps(value).decode()


def _sql_literal(value: Json) -> str:
    """The value as a literal of SQL. The statement is parsed and checked afterwards like any other."""
    if value is None:
        return "NULL"
    if isinstance(value, bool):
        return "TRUE" if value else "FALSE"
    if isinstance(value, int):
        return repr(value)
    if isinstance(value, float):
        # Without an exponent it would be a decimal with as many digits, which overflow when they are multiplied.
        return repr(value) if "e" in repr(value) else f"{value!r}e0"
    if isinstance(value, str):
        return "'" + value.replace("'", "''") + "'"
    if isinstance(value, list) and value and not any(isinstance(each, list | dict) for each in value):
        return "(" + ", ".join(map(_sql_literal, value)) + ")"
    raise UserError(
        "A query can hold a number, a text, true, false, null, or a list of these.",
        code="template_not_sql",
        hint="Refer to a field of the value.",
    )


def _cypher_literal(value: Json) -> str:
    """The value as a literal of Cypher, which differs in how it writes texts and lists."""
    if isinstance(value, str):
        escaped = value.replace("\\", "\\\\").replace("'", "\\'")
        return "'" + _CONTROL.sub(lambda found: f"\\u{ord(found[0]):04x}", escaped) + "'"
    if isinstance(value, list) and not any(isinstance(each, list | dict) for each in value):
        return "[" + ", ".join(map(_cypher_literal, value)) + "]"
    return _sql_literal(value)


_WRITERS: Mapping[Filling, Writer] = {"text": _text, "sql": _sql_literal, "cypher": _cypher_literal}


def _known(value: Json) -> str | None:
    if isinstance(value, Mapping):
        return f"There are: {', '.join(map(str, list(value)[:20]))}." if value else "It has no fields."
    return f"It has {len(value)} entries, from 0 on." if isinstance(value, list) else None

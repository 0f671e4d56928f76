"""Filters of SCIM (RFC 7644, section 3.4.2.2): parsed, and tried on resources."""

import re
from collections.abc import Callable, Mapping
from typing import Any

import orjson

from answerable.core.errors import UserError

LONGEST = 2_000
_DEEPEST = 20
_TOKEN = re.compile(r'\s*(?:("(?:[^"\\]|\\.)*")|([()\[\]])|([^\s()\[\]"]+))')
_ATTRIBUTE = re.compile(r"(?:urn:[\w.:-]+:)?[A-Za-z$][\w$-]*(?:\.[A-Za-z$][\w$-]*)*")
Test = Callable[[Mapping[str, Any]], bool]


def parsed_filter(text: str) -> Test:
    """What a filter says, as a function of a resource. A filter that cannot be read is refused, never guessed at."""
    if len(text) > LONGEST:
        raise invalid_filter("it is too long")
    parser = _Parser(_tokens(text))
    test = parser.either(0)
    if parser.peek() is not None:
        raise invalid_filter(f"{parser.peek()!r} is too much")
    return test


def invalid_filter(problem: str) -> UserError:
    return UserError(f"The filter cannot be read: {problem}.", code="scim_filter_invalid")


def values_at(resource: Any, path: str) -> list[Any]:
    """All values at a dotted path. Names are compared without case, and lists are looked through."""
    for schema in resource if isinstance(resource, Mapping) else ():
        if schema.startswith("urn:") and path.lower().startswith(schema.lower() + ":"):
            return values_at(resource[schema], path[len(schema) + 1 :])
    found = [resource]
    for part in path.rpartition(":")[2].split("."):
        below: list[Any] = []
        for value in found:
            for name, inner in value.items() if isinstance(value, Mapping) else ():
                if name.lower() == part.lower():
                    below += inner if isinstance(inner, list) else [inner]
        found = below
    return found


def _tokens(text: str) -> list[str]:
    found, at = [], 0
    text = text.rstrip()
    while at < len(text):
        match = _TOKEN.match(text, at)
        if match is None:
            raise invalid_filter("a text has no end")
        found.append(match[0].strip())
        at = match.end()
    return found


class _Parser:
    def __init__(self, tokens: list[str]) -> None:
        self._tokens = tokens
        self._at = 0

    def peek(self) -> str | None:
        return self._tokens[self._at] if self._at < len(self._tokens) else None

    def either(self, depth: int) -> Test:
        tests = [self._both(depth)]
        while self._is("or"):
            tests.append(self._both(depth))
        return lambda resource: any(test(resource) for test in tests)

    def _both(self, depth: int) -> Test:
        tests = [self._one(depth)]
        while self._is("and"):
            tests.append(self._one(depth))
        return lambda resource: all(test(resource) for test in tests)

    def _one(self, depth: int) -> Test:
        if depth > _DEEPEST:
            raise invalid_filter("it is nested too deeply")
        if self._is("not"):
            self._expect("(")
            inner = self.either(depth + 1)
            self._expect(")")
            return lambda resource: not inner(resource)
        if self._is("("):
            inner = self.either(depth + 1)
            self._expect(")")
            return inner
        return self._comparison(depth)

    def _comparison(self, depth: int) -> Test:
        path = self._next()
        if not _ATTRIBUTE.fullmatch(path):
            raise invalid_filter(f"{path!r} is no attribute")
        if self._is("["):
            inner = self.either(depth + 1)
            self._expect("]")
            return lambda resource: any(
                inner(value) for value in values_at(resource, path) if isinstance(value, Mapping)
            )
        operator = self._next().lower()
        if operator == "pr":
            return lambda resource: any(value not in (None, "", []) for value in values_at(resource, path))
        if operator not in _OPERATORS:
            raise invalid_filter(f"{operator!r} is no operator")
        compare, wanted = _OPERATORS[operator], _literal(self._next())
        if operator == "ne":
            return lambda resource: not any(_equal(value, wanted) for value in values_at(resource, path))
        return lambda resource: any(compare(_plain(value), wanted) for value in values_at(resource, path))

    def _is(self, word: str) -> bool:
        token = self.peek()
        if token is not None and token.lower() == word:
            self._at += 1
            return True
        return False

    def _expect(self, word: str) -> None:
        if not self._is(word):
            raise invalid_filter(f"{word!r} is missing")

    def _next(self) -> str:
        token = self.peek()
        if token is None:
            raise invalid_filter("it ends too early")
        self._at += 1
        return token


def _literal(token: str) -> Any:
    try:
        return orjson.loads(token)
    except orjson.JSONDecodeError:
        raise invalid_filter(f"{token!r} is no value") from None


def _plain(value: Any) -> Any:
    """The value of a complex attribute that has one."""
    return value.get("value") if isinstance(value, Mapping) else value


def _equal(value: Any, wanted: Any) -> bool:
    value = _plain(value)
    if isinstance(value, str) and isinstance(wanted, str):
        return value.casefold() == wanted.casefold()
    return type(value) is type(wanted) and bool(value == wanted)


def _texts(compare: Callable[[str, str], bool]) -> Callable[[Any, Any], bool]:
    def both(value: Any, wanted: Any) -> bool:
        if not isinstance(value, str) or not isinstance(wanted, str):
            return False
        return compare(value.casefold(), wanted.casefold())

    return both


_OPERATORS: Mapping[str, Callable[[Any, Any], bool]] = {
    "eq": _equal,
    "ne": _equal,
    "co": _texts(lambda value, wanted: wanted in value),
    "sw": _texts(str.startswith),
    "ew": _texts(str.endswith),
    "gt": _texts(str.__gt__),
    "ge": _texts(str.__ge__),
    "lt": _texts(str.__lt__),
    "le": _texts(str.__le__),
}

"""The language of the parameters `filter` and `search`: `status eq "ACTIVE" and profile.department co "Sales"`."""

import re
from collections.abc import Callable, Mapping
from typing import Any, TypeAlias

Matches: TypeAlias = Callable[[Mapping[str, Any]], bool]

_TOKEN = re.compile(r'\s*(?:(?P<text>"(?:[^"\\]|\\.)*")|(?P<mark>[()])|(?P<word>[^\s()"]+))')
_COMPARISONS: Mapping[str, Callable[[Any, Any], bool]] = {
    "eq": lambda value, wanted: value == wanted,
    "ne": lambda value, wanted: value != wanted,
    "co": lambda value, wanted: wanted in value,
    "sw": lambda value, wanted: value.startswith(wanted),
    "ew": lambda value, wanted: value.endswith(wanted),
    "gt": lambda value, wanted: value > wanted,
    "ge": lambda value, wanted: value >= wanted,
    "lt": lambda value, wanted: value < wanted,
    "le": lambda value, wanted: value <= wanted,
}


class FilterError(ValueError):
    """The expression cannot be read. The text says where."""


def parsed(expression: str) -> Matches:
    """Raises `FilterError` if the expression is not of the language."""
    parser = _Parser(_tokens(expression))
    matches = parser.alternatives()
    if parser.left:
        raise FilterError(f"unexpected {parser.left[0]!r}")
    return matches


def _tokens(expression: str) -> list[str]:
    tokens, position, text = [], 0, expression.rstrip()
    while position < len(text):
        found = _TOKEN.match(text, position)
        if found is None:
            raise FilterError(f"cannot read {text[position:][:20]!r}")
        tokens.append(found.group().strip())
        position = found.end()
    return tokens


class _Parser:
    """`or` binds weaker than `and`, which binds weaker than `not`."""

    def __init__(self, tokens: list[str]) -> None:
        self.left = tokens

    def alternatives(self) -> Matches:
        found = [self._conjunction()]
        while self._skip("or"):
            found.append(self._conjunction())
        return found[0] if len(found) == 1 else lambda item: any(matches(item) for matches in found)

    def _conjunction(self) -> Matches:
        found = [self._term()]
        while self._skip("and"):
            found.append(self._term())
        return found[0] if len(found) == 1 else lambda item: all(matches(item) for matches in found)

    def _term(self) -> Matches:
        if self._skip("not"):
            negated = self._term()
            return lambda item: not negated(item)
        if self._skip("("):
            inside = self.alternatives()
            if not self._skip(")"):
                raise FilterError("a bracket is not closed")
            return inside
        return self._comparison()

    def _comparison(self) -> Matches:
        value_of, operator = _attribute(self._next()), self._next().lower()
        if operator == "pr":
            return lambda item: value_of(item) not in (None, "", [])
        compare = _COMPARISONS.get(operator)
        if compare is None:
            raise FilterError(f"unknown operator {operator!r}")
        wanted = _literal(self._next())

        def matches(item: Mapping[str, Any]) -> bool:
            value = value_of(item)
            values = value if isinstance(value, list) else [value]
            return any(type(each) is type(wanted) and compare(_folded(each), wanted) for each in values)

        return matches

    def _next(self) -> str:
        if not self.left:
            raise FilterError("it ends too early")
        return self.left.pop(0)

    def _skip(self, word: str) -> bool:
        if self.left and self.left[0].lower() == word:
            self.left.pop(0)
            return True
        return False


def _attribute(path: str) -> Callable[[Mapping[str, Any]], Any]:
    if not re.fullmatch(r"[A-Za-z_][\w.]*", path):
        raise FilterError(f"{path!r} is not an attribute")
    names = path.split(".")

    def value_of(item: Mapping[str, Any]) -> Any:
        value: Any = item
        for name in names:
            # an attribute of a list is the list of that attribute: `target.id`
            if isinstance(value, list):
                value = [each.get(name) for each in value if isinstance(each, Mapping)]
            else:
                value = value.get(name) if isinstance(value, Mapping) else None
        return value

    return value_of


def _literal(text: str) -> Any:
    if text.startswith('"'):
        return _folded(re.sub(r"\\(.)", r"\1", text[1:-1]))
    if text in ("true", "false"):
        return text == "true"
    if re.fullmatch(r"-?\d+", text):
        return int(text)
    raise FilterError(f"{text!r} needs quotation marks")


def _folded(value: Any) -> Any:
    """Text is compared without regard to case. Times are too, which changes nothing: their letters are capitals."""
    return value.casefold() if isinstance(value, str) else value

"""YAML as plain data with the place of every field. Safe by structure: no aliases, no tags, bounded size and depth.

Every scalar stays the text that was written: `no`, `1.0` and `2024-01-01` are words like any other until a model says
what it expects. With `YamlRules.typed`, plain scalars that JSON knows (numbers, true, false, null) have these types.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from difflib import get_close_matches
from typing import Any, NoReturn, TypeAlias

import orjson
import yaml

from answerable.core.errors import SemanticError, UserError

FieldPath: TypeAlias = tuple[str | int, ...]


@dataclass(frozen=True, slots=True)
class YamlRules:
    """What a file may hold, and the error that says what is wrong with it."""

    refusal: type[UserError] = SemanticError
    typed: bool = False
    fast: bool = False
    """Whether to use the parser written in C, where it is built in. It is ten times as fast; its errors are terser."""
    deepest: int = 12
    largest: int = 1_000_000


SEMANTIC = YamlRules()

_FAST: type[yaml.BaseLoader] = getattr(yaml, "CBaseLoader", yaml.BaseLoader)


@dataclass(slots=True, eq=False)
class Marks:
    """Where each field of a file stands, for errors that may be found long after it was read.

    Any two are equal: two files that say the same are the same, wherever it stands in them.
    """

    origin: str
    refusal: type[UserError] = SemanticError
    places: dict[FieldPath, tuple[int, int]] = field(default_factory=dict)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Marks)

    __hash__ = None  # type: ignore[assignment]

    def error(self, path: FieldPath, problem: str, hint: str | None = None) -> UserError:
        line, column = self.place(path)
        name = ".".join(map(str, path))
        message = f"{self.start(path)}: {problem}"
        return self.refusal(message, hint=hint, file=self.origin, line=line, column=column, field=name)

    def start(self, path: FieldPath) -> str:
        """How a message about a field begins: file, line, column and the field."""
        line, column = self.place(path)
        place = f"{self.origin}, line {line}, column {column}" if line else self.origin
        return ": ".join([place, ".".join(map(str, path))] if path else [place])

    def place(self, path: FieldPath) -> tuple[int, int]:
        """Line and column of the field, or of what it is missing from."""
        ends = (path[:end] for end in range(len(path), -1, -1))
        return next((self.places[end] for end in ends if end in self.places), (0, 0))


def did_you_mean(name: str, known: Iterable[str]) -> str | None:
    by_folded = {candidate.casefold(): candidate for candidate in known}
    close = get_close_matches(name.casefold(), by_folded, n=3, cutoff=0.6)
    return f"Did you mean {' or '.join(by_folded[match] for match in close)}?" if close else None


def read(text: str, origin: str, rules: YamlRules = SEMANTIC) -> tuple[Any, Marks]:
    """The file as dictionaries, lists and text. An empty file is an empty dictionary."""
    marks = Marks(origin, rules.refusal)
    if len(text) > rules.largest:
        raise marks.error((), f"larger than {rules.largest:,} characters")
    try:
        loader = _FAST if rules.fast else yaml.BaseLoader
        _refuse_tricks(text, marks, rules.deepest, loader)
        node = yaml.compose(text, Loader=loader)
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark or error.context_mark
        if mark:
            marks.places[()] = _place(mark)
        raise marks.error((), f"not valid YAML: {error.problem or error.context}") from None
    except (yaml.YAMLError, UnicodeEncodeError) as error:
        raise marks.error((), f"not valid YAML: {error}") from None
    return ({} if node is None or _is_empty(node) else _data(node, (), marks, rules.typed)), marks


def _refuse_tricks(text: str, marks: Marks, deepest: int, loader: type[yaml.BaseLoader]) -> None:
    """Aliases can blow a small file up to gigabytes, tags can ask for objects, nesting can exhaust the stack."""
    depth = 0
    for event in yaml.parse(text, Loader=loader):
        if isinstance(event, yaml.AliasEvent) or getattr(event, "anchor", None):
            _refuse(event, "anchors and aliases (& and *) are not used here; write it out", marks)
        if getattr(event, "tag", None):
            _refuse(event, "tags (!) are not used here", marks)
        depth += isinstance(event, yaml.CollectionStartEvent) - isinstance(event, yaml.CollectionEndEvent)
        if depth > deepest:
            _refuse(event, "nested too deeply", marks)


def _refuse(event: yaml.Event, problem: str, marks: Marks) -> NoReturn:
    marks.places[()] = _place(event.start_mark)
    raise marks.error((), problem)


def _place(mark: Any) -> tuple[int, int]:
    return mark.line + 1, mark.column + 1


def _data(node: yaml.Node, path: FieldPath, marks: Marks, typed: bool) -> Any:
    marks.places.setdefault(path, _place(node.start_mark))
    if isinstance(node, yaml.MappingNode):
        return _mapping(node, path, marks, typed)
    if isinstance(node, yaml.SequenceNode):
        return [_data(item, (*path, number), marks, typed) for number, item in enumerate(node.value)]
    assert isinstance(node, yaml.ScalarNode)
    return _typed(node) if typed else node.value


def _typed(node: yaml.ScalarNode) -> Any:
    if node.style:  # quoted: text, whatever it says
        return node.value
    if _is_empty(node):
        return None
    try:
        value = orjson.loads(node.value)
    except orjson.JSONDecodeError:
        return node.value
    return node.value if isinstance(value, list | dict) else value


def _mapping(node: yaml.MappingNode, path: FieldPath, marks: Marks, typed: bool) -> Mapping[str, Any]:
    data: dict[str, Any] = {}
    for key, value in node.value:
        field_path = (*path, str(key.value) if isinstance(key, yaml.ScalarNode) else "?")
        known_already = field_path in marks.places
        marks.places[field_path] = _place(key.start_mark)
        if not isinstance(key, yaml.ScalarNode):
            raise marks.error(field_path, "a name must be plain text")
        if known_already:
            raise marks.error(field_path, "this is there twice")
        if typed or not _is_empty(value):
            data[key.value] = _data(value, field_path, marks, typed)
    return data


def _is_empty(node: yaml.Node) -> bool:
    """`columns:` with nothing after it, or `null`: as if it were not there."""
    return isinstance(node, yaml.ScalarNode) and not node.style and node.value in ("", "~", "null")

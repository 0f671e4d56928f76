"""YAML as plain data with the place of every field. Safe by structure: no aliases, no tags, bounded size and depth.

Every scalar stays the text that was written: `no`, `1.0` and `2024-01-01` are words like any other until a model says
what it expects.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from difflib import get_close_matches
from typing import Any, NoReturn, TypeAlias

import yaml

from answerable.core.errors import SemanticError

LARGEST = 1_000_000
_DEEPEST = 12

FieldPath: TypeAlias = tuple[str | int, ...]


@dataclass(slots=True, eq=False)
class Marks:
    """Where each field of a file stands, for errors that may be found long after it was read.

    Any two are equal: two files that say the same are the same, wherever it stands in them.
    """

    origin: str
    places: dict[FieldPath, tuple[int, int]] = field(default_factory=dict)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Marks)

    __hash__ = None  # type: ignore[assignment]

    def error(self, path: FieldPath, problem: str, hint: str | None = None) -> SemanticError:
        line, column = self.place(path)
        name = ".".join(map(str, path))
        message = f"{self.start(path)}: {problem}"
        return SemanticError(message, hint=hint, file=self.origin, line=line, column=column, field=name)

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


def read(text: str, origin: str) -> tuple[Any, Marks]:
    """The file as dictionaries, lists and text. An empty file is an empty dictionary."""
    marks = Marks(origin)
    if len(text) > LARGEST:
        raise marks.error((), f"larger than {LARGEST:,} characters")
    try:
        _refuse_tricks(text, marks)
        node = yaml.compose(text, Loader=yaml.BaseLoader)
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark or error.context_mark
        if mark:
            marks.places[()] = _place(mark)
        raise marks.error((), f"not valid YAML: {error.problem or error.context}") from None
    except yaml.YAMLError as error:
        raise marks.error((), f"not valid YAML: {error}") from None
    return ({} if node is None or _is_empty(node) else _data(node, (), marks)), marks


def _refuse_tricks(text: str, marks: Marks) -> None:
    """Aliases can blow a small file up to gigabytes, tags can ask for objects, nesting can exhaust the stack."""
    depth = 0
    for event in yaml.parse(text, Loader=yaml.BaseLoader):
        if isinstance(event, yaml.AliasEvent) or getattr(event, "anchor", None):
            _refuse(event, "anchors and aliases (& and *) are not used here; write it out", marks)
        if getattr(event, "tag", None):
            _refuse(event, "tags (!) are not used here", marks)
        depth += isinstance(event, yaml.CollectionStartEvent) - isinstance(event, yaml.CollectionEndEvent)
        if depth > _DEEPEST:
            _refuse(event, "nested too deeply", marks)


def _refuse(event: yaml.Event, problem: str, marks: Marks) -> NoReturn:
    marks.places[()] = _place(event.start_mark)
    raise marks.error((), problem)


def _place(mark: Any) -> tuple[int, int]:
    return mark.line + 1, mark.column + 1


def _data(node: yaml.Node, path: FieldPath, marks: Marks) -> Any:
    marks.places.setdefault(path, _place(node.start_mark))
    if isinstance(node, yaml.MappingNode):
        return _mapping(node, path, marks)
    if isinstance(node, yaml.SequenceNode):
        return [_data(item, (*path, number), marks) for number, item in enumerate(node.value)]
    return node.value


def _mapping(node: yaml.MappingNode, path: FieldPath, marks: Marks) -> Mapping[str, Any]:
    data: dict[str, Any] = {}
    for key, value in node.value:
        field_path = (*path, str(key.value) if isinstance(key, yaml.ScalarNode) else "?")
        known_already = field_path in marks.places
        marks.places[field_path] = _place(key.start_mark)
        if not isinstance(key, yaml.ScalarNode):
            raise marks.error(field_path, "a name must be plain text")
        if known_already:
            raise marks.error(field_path, "this is there twice")
        if not _is_empty(value):
            data[key.value] = _data(value, field_path, marks)
    return data


def _is_empty(node: yaml.Node) -> bool:
    """`columns:` with nothing after it, or `null`: as if it were not there."""
    return isinstance(node, yaml.ScalarNode) and node.style is None and node.value in ("", "~", "null")

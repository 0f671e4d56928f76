"""Changing single values of a YAML text, so that comments and the order of everything else stay.

Only plain block style is edited in place; what stands in braces or brackets is written anew as a whole.
"""

from collections.abc import Iterator, Mapping
from typing import Any, TypeAlias

import yaml

Path: TypeAlias = tuple[str, ...]


def with_changes(text: str, before: Mapping[str, Any], after: Mapping[str, Any]) -> str:
    """Changes the text, which says `before`, where needed so that it says `after`."""
    for path, value in list(_changes(before, after, (), _block_at(text, ()))):
        text = _with(text, path, value)
    return text


def _changes(
    before: Mapping[str, Any], after: Mapping[str, Any], path: Path, block: yaml.MappingNode | None
) -> Iterator[tuple[Path, Any]]:
    """Yields each path where `after` differs, with its new value, as deep inside as the text is in block style. The
    value is None if the entry goes away."""
    inner = {key.value: value for key, value in block.value} if block else {}
    for name in dict.fromkeys((*before, *after)):
        old, new = before.get(name), after.get(name)
        child = inner.get(name)
        if old == new:
            continue
        if isinstance(old, Mapping) and isinstance(new, Mapping) and _is_block(child):
            yield from _changes(old, new, (*path, name), child)
        else:
            yield (*path, name), new


def _with(text: str, path: Path, value: Any) -> str:
    block = _block_at(text, path[:-1])
    if block is None and len(path) > 1:
        return text if value is None else _with(text, path[:-1], {path[-1]: value})
    lines = text.splitlines(keepends=True)
    if lines and not lines[-1].endswith("\n"):
        lines[-1] += "\n"
    column = block.value[0][0].start_mark.column if block else 0
    fresh = [] if value is None else _dumped({path[-1]: value}, column)
    start, end = _place(lines, block, path[-1])
    return "".join([*lines[:start], *fresh, *lines[end:]])


def _place(lines: list[str], block: yaml.MappingNode | None, name: str) -> tuple[int, int]:
    """The lines of an entry; for one that is not there, the place after the last."""
    if block is None:
        return len(lines), len(lines)
    starts = [key.start_mark.line for key, _ in block.value]
    ends = [*starts[1:], min(len(lines), block.end_mark.line + (block.end_mark.column > block.start_mark.column))]
    for (key, _), start, end in zip(block.value, starts, ends, strict=True):
        if key.value == name:
            return start, _without_remarks(lines, start, end)
    last = _without_remarks(lines, starts[-1], ends[-1])
    return last, last


def _without_remarks(lines: list[str], start: int, end: int) -> int:
    """Blank lines and comments at the end belong to what follows."""
    while end > start + 1 and (not lines[end - 1].strip() or lines[end - 1].lstrip().startswith("#")):
        end -= 1
    return end


def _dumped(data: Mapping[str, Any], column: int) -> list[str]:
    text = yaml.safe_dump(dict(data), allow_unicode=True, sort_keys=False, width=100)
    return [" " * column + line for line in text.splitlines(keepends=True)]


def _block_at(text: str, path: Path) -> yaml.MappingNode | None:
    node = yaml.compose(text, Loader=yaml.BaseLoader)
    for name in path:
        if not _is_block(node):
            return None
        node = next((value for key, value in node.value if key.value == name), None)
    return node if _is_block(node) else None


def _is_block(node: object) -> bool:
    return isinstance(node, yaml.MappingNode) and not node.flow_style and bool(node.value)

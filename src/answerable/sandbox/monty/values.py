"""Rows and values on their way into and out of Monty, whose code knows neither polars nor Arrow.

What comes out may refer to one list from a million places: small here, endless once it is written out. So its full size
is counted before anything else looks at it, and nothing here writes it out.
"""

from collections.abc import Iterator
from pathlib import Path
from typing import Any, TypeAlias

from pydantic_monty import MontyClassProxy

from answerable.core.values import Json
from answerable.sandbox.base import Frame
from answerable.sandbox.runner import TooLarge, Unreturnable, plain, table_of
from answerable.sandbox.tables import written

Rows: TypeAlias = list[dict[str, Any]]

CHUNK = 2_000
"""Rows that are converted at a time; in between, other threads get their turn."""
DEPTH = 100
"""How deeply a value may be nested."""
LEAVES = frozenset({bool, int, float, type(None)})
_ITEM = 8
"""Bytes that are counted for an item at least: empty lists are not free."""


def chunks_of(path: Path) -> Iterator[Rows]:
    """The rows of an Arrow IPC file."""
    import polars as pl

    for part in pl.read_ipc(path).iter_slices(CHUNK):
        yield part.to_dicts()


class _Walk:
    """Remembers what it has seen by identity, and keeps that alive so that an identity stays one."""

    def __init__(self) -> None:
        self._alive: list[Any] = []

    def fields_of(self, value: Any) -> Any:
        """The fields of an object of a data class that the code defined; anything else as it is."""
        if isinstance(value, MontyClassProxy) and value.is_dataclass:
            value = value.attributes
            self._alive.append(value)
        return value


class ValueSize(_Walk):
    """How large a value is once everything in it is written out; one list in two places counts twice."""

    def __init__(self, limit: int) -> None:
        super().__init__()
        self._limit = limit
        self._known: dict[int, tuple[int, int]] = {}
        self.doubtful = False
        """Whether there is a text that may be one about something else, such as `<function 'f' at 0xc>`."""

    def of(self, value: Any) -> int:
        """Raises `TooLarge`, or `Unreturnable` for a value that is nested too deeply."""
        return self._size_and_height(value, DEPTH)[0]

    def _size_and_height(self, value: Any, room: int) -> tuple[int, int]:
        if type(value) in LEAVES:
            return _ITEM, 0
        known = self._known.get(id(value))
        if known is None:
            known = self._text(value) if isinstance(value, str | bytes) else self._container(value, room)
            self._known[id(value)] = known
        if known[0] > self._limit:
            raise TooLarge
        if known[1] > room:
            raise Unreturnable(f"The result is nested more than {DEPTH} deep.")
        return known

    def _text(self, value: str | bytes) -> tuple[int, int]:
        if value[-1:] in (">", ")", "]", "}"):
            self.doubtful = True
        return _ITEM + len(value), 0

    def _container(self, value: Any, room: int) -> tuple[int, int]:
        if room < 0:
            return 0, 1
        parts = [self._size_and_height(part, room - 1) for part in _parts(self.fields_of(value))]
        return _ITEM + sum(size for size, _ in parts), 1 + max((height for _, height in parts), default=0)


def _parts(value: Any) -> Iterator[Any]:
    if isinstance(value, dict):
        yield from value.keys()
        yield from value.values()
    elif isinstance(value, list | tuple | set | frozenset):
        yield from value


class Plain(_Walk):
    """A value as JSON holds it. What was one list in two places stays one list."""

    def __init__(self) -> None:
        super().__init__()
        self._known: dict[int, Json] = {}

    def of(self, value: Any) -> Json:
        """Raises `Unreturnable`. The value must have been measured: this does not ask how deep it is."""
        if value is None or isinstance(value, bool):
            return value
        if id(value) not in self._known:
            self._known[id(value)] = self._made(self.fields_of(value))
        return self._known[id(value)]

    def _made(self, value: Any) -> Json:
        if isinstance(value, dict):
            keys = plain(dict.fromkeys(value))
            if len(keys) != len(value):
                raise Unreturnable("The result holds a dictionary with two keys that are the same as text.")
            return dict(zip(keys, map(self.of, value.values()), strict=True))
        if isinstance(value, list | tuple):
            return [self.of(item) for item in value]
        return plain(value)


def write_rows(rows: Rows, path: Path, limit: int) -> Frame:
    """As an Arrow IPC file. Raises `Unreturnable` if they do not make a table."""
    frame = table_of(rows)
    if frame.estimated_size() > limit:
        raise TooLarge
    return written(frame, path)

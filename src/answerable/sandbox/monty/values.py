"""Rows and values on their way into and out of Monty, whose code knows neither polars nor Arrow.

What comes out may refer to one list from a million places: small here, endless once it is written out. So its full size
is counted before anything else looks at it.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any, TypeAlias

from pydantic_monty import MontyClassProxy

from answerable.sandbox.runner.frames import table_of
from answerable.sandbox.runner.plain import DEEPEST, Plain, TooLarge, Unreturnable
from answerable.sandbox.tables.received import write_table

if TYPE_CHECKING:
    from answerable.core.values import Json  # brings pydantic, which worker processes do without

Rows: TypeAlias = list[dict[str, Any]]

CHUNK = 2_000
"""Rows that are converted at a time; in between, other threads get their turn."""
LEAVES = frozenset({bool, int, float, type(None)})
_ITEM = 8
"""Bytes that are counted for an item at least: empty lists are not free."""


def chunks_of(descriptor: int) -> Iterator[Rows]:
    """The rows of an Arrow IPC file."""
    import polars as pl

    with os.fdopen(os.dup(descriptor), "rb") as file:
        for part in pl.read_ipc(file).iter_slices(CHUNK):
            yield part.to_dicts()


class ValueSize:
    """How large a value is once everything in it is written out; one list in two places counts twice.

    Remembers what it has seen by identity, so that such a list is walked only once."""

    def __init__(self, limit: int) -> None:
        self._limit = limit
        self._alive: list[Any] = []
        """Keeps fields of objects in memory, so that their identity stays theirs."""
        self._known: dict[int, tuple[int, int]] = {}
        self.doubtful = False
        """Whether there is a text that may be one about something else, such as `<function 'f' at 0xc>`."""

    def of(self, value: Any) -> int:
        """Raises `TooLarge`, or `Unreturnable` for a value that is nested too deeply."""
        return self._size_and_height(value, DEEPEST)[0]

    def _size_and_height(self, value: Any, room: int) -> tuple[int, int]:
        if type(value) in LEAVES:
            return _ITEM, 0
        known = self._known.get(id(value))
        if known is None:
            known = self._text(value) if isinstance(value, str | bytes) else self._container(value, room)
            self._known[id(value)] = known
        if known[0] > self._limit:
            raise TooLarge(self._limit)
        if known[1] > room:
            raise Unreturnable(f"The result is nested more than {DEEPEST} deep.")
        return known

    def _text(self, value: str | bytes) -> tuple[int, int]:
        if value[-1:] in (">", ")", "]", "}"):
            self.doubtful = True
        return _ITEM + len(value), 0

    def _container(self, value: Any, room: int) -> tuple[int, int]:
        if room < 0:
            return 0, 1
        if isinstance(value, MontyClassProxy) and value.is_dataclass:
            value = value.attributes
            self._alive.append(value)
        parts = [self._size_and_height(part, room - 1) for part in _parts(value)]
        return _ITEM + sum(size for size, _ in parts), 1 + max((height for _, height in parts), default=0)


def _parts(value: Any) -> Iterator[Any]:
    if isinstance(value, dict):
        yield from value.keys()
        yield from value.values()
    elif isinstance(value, list | tuple | set | frozenset):
        yield from value


class MontyPlain(Plain):
    """A value as JSON holds it. Objects of data classes are dictionaries of their fields."""

    def _from_library(self, value: Any, room: int) -> Any:
        if isinstance(value, MontyClassProxy) and value.is_dataclass:
            return self.of(value.attributes, room)
        return super()._from_library(value, room)


def write_rows(rows: Rows, output: int, limit: int) -> dict[str, Json]:
    """Writes rows as an Arrow IPC file and returns what a `Frame` says of it. Raises `Unreturnable` if they are no
    table."""
    frame = table_of(rows)
    if frame.estimated_size() > limit:
        raise TooLarge(limit)
    return write_table(frame, output)

"""What every engine in a worker can do."""

import time
from abc import ABC, abstractmethod
from dataclasses import dataclass
from decimal import Decimal
from typing import Any, Protocol

from answerable.isolation.wire import nested_as_text
from answerable.sources.workers.arrow_file import ArrowFile
from answerable.sources.workers.failures import Failure
from answerable.sources.workers.harden import Needs
from answerable.sources.workers.plain_rows import plain_rows


@dataclass(frozen=True, slots=True)
class Request:
    """One statement and what it may use."""

    sql: str
    seconds: float
    memory_mb: int
    rows: int
    bytes: int


class DatabaseEngine(Protocol):
    """Opens the data that a spec describes: `DatabaseEngine(spec)`. Runs one request at a time."""

    @staticmethod
    def needs(spec: dict[str, Any]) -> Needs:
        """What it must be able to reach once it is confined."""
        ...

    def answer(self, do: str, request: dict[str, Any], output: int | None) -> Any: ...

    def interrupt(self) -> None:
        """Called from another thread while it answers."""
        ...


class SqlEngine(ABC):
    """What the engines that run statements have in common."""

    _memory_mb: int
    """The limit of the statement that runs."""

    def answer(self, do: str, request: dict[str, Any], output: int | None) -> Any:
        self._memory_mb = request["memory_mb"]
        if do == "inspect":
            return self.inspect()
        if do == "rows_of_each":
            statements, seconds = request.pop("statements"), request.pop("seconds") / 2
            half = Deadline(seconds)
            # What is not begun in time tells nothing, and what takes longer is stopped where the engine can: to go on
            # would lose the rows of those before it.
            each = (Request(sql, seconds, **request) for sql in statements)
            return [None if half.passed() else self._rows_if_it_runs(one) for one in each]
        asked = Request(**request)
        if do == "check":
            return self.check(asked)
        if do == "rows":
            return self.rows(asked)
        if output is None:
            raise Failure("InternalError", "worker_failed", "There is nowhere to write the result to.")
        return self._executed(asked, output)

    def _rows_if_it_runs(self, request: Request) -> list[Any] | None:
        try:
            return self.rows(request)
        except Failure:
            return None

    def _executed(self, request: Request, output: int) -> dict[str, Any]:
        out = ArrowFile(output, max_rows=request.rows, max_bytes=request.bytes)
        started = time.perf_counter()
        columns = self.execute(request, out)
        milliseconds = (time.perf_counter() - started) * 1000
        batches = out.all_batches
        return {
            "columns": columns,
            "rows": out.row_count,
            "bytes": out.byte_count,
            "milliseconds": milliseconds,
            "plain_rows": None if batches is None else plain_rows(batches, [kind for _name, kind in columns]),
        }

    @abstractmethod
    def inspect(self) -> dict[str, Any]:
        """Tables with their columns, keys and declared relationships, as plain JSON; and under `left_out` the name of
        each table or view that the database itself cannot read, with its reason."""

    @abstractmethod
    def check(self, request: Request) -> None: ...

    @abstractmethod
    def execute(self, request: Request, out: ArrowFile) -> list[tuple[str, str]]:
        """Writes the result and returns the names and types of its columns."""

    @abstractmethod
    def rows(self, request: Request) -> list[Any]: ...


def unique_names(names: list[str]) -> list[str]:
    """A result column of the same name as an earlier one gets a number: `name_2`."""
    taken: set[str] = set()
    reached: dict[str, int] = {}  # the last number that a name was given, so that no number is tried twice
    unique = []
    for name in names:
        folded = name.casefold()
        candidate, number = name, reached.get(folded, 1)
        while candidate.casefold() in taken:
            number += 1
            candidate = f"{name}_{number}"
        reached[folded] = number
        taken.add(candidate.casefold())
        unique.append(candidate)
    return unique


def quoted(name: str) -> str:
    return '"' + name.replace('"', '""') + '"'


class Deadline:
    def __init__(self, seconds: float) -> None:
        self._end = time.monotonic() + seconds

    def passed(self) -> bool:
        return time.monotonic() > self._end


def as_text(value: Any) -> str | None:
    """Any value as the text that stands for it in a column of text."""
    if value is None or isinstance(value, str):
        return value
    if isinstance(value, bool):
        return str(int(value))
    if isinstance(value, bytes):
        return _decoded(value)
    if isinstance(value, Decimal | float):
        return format(Decimal(repr(value) if isinstance(value, float) else value), "f")
    return str(nested_as_text(value))


def _decoded(value: bytes) -> str:
    """Bytes that are no text are written as SQL writes them."""
    try:
        return value.decode()
    except UnicodeDecodeError:
        return f"x'{value.hex().upper()}'"

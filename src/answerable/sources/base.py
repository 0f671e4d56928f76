"""The seam to data: three verbs. A source trusts no text, although what it gets was checked and regenerated."""

from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol

from answerable.core.catalog import Catalog, ValueLookup
from answerable.core.values import Dialect, OutputColumn


@dataclass(frozen=True, slots=True)
class Limits:
    """What one query may use. Reaching one is a `LimitError` that names it."""

    seconds: float = 30.0
    memory_mb: int = 2048
    rows: int = 5_000_000
    result_mb: int = 4096


@dataclass(frozen=True, slots=True)
class QueryResult:
    """A finished query: an Arrow IPC file was written to the path that the caller gave."""

    columns: tuple[OutputColumn, ...]
    row_count: int
    byte_count: int
    duration_ms: float


class Probe(Protocol):
    """Small questions that describing a source asks of its data, run in the same hardened worker as everything else."""

    async def rows(self, sql: str) -> list[tuple[Any, ...]]:
        """Every row, as Python values: str, int, float, bool, date, datetime, time, bytes, None.

        A datetime has no zone; one that had is given in UTC.
        Dates of SQLite are text as they stand in the file. A probe that takes too long is a `LimitError`.
        """
        ...


class Source(Probe, Protocol):
    name: str
    kind: str
    """`files`, `sqlite`, `duckdb`, `postgres`, …"""
    dialect: Dialect
    semantic_files: tuple[Path, ...]
    """Where a `semantic.yaml` is looked for; the first that exists counts."""
    progress: tuple[int, int] | None
    """While it is described: how many tables have been read, and of how many."""

    async def describe(self) -> Catalog:
        """The catalog of the data as it is now; unchanged data is not read again."""
        ...

    async def describe_plainly(self) -> Catalog:
        """The same without what a `semantic.yaml` says."""
        ...

    async def values(self) -> ValueLookup:
        """The index of distinct text values, built on first use."""
        ...

    async def check(self, sql: str) -> None:
        """Plans the statement without running it; raises the source's own complaint as a `UserError`."""
        ...

    async def execute(self, sql: str, into: Path, limits: Limits) -> QueryResult: ...

    async def close(self) -> None: ...

"""The seam to data. A source speaks one or more query languages, and executes checked queries of these languages.

`Source` is what every source must do. `Peekable` and `Browsable` are capabilities that a source may have besides.
"""

from collections.abc import Callable, Sequence
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol, runtime_checkable

from answerable.core.catalog import Catalog, Table, ValueLookup
from answerable.core.errors import UserError
from answerable.core.progress import Progress, no_progress
from answerable.core.records import dataclass
from answerable.core.values import Language, OutputColumn, Scalar
from answerable.query.checked import CheckedQuery
from answerable.sources.statistics import RelationshipCheck, TableStatistics

if TYPE_CHECKING:
    from answerable.apis.call import RequestRecord
    from answerable.apis.openapi.endpoints import EndpointCatalog
    from answerable.sources.api.program_calls import ProgramCalls


@dataclass(frozen=True, slots=True)
class Limits:
    """What one query may use. Reaching one is a `LimitError` that names it."""

    seconds: float = 30.0
    memory_mb: int = 2048
    rows: int = 5_000_000
    result_mb: int = 4096


@dataclass(frozen=True, slots=True)
class LiveCalls:
    """What it took to answer a query from a live service."""

    at: datetime
    calls: int | None
    """HTTP requests, with retries. None if it would tell how much there is that the person may not see."""
    pages: int | None
    fingerprint: str
    """Of the rows that were fetched."""
    notes: tuple[str, ...] = ()

    @property
    def text(self) -> str:
        moment = f"Live from the API at {self.at:%Y-%m-%d %H:%M:%S} UTC"
        if self.calls is None or self.pages is None:
            return f"{moment}."
        calls = "1 call" if self.calls == 1 else f"{self.calls:,} calls"
        pages = "1 page" if self.pages == 1 else f"{self.pages:,} pages"
        return f"{moment}: {calls}, {pages}."


@dataclass(frozen=True, slots=True)
class QueryResult:
    """A finished query: an Arrow IPC file was written to the path that the caller gave."""

    columns: tuple[OutputColumn, ...]
    row_count: int
    byte_count: int
    duration_ms: float
    plain_rows: tuple[tuple[Scalar, ...], ...] | None = None
    """All rows as values that JSON can hold, if they are few and plain. Else None: the file has them."""
    live: LiveCalls | None = None
    """None if the data was there before the query."""


class Source(Protocol):
    name: str
    kind: str
    """The name of its row in `sources/open.py`, for example `files`."""
    languages: tuple[Language, ...]
    """The query languages that it speaks. Its catalog is written for the first."""
    is_local: bool
    """Whether asking it costs next to nothing: the data is on this machine."""
    semantic_files: tuple[Path, ...]
    """Where a `semantic.yaml` is looked for; the first that exists counts."""

    async def describe(self, progress: Progress = no_progress) -> Catalog:
        """The catalog of the data as it is now. Unchanged data is not read again."""
        ...

    async def describe_plainly(self) -> Catalog:
        """Describes the source without what its `semantic.yaml` says."""
        ...

    async def values(self, progress: Progress = no_progress) -> ValueLookup:
        """The index of distinct text values, built on first use."""
        ...

    async def check(self, query: CheckedQuery) -> None:
        """Plans the query without running it; raises the source's own complaint as a `UserError`."""
        ...

    async def execute(
        self, query: CheckedQuery, into: Path, limits: Limits, progress: Progress = no_progress
    ) -> QueryResult:
        """Runs the query and writes its rows to the path `into`. A query that fails leaves no file."""
        ...

    async def close(self) -> None: ...


@runtime_checkable
class Peekable(Protocol):
    """A source that can return a few rows of more than one query at once, without writing them to a file."""

    is_local: bool

    async def peek(self, queries: Sequence[CheckedQuery], limits: Limits) -> Sequence[list[tuple[Any, ...]] | None]:
        """The rows of each query, or None for a query that fails. `limits.rows` holds for each query, the other limits
        for all of them together."""
        ...


@runtime_checkable
class Browsable(Protocol):
    """A source whose tables people can look at."""

    async def first_rows(self, table: Table, offset: int, limit: int) -> list[tuple[Any, ...]]:
        """Some rows as they are stored, of the columns that the catalog shows."""
        ...

    async def statistics(self, table: Table) -> TableStatistics: ...

    async def relationship_checks(self, catalog: Catalog) -> list[RelationshipCheck]: ...


@runtime_checkable
class CallableApi(Protocol):
    """A source that is an API, which programs may call."""

    @property
    def may_be_called(self) -> bool:
        """Whether programs of the person may call it: only someone to whom no rules apply may."""
        ...

    async def endpoints(self) -> "EndpointCatalog": ...

    async def program_calls(self, record: "Callable[[RequestRecord], None]", seconds: float) -> "ProgramCalls":
        """`record` receives every request. Raises `RefusedError` if the person may not see all of the source."""
        ...


def browsable(source: Source) -> Browsable:
    if not isinstance(source, Browsable):
        raise UserError(
            f"The tables of {source.name} cannot be looked at.", code="source_not_browsable", hint="Ask it a question."
        )
    return source


def require_language(source: Source, query: CheckedQuery) -> None:
    """Refuses a query that was checked for a language that the source does not speak."""
    if query.language not in source.languages:
        raise UserError(
            f"The source {source.name} does not speak {query.language}.",
            code="query_language_unknown",
            hint=f"It is asked in {' or '.join(source.languages)}.",
        )

"""Rows of endpoints, fetched over the broker's session: page by page, for one id or for many, within a budget."""

import asyncio
from collections.abc import Awaitable, Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, TypeVar

from answerable.apis.call import ApiCall
from answerable.apis.openapi.endpoints import ApiEndpoint
from answerable.apis.openapi.shape import ShapeColumn, cell, columns_of_rows, shape_of_example
from answerable.apis.paging import field_of, rows_of
from answerable.apis.session import ApiSession
from answerable.apis.target import LinkPages, Pages
from answerable.core.errors import LimitError, NotFoundError
from answerable.core.progress import Progress, no_progress
from answerable.core.values import Json, Scalar

T = TypeVar("T")

MOST_ROWS = 200_000
"""Of one table: what is fetched is held in memory."""


@dataclass(slots=True)
class FetchedRows:
    """Rows of one endpoint, and what it took to get them."""

    rows: list[Json] = field(default_factory=list)
    pages: int = 0
    complete: bool = True
    """Whether all pages were read."""
    may_lack_rows: bool = False
    """Whether the last page was full and named no next one, though the document says that there are pages."""
    gone: int = 0
    """How many of the things whose rows were asked for were deleted meanwhile."""

    def add(self, other: "FetchedRows") -> None:
        self.rows += other.rows
        self.pages += other.pages
        self.complete = self.complete and other.complete
        self.may_lack_rows = self.may_lack_rows or other.may_lack_rows
        self.gone += other.gone
        if len(self.rows) > MOST_ROWS:
            raise LimitError(
                f"The API gave more than {MOST_ROWS:,} rows of one entity.",
                code="api_rows_too_many",
                hint="Ask for fewer: name a filter that the API knows.",
            )


def path_of(endpoint: ApiEndpoint, ids: Mapping[str, Scalar]) -> str:
    path = endpoint.path
    for name, value in ids.items():
        path = path.replace(f"{{{name}}}", str(value))
    return path


async def fetched(
    session: ApiSession,
    endpoint: ApiEndpoint,
    *,
    ids: Mapping[str, Scalar] | None = None,
    filters: Mapping[str, Scalar] | None = None,
    most_pages: int | None = None,
    progress: Progress = no_progress,
) -> FetchedRows:
    """`ids`: values of the path's parameters. `filters`: values of query parameters."""
    path = path_of(endpoint, ids or {})
    if endpoint.operation == "get":
        return await _one(session, endpoint, path, dict(filters or {}))
    size = {endpoint.pages.size_parameter: endpoint.pages.size} if endpoint.pages.size_parameter else {}
    found = FetchedRows()
    call = ApiCall(path, params={**size, **(filters or {})})
    pages = session.pages(call, lambda first: _rules(endpoint, first))
    async for page in pages:
        rows = _rows(page.data, page.pages)
        full = endpoint.pages.size is not None and len(rows) >= endpoint.pages.size
        unmarked = page.is_last and page.pages.kind in ("link", "cursor")
        # A page that is full by chance is the last one, too: then nothing is missing, and the note says "may".
        found.add(FetchedRows(rows, 1, may_lack_rows=full and unmarked))
        progress(f"Asking the API for {endpoint.entity}, page {found.pages}", found.pages, None)
        if not page.is_last and most_pages is not None and found.pages >= most_pages:
            found.complete = False
            break
    return found


async def _one(session: ApiSession, endpoint: ApiEndpoint, path: str, filters: Mapping[str, Scalar]) -> FetchedRows:
    try:
        reply = await session.call(ApiCall(path, params=filters))
    except NotFoundError:
        if "{" not in endpoint.path:
            raise
        return FetchedRows(pages=1)  # nothing has this id, and the table of it has no row
    found = field_of(reply.data, _rules(endpoint, reply.data).items)
    rows = found if isinstance(found, list) else [] if found is None else [found]
    return FetchedRows(rows, 1)


def _rules(endpoint: ApiEndpoint, first: Json) -> Pages:
    """How the pages lead on. If the document does not tell the shape of a page, the first page does."""
    pages = endpoint.pages.pages
    if endpoint.columns:
        return pages
    shape = shape_of_example(first, of_one=endpoint.operation == "get")
    return pages.model_copy(update={"items": shape.rows_at}) if shape is not None else pages


def _rows(page: Json, pages: Pages) -> list[Json]:
    rows = field_of(page, pages.items)
    if isinstance(rows, dict) and isinstance(pages, LinkPages):
        return [rows]  # one object where the document led to expect a list of them
    return rows_of(page, pages)


async def for_each(values: Iterable[T], fetch: Callable[[T], Awaitable[FetchedRows]]) -> list[FetchedRows]:
    """Fetches for each of the values at the same time, as many as the API bears. Ends all when one fails."""
    tasks: Sequence[asyncio.Task[FetchedRows]] = [asyncio.ensure_future(fetch(value)) for value in values]
    try:
        return list(await asyncio.gather(*tasks))
    except BaseException:
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
        raise


def with_key(rows: Iterable[Json], name: str, value: Scalar) -> list[Json]:
    """The rows with the id of what they belong to, unless they have such a field themselves."""
    return [{name: value, **row} if isinstance(row, dict) else {name: value, "value": row} for row in rows]


def columns_for(endpoint: ApiEndpoint, rows: list[Json], key: str | None) -> tuple[ShapeColumn, ...]:
    """The columns of the table: as the document says, else as the rows have them. `key`: the column of the parent."""
    columns = endpoint.columns or columns_of_rows(rows)
    if key is None or any(column.name.casefold() == key.casefold() for column in columns):
        return columns
    return (ShapeColumn(name=key, path=(key,), type="text"), *columns)


def values_of(rows: Iterable[Json], column: ShapeColumn) -> list[Any]:
    return [cell(row, column.path) for row in rows]

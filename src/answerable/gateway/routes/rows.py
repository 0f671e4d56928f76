"""The rows of an answer: whole as a file, by page, and as somebody wants to look at them."""

from typing import Annotated, Literal

import orjson
from fastapi import APIRouter, Depends, Query
from fastapi.concurrency import run_in_threadpool
from fastapi.responses import FileResponse, Response, StreamingResponse
from pydantic import Field, ValidationError

from answerable.answers import view
from answerable.answers.export import FORMATS, Format
from answerable.core.errors import UserError
from answerable.core.validation import first_problem
from answerable.core.values import Json, OutputColumn
from answerable.gateway.access import PrincipalOf, RunPath, ServiceOf, within
from answerable.gateway.problems import documented
from answerable.gateway.wire import API, RowPage, Wire
from answerable.service.rows import RowTotals

# Its only POST reads, so that there is nothing to carry out once.
router = APIRouter(prefix=API, tags=["rows"], dependencies=[within("ask")])

ARROW_STREAM = "application/vnd.apache.arrow.stream"
Offset = Annotated[int, Query(ge=0, le=10**12)]


async def chosen(
    selection: Annotated[
        str | None,
        Query(
            description="Which rows, in which order, with which columns: `filters`, `sort`, `search` and `columns` as"
            ' for `rows/query`, as JSON. Every row when left out. Example: `{"sort": [{"column": "city"}]}`',
            max_length=20_000,
            json_schema_extra={"contentMediaType": "application/json"},
        ),
    ] = None,
) -> view.Selection:
    try:
        return view.Selection.model_validate_json(selection) if selection is not None else view.Selection()
    except ValidationError as error:
        problem = first_problem(error)
        where = f"selection.{problem.field}" if problem.field else "selection"
        raise UserError(f"{where}: {problem.message}.", code="filter_invalid") from None


Chosen = Annotated[view.Selection, Depends(chosen)]


class RowQuery(Wire):
    """Which rows, in which order, and which part of them."""

    filters: tuple[view.RowFilter, ...] = Field((), max_length=50)
    sort: tuple[view.SortKey, ...] = Field((), max_length=20)
    search: str | None = Field(None, max_length=1_000, description="Text that some column holds, whatever its case.")
    columns: tuple[str, ...] | None = Field(None, min_length=1, description="All of them when left out.")
    offset: int = Field(0, ge=0, le=10**12)
    limit: int = Field(1_000, ge=0, le=100_000)
    format: Literal["json", "arrow"] = Field("json", description="`arrow` gives an IPC stream of the same values.")

    @property
    def selection(self) -> view.Selection:
        return view.Selection(filters=self.filters, sort=self.sort, search=self.search)


class RowView(Wire):
    columns: list[OutputColumn]
    rows: list[list[Json]]
    offset: int
    row_count: int = Field(description="Of all rows that the filters leave.")
    total_rows: int = Field(description="Of the whole answer.")


@router.get(
    "/runs/{run_id}/rows",
    response_class=StreamingResponse,
    response_model=RowPage,
    responses={
        200: {
            "content": {info.media_type.partition(";")[0]: {} for info in FORMATS.values() if info.extension != "json"},
            "description": "A page of rows as JSON; every chosen row as a file in the other formats",
        },
        **documented(400, 404, 413, 422),
    },
)
async def rows(
    run_id: RunPath,
    service: ServiceOf,
    principal: PrincipalOf,
    selection: Chosen,
    format: Annotated[Format, Query(description="`json` gives a page; the others give every row as a file.")] = "json",
    offset: Offset = 0,
    limit: Annotated[int, Query(ge=1, le=100_000)] = 1_000,
) -> Response:
    """Download the rows of an answer: all of them, or those that pass the filters."""
    if format == "json":
        page = await service.rows.page(run_id, principal, selection, offset=offset, limit=limit)
        document = {
            "columns": [column.model_dump() for column in page.columns],
            "rows": page.rows,
            "offset": offset,
            "row_count": page.row_count,
        }
        return Response(orjson.dumps(document), media_type="application/json")
    info = FORMATS[format]
    headers = {"Content-Disposition": f'attachment; filename="{run_id}.{info.extension}"'}
    if format == "arrow":
        path = await service.rows.file(run_id, principal, selection)
        return LargeFile(path, media_type=info.media_type, headers=headers)
    pieces = await service.rows.export(run_id, principal, selection, format=format)
    return StreamingResponse(pieces, media_type=info.media_type, headers=headers)


@router.get("/runs/{run_id}/rows/totals", responses=documented(404, 422))
async def row_totals(run_id: RunPath, service: ServiceOf, principal: PrincipalOf, selection: Chosen) -> RowTotals:
    """Compute the sum, the smallest and the largest value of each numeric column of an answer."""
    return await service.rows.totals(run_id, principal, selection)


@router.post(
    "/runs/{run_id}/rows/query",
    response_class=Response,
    response_model=RowView,
    responses={
        200: {
            "content": {ARROW_STREAM: {"schema": {"type": "string", "format": "binary"}}},
            "description": "Rows as JSON, or as an Arrow IPC stream whose counts are told in `X-Row-Count`,"
            " `X-Total-Rows` and `X-Row-Offset`",
        },
        **documented(400, 404, 413, 422),
    },
)
async def query_rows(run_id: RunPath, body: RowQuery, service: ServiceOf, principal: PrincipalOf) -> Response:
    """Read a page of the rows of an answer, filtered and sorted. Nothing is changed."""
    part = await service.rows.part(
        run_id, principal, body.selection, offset=body.offset, limit=body.limit, columns=body.columns
    )
    if body.format == "arrow":
        counts = {"X-Row-Count": part.row_count, "X-Total-Rows": part.total_rows, "X-Row-Offset": body.offset}
        content = await run_in_threadpool(part.arrow_stream)
        return Response(content, media_type=ARROW_STREAM, headers={name: str(value) for name, value in counts.items()})
    document = {
        "columns": [column.model_dump() for column in part.columns],
        "rows": part.cells.rows(),
        "offset": body.offset,
        "row_count": part.row_count,
        "total_rows": part.total_rows,
    }
    return Response(orjson.dumps(document), media_type="application/json")


class LargeFile(FileResponse):
    """Sent in pieces of a megabyte: each costs a hop to a thread and back."""

    chunk_size = 1 << 20

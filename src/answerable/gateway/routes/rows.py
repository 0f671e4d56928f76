"""The rows of an answer: whole as a file, by page, and as somebody wants to look at them."""

from pathlib import Path
from typing import Annotated, Any, Literal

import orjson
from fastapi import APIRouter, Depends, Query
from fastapi.concurrency import run_in_threadpool
from fastapi.responses import FileResponse, Response, StreamingResponse
from pydantic import Field, ValidationError

from answerable.answers import frame, view
from answerable.answers.export import FORMATS, Format, export
from answerable.answers.totals import ColumnTotal, totals
from answerable.core.errors import UserError
from answerable.core.values import Json, OutputColumn
from answerable.gateway.access import PrincipalOf, RunPath, ServiceOf, ViewsOf
from answerable.gateway.problems import documented
from answerable.gateway.wire import API, RowPage, Wire

router = APIRouter(prefix=API, tags=["rows"])

ARROW_STREAM = "application/vnd.apache.arrow.stream"
Offset = Annotated[int, Query(ge=0, le=10**12)]


def chosen(
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
        first = error.errors(include_url=False, include_input=False)[0]
        where = ".".join(["selection", *map(str, first["loc"])])
        raise UserError(f"{where}: {first['msg']}.", code="filter_invalid") from None


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


class RowTotals(Wire):
    row_count: int = Field(description="Of all rows that the filters leave.")
    columns: list[ColumnTotal] = Field(description="Of the columns of numbers.")


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
        **documented(404, 413, 422),
    },
)
async def rows(
    run_id: RunPath,
    service: ServiceOf,
    principal: PrincipalOf,
    views: ViewsOf,
    selection: Chosen,
    format: Annotated[Format, Query(description="`json` gives a page; the others give every row as a file.")] = "json",
    offset: Offset = 0,
    limit: Annotated[int, Query(ge=1, le=100_000)] = 1_000,
) -> Response:
    """The rows of an answer, all of them or those that are chosen."""
    answer = await service.runs.answer(run_id, principal)
    path = await views.path(await service.answers.rows_path(answer, principal), selection)
    if format == "json":
        document = await run_in_threadpool(_page, path, offset, limit)
        return Response(orjson.dumps(document), media_type="application/json")
    info = FORMATS[format]
    headers = {"Content-Disposition": f'attachment; filename="{run_id}.{info.extension}"'}
    if format == "arrow":
        return LargeFile(path, media_type=info.media_type, headers=headers)
    return StreamingResponse(export(path, format), media_type=info.media_type, headers=headers)


def _page(path: Path, offset: int, limit: int) -> dict[str, Any]:
    return {
        "columns": [column.model_dump() for column in frame.columns(path)],
        "rows": frame.rows(path, offset, limit),
        "offset": offset,
        "row_count": frame.row_count(path),
    }


@router.get("/runs/{run_id}/rows/totals", responses=documented(404, 422))
async def row_totals(
    run_id: RunPath, service: ServiceOf, principal: PrincipalOf, views: ViewsOf, selection: Chosen
) -> RowTotals:
    """What the numbers of an answer add up to, and between which they lie."""
    answer = await service.runs.answer(run_id, principal)
    path = await views.path(await service.answers.rows_path(answer, principal), selection)
    columns = await run_in_threadpool(totals, path)
    return RowTotals(row_count=await run_in_threadpool(frame.row_count, path), columns=list(columns))


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
async def query_rows(
    run_id: RunPath, body: RowQuery, service: ServiceOf, principal: PrincipalOf, views: ViewsOf
) -> Response:
    """A part of the rows of an answer, filtered and sorted. Changes nothing."""
    answer = await service.runs.answer(run_id, principal)
    path = await service.answers.rows_path(answer, principal)
    chosen = await views.path(path, body.selection)
    columns, cells = await run_in_threadpool(view.page, path, chosen, body.offset, body.limit, body.columns)
    count = await run_in_threadpool(frame.row_count, chosen)
    if body.format == "arrow":
        told = {"X-Row-Count": count, "X-Total-Rows": answer.row_count, "X-Row-Offset": body.offset}
        content = await run_in_threadpool(view.arrow_stream, cells)
        return Response(content, media_type=ARROW_STREAM, headers={name: str(value) for name, value in told.items()})
    document = {
        "columns": [column.model_dump() for column in columns],
        "rows": cells.rows(),
        "offset": body.offset,
        "row_count": count,
        "total_rows": answer.row_count,
    }
    return Response(orjson.dumps(document), media_type="application/json")


class LargeFile(FileResponse):
    """Sent in pieces of a megabyte: each costs a hop to a thread and back."""

    chunk_size = 1 << 20

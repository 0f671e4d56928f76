"""Runs: what was done, what came of it, and the rows."""

from typing import Annotated

import orjson
from fastapi import APIRouter, Header, Query
from fastapi.concurrency import run_in_threadpool
from fastapi.responses import FileResponse, Response, StreamingResponse

from answerable.answers import frame
from answerable.answers.answer import Answer
from answerable.answers.export import FORMATS, Format, export
from answerable.core.ids import RunId, ThreadId
from answerable.gateway.access import RequestId, RunPath, ScopeOf, ServiceOf
from answerable.gateway.problems import documented
from answerable.gateway.sse import EVENT_STREAM, resume_point, sse_response
from answerable.gateway.wire import (
    API,
    RUN_ID,
    THREAD_ID,
    Decision,
    QueryRequest,
    RowPage,
    RunDetail,
    RunList,
    RunState,
    RunSummary,
)
from answerable.store.base import RunRecord

router = APIRouter(prefix=API, tags=["runs"])


@router.post("/runs", responses=documented(400, 404, 413, 422, 503))
async def run_query(body: QueryRequest, service: ServiceOf, scope: ScopeOf, request_id: RequestId) -> Answer:
    """Run a query as it is written: no understanding takes part, the same checks and limits hold."""
    run = await service.begin_query(
        body.query_type,
        body.code,
        source=body.source,
        thread=ThreadId(body.thread_id) if body.thread_id else None,
        scope=scope,
        request=request_id,
    )
    return await service.finished(run, scope)


@router.get("/runs", responses=documented(404, 422))
async def runs(
    service: ServiceOf,
    scope: ScopeOf,
    limit: Annotated[int, Query(ge=1, le=500)] = 50,
    before: Annotated[str | None, Query(pattern=RUN_ID)] = None,
    thread_id: Annotated[str | None, Query(pattern=THREAD_ID)] = None,
) -> RunList:
    """Recorded runs, newest first."""
    records = await service.store.runs.recent(
        scope,
        limit=limit,
        before=RunId(before) if before else None,
        thread=ThreadId(thread_id) if thread_id else None,
    )
    full = len(records) == limit
    return RunList(runs=[_summary(record) for record in records], next_before=records[-1].run if full else None)


@router.get("/runs/{run_id}", responses=documented(404, 422))
async def run(run_id: RunPath, service: ServiceOf, scope: ScopeOf) -> RunDetail:
    """One run and its answer."""
    record = await service.store.runs.get(scope, run_id)
    finished = record.status not in ("running", "waiting")
    return RunDetail(run=_summary(record), answer=await service.answer(run_id, scope) if finished else None)


@router.get("/runs/{run_id}/status", responses=documented(404, 422))
async def status(run_id: RunPath, service: ServiceOf, scope: ScopeOf) -> RunState:
    record = await service.store.runs.get(scope, run_id)
    return RunState(run_id=run_id, status=record.status, finished=record.status not in ("running", "waiting"))


@router.get(
    "/runs/{run_id}/events",
    response_class=StreamingResponse,
    responses={
        200: EVENT_STREAM,
        **documented(404, 422),
    },
)
async def events(
    run_id: RunPath,
    service: ServiceOf,
    scope: ScopeOf,
    last_event_id: Annotated[str | None, Header(pattern=r"^[0-9]{1,15}$")] = None,
) -> StreamingResponse:
    """The events of a run, from the one after `Last-Event-ID` on, and then live until it ends."""
    await service.store.runs.get(scope, run_id)
    return sse_response(service.events(run_id, scope, after=resume_point(last_event_id)))


@router.post("/runs/{run_id}/cancel", responses=documented(404, 422), status_code=202)
async def cancel(run_id: RunPath, service: ServiceOf, scope: ScopeOf) -> RunState:
    """Stop a run. One that has ended already stays as it is."""
    await service.cancel(run_id, scope)
    return await status(run_id, service, scope)


@router.post("/runs/{run_id}/approvals", responses=documented(400, 404, 413, 422), status_code=202)
async def approve(run_id: RunPath, body: Decision, service: ServiceOf, scope: ScopeOf) -> RunState:
    """Answer what a waiting run asked; it then goes on."""
    await service.decide(run_id, body.step, approved=body.approved, note=body.note, scope=scope)
    return await status(run_id, service, scope)


@router.get(
    "/runs/{run_id}/rows",
    response_class=StreamingResponse,
    response_model=RowPage,
    responses={
        200: {
            "content": {info.media_type.partition(";")[0]: {} for info in FORMATS.values() if info.extension != "json"},
            "description": "A page of rows as JSON; all rows as a file in the other formats",
        },
        **documented(404, 413, 422),
    },
)
async def rows(
    run_id: RunPath,
    service: ServiceOf,
    scope: ScopeOf,
    format: Annotated[Format, Query(description="`json` gives a page; the others give every row as a file.")] = "json",
    offset: Annotated[int, Query(ge=0, le=10**12)] = 0,
    limit: Annotated[int, Query(ge=1, le=100_000)] = 1_000,
) -> Response:
    """The rows of an answer."""
    answer = await service.answer(run_id, scope)
    path = await service.rows_path(answer, scope)
    if format == "json":
        page = await run_in_threadpool(frame.rows, path, offset, limit)
        columns = [column.model_dump() for column in answer.columns]
        document = {"columns": columns, "rows": page, "offset": offset, "row_count": answer.row_count}
        return Response(orjson.dumps(document), media_type="application/json")
    info = FORMATS[format]
    headers = {"Content-Disposition": f'attachment; filename="{run_id}.{info.extension}"'}
    if format == "arrow":
        return LargeFile(path, media_type=info.media_type, headers=headers)
    return StreamingResponse(export(path, format), media_type=info.media_type, headers=headers)


class LargeFile(FileResponse):
    """Sent in pieces of a megabyte: each costs a hop to a thread and back."""

    chunk_size = 1 << 20


def _summary(record: RunRecord) -> RunSummary:
    return RunSummary(
        run_id=record.run,
        thread_id=record.thread,
        question=record.question,
        status=record.status,
        created_at=record.created_at,
        finished_at=record.finished_at,
        error_code=record.error_code,
    )

"""Runs: what was done, and what came of it."""

from typing import Annotated

from fastapi import APIRouter, Header, Query
from fastapi.responses import StreamingResponse

from answerable.answers.answer import Answer
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

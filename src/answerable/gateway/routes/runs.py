"""Runs: what was done, and what came of it."""

from typing import Annotated

from fastapi import APIRouter, Header, Query
from fastapi.responses import StreamingResponse
from pydantic import AwareDatetime, Field

from answerable.answers.answer import Answer
from answerable.answers.replay import Replay
from answerable.core.ids import RunId, ThreadId
from answerable.engine.timeline import TimelineStep
from answerable.gateway.access import NewRun, PrincipalOf, RequestId, RunPath, ServiceOf, within
from answerable.gateway.middleware.idempotency import OnceRoute
from answerable.gateway.problems import documented
from answerable.gateway.sse import EVENT_STREAM, resume_point, sse_response
from answerable.gateway.wire import (
    API,
    RUN_ID,
    THREAD_ID,
    Decision,
    QueryRequest,
    Wire,
)
from answerable.service.run_carrier import ended
from answerable.service.run_summary import RunSummary, run_summary
from answerable.store.base import RunFilter, RunStatus

router = APIRouter(prefix=API, tags=["runs"], route_class=OnceRoute, dependencies=[within("ask")])


class RunList(Wire):
    runs: list[RunSummary]
    next_before: str | None = Field(description="Give this as `before` for the next page; null at the end.")
    total: int = Field(description="Of all pages together.")


class RunDetail(Wire):
    run: RunSummary
    answer: Answer | None = Field(description="Null while the run goes on.")


class RunState(Wire):
    run_id: str
    status: RunStatus
    finished: bool


class RunTimeline(Wire):
    run: RunSummary
    total_ms: float = Field(description="From the first event to the last.")
    steps: list[TimelineStep]


class RunAccepted(Wire):
    run_id: str
    thread_id: str | None


@router.post("/runs", responses=documented(400, 404, 413, 422, 503))
async def run_query(
    body: QueryRequest, service: ServiceOf, principal: PrincipalOf, request_id: RequestId, new: NewRun
) -> Answer:
    """Run a query as it is written. It is not interpreted; the same checks and limits apply as for questions."""
    run = await service.questions.begin_query(
        body.query_type,
        body.code,
        principal,
        source=body.source,
        thread=ThreadId(body.thread_id) if body.thread_id else None,
        request_id=request_id,
        run=new,
    )
    return await service.runs.wait(run, principal)


@router.get("/runs", responses=documented(404, 422))
async def runs(
    service: ServiceOf,
    principal: PrincipalOf,
    limit: Annotated[int, Query(ge=1, le=500)] = 50,
    before: Annotated[str | None, Query(pattern=RUN_ID)] = None,
    thread_id: Annotated[str | None, Query(pattern=THREAD_ID)] = None,
    status: Annotated[list[RunStatus] | None, Query()] = None,
    source: Annotated[str | None, Query(max_length=200)] = None,
    mode: Annotated[str | None, Query(max_length=20)] = None,
    search: Annotated[str | None, Query(max_length=500, description="Part of the question.")] = None,
    since: Annotated[AwareDatetime | None, Query(description="With its zone: 2026-11-16T00:00:00Z.")] = None,
    until: Annotated[AwareDatetime | None, Query()] = None,
) -> RunList:
    """List the recorded runs, newest first."""
    only = RunFilter(tuple(status or ()), source, mode, search, since, until)
    thread = ThreadId(thread_id) if thread_id else None
    start = RunId(before) if before else None
    records = await service.runs.list(principal, limit=limit, before=start, thread=thread, only=only)
    return RunList(
        runs=[run_summary(record) for record in records],
        next_before=records[-1].run if len(records) == limit else None,
        total=await service.runs.count(principal, thread=thread, only=only),
    )


@router.get("/runs/{run_id}", responses=documented(404, 422))
async def run(run_id: RunPath, service: ServiceOf, principal: PrincipalOf) -> RunDetail:
    """Show one run and its answer."""
    record = await service.runs.get(run_id, principal)
    return RunDetail(
        run=run_summary(record), answer=await service.runs.answer(run_id, principal) if ended(record) else None
    )


@router.get("/runs/{run_id}/status", responses=documented(404, 422))
async def run_status(run_id: RunPath, service: ServiceOf, principal: PrincipalOf) -> RunState:
    record = await service.runs.get(run_id, principal)
    return RunState(run_id=run_id, status=record.status, finished=ended(record))


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
    principal: PrincipalOf,
    last_event_id: Annotated[str | None, Header(pattern=r"^[0-9]{1,15}$")] = None,
) -> StreamingResponse:
    """Follow the events of a run: first those after `Last-Event-ID`, then new ones until the run ends."""
    # An unknown run has to fail here. Once the stream has begun, its status can only be 200.
    await service.runs.get(run_id, principal)
    events = service.runs.events(run_id, principal, after=resume_point(last_event_id))
    return sse_response(events, service.runs.carrier.leaving)


@router.get("/runs/{run_id}/timeline", responses=documented(404, 422))
async def run_timeline(run_id: RunPath, service: ServiceOf, principal: PrincipalOf) -> RunTimeline:
    """Show when each step began and ended, its attempts, and the resources that it used."""
    record = await service.runs.get(run_id, principal)
    timeline = await service.runs.timeline(run_id, principal)
    return RunTimeline(run=run_summary(record), total_ms=timeline.total_ms, steps=list(timeline.steps))


@router.post("/runs/{run_id}/cancel", responses=documented(404, 422), status_code=202)
async def cancel(run_id: RunPath, service: ServiceOf, principal: PrincipalOf) -> RunState:
    """Stop a run. A run that has already ended is not changed."""
    await service.runs.cancel(run_id, principal)
    return await run_status(run_id, service, principal)


@router.post("/runs/{run_id}/pause", responses=documented(400, 404, 422), status_code=202)
async def pause(run_id: RunPath, service: ServiceOf, principal: PrincipalOf) -> RunState:
    """Have a run wait until it is resumed. Steps that are under way end first; no other starts."""
    await service.runs.pause(run_id, principal)
    return await run_status(run_id, service, principal)


@router.post("/runs/{run_id}/resume", responses=documented(400, 404, 422), status_code=202)
async def resume(run_id: RunPath, service: ServiceOf, principal: PrincipalOf) -> RunState:
    """Let a run that was paused go on."""
    await service.runs.resume(run_id, principal)
    return await run_status(run_id, service, principal)


@router.post("/runs/{run_id}/retry", responses=documented(404, 422), status_code=202)
async def retry(
    run_id: RunPath, service: ServiceOf, principal: PrincipalOf, request_id: RequestId, new: NewRun
) -> RunAccepted:
    """Ask the same question or query again, in the same thread, as a new run."""
    await service.questions.retry(run_id, principal, request_id, new=new)
    record = await service.runs.get(new, principal)
    return RunAccepted(run_id=new, thread_id=record.thread)


@router.post("/runs/{run_id}/replay", responses=documented(404, 422))
async def replay(run_id: RunPath, service: ServiceOf, principal: PrincipalOf) -> Replay:
    """Run the steps of an answer again and compare the rows."""
    return await service.answers.replay(run_id, principal)


@router.post("/runs/{run_id}/approvals", responses=documented(400, 404, 413, 422), status_code=202)
async def approve(run_id: RunPath, body: Decision, service: ServiceOf, principal: PrincipalOf) -> RunState:
    """Decide what a waiting run asked for. The run then continues. Of several decisions the first counts."""
    await service.runs.decide(run_id, body.step, principal, verdict=body.verdict_meant, note=body.note, data=body.data)
    return await run_status(run_id, service, principal)

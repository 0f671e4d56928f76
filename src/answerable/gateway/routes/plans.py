"""The parts of an answer's plan, changed without a query language."""

from fastapi import APIRouter
from pydantic import Field

from answerable.gateway.access import NewRun, PrincipalOf, RequestId, RunPath, ServiceOf, SourcePath, TablePath, within
from answerable.gateway.middleware.idempotency import OnceRoute
from answerable.gateway.problems import documented
from answerable.gateway.routes.runs import RunAccepted
from answerable.gateway.wire import API, Wire
from answerable.query.changes import Change
from answerable.service.exploring import ExploredTable
from answerable.service.plan_parts import PlanParts

router = APIRouter(prefix=API, tags=["runs"], route_class=OnceRoute, dependencies=[within("ask")])


class PlanChanges(Wire):
    changes: list[Change] = Field(max_length=50, description="Made in this order. None: the same plan runs again.")


class Look(PlanChanges):
    rows: bool = Field(False, description="The rows that the filters leave, instead of groups.")


@router.post("/sources/{name}/tables/{table}/explore", responses=documented(400, 403, 404, 413, 422, 502, 503))
async def explore(
    name: SourcePath, table: TablePath, body: Look, service: ServiceOf, principal: PrincipalOf
) -> ExploredTable:
    """Look at groups or rows of a table. Nothing is stored; the same rules and limits apply as for questions."""
    return await service.exploring.look(name, table, body.changes, principal, rows=body.rows)


@router.post(
    "/sources/{name}/tables/{table}/explore/ask",
    status_code=202,
    responses=documented(400, 403, 404, 413, 422, 502, 503),
)
async def ask_explored(
    name: SourcePath,
    table: TablePath,
    body: PlanChanges,
    service: ServiceOf,
    principal: PrincipalOf,
    request_id: RequestId,
    new: NewRun,
) -> RunAccepted:
    """Turn what is seen into a question in a thread of its own."""
    run = await service.plans.ask_explored(name, table, body.changes, principal, request_id, new=new)
    return RunAccepted(run_id=run, thread_id=(await service.runs.get(run, principal)).thread)


@router.get("/runs/{run_id}/plan", responses=documented(404, 422, 502, 503))
async def parts(run_id: RunPath, service: ServiceOf, principal: PrincipalOf) -> PlanParts:
    """Show the measure, group, filters, period and order of an answer, and what each can be changed to."""
    return await service.plans.parts(run_id, principal)


@router.post("/runs/{run_id}/changes", status_code=202, responses=documented(400, 403, 404, 422, 502, 503))
async def change(
    run_id: RunPath,
    body: PlanChanges,
    service: ServiceOf,
    principal: PrincipalOf,
    request_id: RequestId,
    new: NewRun,
) -> RunAccepted:
    """Run the plan of an answer again with some parts changed, in the same thread and under the same question."""
    run = await service.plans.change(run_id, body.changes, principal, request_id, new=new)
    return RunAccepted(run_id=run, thread_id=(await service.runs.get(run, principal)).thread)

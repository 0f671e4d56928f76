"""The parts of an answer's plan, changed without a query language."""

from fastapi import APIRouter
from pydantic import Field

from answerable.gateway.access import NewRun, PrincipalOf, RequestId, RunPath, ServiceOf, within
from answerable.gateway.middleware.idempotency import OnceRoute
from answerable.gateway.problems import documented
from answerable.gateway.routes.runs import RunAccepted
from answerable.gateway.wire import API, Wire
from answerable.query.changes import Change
from answerable.service.plan_parts import PlanParts

router = APIRouter(prefix=API, tags=["runs"], route_class=OnceRoute, dependencies=[within("ask")])


class PlanChanges(Wire):
    changes: list[Change] = Field(max_length=50, description="Made in this order. None: the same plan runs again.")


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

"""How Answerable is set up here: budgets and use, sandboxes, retention, versions. Secrets are never shown."""

from typing import Annotated

from fastapi import APIRouter, Query

from answerable.gateway.access import PrincipalOf, ServiceOf, needs
from answerable.gateway.middleware.idempotency import OnceRoute
from answerable.gateway.problems import documented
from answerable.gateway.wire import API
from answerable.service.retention import RetentionReport
from answerable.service.setup import About, DoctorReport, StepKindList, UsageReport

router = APIRouter(prefix=API, tags=["setup"], route_class=OnceRoute, dependencies=[needs("administer")])


@router.get("/usage", responses=documented(422))
async def usage(
    service: ServiceOf, principal: PrincipalOf, days: Annotated[int, Query(ge=1, le=366)] = 30
) -> UsageReport:
    """Show runs, tokens and cost per day (UTC), and what is left of the budgets."""
    return await service.setup.usage(principal, days=days)


@router.get("/doctor", responses=documented(503))
async def doctor(service: ServiceOf, principal: PrincipalOf) -> DoctorReport:
    """Show which sandboxes this machine offers for generated code. Each is tried, which takes a moment."""
    return await service.setup.doctor(principal)


@router.get("/retention", responses=documented(503))
async def retention(service: ServiceOf, _principal: PrincipalOf) -> RetentionReport:
    """Show what the store holds, how much space it takes, and when old runs were last removed."""
    return await service.retention.report()


@router.get("/about")
async def about(service: ServiceOf, principal: PrincipalOf) -> About:
    """Show versions, folders, and the query languages that can be used directly."""
    return await service.setup.about(principal)


@router.get("/step-kinds")
async def step_kinds(service: ServiceOf, principal: PrincipalOf) -> StepKindList:
    """List the kinds of steps that a run can have, and how each is shown."""
    return service.setup.step_kinds(principal)

"""Synced tenants of Okta: their syncs, and reports about them."""

from typing import Any

from fastapi import APIRouter
from pydantic import Field

from answerable.answers.answer import Answer
from answerable.gateway.access import PrincipalOf, ServiceOf, needs, within
from answerable.gateway.middleware.idempotency import OnceRoute
from answerable.gateway.problems import documented
from answerable.gateway.wire import API, Wire
from answerable.service.okta import TenantView

router = APIRouter(prefix=API, tags=["okta"], route_class=OnceRoute, dependencies=[within("ask")])


class OktaReport(Wire):
    name: str
    title: str
    inputs: dict[str, Any] = Field(description="JSON schema of its inputs.")


class OktaReportList(Wire):
    reports: list[OktaReport]


class OktaSync(Wire):
    kind: str
    status: str
    data_as_of: str | None
    started: str
    finished: str | None
    seconds: float | None
    pages: int | None
    rows: int | None
    added: int | None
    changed: int | None
    removed: int | None
    error: str | None


class OktaSyncList(Wire):
    syncs: list[OktaSync] = Field(description="The oldest first.")


class OktaTenantList(Wire):
    tenants: list[TenantView] = Field(description="By name.")


class OktaSyncRequest(Wire):
    full: bool = Field(default=False, description="Read everything anew, not only what has changed.")


class OktaScheduleRequest(Wire):
    cron: str = Field(min_length=1, max_length=200, description="Minute, hour, day of month, month, day of week.")
    zone: str = Field(default="UTC", max_length=100, description="A time zone such as Europe/Berlin.")


class OktaReportRequest(Wire):
    inputs: dict[str, Any] = Field(default_factory=dict, description="As the schema of the report says.")


@router.get("/okta/reports")
async def okta_reports(service: ServiceOf, principal: PrincipalOf) -> OktaReportList:
    """Reports about synced tenants, with their inputs."""
    found = [
        OktaReport(name=report.name, title=report.title, inputs=report.inputs.model_json_schema())
        for report in service.okta.reports(principal)
    ]
    return OktaReportList(reports=found)


@router.get("/okta")
async def okta_tenants(service: ServiceOf, principal: PrincipalOf) -> OktaTenantList:
    """Synced tenants: what they hold, when they were synced, and when they are synced next."""
    return OktaTenantList(tenants=[*await service.okta.tenants(principal)])


@router.get("/okta/{name}", responses=documented(404, 422))
async def okta_tenant(name: str, service: ServiceOf, principal: PrincipalOf) -> TenantView:
    """One synced tenant, with the sync that is under way."""
    return await service.okta.tenant(name, principal)


@router.get("/okta/{name}/syncs", responses=documented(404, 422))
async def okta_syncs(name: str, service: ServiceOf, principal: PrincipalOf) -> OktaSyncList:
    """Every sync of a tenant: when, how long, what it found, and what went wrong."""
    records = service.okta.history(name, principal)
    return OktaSyncList(syncs=[OktaSync.model_validate(record, from_attributes=True) for record in records])


@router.post(
    "/okta/{name}/syncs",
    responses=documented(400, 404, 413, 422, 503),
    status_code=202,
    dependencies=[needs("add_sources")],
)
async def okta_sync_now(name: str, body: OktaSyncRequest, service: ServiceOf, principal: PrincipalOf) -> TenantView:
    """Sync a tenant now. The reply does not wait for the end: look at the tenant, or at its syncs."""
    return await service.okta.start_sync(name, principal, full=body.full)


@router.put("/okta/{name}/schedule", responses=documented(400, 404, 413, 422, 503), dependencies=[needs("add_sources")])
async def okta_schedule(name: str, body: OktaScheduleRequest, service: ServiceOf, principal: PrincipalOf) -> TenantView:
    """Sync a tenant by itself at these times. A schedule that it has is replaced."""
    return await service.okta.schedule(name, body.cron, principal, zone=body.zone)


@router.delete(
    "/okta/{name}/schedule",
    responses=documented(404, 422),
    status_code=204,
    dependencies=[needs("add_sources")],
)
async def okta_unschedule(name: str, service: ServiceOf, principal: PrincipalOf) -> None:
    """End the schedule of a tenant. Its data stays."""
    await service.okta.unschedule(name, principal)


@router.post("/okta/{name}/reports/{report}", responses=documented(400, 404, 413, 422, 502, 503))
async def okta_report(
    name: str, report: str, body: OktaReportRequest, service: ServiceOf, principal: PrincipalOf
) -> Answer:
    """Answer a report about a synced tenant. The run is recorded, so that its rows can be paged and exported."""
    return await service.okta.report(name, report, principal, body.inputs)

"""Synced tenants of Okta: their syncs, and reports about them."""

from typing import Any

from fastapi import APIRouter
from pydantic import Field

from answerable.answers.answer import Answer
from answerable.gateway.access import PrincipalOf, ServiceOf, within
from answerable.gateway.middleware.idempotency import OnceRoute
from answerable.gateway.problems import documented
from answerable.gateway.wire import API, Wire

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


@router.get("/okta/{name}/syncs", responses=documented(404, 422))
async def okta_syncs(name: str, service: ServiceOf, principal: PrincipalOf) -> OktaSyncList:
    """Every sync of a tenant: when, how long, what it found, and what went wrong."""
    records = service.okta.history(name, principal)
    return OktaSyncList(syncs=[OktaSync.model_validate(record, from_attributes=True) for record in records])


@router.post("/okta/{name}/reports/{report}", responses=documented(400, 404, 413, 422, 502, 503))
async def okta_report(
    name: str, report: str, body: OktaReportRequest, service: ServiceOf, principal: PrincipalOf
) -> Answer:
    """Answer a report about a synced tenant. The run is recorded, so that its rows can be paged and exported."""
    return await service.okta.report(name, report, principal, body.inputs)

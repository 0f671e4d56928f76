"""The access rules and their versions, what they mean for somebody, and requests for more."""

from typing import Annotated

from fastapi import APIRouter, Path, Query
from pydantic import Field

from answerable.gateway.access import PrincipalOf, ServiceOf, needs, within
from answerable.gateway.middleware.idempotency import OnceRoute
from answerable.gateway.problems import documented
from answerable.gateway.wire import API, Wire
from answerable.service.access import AccessExplanation, AccessReport
from answerable.service.rules import RequestView, RulesState, RulesVersion

router = APIRouter(prefix=f"{API}/access", tags=["identity"], route_class=OnceRoute)

RequestPath = Annotated[str, Path(pattern="^req_[0-9a-f]{16}$")]
Version = Annotated[int | None, Query(ge=1, description="By default the version before the newest.")]


RulesText = Annotated[str, Field(min_length=1, max_length=500_000, description="The whole of `access.yaml`.")]


class NewRules(Wire):
    text: RulesText
    version: int = Field(ge=1, description="The version that was edited. If there is a newer one, nothing is written.")


class RulesDraft(Wire):
    text: RulesText | None = Field(None, description="Rules that are not in force yet; without, those that are.")


class VersionList(Wire):
    versions: list[RulesVersion]


class RulesDiff(Wire):
    diff: str = Field(description="A unified diff; empty if nothing has changed.")


class NewRequest(Wire):
    wanted: str = Field(min_length=1, max_length=2_000, description="What you need to see or do.")
    reason: str = Field("", max_length=2_000)


class Approval(Wire):
    role: str = Field(min_length=1, max_length=200, description="The role of `access.yaml` that is given.")
    days: int = Field(30, ge=1, le=366)
    note: str = Field("", max_length=2_000)


class Denial(Wire):
    note: str = Field("", max_length=2_000)


class RequestList(Wire):
    requests: list[RequestView]


@router.get("/rules", dependencies=[needs("administer")], responses=documented(401, 403, 422, 503))
async def rules(service: ServiceOf, principal: PrincipalOf) -> RulesState:
    """Show the roles and rules, and the text of `access.yaml`."""
    return await service.rules.current(principal)


@router.put("/rules", dependencies=[needs("administer")], responses=documented(400, 401, 403, 413, 422, 503))
async def replace_rules(body: NewRules, service: ServiceOf, principal: PrincipalOf) -> RulesVersion:
    """Write other rules. They are checked first, and become a version that can be undone."""
    return await service.rules.replace(body.text, principal, version=body.version)


@router.post("/check", dependencies=[needs("administer")], responses=documented(400, 401, 403, 413, 422, 503))
async def check(body: RulesDraft, service: ServiceOf, principal: PrincipalOf) -> AccessReport:
    """Compare rules with the data, without changing anything."""
    return await service.access.check(principal, text=body.text)


@router.get("/explain", dependencies=[needs("administer")], responses=documented(401, 403, 404, 422, 503))
async def explain(
    service: ServiceOf,
    principal: PrincipalOf,
    user: Annotated[str, Query(min_length=1, max_length=200)],
    source: Annotated[str, Query(min_length=1, max_length=200)],
    question: Annotated[str | None, Query(min_length=1, max_length=2_000)] = None,
) -> AccessExplanation:
    """Show what somebody sees of a source, and which rules would shape their answer to a question."""
    return await service.access.explain(user, principal, question=question, source=source)


@router.get("/versions", dependencies=[needs("administer")], responses=documented(401, 403, 422, 503))
async def versions(service: ServiceOf, principal: PrincipalOf) -> VersionList:
    """List the versions of `access.yaml`, the newest first."""
    return VersionList(versions=await service.rules.history(principal))


@router.get("/diff", dependencies=[needs("administer")], responses=documented(401, 403, 404, 422, 503))
async def diff(service: ServiceOf, principal: PrincipalOf, version: Version = None) -> RulesDiff:
    """Show what has changed in `access.yaml` since a version."""
    return RulesDiff(diff=await service.rules.diff(principal, version=version))


@router.post("/undo", dependencies=[needs("administer")], responses=documented(401, 403, 404, 422, 503))
async def undo(
    service: ServiceOf,
    principal: PrincipalOf,
    # required: "the one before" would be another one if the request is repeated
    version: Annotated[int, Query(ge=1, description="The version that is brought back.")],
) -> RulesVersion:
    """Bring back a version of `access.yaml`."""
    return await service.rules.undo(principal, version=version)


@router.post(
    "/requests", status_code=201, dependencies=[within("ask")], responses=documented(400, 401, 403, 413, 422, 503)
)
async def ask(body: NewRequest, service: ServiceOf, principal: PrincipalOf) -> RequestView:
    """Ask to see or do more."""
    return await service.rules.ask(body.wanted, principal, reason=body.reason)


@router.get("/requests", dependencies=[within("ask", "administer")], responses=documented(401, 403, 422, 503))
async def requests(service: ServiceOf, principal: PrincipalOf) -> RequestList:
    """List one's own requests; for administrators, those of everybody."""
    return RequestList(requests=await service.rules.requests(principal))


@router.post(
    "/requests/{request_id}/approve",
    dependencies=[needs("administer")],
    responses=documented(400, 401, 403, 404, 413, 422, 503),
)
async def approve(request_id: RequestPath, body: Approval, service: ServiceOf, principal: PrincipalOf) -> RequestView:
    """Give whoever asked a role, for some days."""
    return await service.rules.approve(request_id, body.role, principal, days=body.days, note=body.note)


@router.post(
    "/requests/{request_id}/deny",
    dependencies=[needs("administer")],
    responses=documented(400, 401, 403, 404, 413, 422, 503),
)
async def deny(request_id: RequestPath, body: Denial, service: ServiceOf, principal: PrincipalOf) -> RequestView:
    """Deny a request."""
    return await service.rules.deny(request_id, principal, note=body.note)

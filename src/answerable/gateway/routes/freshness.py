"""Whether the data of an answer is still as it was."""

from fastapi import APIRouter

from answerable.gateway.access import PrincipalOf, RunPath, ServiceOf, within
from answerable.gateway.middleware.idempotency import OnceRoute
from answerable.gateway.problems import documented
from answerable.gateway.wire import API
from answerable.service.answers import Freshness

router = APIRouter(prefix=API, tags=["runs"], route_class=OnceRoute, dependencies=[within("ask")])


@router.get("/runs/{run_id}/freshness", responses=documented(404, 422))
async def freshness(run_id: RunPath, service: ServiceOf, principal: PrincipalOf) -> Freshness:
    """Say whether the data of an answer has changed since it was given."""
    return await service.answers.freshness(run_id, principal)

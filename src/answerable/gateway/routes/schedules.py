"""Schedules: when stored graphs run by themselves."""

from typing import Annotated

from fastapi import APIRouter, Path

from answerable.gateway.access import PrincipalOf, ServiceOf, needs
from answerable.gateway.middleware.idempotency import OnceRoute
from answerable.gateway.problems import documented
from answerable.gateway.wire import API, Wire
from answerable.graphs.schedules import GraphSchedule
from answerable.service.schedules import ScheduleView

router = APIRouter(prefix=API, tags=["graphs"], route_class=OnceRoute, dependencies=[needs("sql"), needs("python")])

SchedulePath = Annotated[str, Path(pattern=r"^[a-z0-9][a-z0-9_-]{0,63}$")]


class ScheduleSaved(Wire):
    schedule: GraphSchedule


class ScheduleList(Wire):
    schedules: list[ScheduleView]


@router.get("/schedules")
async def schedules(service: ServiceOf, principal: PrincipalOf) -> ScheduleList:
    """List the schedules by name."""
    return ScheduleList(schedules=[*await service.schedules.list(principal)])


@router.put("/schedules/{name}", responses=documented(400, 404, 413, 422))
async def put_schedule(
    name: SchedulePath, body: ScheduleSaved, service: ServiceOf, principal: PrincipalOf
) -> ScheduleView:
    """Store when a graph runs by itself. A schedule of the same name is replaced."""
    return await service.schedules.add(name, body.schedule, principal)


@router.delete("/schedules/{name}", responses=documented(404, 422), status_code=204)
async def delete_schedule(name: SchedulePath, service: ServiceOf, principal: PrincipalOf) -> None:
    """Remove a schedule. Runs that it has begun go on."""
    await service.schedules.remove(name, principal)

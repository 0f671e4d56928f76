"""Agents: prompts for a language model, each a folder on the server, asked by name."""

from typing import Annotated

from fastapi import APIRouter, Path
from pydantic import Field

from answerable.core.values import Json
from answerable.gateway.access import PrincipalOf, ServiceOf, needs
from answerable.gateway.middleware.idempotency import OnceRoute
from answerable.gateway.problems import documented
from answerable.gateway.wire import API, Wire
from answerable.service.agents import AgentDetail, AgentReply, AgentView

router = APIRouter(prefix=API, tags=["agents"], route_class=OnceRoute, dependencies=[needs("administer")])

AgentPath = Annotated[str, Path(min_length=1, max_length=64, description="Name of an agent")]


class AgentList(Wire):
    agents: list[AgentView]


class AgentRequest(Wire):
    inputs: dict[str, Json] = Field({}, description="The inputs that `GET /agents/{name}` lists.")
    source: str | None = Field(None, max_length=200, description="What the agent's tools read.")


@router.get("/agents")
async def agents(service: ServiceOf, principal: PrincipalOf) -> AgentList:
    """List the agents, with what is wrong with those that cannot be used."""
    return AgentList(agents=[*service.agents.list(principal)])


@router.get("/agents/{name}", responses=documented(404, 422, 503))
async def agent(name: AgentPath, service: ServiceOf, principal: PrincipalOf) -> AgentDetail:
    """Show an agent: its model, limits, tools, inputs and the form of its reply."""
    return service.agents.show(name, principal)


@router.post("/agents/{name}/runs", responses=documented(400, 404, 413, 422, 429, 500, 502, 503))
async def run(name: AgentPath, body: AgentRequest, service: ServiceOf, principal: PrincipalOf) -> AgentReply:
    """Ask an agent and wait for its reply. The run is recorded and counts against budgets."""
    return await service.agents.run(name, body.inputs, principal, source=body.source)

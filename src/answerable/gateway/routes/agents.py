"""Agents: prompts for a language model, asked by name. Each is a folder on the server, or a text that was stored."""

from typing import Annotated

from fastapi import APIRouter, Path, Query
from pydantic import Field

from answerable.agents.written import LARGEST
from answerable.core.values import Json
from answerable.gateway.access import PrincipalOf, ServiceOf, needs
from answerable.gateway.middleware.idempotency import OnceRoute
from answerable.gateway.problems import documented
from answerable.gateway.wire import API, Wire
from answerable.service.agents import AgentDetail, AgentDifference, AgentReply, AgentVersion, AgentView

router = APIRouter(prefix=API, tags=["agents"], route_class=OnceRoute, dependencies=[needs("administer")])

AgentPath = Annotated[str, Path(min_length=1, max_length=64, description="Name of an agent")]


class AgentList(Wire):
    agents: list[AgentView]


class AgentRequest(Wire):
    inputs: dict[str, Json] = Field({}, description="The inputs that `GET /agents/{name}` lists.")
    source: str | None = Field(None, max_length=200, description="What the agent's tools read.")


class AgentText(Wire):
    text: str = Field(max_length=LARGEST, description="The agent as YAML.")
    note: str = Field("", max_length=1_000, description="What is new; it is recorded.")
    tags: list[Annotated[str, Field(min_length=1, max_length=64)]] | None = Field(None, max_length=50)
    expected: int | None = Field(
        None, ge=0, description="The version that you know; 0 for none. If another one counts, nothing is stored."
    )


class AgentVersions(Wire):
    versions: list[AgentVersion]


class AgentRollback(Wire):
    version: Annotated[int, Field(ge=1)]


VersionQuery = Annotated[int | None, Query(ge=1)]


@router.get("/agents")
async def agents(
    service: ServiceOf, principal: PrincipalOf, tag: Annotated[str | None, Query(max_length=64)] = None
) -> AgentList:
    """List the agents, with what is wrong with those that cannot be used."""
    return AgentList(agents=[*await service.agents.list(principal, tag=tag)])


@router.get("/agents/{name}", responses=documented(404, 422, 503))
async def agent(
    name: AgentPath, service: ServiceOf, principal: PrincipalOf, version: VersionQuery = None
) -> AgentDetail:
    """Show an agent: its model, limits, tools, inputs and the form of its reply; of a stored one also its text."""
    return await service.agents.show(name, principal, version=version)


@router.put("/agents/{name}", responses=documented(400, 413, 422))
async def save_agent(name: AgentPath, body: AgentText, service: ServiceOf, principal: PrincipalOf) -> AgentDetail:
    """Store an agent, as a new version if its text is new. An agent with a mistake is not stored."""
    return await service.agents.save(
        body.text, principal, note=body.note, tags=body.tags, expected=body.expected, name=name
    )


@router.delete("/agents/{name}", responses=documented(404, 422), status_code=204)
async def delete_agent(name: AgentPath, service: ServiceOf, principal: PrincipalOf) -> None:
    """Remove a stored agent with all its versions. Runs that have begun with it keep it."""
    await service.agents.delete(name, principal)


@router.get("/agents/{name}/versions", responses=documented(404, 422))
async def agent_versions(name: AgentPath, service: ServiceOf, principal: PrincipalOf) -> AgentVersions:
    """List who saved which version of a stored agent, newest first."""
    return AgentVersions(versions=[*await service.agents.versions(name, principal)])


@router.get("/agents/{name}/diff", responses=documented(404, 422))
async def agent_diff(
    name: AgentPath,
    service: ServiceOf,
    principal: PrincipalOf,
    before: VersionQuery = None,
    after: VersionQuery = None,
) -> AgentDifference:
    """Show what is different between two versions of a stored agent."""
    return await service.agents.diff(name, principal, before=before, after=after)


@router.post("/agents/{name}/rollback", responses=documented(400, 404, 413, 422))
async def roll_back_agent(
    name: AgentPath, body: AgentRollback, service: ServiceOf, principal: PrincipalOf
) -> AgentDetail:
    """Make the text of an earlier version of a stored agent count again, as a new version."""
    return await service.agents.rollback(name, body.version, principal)


@router.post("/agents/{name}/runs", responses=documented(400, 404, 413, 422, 429, 500, 502, 503))
async def run(name: AgentPath, body: AgentRequest, service: ServiceOf, principal: PrincipalOf) -> AgentReply:
    """Ask an agent and wait for its reply. The run is recorded and counts against budgets."""
    return await service.agents.run(name, body.inputs, principal, source=body.source)

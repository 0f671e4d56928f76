"""Agents: listed, looked at, checked and run by name, wherever their folders are."""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from pydantic import Field

from answerable.agents.graphs import AGENT, agent_graph
from answerable.agents.model_descriptors import AgentConfig
from answerable.agents.run_policy import RunPolicy
from answerable.agents.runtime import Agents
from answerable.answers.answer import Usage
from answerable.core.context import Principal, RunContext
from answerable.core.errors import AnswerableError, restored
from answerable.core.events import StepFinished
from answerable.core.ids import RunId, new_run_id
from answerable.core.values import Frozen, Json
from answerable.service.run_carrier import Subject
from answerable.service.runs import RunService
from answerable.sources.registry import SourceRegistry

if TYPE_CHECKING:
    from answerable.agents.directory import FoundAgent


class AgentProblem(Frozen):
    code: str
    message: str
    hint: str | None


class AgentView(Frozen):
    name: str
    role: str | None = Field(description="Null while its folder has a mistake.")
    description: str
    cases: int
    builtin: bool = Field(description="Whether it comes with Answerable.")
    problem: AgentProblem | None = Field(description="What keeps it from being used.")


class AgentDetail(AgentView):
    model: str | None = Field(description="Null for the models that are set for its role.")
    sampling: dict[str, float] = Field(description="Its temperature, top_p, penalties and seed, if set.")
    requests: int
    output_tokens: int
    seconds: float | None
    tools: list[str]
    inputs: dict[str, str] = Field(description="The variables of its prompt, each with what it is.")
    output: dict[str, Any] | None = Field(description="The JSON Schema of its reply; null if it replies with text.")
    instructions: str


class AgentReply(Frozen):
    run_id: str
    agent: str
    reply: Json = Field(description="An object that fits the agent's JSON Schema, or text.")
    usage: Usage


class AgentService:
    def __init__(self, agents: Agents, runs: RunService, registry: SourceRegistry, policy: RunPolicy) -> None:
        self._agents = agents
        self._runs = runs
        self._registry = registry
        self._policy = policy

    def list(self, principal: Principal) -> Sequence[AgentView]:
        """Every agent, with what is wrong with it if anything is. Those that come with Answerable are first."""
        return [_view(found) for found in self._agents.directory.all()]

    def show(self, name: str, principal: Principal) -> AgentDetail:
        """One agent: its model, limits, tools, inputs, the form of its reply, and its instructions."""
        found = self._agents.directory.found(name)
        agent = self._agents.directory.named(name)  # raises what is wrong with its folder
        return AgentDetail(
            **_view(found).model_dump(),
            model=agent.model,
            sampling=agent.sampling,
            requests=agent.requests,
            output_tokens=agent.output_tokens,
            seconds=agent.seconds,
            tools=list(agent.tools),
            inputs=dict(agent.variables),
            output=dict(agent.output) if agent.output is not None else None,
            instructions=agent.instructions,
        )

    async def run(
        self, name: str, inputs: Mapping[str, Json], principal: Principal, *, source: str | None = None
    ) -> AgentReply:
        """Asks an agent and waits for its reply. The run is recorded and counts against budgets like every other."""
        # What is wrong with the folder or the inputs is said before a run is recorded.
        self._agents.directory.named(name).written(dict.fromkeys(inputs, ""))
        known = self._registry.known_as(source, principal) if source is not None else None
        graph = self._policy.applied(agent_graph(AgentConfig(agent=name, inputs=dict(inputs), source=known), name))
        subject = Subject(f"agent {name}", (known,) if known is not None else (), "agent")
        run = await self._runs.carrier.start(graph, subject, RunContext(new_run_id(), principal))
        answer = await self._runs.wait(run, principal)
        if (error := answer.provenance.error) is not None:
            raise restored(error.kind, error.code, error.message, error.hint)
        return AgentReply(run_id=run, agent=name, reply=await self._reply(run, principal), usage=answer.usage)

    async def _reply(self, run: RunId, principal: Principal) -> Json:
        ends = [event for event in await self._runs.journal(run, principal) if isinstance(event, StepFinished)]
        return next(event.output["reply"] for event in ends if event.node == AGENT)


def _view(found: "FoundAgent") -> AgentView:
    from answerable.agents.cases import load_cases

    problem, cases = found.problem, 0
    try:
        cases = len(load_cases(found.folder))
    except AnswerableError as error:
        problem = problem or error
    return AgentView(
        name=found.name,
        role=found.agent.role if found.agent else None,
        description=found.agent.description if found.agent else "",
        cases=cases,
        builtin=found.builtin,
        problem=problem and AgentProblem(code=problem.stable_code, message=problem.message, hint=problem.hint),
    )

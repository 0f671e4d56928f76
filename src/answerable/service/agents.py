"""Agents: listed, looked at and run by name. Some are folders on the server; others are texts that people stored, in
versions."""

from collections.abc import Mapping, Sequence
from datetime import datetime
from difflib import unified_diff
from typing import TYPE_CHECKING, Any

from pydantic import Field

from answerable.agents.folder import AgentFolder
from answerable.agents.graphs import AGENT, agent_graph
from answerable.agents.model_descriptors import AgentConfig
from answerable.agents.run_policy import RunPolicy
from answerable.agents.runtime import Agents
from answerable.agents.written import NamedAgent, read_agent
from answerable.answers.answer import Usage
from answerable.core.context import Principal, RunContext
from answerable.core.errors import AgentError, AnswerableError, NotFoundError, UserError, restored
from answerable.core.events import StepFinished
from answerable.core.ids import RunId, new_run_id
from answerable.core.values import Frozen, Json
from answerable.core.yaml_text import did_you_mean
from answerable.service.run_carrier import Subject
from answerable.service.runs import RunService
from answerable.sources.registry import SourceRegistry
from answerable.store.base import Store
from answerable.store.protocols.versioned_texts import TextRecord, TextVersion

if TYPE_CHECKING:
    from answerable.agents.directory import FoundAgent


UNNAMED = "agent.yaml"
"""What a text is called in errors if it has no file."""
_WRITTEN_AS = {"variables": "inputs", "message": "prompt"}
"""What fields of an agent are called in its text."""


class AgentProblem(Frozen):
    code: str
    message: str
    hint: str | None


class StoredText(Frozen):
    """Which text of a stored agent it is."""

    owner: str
    tags: tuple[str, ...]
    version: int
    updated_at: datetime


class AgentView(Frozen):
    name: str
    role: str | None = Field(description="Null while its folder has a mistake.")
    description: str
    cases: int
    builtin: bool = Field(description="Whether it comes with Answerable.")
    problem: AgentProblem | None = Field(description="What keeps it from being used.")
    stored: StoredText | None = Field(default=None, description="Null for an agent that is a folder on the server.")


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
    text: str | None = Field(default=None, description="Of a stored agent, as it was saved to the byte.")


class AgentVersion(Frozen):
    version: int
    user: str
    at: datetime
    note: str


class AgentDifference(Frozen):
    changed: tuple[str, ...] = Field(description="The fields that say something else in the later version.")
    text: str = Field(description="Line by line, as a unified diff; empty if the texts are the same.")


class AgentReply(Frozen):
    run_id: str
    agent: str
    reply: Json = Field(description="An object that fits the agent's JSON Schema, or text.")
    usage: Usage


class AgentService:
    def __init__(
        self, store: Store, agents: Agents, runs: RunService, registry: SourceRegistry, policy: RunPolicy
    ) -> None:
        self._store = store
        self._agents = agents
        self._runs = runs
        self._registry = registry
        self._policy = policy

    async def list(self, principal: Principal, *, tag: str | None = None) -> Sequence[AgentView]:
        """Every agent, with what is wrong with it if anything is: those that come with Answerable, folders of the
        server, then stored ones. `tag`: only stored agents with this tag."""
        folders = [] if tag is not None else [_view(found) for found in self._agents.directory.all()]
        return [
            *folders,
            *[await self._stored_view(each) for each in await self._store.agents.list(principal, tag=tag)],
        ]

    async def show(self, name: str, principal: Principal, *, version: int | None = None) -> AgentDetail:
        """One agent: its model, limits, tools, inputs, the form of its reply, and its instructions."""
        if self._is_folder(name):
            _without_versions(name, version)
            agent = self._agents.directory.named(name)  # raises what is wrong with its folder
            return _detail(_view(self._agents.directory.found(name)), agent, None)
        record = await self._stored_record(name, principal)
        found = await self._store.agents.version(principal, name, version)
        return _detail(await self._stored_view(record), read_agent(found.text, _origin(found)), found.text)

    async def find(self, name: str, principal: Principal, *, version: int | None = None) -> NamedAgent:
        """The agent of a name, for a graph that is about to run. A stored one is given with its version, so that the
        run keeps it."""
        if self._is_folder(name):
            _without_versions(name, version)
            return NamedAgent(self._agents.directory.named(name), None)
        await self._stored_record(name, principal)
        found = await self._store.agents.version(principal, name, version)
        return NamedAgent(read_agent(found.text, _origin(found)), found.version)

    # Stored agents

    async def save(
        self,
        text: str,
        principal: Principal,
        *,
        note: str = "",
        tags: Sequence[str] | None = None,
        expected: int | None = None,
        origin: str = UNNAMED,
        name: str | None = None,
    ) -> AgentDetail:
        """Stores an agent under its name, as a new version if its text is new. An agent with a mistake is not stored.
        `expected`: the version that the caller knows (0: none); if another one counts by now, nothing is stored.
        `name`: the name that the caller expects the agent to have."""
        agent = read_agent(text, origin)
        if name not in (None, agent.name):
            raise UserError(
                f"The agent calls itself {agent.name!r}, not {name!r}.",
                code="agent_name_differs",
                hint="Change the `name` in its text, or save it under its own name.",
            )
        if self._is_folder(agent.name):
            raise UserError(
                f"The agent {agent.name!r} is a folder on the server.",
                code="agent_name_taken",
                hint="Give the stored agent another name.",
            )
        await self._store.agents.save(principal, agent.name, text, note=note, tags=tags, expected=expected)
        return await self.show(agent.name, principal)

    async def versions(self, name: str, principal: Principal) -> Sequence[AgentVersion]:
        """Who saved which version of a stored agent, newest first."""
        await self._stored_record(name, principal)
        return [
            AgentVersion(version=each.version, user=each.principal.user, at=each.made_at, note=each.note)
            for each in await self._store.agents.versions(principal, name)
        ]

    async def diff(
        self, name: str, principal: Principal, *, before: int | None = None, after: int | None = None
    ) -> AgentDifference:
        """What is different in the later version. Without `after` the one that counts; without `before` the one before
        it."""
        await self._stored_record(name, principal)
        late = await self._store.agents.version(principal, name, after)
        early = await self._store.agents.version(
            principal, name, max(1, late.version - 1) if before is None else before
        )
        agents = [read_agent(each.text, _origin(each)) for each in (early, late)]
        fields = (field for field in AgentFolder.model_fields if getattr(agents[0], field) != getattr(agents[1], field))
        old, new = (each.text.splitlines(keepends=True) for each in (early, late))
        return AgentDifference(
            changed=tuple(_WRITTEN_AS.get(field, field) for field in fields),
            text="".join(unified_diff(old, new, _origin(early), _origin(late))),
        )

    async def rollback(self, name: str, version: int, principal: Principal) -> AgentDetail:
        """Makes the text of an earlier version count again, as a new version."""
        current = await self._stored_record(name, principal)
        earlier = await self._store.agents.version(principal, name, version)
        note = f"Back to version {version}"
        return await self.save(earlier.text, principal, note=note, expected=current.version, origin=name)

    async def delete(self, name: str, principal: Principal) -> None:
        """Removes a stored agent with all its versions. Runs that have begun with it keep it."""
        await self._stored_record(name, principal)
        await self._store.agents.delete(principal, name)

    async def _stored_record(self, name: str, principal: Principal) -> TextRecord:
        try:
            return await self._store.agents.get(principal, name)
        except NotFoundError:
            if self._is_folder(name):
                _without_versions(name, 1)
            stored = [each.name for each in await self._store.agents.list(principal)]
            names = sorted({*(each.name for each in self._agents.directory.all()), *stored})
            hint = did_you_mean(name, names) or f"Agents are: {', '.join(names)}."
            raise NotFoundError(f"There is no agent {name!r}.", code="agent_unknown", hint=hint) from None

    async def _stored_view(self, record: TextRecord) -> AgentView:
        agent, problem = None, None
        try:
            found = await self._store.agents.version(record.owner, record.name, record.version)
            agent = read_agent(found.text, _origin(found))
        except AgentError as error:  # an earlier version of Answerable may have read it otherwise
            problem = AgentProblem(code=error.stable_code, message=error.message, hint=error.hint)
        return AgentView(
            name=record.name,
            role=agent.role if agent else None,
            description=agent.description if agent else "",
            cases=0,
            builtin=False,
            problem=problem,
            stored=StoredText(
                owner=record.owner.user, tags=record.tags, version=record.version, updated_at=record.updated_at
            ),
        )

    def _is_folder(self, name: str) -> bool:
        return any(each.name == name for each in self._agents.directory.all())

    # Runs

    async def run(
        self, name: str, inputs: Mapping[str, Json], principal: Principal, *, source: str | None = None
    ) -> AgentReply:
        """Asks an agent and waits for its reply. The run is recorded and counts against budgets like every other."""
        # What is wrong with the agent or the inputs is said before a run is recorded.
        agent = await self.find(name, principal)
        agent.folder.written(dict.fromkeys(inputs, ""))
        known = self._registry.known_as(source, principal) if source is not None else None
        graph = self._policy.applied(agent_graph(AgentConfig(**agent.config, inputs=dict(inputs), source=known), name))
        subject = Subject(f"agent {name}", (known,) if known is not None else (), "agent")
        run = await self._runs.carrier.start(graph, subject, RunContext(new_run_id(), principal))
        answer = await self._runs.wait(run, principal)
        if (error := answer.provenance.error) is not None:
            raise restored(error.kind, error.code, error.message, error.hint)
        return AgentReply(run_id=run, agent=name, reply=await self._reply(run, principal), usage=answer.usage)

    async def _reply(self, run: RunId, principal: Principal) -> Json:
        ends = [event for event in await self._runs.journal(run, principal) if isinstance(event, StepFinished)]
        return next(event.output["reply"] for event in ends if event.node == AGENT)


def _without_versions(name: str, version: int | None) -> None:
    if version is not None:
        raise NotFoundError(
            f"The agent {name!r} is a folder on the server, which has no versions.", code="agent_version_not_found"
        )


def _origin(stored: TextVersion) -> str:
    return f"{stored.name}@{stored.version}"


def _detail(view: AgentView, agent: AgentFolder, text: str | None) -> AgentDetail:
    return AgentDetail(
        **view.model_dump(),
        model=agent.model,
        sampling=agent.sampling,
        requests=agent.requests,
        output_tokens=agent.output_tokens,
        seconds=agent.seconds,
        tools=list(agent.tools),
        inputs=dict(agent.variables),
        output=dict(agent.output) if agent.output is not None else None,
        instructions=agent.instructions,
        text=text,
    )


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

"""Kind `agent`: asks a named agent, and hands its reply on."""

from collections.abc import Callable, Mapping
from typing import Any

from answerable.agents.dependencies import AgentDependencies
from answerable.agents.folder import AgentFolder
from answerable.agents.model_descriptors import AgentConfig
from answerable.core.errors import UserError
from answerable.core.values import Json
from answerable.engine.steps.base import Step
from answerable.engine.steps.understand import Question


class AgentStep:
    """Returns `{"reply": …}`: an object that fits the agent's JSON Schema, or text if it has none."""

    def __init__(self, dependencies: AgentDependencies) -> None:
        self._dependencies = dependencies

    async def run(self, step: Step) -> Json:
        config = step.config_as(AgentConfig)
        agent = config.agent if config.written is None else AgentFolder.model_validate(config.written)
        return {"reply": await run_agent(agent, config.inputs, self._dependencies, step, source=config.source)}


async def run_agent(
    agent: str | AgentFolder,
    inputs: Mapping[str, Json],
    dependencies: AgentDependencies,
    step: Step,
    *,
    source: str | None = None,
) -> Json:
    """Runs an agent, by its name or as it is written, inside a step: its calls count against the budgets of the step's
    run, and are reported as the step's output. `source` is what its tools read; an agent without tools needs none."""
    folder = dependencies.agents.directory.named(agent) if isinstance(agent, str) else agent
    tools = await _tools(folder.tools, inputs, dependencies, step, source) if folder.tools else []
    return await dependencies.agents.run(folder, inputs, step.context, step.output, tools=tools)


async def _tools(
    wanted: tuple[str, ...], inputs: Mapping[str, Json], dependencies: AgentDependencies, step: Step, source: str | None
) -> list[Callable[..., Any]]:
    from answerable.agents.question_context import schema_links_by_source
    from answerable.agents.react_step import Exploration
    from answerable.agents.schema_text import schema_texts

    if source is None:
        raise UserError(
            "The tools of this agent read a source, and none was named.",
            code="agent_source_missing",
            hint="Name a source to run it with.",
        )
    # The inputs stand for the question: they choose which tables of a large source are described.
    question = Question(text=" ".join(str(value) for value in inputs.values()), source=source)
    found = await schema_links_by_source(question, dependencies, step.context.principal)
    exploration = Exploration(step, question, dependencies)
    keeping = exploration.keeping_tools(schema_texts(found, share_rows=dependencies.share_rows))
    return [tool for tool in (*exploration.tools(), *keeping) if tool.__name__ in wanted]

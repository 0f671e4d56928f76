"""Kind `write_api`: a model writes a program that calls an API, with ids from the rows of earlier steps or without.

The program runs in the sandbox. It reaches the API only through `api_get`, whose calls the host makes: it adds the
credential, and keeps to paths, rates and budgets. A program that fails is sent back to the model with the exact reason.
"""

from collections.abc import Mapping

from answerable.agents.dependencies import AgentDependencies
from answerable.agents.model_descriptors import WriteConfig
from answerable.agents.replies import WrittenApi
from answerable.agents.write_steps import frame_texts, produced_by
from answerable.core.clock import today
from answerable.core.errors import UserError
from answerable.core.ids import NodeId
from answerable.engine.steps.base import Step
from answerable.engine.steps.produced import Produced, missing_before
from answerable.engine.steps.python import PythonConfig


async def write_api(
    config: WriteConfig, earlier: Mapping[NodeId, Produced], step: Step, dependencies: AgentDependencies
) -> Produced:
    """The rows of a program that a model writes for one API."""
    api = config.api
    if api is None:
        raise UserError(f"Step `{step.id}` names no API.", code="api_unknown", hint="Give it `api`.")

    async def prompt_context() -> dict[str, str]:
        principal = step.context.principal
        task = f"{config.question} {config.task}"
        return {
            "today": (config.today or today(dependencies.clock)).isoformat(),
            "libraries": dependencies.python.libraries(),
            "endpoints": await dependencies.apis.endpoints_text(api, config.entity, config.operation, task, principal),
            "frames": "\n".join(frame_texts(earlier, dependencies)),
            "failures": "None instead of data" if config.partial else "an error, which ends the program",
        }

    async def run(reply: WrittenApi) -> Produced | None:
        if not reply.code.strip():
            return None
        program = PythonConfig(code=reply.code, api=api, partial=config.partial)
        await dependencies.python.check(program, earlier)
        missing = missing_before(step.inputs)
        return await dependencies.python.produce(
            program, earlier, step.context.principal, step.output, missing, before_write=step.journal.still_ours
        )

    draft = WrittenApi(code=config.draft or "")
    tools = await dependencies.apis.tools(api, step.context.principal) if dependencies.agents.available else ()
    return await produced_by("write_api", draft, config, earlier, step, dependencies, run, prompt_context, tools)

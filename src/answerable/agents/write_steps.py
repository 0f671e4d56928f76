"""Kinds `write_sql` and `write_python`: a model writes the program of a step. The program is checked and run.

A query is parsed, compared with the allow-list and the catalog, and checked by the source before it runs. The types of
a Python program are checked, and it must follow the sandbox's policy. A program that fails is sent back to the model
with the exact reason, at most twice. Then the step fails with that reason.
"""

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import replace
from datetime import date
from typing import TypeVar

from answerable.agents.data_text import as_data, optional_data
from answerable.agents.dependencies import AgentDependencies
from answerable.agents.model_descriptors import WriteConfig
from answerable.agents.prompt_context import frame_text, schema_links, tables_text, values_text
from answerable.agents.replies import WrittenPython, WrittenSql
from answerable.agents.runtime import Agents, Mistake
from answerable.core.clock import today
from answerable.core.errors import AnswerableError, RefusedError, UserError
from answerable.core.ids import NodeId
from answerable.core.values import Json
from answerable.engine.steps.base import Step
from answerable.engine.steps.produced import Produced, missing_before, produced_before
from answerable.engine.steps.python import PythonConfig
from answerable.engine.steps.sql import SqlConfig
from answerable.sources.base import Source

W = TypeVar("W", WrittenSql, WrittenPython)


class WriteSqlStep:
    def __init__(self, dependencies: AgentDependencies) -> None:
        self._dependencies = dependencies

    async def run(self, step: Step) -> Json:
        config = step.config_as(WriteConfig)
        source = await self._dependencies.sources.get(config.source, step.context.principal)
        written = await self._written(step, config, source)
        if not written.sql.strip():
            raise _cannot(written.cannot)
        produced = await self._dependencies.sql.query(
            SqlConfig(source=config.source, sql=written.sql),
            step.context.principal,
            lambda code: step.output("code", code),
        )
        return produced.model_dump(mode="json")

    async def _written(self, step: Step, config: WriteConfig, source: Source) -> WrittenSql:
        dependencies = self._dependencies
        reader = await dependencies.readers.reader(source, step.context.principal)
        personal = dependencies.share_personal
        found = schema_links(reader, f"{config.question} {config.task}", share_personal=personal)
        # Values only for words of the user: words of the task, which a model wrote, match values by chance.
        links = schema_links(reader, config.question, share_personal=personal)
        prompt_context = {
            **task_context(config, dependencies.readers.today(config.today, reader.catalog)),
            "dialect": source.languages[0],
            "tables": tables_text(found, share_rows=dependencies.share_rows),
            "values": values_text(replace(links, unknown=()), share_rows=dependencies.share_rows),
        }

        async def check(reply: WrittenSql) -> None:
            if reply.sql.strip():
                await checked_sql(reply.sql, source)

        return await dependencies.agents.ask(
            "write_sql", prompt_context, WrittenSql, step.context, step.output, check=check
        )


async def checked_sql(sql: str, source: Source) -> None:
    """Raises `Mistake` with the exact reason for a query that would not run."""
    from answerable.query.sql.check import checked

    try:
        await source.check(checked(sql, await source.describe()))
    except (UserError, RefusedError) as error:
        raise Mistake(error_text(error)) from error


class WritePythonStep:
    def __init__(self, dependencies: AgentDependencies) -> None:
        self._dependencies = dependencies

    async def run(self, step: Step) -> Json:
        config = step.config_as(WriteConfig)
        dependencies, earlier = self._dependencies, produced_before(step.inputs)
        prompt_context = {
            **task_context(config, config.today or today(dependencies.clock)),
            "frames": "\n".join(frame_texts(earlier, dependencies)),
        }

        async def run(reply: WrittenPython) -> Produced | None:
            # Many mistakes show only when the program runs. Running it is safe, because it has no effect outside.
            if not reply.code.strip():
                return None
            config = PythonConfig(code=reply.code)
            await dependencies.python.check(config, earlier)
            missing = missing_before(step.inputs)
            return await dependencies.python.produce(config, earlier, step.context.principal, step.output, missing)

        return await produced_by(dependencies.agents, "write_python", prompt_context, WrittenPython, step, run)


def task_context(config: WriteConfig, day: date) -> dict[str, str]:
    """The part of the prompt context that all writing agents share: what is asked, and on which day."""
    return {
        "question": as_data(config.question),
        "task": optional_data(config.task),
        "today": day.isoformat(),
    }


def frame_texts(earlier: Mapping[NodeId, Produced], dependencies: AgentDependencies) -> list[str]:
    """How the rows of earlier steps are described to a model."""
    rows, personal = dependencies.share_rows, dependencies.share_personal
    return [frame_text(name, each.frame, share_rows=rows, share_personal=personal) for name, each in earlier.items()]


async def produced_by(
    agents: Agents,
    agent: str,
    prompt_context: Mapping[str, str],
    reply: type[W],
    step: Step,
    run: Callable[[W], Awaitable[Produced | None]],
) -> Json:
    """Asks an agent for a program and runs it as the check of the reply. A program that fails is sent back to the
    model. Returns the rows of the last program that ran, so that it need not run again."""
    produced: list[Produced] = []

    async def check(written: W) -> None:
        try:
            rows = await run(written)
        except (UserError, RefusedError) as error:
            raise Mistake(error_text(error)) from error
        if rows is not None:
            produced.append(rows)

    written = await agents.ask(agent, prompt_context, reply, step.context, step.output, check=check)
    # An empty program passes the check: it is how a model says that the rows do not hold what is asked.
    if not produced:
        raise _cannot(written.cannot)
    return produced[-1].model_dump(mode="json")


def error_text(error: AnswerableError) -> str:
    return f"{error.message} {error.hint}" if error.hint else error.message


def _cannot(reason: str | None) -> UserError:
    return UserError(
        reason or "The model could not write a program for this step.",
        code="cannot_tell",
        hint="Ask for something that this data holds.",
    )

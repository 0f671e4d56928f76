"""Kinds `write_sql` and `write_python`: a model writes the program of a step, the checks judge it, the engine runs it.

A query goes through parsing, the allow-list, the catalog and a dry run at the source before it runs; a program through
the policy. What fails is handed back with the exact reason, at most twice; then the step fails with that reason.
"""

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import replace
from datetime import date
from typing import Protocol, TypeVar

from answerable.agents.context import frame_text, tables_text, touched, values_text
from answerable.agents.execution_plan import WriteConfig
from answerable.agents.replies import WrittenPython, WrittenSql
from answerable.agents.runtime import Agents, Mistake
from answerable.core.clock import Clock, today
from answerable.core.errors import AnswerableError, RefusedError, UserError
from answerable.core.values import Json
from answerable.engine.steps.base import Step
from answerable.engine.steps.produced import Produced
from answerable.engine.steps.python import PythonConfig, PythonStep
from answerable.engine.steps.sql import Sources, SqlConfig, SqlStep
from answerable.reader.reader import Reader
from answerable.sources.base import Source

W = TypeVar("W", WrittenSql, WrittenPython)


class Readers(Protocol):
    """Knows the reader of each source: its linker chooses what a model is told."""

    async def reader(self, source: Source) -> Reader: ...


class WriteSqlStep:
    def __init__(self, agents: Agents, sources: Sources, readers: Readers, sql: SqlStep, *, share_rows: bool) -> None:
        self._agents = agents
        self._sources = sources
        self._readers = readers
        self._sql = sql
        self._share_rows = share_rows

    async def run(self, step: Step) -> Json:
        config = step.config_as(WriteConfig)
        source = await self._sources.get(config.source)
        written = await self._written(step, config, source)
        if not written.sql.strip():
            raise _cannot(written.cannot)
        produced = await self._sql.query(
            SqlConfig(source=config.source, sql=written.sql), step.context.scope, lambda code: step.output("code", code)
        )
        return produced.model_dump(mode="json")

    async def _written(self, step: Step, config: WriteConfig, source: Source) -> WrittenSql:
        reader = await self._readers.reader(source)
        found = touched(reader, f"{config.question} {config.task}")
        given = {
            "question": config.question,
            "task": config.task,
            "dialect": source.dialect,
            "today": (config.today or reader.today()).isoformat(),
            "tables": tables_text(found, share_rows=self._share_rows),
            "values": values_text(replace(found, unknown=()), share_rows=self._share_rows),
        }

        async def check(reply: WrittenSql) -> None:
            if reply.sql.strip():
                await checked_sql(reply.sql, source)

        return await self._agents.ask("write_sql", given, WrittenSql, step.context, step.output, check=check)


async def checked_sql(sql: str, source: Source) -> None:
    """Raises `Mistake` with the exact reason for a query that would not run."""
    from answerable.query.check_sql import checked

    try:
        await source.check(checked(sql, await source.describe()).text)
    except (UserError, RefusedError) as error:
        raise Mistake(told(error)) from error


class WritePythonStep:
    def __init__(self, agents: Agents, python: PythonStep, clock: Clock, *, share_rows: bool) -> None:
        self._agents = agents
        self._python = python
        self._clock = clock
        self._share_rows = share_rows

    async def run(self, step: Step) -> Json:
        config = step.config_as(WriteConfig)
        earlier = {name: Produced.model_validate(output) for name, output in step.inputs.items() if output}
        frames = [frame_text(name, each.frame, share_rows=self._share_rows) for name, each in earlier.items()]
        given = {
            "question": config.question,
            "task": config.task,
            "today": self._day(config.today),
            "frames": "\n".join(frames),
        }

        async def run(reply: WrittenPython) -> Produced | None:
            """What a program does wrong shows only when it runs, and nothing outside can come of it."""
            if not reply.code.strip():
                return None
            config = PythonConfig(code=reply.code)
            return await self._python.produce(config, earlier, step.context.scope, step.output)

        return await produced_by(self._agents, "write_python", given, WrittenPython, step, run)

    def _day(self, day: date | None) -> str:
        return (day or today(self._clock)).isoformat()


async def produced_by(
    agents: Agents,
    agent: str,
    given: Mapping[str, str],
    reply: type[W],
    step: Step,
    run: Callable[[W], Awaitable[Produced | None]],
) -> Json:
    """Runs what an agent writes to see whether it is right; what fails is handed back, the last that ran counts."""
    produced: list[Produced] = []

    async def check(written: W) -> None:
        try:
            made = await run(written)
        except (UserError, RefusedError) as error:
            raise Mistake(told(error)) from error
        if made is not None:
            produced.append(made)

    written = await agents.ask(agent, given, reply, step.context, step.output, check=check)
    if not produced:
        raise _cannot(written.cannot)
    return produced[-1].model_dump(mode="json")


def told(error: AnswerableError) -> str:
    return f"{error.message} {error.hint}" if error.hint else error.message


def _cannot(reason: str | None) -> UserError:
    return UserError(
        reason or "The model could not write a program for this step.",
        code="cannot_tell",
        hint="Ask for something that this data holds.",
    )

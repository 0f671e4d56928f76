"""Kinds `write_sql` and `write_python`: a model writes the program of a step. The program is checked and run. What all
kinds that write share is here too.

If the program was drafted already, with the plan, the model is asked only if the draft fails. A query is parsed,
compared with the allow-list and the catalog, and checked by the source before it runs. The types of a Python program
are checked, and it must follow the sandbox's policy. A program that fails is sent back to the model with the exact
reason, at most twice. Then the step fails with that reason.
"""

from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any, TypeVar

from answerable.agents.data_text import as_data, optional_data
from answerable.agents.dependencies import AgentDependencies
from answerable.agents.looks import Looks, reason_of
from answerable.agents.model_descriptors import WriteConfig
from answerable.agents.query_text import check_query
from answerable.agents.replies import WrittenApi, WrittenCypher, WrittenPython, WrittenSql
from answerable.agents.rows_text import frame_text
from answerable.agents.runtime import Mistake
from answerable.agents.schema_links import schema_links
from answerable.agents.schema_text import tables_text, values_text
from answerable.core.clock import today
from answerable.core.errors import RefusedError, UserError
from answerable.core.ids import NodeId
from answerable.core.values import Json
from answerable.engine.steps.base import Step
from answerable.engine.steps.produced import Produced, missing_before, produced_before
from answerable.engine.steps.python import PythonConfig
from answerable.engine.steps.sql import SqlConfig
from answerable.engine.steps.understand import Question
from answerable.sources.base import Source

W = TypeVar("W", WrittenSql, WrittenCypher, WrittenPython, WrittenApi)


Writer = Callable[[WriteConfig, Mapping[NodeId, Produced], Step, AgentDependencies], Awaitable[Produced]]
"""Has a model write code for a node, and returns the rows that the code gives."""


class WriterStep:
    def __init__(self, write: Writer, dependencies: AgentDependencies) -> None:
        self._write = write
        self._dependencies = dependencies

    async def run(self, step: Step) -> Json:
        earlier = produced_before(step.inputs)
        produced = await self._write(step.config_as(WriteConfig), earlier, step, self._dependencies)
        return produced.model_dump(mode="json")


async def write_sql(
    config: WriteConfig, earlier: Mapping[NodeId, Produced], step: Step, dependencies: AgentDependencies
) -> Produced:
    """The rows of a query that a model writes for one source. Of earlier rows it uses ids at most."""
    source = await dependencies.sources.get(config.source, step.context.principal)

    async def prompt_context() -> dict[str, str]:
        schema = await schema_context(source, config, step, dependencies)
        return {"dialect": source.languages[0], "frames": "\n".join(frame_texts(earlier, dependencies)), **schema}

    async def run(reply: WrittenSql) -> Produced | None:
        if not reply.sql.strip():
            return None
        written = SqlConfig(source=config.source, sql=reply.sql)
        query = await dependencies.sql.with_ids(written, earlier, step.context.principal)
        assert query.sql is not None
        await check_query(query.sql, source)
        return await dependencies.sql.query(
            query,
            step.context.principal,
            lambda code: step.output("code", code),
            step.reporter(),
        )

    draft = WrittenSql(sql=config.draft or "")
    return await produced_by("write_sql", draft, config, earlier, step, dependencies, run, prompt_context)


async def schema_context(
    source: Source, config: WriteConfig, step: Step, dependencies: AgentDependencies
) -> dict[str, str]:
    """The tables that the task touches, the values that the question names, and the day: for a writer of queries."""
    reader = await dependencies.readers.reader(source, step.context.principal)
    personal, rows = dependencies.share_personal, dependencies.share_rows
    # Values only for words of the user: words of the task, which a model wrote, match values by chance.
    links = schema_links(reader, config.question, share_personal=personal)
    about = " ".join(filter(None, (config.question, config.entity, config.task)))
    found = schema_links(reader, about, share_personal=personal)
    return {
        "today": dependencies.readers.today(config.today, reader.catalog).isoformat(),
        "tables": tables_text(found, share_rows=rows),
        "values": values_text(replace(links, unknown=()), share_rows=rows),
    }


async def write_python(
    config: WriteConfig, earlier: Mapping[NodeId, Produced], step: Step, dependencies: AgentDependencies
) -> Produced:
    """The rows of a program that a model writes over the rows of earlier steps."""

    async def prompt_context() -> dict[str, str]:
        day = config.today or today(dependencies.clock)
        return {
            "today": day.isoformat(),
            "libraries": dependencies.python.libraries(),
            "frames": "\n".join(frame_texts(earlier, dependencies)),
        }

    async def run(reply: WrittenPython) -> Produced | None:
        # Many mistakes show only when the program runs. Running it is safe, because it has no effect outside.
        if not reply.code.strip():
            return None
        program = PythonConfig(code=reply.code)
        await dependencies.python.check(program, earlier)
        missing = missing_before(step.inputs)
        return await dependencies.python.produce(
            program, earlier, step.context.principal, step.output, missing, before_write=step.journal.still_ours
        )

    draft = WrittenPython(code=config.draft or "")
    return await produced_by("write_python", draft, config, earlier, step, dependencies, run, prompt_context)


def frame_texts(earlier: Mapping[NodeId, Produced], dependencies: AgentDependencies) -> list[str]:
    """How the rows of earlier steps are described to a model."""
    rows, personal = dependencies.share_rows, dependencies.share_personal
    return [frame_text(name, each.frame, share_rows=rows, share_personal=personal) for name, each in earlier.items()]


async def produced_by(
    agent: str,
    draft: W,
    config: WriteConfig,
    earlier: Mapping[NodeId, Produced],
    step: Step,
    dependencies: AgentDependencies,
    run: Callable[[W], Awaitable[Produced | None]],
    prompt_context: Callable[[], Awaitable[Mapping[str, str]]],
    tools: Sequence[Callable[..., Any]] = (),
) -> Produced:
    """Runs the draft of a program. If there is none or it fails, asks an agent for a program, and runs it as the check
    of the reply: one that fails is sent back to the model. Returns the rows of the last program that ran."""
    evidence = config.evidence
    try:
        if (rows := await run(draft)) is not None:
            return rows
    except (UserError, RefusedError) as error:
        if not dependencies.agents.available:
            raise
        evidence = f"An earlier program: {config.draft}\nIt failed: {reason_of(error)}"
    produced: list[Produced] = []

    async def check(written: W) -> None:
        try:
            rows = await run(written)
        except (UserError, RefusedError) as error:
            raise Mistake(reason_of(error)) from error
        if rows is not None:
            produced.append(rows)

    variables = {
        **await prompt_context(),
        "question": as_data(config.question),
        "task": optional_data(config.task),
        "evidence": optional_data(evidence),
    }
    frames = {str(name): each.frame for name, each in earlier.items()}
    question = Question(text=config.question, source=config.source)
    looks: Looks = Looks(question, dependencies, step.context, step.output, earlier=frames)
    all_tools = [*looks.tools(), *tools]
    written = await dependencies.agents.ask(
        agent, variables, type(draft), step.context, step.output, tools=all_tools, check=check
    )
    # An empty program passes the check: it is how a model says that the rows do not hold what is asked.
    if not produced:
        raise _cannot(written.cannot)
    return produced[-1]


def _cannot(reason: str | None) -> UserError:
    return UserError(
        reason or "The model could not write a program for this step.",
        code="cannot_tell",
        hint="Ask for something that this data holds.",
    )

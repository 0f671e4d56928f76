"""Kind `tool`: calls a tool that agents have, without a model. Tools only read."""

from collections.abc import Iterable, Iterator

from pydantic import ValidationError

from answerable.agents.dependencies import AgentDependencies
from answerable.agents.looks import Looks, values_plan
from answerable.agents.question_context import schema_links_by_source
from answerable.agents.schema_text import schema_texts
from answerable.agents.tool_arguments import (
    ARGUMENTS,
    ColumnValues,
    ExecuteQueryPlan,
    SearchSchema,
    ToolConfig,
)
from answerable.core.catalog import Table
from answerable.core.errors import UserError
from answerable.core.validation import first_problem
from answerable.core.values import Frozen, Json
from answerable.engine.steps.base import Step
from answerable.engine.steps.understand import Question


class ToolStep:
    """Returns rows for the tools that give rows, else `{"result": …}`."""

    def __init__(self, dependencies: AgentDependencies) -> None:
        self._dependencies = dependencies

    async def run(self, step: Step) -> Json:
        config = step.config_as(ToolConfig)
        self._dependencies.sources.require_tool(config.tool, step.context.principal)
        arguments = _arguments(step, config)
        question = Question(text="", source=config.source)
        looks = Looks(question, self._dependencies, step.context, step.output)
        match arguments:
            case SearchSchema():
                return {"result": await looks.search(arguments.words)}
            case ColumnValues():
                plan = values_plan(arguments.table, arguments.column, arguments.contains)
                return (await looks.query_plan(plan)).model_dump(mode="json")
            case ExecuteQueryPlan():
                return (await looks.query_plan(arguments.plan)).model_dump(mode="json")
        if config.tool in ("list_datasets", "column_statistics"):
            source = await self._dependencies.sources.get(config.source, step.context.principal)
            tables = (await source.describe()).tables
            names = [table.name for table in tables]
            return {"result": names if config.tool == "list_datasets" else list(_statistics(tables))}
        found = await schema_links_by_source(question, self._dependencies, step.context.principal)
        return {"result": "\n".join(schema_texts(found, share_rows=self._dependencies.share_rows).values())}


def _statistics(tables: Iterable[Table]) -> Iterator[Json]:
    """What the catalog knows of each column, as the person who asks may see it. Null: it is not known."""
    for table in tables:
        for column in table.columns:
            yield {
                "table": table.name,
                "column": column.name,
                "type": column.type,
                "rows": table.row_count,
                "nulls": column.null_count,
                "distinct": column.distinct_count,
                "unique": column.unique,
                "minimum": column.minimum,
                "maximum": column.maximum,
            }


def _arguments(step: Step, config: ToolConfig) -> Frozen:
    try:
        return ARGUMENTS[config.tool].model_validate(config.arguments)
    except ValidationError as error:
        problem = first_problem(error)
        place = ".".join(map(str, problem.place))
        raise UserError(
            f"Step `{step.id}`: the arguments do not fit `{config.tool}`: {f'`{place}`: ' if place else ''}"
            f"{problem.message}.",
            code="tool_arguments_invalid",
        ) from error

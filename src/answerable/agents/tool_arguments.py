"""The tools that a graph can call without a model, and the arguments of each."""

from collections.abc import Mapping
from typing import Literal

from pydantic import Field

from answerable.core.values import Frozen, Json
from answerable.query.plan import QueryPlan

ToolName = Literal[
    "search_schema",
    "column_values",
    "column_statistics",
    "execute_query_plan",
    "list_datasets",
    "get_dataset_schema",
]
GIVES_ROWS: tuple[ToolName, ...] = ("column_values", "execute_query_plan")


class SearchSchema(Frozen):
    words: str = Field(min_length=1)


class ColumnValues(Frozen):
    table: str
    column: str
    contains: str = ""


class ExecuteQueryPlan(Frozen):
    plan: QueryPlan


class NoArguments(Frozen):
    pass


ARGUMENTS: Mapping[ToolName, type[Frozen]] = {
    "search_schema": SearchSchema,
    "column_values": ColumnValues,
    "execute_query_plan": ExecuteQueryPlan,
    "column_statistics": NoArguments,
    "list_datasets": NoArguments,
    "get_dataset_schema": NoArguments,
}


class ToolConfig(Frozen):
    """Config of the step kind `tool`."""

    tool: ToolName
    source: str
    arguments: Mapping[str, Json] = {}

"""The types of the builtin agents' replies. A model fills them in; each reply is checked before it is used.

Class docstrings and field descriptions here are part of the schema that is sent to the model: they are prompt text.
"""

from typing import TYPE_CHECKING, Any, Literal

from pydantic import BaseModel, ConfigDict, Field

from answerable.agents.execution_plan import MOST_STEPS, Tool
from answerable.answers.chart_request import Form
from answerable.answers.format import Sort
from answerable.answers.requested_format import RequestedFormat

if TYPE_CHECKING:
    from pydantic import GetJsonSchemaHandler


class Reply(BaseModel):
    """Unknown fields are ignored: a model that says more than it was asked is not wrong."""

    model_config = ConfigDict(extra="ignore", frozen=True, defer_build=True)

    @classmethod
    def __get_pydantic_json_schema__(cls, core: Any, handler: "GetJsonSchemaHandler") -> dict[str, Any]:
        """The schema that a model is sent with every request: without defaults, since what is not required may be left
        out, and without saying of each optional field that it may be null."""
        schema = handler(core)
        for field in handler.resolve_ref_schema(schema).get("properties", {}).values():
            field.pop("default", None)
            kinds = [kind for kind in field.pop("anyOf", ()) if kind != {"type": "null"}]
            field.update(kinds[0] if kinds else {})
        return schema


class Preplanned(Reply):
    asked: str = Field(description="What is asked, as one plain sentence.")
    difficulty: Literal["easy", "steps", "explore"] = "easy"
    missing: str | None = Field(None, description="What these sources lack, only if they cannot answer it.")
    readings: list[str] = Field([], max_length=5, description="Questions to choose from, only if it is ambiguous.")
    hint: str = Field("", description="What the planner should not miss.")


# What the prompt of the planner explains is not described again in the schema.
class QueryStep(Reply):
    id: str = Field(description="A short name, such as orders_by_month.")
    tool: Literal["sql", "combine", "python"]
    source: str | None = Field(None, description="The source, where there are several.")
    context: str = ""
    code: str = ""
    after: list[str] = []
    critical: bool = Field(True, description="False if the answer is worth having without it.")


class PlannedStep(QueryStep):
    tool: Tool  # type: ignore[assignment]
    source: str | None = Field(None, description="The source or API, where there are several.")
    entity: str = Field("", description="What its rows are about, such as users.")
    operation: str = Field("", description="list, get, search, count or what else is done with it.")
    partial: bool = Field(False, description="True if an api step is worth having without the calls that fail.")


class PlannedQueries(Reply):
    steps: list[QueryStep] = Field([], max_length=MOST_STEPS)
    reasoning: str = ""
    cannot: str | None = None
    ask: list[str] = Field([], max_length=5)
    explore: bool = False


class Planned(PlannedQueries):
    steps: list[PlannedStep] = Field([], max_length=MOST_STEPS)  # type: ignore[assignment]


class WrittenSql(Reply):
    sql: str = ""
    reasoning: str = ""
    cannot: str | None = Field(None, description="What is missing, if these tables cannot give it.")


class WrittenCypher(Reply):
    cypher: str = ""
    explanation: str = Field("", description="One sentence on how it does the task.")
    expected_columns: list[str] = Field([], description="The columns of its rows, in order.")
    requires_union: bool = Field(False, description="True if rows are reached in several ways that are united.")
    complexity: Literal["simple", "moderate", "complex"] = "simple"
    cannot: str | None = Field(None, description="What is missing, if this graph cannot give it.")


class WrittenApi(Reply):
    code: str = ""
    explanation: str = Field("", description="One sentence on how it does the task.")
    calls: int = Field(1, description="About how many calls of the API it makes.")
    cannot: str | None = Field(None, description="What is missing, if this API cannot give it.")


class WrittenPython(Reply):
    code: str = ""
    reasoning: str = ""
    cannot: str | None = Field(None, description="What is missing, if these rows cannot give it.")


class Explored(Reply):
    show: str = Field("", description="The name of the look whose rows are the answer.")
    text: str = Field("", description="The answer in one to four plain sentences.")
    cannot: str | None = Field(None, description="What is missing, if the data cannot tell.")


class Verification(Reply):
    question: str = Field("Is it right?", description="What is checked, as one question.")
    sql: str
    of: Literal["cell", "sum", "rows"] = "cell"
    column: str = ""
    row: int = Field(1, description="Counted from 1.")


class OrderReply(Reply):
    column: str
    descending: bool = False


class FormatReply(Reply):
    """Everything but headers only if the user asks for it."""

    columns: list[str] = []
    headers: dict[str, str] = {}
    units: dict[str, str] = {}
    decimals: dict[str, int] = {}
    order: list[OrderReply] = Field([], max_length=5)
    totals: list[str] = Field([], description="Columns whose sums end the table.")
    chart: Form | None = None
    markdown: bool = False

    def requested(self) -> RequestedFormat:
        order = tuple(Sort(column=each.column, descending=each.descending) for each in self.order)
        return RequestedFormat.model_validate({**self.model_dump(), "order": order})


class Reviewed(Reply):
    text: str = ""
    format: FormatReply = FormatReply()
    checks: list[Verification] = Field([], max_length=3)
    concerns: list[str] = Field([], max_length=5)

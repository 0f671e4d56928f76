"""The types of the builtin agents' replies. A model fills them in; each reply is checked before it is used.

Class docstrings and field descriptions here are part of the schema that is sent to the model: they are prompt text.
"""

from typing import Literal

from pydantic import BaseModel, ConfigDict, Field

from answerable.agents.execution_plan import MOST_STEPS, Tool
from answerable.answers.chart_request import Form
from answerable.answers.format import Sort
from answerable.answers.requested_format import RequestedFormat


class Reply(BaseModel):
    """Unknown fields are ignored: a model that says more than it was asked is not wrong."""

    model_config = ConfigDict(extra="ignore", frozen=True, defer_build=True)


class Preplanned(Reply):
    asked: str = Field(description="What is asked, as one plain sentence.")
    difficulty: Literal["easy", "steps", "explore"] = "easy"
    missing: str | None = Field(None, description="What these sources lack, only if they cannot answer it.")
    readings: list[str] = Field([], max_length=5, description="Questions to choose from, only if it is ambiguous.")
    hint: str = Field("", description="What the planner should not miss.")


class PlannedStep(Reply):
    id: str = Field(description="A short name, such as orders_by_month; later steps use the rows under it.")
    tool: Tool
    source: str | None = Field(None, description="The source that a query asks, or the API that an api step calls.")
    entity: str = Field("", description="What its rows are about, as the data calls it, such as users.")
    operation: str = Field("", description="list, get, search, count or what else is done with it.")
    context: str = Field("", description="What the step must give, exactly: tables, columns, filters, groups, order.")
    code: str = Field("", description="The query itself, for a sql or cypher step.")
    after: list[str] = Field([], description="The steps whose rows it uses.")
    critical: bool = Field(True, description="False if the answer is worth having without it.")
    partial: bool = Field(False, description="True if an api step is worth having without the calls that fail.")
    reasoning: str = Field("", description="Why it is needed, in one sentence.")


class Planned(Reply):
    steps: list[PlannedStep] = Field([], max_length=MOST_STEPS)
    reasoning: str = Field("", description="What was understood, as one plain sentence for the user.")
    cannot: str | None = Field(None, description="What is missing, if these sources cannot answer it.")
    ask: list[str] = Field([], max_length=5, description="Readings to choose from, if it has several meanings.")
    explore: bool = Field(False, description="True if several looks at the data are needed first.")


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
    sql: str = Field(description="One SELECT statement that gives exactly one value, in another way than the program.")
    of: Literal["cell", "sum", "rows"] = Field(
        "cell", description="What it must equal: one cell of the rows, the sum of a column, or the number of rows."
    )
    column: str = Field("", description="The column of the cell or the sum.")
    row: int = Field(1, description="The row of the cell, counted from 1.")


class OrderReply(Reply):
    column: str
    descending: bool = False


class FormatReply(Reply):
    """The form of the table. Code applies it to all rows. Everything but headers only if the user asks for it."""

    columns: list[str] = Field([], description="The columns to show, in this order, by their names in the rows.")
    headers: dict[str, str] = Field({}, description="Heads of columns whose names people would not understand.")
    units: dict[str, str] = Field({}, description="Units of columns that the rows do not tell.")
    decimals: dict[str, int] = Field({}, description="Decimals of columns.")
    order: list[OrderReply] = Field([], max_length=5)
    totals: list[str] = Field([], description="Columns whose sums end the table.")
    chart: Form | None = None
    markdown: bool = Field(False, description="True if a markdown table is asked for; code writes it.")

    def requested(self) -> RequestedFormat:
        order = tuple(Sort(column=each.column, descending=each.descending) for each in self.order)
        return RequestedFormat.model_validate({**self.model_dump(), "order": order})


class Reviewed(Reply):
    text: str = ""
    format: FormatReply = FormatReply()
    checks: list[Verification] = Field([], max_length=3)
    concerns: list[str] = Field([], max_length=5, description="What the question asks and the program does not do.")

"""What travels over HTTP besides answers and catalogs: requests and listings."""

from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field, model_validator

from answerable.answers.answer import Answer
from answerable.core.events import Verdict
from answerable.core.values import Json

API = "/api/v1"
RUN_ID = r"^run_[0-9a-z]{24}$"
THREAD_ID = r"^thr_[0-9a-z]{24}$"
MESSAGE_ID = r"^msg_[0-9a-z]{24}$"


class Wire(BaseModel):
    model_config = ConfigDict(extra="forbid")


class ChatRequest(Wire):
    message: str = Field(
        min_length=1, max_length=200_000, description="A question, or a query such as `SQL: SELECT 1`."
    )
    source: str | None = Field(None, max_length=200, description="A dataset of `GET /datasets`; else the default one.")
    sources: list[Annotated[str, Field(max_length=200)]] = Field(
        [], max_length=10, description="Several datasets, for a question about all of them."
    )
    thread_id: str | None = Field(None, pattern=THREAD_ID, description="Continue this thread.")
    choice: int | None = Field(None, ge=1, le=100, description="Take this reading of the last question back.")
    force: bool = Field(False, description="Answer with the best reading even when unsure.")
    mode: Literal["auto", "plan", "react"] = Field("auto", description="Who understands it; all but auto need a model.")
    plan_only: bool = Field(False, description="Answer with the plan, and run nothing.")


class ChatReply(Answer):
    thread_id: str | None = None


class QueryRequest(Wire):
    query_type: Literal["sql", "cypher", "python", "plan"]
    code: str | dict[str, Json] = Field(
        description="An SQL statement, a Cypher query, a Python program, or as an object the plan of a query or of "
        "several steps."
    )
    source: str | None = Field(None, max_length=200)
    thread_id: str | None = Field(None, pattern=THREAD_ID)


class Decision(Wire):
    step: str = Field(min_length=1, max_length=500, description="The step that waits, as its event names it.")
    verdict: Verdict | None = Field(None, description="`edit` and `respond` come with `data`.")
    approved: bool | None = Field(None, description="True for `approve`, false for `reject`, instead of `verdict`.")
    note: str | None = Field(None, max_length=2_000)
    data: Json = Field(None, description="What to go on with, the answer, or the result of an effect that happened.")

    @model_validator(mode="after")
    def _said(self) -> "Decision":
        if (self.verdict is None) == (self.approved is None):
            raise ValueError("give either verdict or approved")
        return self

    @property
    def verdict_meant(self) -> Verdict:
        return self.verdict or ("approve" if self.approved else "reject")


class RowPage(Wire):
    columns: list[dict[str, str]]
    rows: list[list[Json]]
    offset: int
    row_count: int


class Dataset(Wire):
    id: str
    default: bool


class DatasetList(Wire):
    datasets: list[Dataset]


class Health(Wire):
    status: Literal["ok"]
    version: str

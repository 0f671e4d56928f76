"""The answer as users get it, on the command line, over HTTP and from the library. Its JSON form is a contract."""

from collections.abc import Mapping
from datetime import datetime
from typing import Literal

from pydantic import Field

from answerable.answers.answer_graph import AnswerGraph
from answerable.core.ids import ArtifactId, RunId
from answerable.core.values import Frozen, Json, OutputColumn

Kind = Literal["table", "value", "chart", "text", "clarify", "refusal"]


class StepRecord(Frozen):
    """One step as the answer accounts for it."""

    id: str
    kind: str
    source: str | None = None
    code: str | None = None
    """The program that ran, exactly."""
    language: str | None = None
    """The language of the program, for example `sql` or `python`."""
    rows_in: int | None = None
    """How many rows stood in what it read: the tables of a query as last counted (a very large PostgreSQL table as
    the database estimates it), or the results of earlier steps. None if that is not known."""
    row_count: int | None = None
    """How many rows came of it."""
    duration_ms: float = 0.0
    status: Literal["done", "failed", "skipped"] = "done"
    data_source_type: str | None = None
    """`sql`, `graph`, `api`, …"""
    fingerprint: str | None = None
    last_sync: datetime | None = None
    artifact: ArtifactId | None = None
    sandbox: str | None = None
    """Where a program ran."""
    sample: tuple[Json, ...] = ()
    """A few of its rows as records, in the answer of a run that failed: it has no table of its own."""
    inputs: Mapping[str, ArtifactId] = {}
    """The rows that a program reads, by name. Running the step again needs them."""
    values: Mapping[str, Json] = {}
    """The small values that a program could name. Running the step again needs them too."""


class Synonym(Frozen):
    """Another name for a column."""

    phrase: str
    table: str
    column: str


class Choice(Frozen):
    """One reading that the user may have meant, or another source to ask."""

    id: int
    label: str
    """The sentence of what this reading would answer."""
    source: str | None = None
    """Set where the same question would be asked of another source, which knows words that this one does not."""
    plan: Json = None
    code: str | None = None
    example: str | None = None
    """What it would answer, in a few words, where trying it is cheap."""
    synonym: Synonym | None = None
    """What choosing it says of a word of the question, where that is worth remembering."""


class Binding(Frozen):
    """A phrase of the question and what it became."""

    phrase: str
    meaning: str


class ErrorRecord(Frozen):
    """Why a run did not end with an answer."""

    kind: str
    code: str
    message: str
    hint: str | None = None
    step: str | None = None


class NumberLink(Frozen):
    """A number in the text and where it comes from, so that a page can underline it and show the proof."""

    start: int
    end: int
    """`text[start:end]` is the number as printed."""
    kind: Literal["cell", "row_count", "aggregate", "fact"]
    row: int | None = None
    column: int | None = None
    """Of the cell, or of the column that was aggregated."""
    basis: str
    """In words: `revenue of row 1`, `sum of revenue`."""


class Provenance(Frozen):
    mind: str = "reader"
    """Who understood the question: `reader`, `direct`, or a model's name."""
    understood: str | None = None
    bindings: tuple[Binding, ...] = ()
    confidence: Literal["high", "medium", "low"] | None = None
    confidence_reason: str | None = None
    sources: tuple[str, ...] = ()
    data_source_type: str | None = None
    last_sync: datetime | None = None
    fingerprint: str | None = None
    plan: Json = None
    chart: Json = None
    """A vega-lite specification over data named `rows`, where a chart fits."""
    format: Json = None
    """How the table is written: heads, units, decimals, date styles (a `FormatSpec`)."""
    links: tuple[NumberLink, ...] = ()
    """Which numbers of `text` stand for which cells."""
    artifact: ArtifactId | None = None
    truncated: bool = False
    """The rows here are only the first of `row_count`."""
    findings: tuple[str, ...] = ()
    """What a careful reader should know: warnings of the source, numbers that were corrected, steps that failed."""
    error: ErrorRecord | None = None


class Usage(Frozen):
    input_tokens: int = 0
    output_tokens: int = 0
    cost_usd: float | None = 0.0
    """None if the price of the model is not known."""
    model_calls: int = 0
    duration_ms: float = 0.0


class Answer(Frozen):
    run_id: RunId
    status: Literal["done", "partial", "failed", "cancelled", "clarify", "refused"]
    kind: Kind
    text: str
    columns: tuple[OutputColumn, ...] = ()
    rows: tuple[tuple[Json, ...], ...] = ()
    row_count: int = 0
    steps: tuple[StepRecord, ...] = ()
    choices: tuple[Choice, ...] = ()
    graph: AnswerGraph | None = None
    """The ways that the rows describe, for drawing. None for rows that describe none."""
    provenance: Provenance = Field(default_factory=Provenance)
    usage: Usage = Field(default_factory=Usage)

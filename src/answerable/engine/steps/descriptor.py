"""The descriptor of a step kind. Engine, answers, replay, page and docs read it, so none of them lists kind names."""

from collections.abc import Iterable, Mapping
from typing import Literal, Protocol, runtime_checkable

from pydantic import BaseModel

from answerable.answers.answer import StepRecord
from answerable.core.context import Principal
from answerable.core.ids import ArtifactId
from answerable.core.values import Frozen, Json
from answerable.engine.steps.base import StepKind

Product = Literal["rows", "graph", "answer", "advice", "value"]
RowsFrom = Literal["source", "steps"]


class StepDescriptor(Frozen):
    name: str
    """The wire name. Stored graphs hold it, so it never changes."""
    config: type[BaseModel] | None
    """The model of its config; None if its config may be any JSON."""
    produces: Product
    title: str | None = None
    """The title of the step for people, followed by the source that it asks. If None, the step's id is shown."""
    label: str | None = None
    """One or two words beside the title that say what the step is. If None, the name is shown."""
    rows_from: RowsFrom | None = None
    """Where it reads rows from: a source, or earlier steps. None if it reads no rows."""
    looks_into_source: bool = False
    """Whether it queries the source in its config without passing rows on, for example to read the catalog."""
    agent: str | None = None
    """The agent that it asks; None if it asks no model."""
    is_wrapper: bool = False
    """Whether it only runs the steps inside it. People see those in its place, and each has a time limit of its own."""
    fallback: Json = None
    """The output that stands in for the step's own if it fails; None if its failure counts."""
    language: str | None = None
    """The language in which its code is shown; None if it runs no code."""
    code_field: str | None = None
    """The field of its config that holds the code; None if the code is written while the step runs."""
    writes: str | None = None
    """The kind of the step whose code a model writes in this one: answers account for it as a step of that kind."""
    data_source_type: str | None = None
    """The `data_source_type` of an answer whose rows come from this kind."""
    repeatable: bool = False
    """Whether the same code gives the same rows for the same data, so that an answer can be replayed."""

    @property
    def asks_source(self) -> bool:
        """Whether it queries the source in its config. For other kinds the source there is only information."""
        return self.rows_from == "source" or self.looks_into_source


def accounted_as(kind: str, step_kinds: Mapping[str, StepDescriptor]) -> StepDescriptor | None:
    """The kind under which an answer accounts for a step that runs code to get rows; None for every other step."""
    described = step_kinds.get(kind)
    if described is not None and described.writes is not None:
        described = step_kinds.get(described.writes)
    gets_rows = described is not None and described.produces == "rows" and described.language is not None
    return described if gets_rows else None


class DescribedStepKind(StepKind, Protocol):
    @property
    def descriptor(self) -> StepDescriptor: ...


class Repeated(Frozen):
    """The result of running a recorded step again."""

    artifact: ArtifactId
    fingerprint: str | None
    """The fingerprint of the data that was read this time."""


@runtime_checkable
class RepeatableStepKind(Protocol):
    async def repeat(self, record: StepRecord, principal: Principal) -> Repeated:
        """Runs the recorded code again."""
        ...


def by_name(kinds: Iterable[DescribedStepKind]) -> Mapping[str, DescribedStepKind]:
    return {kind.descriptor.name: kind for kind in kinds}

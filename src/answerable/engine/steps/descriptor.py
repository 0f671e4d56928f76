"""The descriptor of a step kind. Engine, answers, replay, page and docs read it, so none of them lists kind names."""

from collections.abc import Iterable, Mapping
from typing import Literal, Protocol, runtime_checkable

from pydantic import BaseModel

from answerable.answers.answer import StepRecord
from answerable.core.context import Principal
from answerable.core.ids import ArtifactId
from answerable.core.values import Frozen
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
    language: str | None = None
    """The language in which its code is shown; None if it runs no code."""
    data_source_type: str | None = None
    """The `data_source_type` of an answer whose rows come from this kind."""
    repeatable: bool = False
    """Whether the same code gives the same rows for the same data, so that an answer can be replayed."""


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

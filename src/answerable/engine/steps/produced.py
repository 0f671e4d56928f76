"""What a step that produces rows records: the rows by reference, and what is needed to account for them."""

from collections.abc import Iterable, Mapping
from datetime import datetime

from answerable.core.ids import ArtifactId, NodeId
from answerable.core.values import FrameRef, Frozen, Json
from answerable.query.quantities import Quantity


class Produced(Frozen):
    kind: str
    """The name of the kind of step."""
    language: str | None = None
    """The language in which its code is shown."""
    data_source_type: str | None = None
    """Where the rows come from, by kind of source; the name of the step's kind if None."""
    frame: FrameRef
    code: str
    """The program that ran, exactly."""
    sources: tuple[str, ...]
    """Where the rows come from in the end."""
    duration_ms: float
    rows_in: int | None = None
    """How many rows were in what was read; None if that is not known."""
    fingerprint: str | None
    """Of the data that was read; None if the program read none."""
    last_sync: datetime | None = None
    findings: tuple[str, ...] = ()
    inputs: Mapping[str, ArtifactId] = {}
    """The rows that a program was given, by the name it knew them under."""
    sandbox: str | None = None
    """Where a program ran, if it was not the source."""
    api: str | None = None
    """The API that a program could read; what it gave cannot be had again."""
    units: Mapping[str, str] = {}
    """In what the numbers of a column are counted, where that is known."""
    quantities: Mapping[str, Quantity] = {}
    """Which columns add up, change or are part of a whole, where that is known."""
    chart: Json = None
    """A vega-lite specification that the program made, over data named `rows`."""


def produced_before(inputs: Mapping[NodeId, Json]) -> dict[NodeId, Produced]:
    """What the steps before one gave, by their ids; those that failed or were not taken gave nothing."""
    return {node: Produced.model_validate(output) for node, output in inputs.items() if output}


def rows_of(produced: Iterable[Produced]) -> int:
    """How many rows they gave together."""
    return sum(each.frame.row_count for each in produced)


def oldest(produced: Iterable[Produced]) -> datetime | None:
    """Data is as old as the oldest part of it."""
    return min((each.last_sync for each in produced if each.last_sync is not None), default=None)

"""The output of a step that produces rows: a reference to the rows, and the facts that an answer shows about them."""

from collections.abc import Iterable, Mapping
from datetime import datetime

from answerable.core.ids import ArtifactId, NodeId
from answerable.core.values import FrameRef, Frozen, Json
from answerable.query.headings import RowNoun
from answerable.query.quantities import Quantity


class Produced(Frozen):
    kind: str
    """The name of the step's kind."""
    language: str | None = None
    """The language in which its code is shown."""
    data_source_type: str | None = None
    """The type of source that the rows come from. If None, the name of the step's kind counts."""
    frame: FrameRef
    code: str
    """The exact text of the program that ran."""
    sources: tuple[str, ...]
    """The sources that the rows come from, also through earlier steps."""
    duration_ms: float
    rows_in: int | None = None
    """The number of rows in the tables that were read, or None if it is not known."""
    fingerprint: str | None
    """The fingerprint of the data that was read, or None if the program read no data."""
    last_sync: datetime | None = None
    findings: tuple[str, ...] = ()
    inputs: Mapping[str, ArtifactId] = {}
    """The input rows of a program, by their names in the program. Replay runs the program over the same rows."""
    values: Mapping[str, Json] = {}
    """The small values that a program could name, also None for each earlier step that gave nothing."""
    sandbox: str | None = None
    """The sandbox in which a program ran, or None if the source ran the code."""
    api: str | None = None
    """The API that a program could read. Such a step cannot be replayed: the API may answer differently."""
    units: Mapping[str, str] = {}
    """The units of columns, where they are known."""
    quantities: Mapping[str, Quantity] = {}
    """Which columns add up, change or are part of a whole, where this is known."""
    headers: Mapping[str, str] = {}
    """What people call columns, where that differs from their names."""
    noun: RowNoun | None = None
    """What the rows are, or what a plain count counts, where this is known."""
    incomplete: bool = False
    """Whether rows are missing, because calls of an API failed that the step may go without."""
    connections: Mapping[str, tuple[tuple[str, str], ...]] = {}
    """Of a graph: the kinds of nodes that each kind of relationship leads from and to. Paths are drawn by it."""
    chart: Json = None
    """A vega-lite specification that the program returned, over data named `rows`."""


def produced_before(inputs: Mapping[NodeId, Json]) -> dict[NodeId, Produced]:
    """The rows of earlier steps by id, without the steps that failed or were not taken. In a drawn graph the inputs and
    values of other nodes stand beside them."""
    return {node: Produced.model_validate(output) for node, output in inputs.items() if _has_rows(output)}


def _has_rows(output: Json) -> bool:
    return isinstance(output, dict) and "frame" in output and "code" in output


def missing_before(inputs: Mapping[NodeId, Json]) -> tuple[NodeId, ...]:
    """Earlier steps that failed or were not taken."""
    return tuple(node for node, output in inputs.items() if not output)


def rows_of(produced: Iterable[Produced]) -> int:
    """The number of rows of all outputs together."""
    return sum(each.frame.row_count for each in produced)


def oldest(produced: Iterable[Produced]) -> datetime | None:
    """The earliest `last_sync`: combined data is as old as its oldest part."""
    return min((each.last_sync for each in produced if each.last_sync is not None), default=None)

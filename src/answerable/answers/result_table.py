"""The result of a program as a table: a frame stays one, a value becomes the smallest table that holds it, and a chart
brings its own data."""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from answerable.answers import frame
from answerable.answers.program_chart import chart_from, is_chart
from answerable.core.values import Json, OutputColumn


@dataclass(frozen=True, slots=True)
class ResultTable:
    columns: tuple[OutputColumn, ...]
    row_count: int
    byte_count: int
    sample: tuple[Mapping[str, Json], ...]
    chart: Json = None


def records_of(value: Json) -> tuple[list[dict[str, Json]], Json]:
    """The rows that stand for a value, and its chart if it is one. They become a table in a process of its own: rows
    that fit together badly take polars more memory than the server may lose."""
    chart = None
    if is_chart(value):
        value, chart = chart_from(value)
    return _records(value), chart


def result_table(path: Path, chart: Json = None) -> ResultTable:
    """`path` holds the rows."""
    return ResultTable(
        columns=frame.columns(path),
        row_count=frame.row_count(path),
        byte_count=path.stat().st_size,
        sample=frame.sample_records(path),
        chart=chart,
    )


def _records(value: Json) -> list[dict[str, Json]]:
    """A list of objects is rows, any other list a column, an object of plain values one row, the rest one cell."""
    if isinstance(value, list) and value and all(isinstance(row, dict) and row for row in value):
        return value
    if isinstance(value, list):
        return [{"value": item} for item in value]
    if isinstance(value, dict) and value and not any(isinstance(item, dict | list) for item in value.values()):
        return [value]
    return [{"result": value}]

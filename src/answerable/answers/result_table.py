"""The result of a program as a table: a frame stays one, a value becomes the smallest table that holds it, and a chart
brings its own data."""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

import polars as pl
from polars.exceptions import PolarsError

from answerable.answers import frame
from answerable.answers.program_chart import chart_from, is_chart
from answerable.core.errors import UserError
from answerable.core.values import Json, OutputColumn


@dataclass(frozen=True, slots=True)
class ResultTable:
    columns: tuple[OutputColumn, ...]
    row_count: int
    byte_count: int
    sample: tuple[Mapping[str, Json], ...]
    chart: Json = None


def result_table_of(value: Json, path: Path, *, is_frame: bool) -> ResultTable:
    """`path` holds the rows of a frame; the rows of any other result are written there."""
    chart = None
    if is_chart(value) and not is_frame:
        value, chart = chart_from(value)
    if not is_frame:
        _table(value).write_ipc(path)
    return ResultTable(
        columns=frame.columns(path),
        row_count=frame.row_count(path),
        byte_count=path.stat().st_size,
        sample=frame.sample_records(path),
        chart=chart,
    )


def _table(value: Json) -> pl.DataFrame:
    try:
        return pl.DataFrame(_records(value), infer_schema_length=None, strict=False)
    except (PolarsError, TypeError, OverflowError) as error:
        raise UserError(f"The result cannot be shown as a table: {error}.", code="python_failed") from error


def _records(value: Json) -> list[dict[str, Json]]:
    """A list of objects is rows, any other list a column, an object of plain values one row, the rest one cell."""
    if isinstance(value, list) and value and all(isinstance(row, dict) and row for row in value):
        return value
    if isinstance(value, list):
        return [{"value": item} for item in value]
    if isinstance(value, dict) and value and not any(isinstance(item, dict | list) for item in value.values()):
        return [value]
    return [{"result": value}]

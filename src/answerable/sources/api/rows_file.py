"""Rows of an API as a Parquet file. The document says which columns there are; the values say what they really are."""

import re
from collections.abc import Sequence
from datetime import UTC, date, datetime
from pathlib import Path
from typing import Any

import orjson
import polars as pl

from answerable.apis.openapi.shape import ShapeColumn
from answerable.core.values import Json
from answerable.sources.api.fetching import values_of

_DAY = re.compile(r"\d{4}-\d{2}-\d{2}")
_MOMENT = re.compile(r"\d{4}-\d{2}-\d{2}[T ]\d{2}:\d{2}.*")
_LARGEST = 2**63 - 1
_EMPTY: dict[str, Any] = {
    "integer": pl.Int64,
    "number": pl.Float64,
    "boolean": pl.Boolean,
    "date": pl.Date,
    "datetime": pl.Datetime("us"),
}
"""The types of columns that have no value to judge by. All others are text."""


def write_rows(rows: Sequence[Json], columns: Sequence[ShapeColumn], into: Path) -> None:
    series = [_series(column, values_of(rows, column)) for column in columns]
    pl.DataFrame(series).write_parquet(into)


def _series(column: ShapeColumn, values: list[Any]) -> pl.Series:
    """No value is lost: where one does not fit the type of the others, the column is text."""
    known = [value for value in values if value is not None]
    if not known:
        return pl.Series(column.name, values, dtype=_EMPTY.get(column.type, pl.String))
    kinds = {type(value) for value in known}
    if kinds == {bool}:
        return pl.Series(column.name, values, dtype=pl.Boolean)
    if kinds == {int} and all(abs(value) <= _LARGEST for value in known):
        return pl.Series(column.name, values, dtype=pl.Int64)
    if kinds <= {int, float}:
        return pl.Series(column.name, [None if v is None else float(v) for v in values], dtype=pl.Float64)
    if kinds == {str}:
        return _of_texts(column.name, values, known)
    return pl.Series(column.name, [_text(value) for value in values], dtype=pl.String)


def _of_texts(name: str, values: list[Any], known: list[str]) -> pl.Series:
    try:
        if all(map(_DAY.fullmatch, known)):
            return pl.Series(name, [None if v is None else date.fromisoformat(v) for v in values], dtype=pl.Date)
        if all(map(_MOMENT.fullmatch, known)):
            return pl.Series(name, [None if v is None else _moment(v) for v in values], dtype=pl.Datetime("us"))
    except ValueError:  # it looks like a day and is none
        pass
    return pl.Series(name, values, dtype=pl.String)


def _moment(text: str) -> datetime:
    moment = datetime.fromisoformat(text)
    return moment if moment.tzinfo is None else moment.astimezone(UTC).replace(tzinfo=None)


def _text(value: Any) -> str | None:
    if value is None or isinstance(value, str):
        return value
    return orjson.dumps(value).decode() if isinstance(value, dict | list | bool) else str(value)

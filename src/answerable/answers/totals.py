"""What the numbers of a result add up to and between which they lie: its last line, and the scale of bars beside it."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import polars as pl

from answerable.answers import frame
from answerable.core.values import Frozen, Json


class ColumnTotal(Frozen):
    column: str
    total: Json = None
    """The sum of the values that count; None if there are none."""
    minimum: Json = None
    maximum: Json = None
    null_count: int
    """Values that are missing, or are no number, and so do not count."""


def totals(path: Path) -> tuple[ColumnTotal, ...]:
    """Totals of the numeric columns in the Arrow file at `path`, computed in one pass."""
    rows = frame.scan(path)
    schema = rows.collect_schema()
    numeric = [place for place, dtype in enumerate(schema.dtypes()) if dtype.is_numeric()]
    if not numeric:
        return ()
    counted = rows.select(figure for place in numeric for figure in _figures(place, schema.dtypes()[place])).collect()
    found = [_column(schema.names()[place], counted.row(0)[4 * at : 4 * at + 4]) for at, place in enumerate(numeric)]
    return tuple(found)


def _figures(place: int, dtype: pl.DataType) -> tuple[pl.Expr, ...]:
    value = pl.nth(place)
    known = pl.when(value.is_finite()).then(value) if dtype.is_float() else value
    # The sum of a column of 64-bit numbers may not fit into 64 bits.
    wide = known.cast(pl.Int128) if dtype.is_integer() else known
    figures = (wide.sum(), known.min(), known.max(), known.null_count())
    return tuple(figure.alias(f"{place}.{number}") for number, figure in enumerate(figures))


def _column(name: str, figures: Sequence[Any]) -> ColumnTotal:
    total, low, high, missing = figures
    # The sum of no values is 0 in polars. Here it is None: a total of nothing is not known to be 0.
    as_json = [None if low is None else _json(value) for value in (total, low, high)]
    return ColumnTotal(column=name, total=as_json[0], minimum=as_json[1], maximum=as_json[2], null_count=missing)


def _json(value: Any) -> Json:
    """Decimals as numbers, as rows carry them."""
    return value if isinstance(value, int) else float(value)

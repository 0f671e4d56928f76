"""What the numbers of a result add up to."""

import math
from decimal import Decimal
from pathlib import Path

import polars as pl

from answerable.answers.totals import ColumnTotal, totals


def test_numbers_add_up_and_what_is_missing_is_counted(tmp_path: Path) -> None:
    path = tmp_path / "rows.arrow"
    pl.DataFrame(
        {
            "^n$": [2**63 - 1, 2**63 - 1, None],
            "share": [1.5, math.nan, -math.inf],
            "name": ["x", "y", "z"],
            "price": [Decimal("1.10"), None, Decimal("-2.20")],
            "none": pl.Series([None, None, None], dtype=pl.Float64),
        }
    ).write_ipc(path)
    assert totals(path) == (
        ColumnTotal(column="^n$", total=2**64 - 2, minimum=2**63 - 1, maximum=2**63 - 1, null_count=1),
        ColumnTotal(column="share", total=1.5, minimum=1.5, maximum=1.5, null_count=2),
        ColumnTotal(column="price", total=-1.1, minimum=-2.2, maximum=1.1, null_count=1),
        ColumnTotal(column="none", null_count=3),
    )


def test_without_numbers_nothing_adds_up(tmp_path: Path) -> None:
    path = tmp_path / "rows.arrow"
    pl.DataFrame({"name": ["x"]}).write_ipc(path)
    assert totals(path) == ()

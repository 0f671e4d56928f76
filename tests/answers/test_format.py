import datetime as dt
from collections.abc import Callable, Sequence
from decimal import Decimal
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from answerable.answers import frame
from answerable.answers.format import (
    ColumnFormat,
    DateFormat,
    FormatSpec,
    NumberFormat,
    Sort,
    format_cell,
    format_number,
    format_spec,
    readable,
)
from answerable.answers.formatted import applied
from answerable.core.errors import UserError
from answerable.core.values import OutputColumn
from answerable.query.plan import Aggregate, Bucket, ColumnRef, QueryPlan, SelectItem

Stored = Callable[..., Path]
Columns = Callable[..., Sequence[OutputColumn]]


@pytest.mark.parametrize(
    ("name", "shown"),
    [
        ("total_revenue", "Total revenue"),
        ("totalRevenue", "Total revenue"),
        ("customerID", "Customer ID"),
        ("order_id", "Order ID"),
        ("count(*)", "Count"),
        ("Net revenue, Q3", "Net revenue, Q3"),
        ("EUR", "EUR"),
        ("***", "***"),
        ("größe", "Größe"),
    ],
)
def test_headers_are_readable(name: str, shown: str) -> None:
    assert readable(name) == shown


@pytest.mark.parametrize(
    ("value", "how", "shown"),
    [
        (1234567, NumberFormat(), "1,234,567"),
        (1234567, NumberFormat(grouped=False), "1234567"),
        (1234.5, NumberFormat(decimals=2), "1,234.50"),
        (-1234.5, NumberFormat(decimals=1), "−1,234.5"),
        (-0.001, NumberFormat(decimals=1), "0.0"),
        (0.1234, NumberFormat(decimals=1, percent=True), "12.3 %"),
        (0, NumberFormat(), "0"),
        (999, NumberFormat(), "999"),
        (1000, NumberFormat(), "1,000"),
        (10**18, NumberFormat(), "1,000,000,000,000,000,000"),
    ],
)
def test_numbers(stored: Stored, value: float, how: NumberFormat, shown: str) -> None:
    """One value alone and a whole column by expressions are written the same."""
    assert format_number(value, how) == shown
    spec = FormatSpec(columns=(ColumnFormat(column="v", header="V", format=how),))
    assert applied(spec, frame.scan(stored({"v": [value]}))).collect().item() == shown


@given(st.floats(-1e12, 1e12), st.integers(0, 6))
def test_expressions_round_to_the_nearest(value: float, decimals: int) -> None:
    spec = FormatSpec(columns=(ColumnFormat(column="v", header="V", format=NumberFormat(decimals=decimals)),))
    text = applied(spec, pl.LazyFrame({"v": [value]})).collect().item()
    written = Decimal(text.replace(",", "").replace("−", "-"))
    half = Decimal(10) ** -decimals / 2
    assert abs(written - Decimal(value)) <= half + abs(Decimal(value)) * Decimal("1e-15")
    assert len(text.partition(".")[2]) == decimals


def test_enormous_numbers_keep_their_digits() -> None:
    spec = FormatSpec(columns=(ColumnFormat(column="v", header="V", format=NumberFormat(decimals=2)),))
    assert applied(spec, pl.LazyFrame({"v": [1e300, None]})).collect()["V"].to_list() == ["1e+300", None]


@pytest.mark.parametrize(
    ("style", "shown"),
    [
        ("second", "2024-08-09 14:05:06"),
        ("minute", "2024-08-09 14:05"),
        ("day", "2024-08-09"),
        ("month", "2024-08"),
        ("quarter", "2024-Q3"),
        ("year", "2024"),
    ],
)
def test_dates(style: Any, shown: str) -> None:
    moment = dt.datetime(2024, 8, 9, 14, 5, 6)
    spec = FormatSpec(columns=(ColumnFormat(column="v", header="V", format=DateFormat(style=style)),))
    assert applied(spec, pl.LazyFrame({"v": [moment]})).collect().item() == shown
    assert format_cell(moment.isoformat(), DateFormat(style=style)) == shown


def test_a_text_that_is_no_date_stays(columns: Columns) -> None:
    assert format_cell("tomorrow", DateFormat()) == "tomorrow"


def test_the_spec_fits_the_rows(columns: Columns) -> None:
    given_columns = columns(
        order_id="integer", city="text", revenue="number", share="number", year="integer", day="date"
    )
    rows = [(10001, "Berlin", 1234.5, 0.25, 2024, "2024-01-31"), (10002, "Rome", 1.0, 0.75, 2023, "2024-02-01")]
    spec = format_spec(given_columns, rows, units={"revenue": "EUR"})
    shown = [[format_cell(v, c.format) for v, c in zip(row, spec.columns, strict=True)] for row in rows]
    assert shown[0] == ["10001", "Berlin", "1,234.5", "25.0 %", "2024", "2024-01-31"]
    assert [c.header for c in spec.columns] == ["Order ID", "City", "Revenue", "Share", "Year", "Day"]
    assert spec.columns[2].unit == "EUR"
    assert [c.right for c in spec.columns] == [True, False, True, True, True, False]


@pytest.mark.parametrize("function", [None, "min", "max"])
def test_years_are_not_grouped_like_amounts(columns: Columns, function: Any) -> None:
    year: Any = ColumnRef(table="films", column="release_year")
    expression = year if function is None else Aggregate(function=function, of=year)
    plan = QueryPlan(entity="films", select=(SelectItem(expr=expression),))
    spec = format_spec(columns(latest="integer"), [(1954,)], plan)
    assert format_cell(1954, spec.columns[0].format) == "1954"


def test_a_number_for_each_year_is_an_amount(columns: Columns) -> None:
    spec = format_spec(columns(calls_per_year="integer"), [(1954,)])
    assert format_cell(1954, spec.columns[0].format) == "1,954"


def test_decimals_are_equal_within_a_column_and_few(columns: Columns) -> None:
    spec = format_spec(columns(v="number"), [(1 / 3,), (100.0,)])
    assert [format_cell(v, spec.columns[0].format) for v in (1 / 3, 100.0)] == ["0.33", "100.00"]
    small = format_spec(columns(v="number"), [(0.000123,)])
    assert format_cell(0.000123, small.columns[0].format) == "0.0001"


def test_the_plan_says_what_a_date_stands_for(columns: Columns) -> None:
    day = ColumnRef(table="sales", column="day")
    plan = QueryPlan(
        entity="sales",
        select=(SelectItem(expr=Bucket(unit="month", of=day)), SelectItem(expr=Aggregate(function="count"))),
    )
    spec = format_spec(columns(month="date", count="integer"), [("2024-08-01", 5)], plan)
    assert format_cell("2024-08-01", spec.columns[0].format) == "2024-08"
    without = format_spec(columns(month="date", count="integer"), [("2024-08-01", 5)])
    assert format_cell("2024-08-01", without.columns[0].format) == "2024-08-01", "nothing is guessed without a plan"


def test_applied_chooses_orders_and_heads(stored: Stored) -> None:
    path = stored({"a": [2, None, 3], "b": ["x", "y", "z"], "c": [True, False, None], "d": [[1], [], None]})
    spec = FormatSpec(
        columns=(
            ColumnFormat(column="b", header="Name"),
            ColumnFormat(column="a", header="Name", unit="EUR", format=NumberFormat()),
            ColumnFormat(column="a", header="Name"),
            ColumnFormat(column="c", header="Yes"),
            ColumnFormat(column="d", header="List"),
        ),
        sort=(Sort(column="a", descending=True),),
    )
    shown = applied(spec, frame.scan(path)).collect()
    assert shown.columns == ["Name", "Name (EUR)", "Name (2)", "Yes", "List"]
    assert shown.rows() == [
        ("z", "3", "3", None, None),
        ("x", "2", "2", "yes", "[1]"),
        ("y", None, None, "no", "[]"),
    ]


def test_a_format_for_a_column_that_is_not_there(stored: Stored) -> None:
    spec = FormatSpec(columns=(ColumnFormat(column="b", header="B"),))
    with pytest.raises(UserError, match="does not have: b") as error:
        applied(spec, frame.scan(stored({"a": [1]})))
    assert error.value.hint == "The result has: a."


def test_a_spec_is_data() -> None:
    spec = FormatSpec(columns=(ColumnFormat(column="a", header="A", format=NumberFormat(decimals=1)),))
    assert FormatSpec.model_validate_json(spec.model_dump_json()) == spec
    with pytest.raises(ValueError, match="less than or equal to 12"):
        NumberFormat(decimals=13)

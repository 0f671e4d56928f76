"""When two results are the same."""

from datetime import date, datetime, time
from decimal import Decimal
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from answerable.evals.compare import holds_rows, same_rows

DAY, MOMENT = date(2025, 1, 2), datetime(2025, 1, 2, 3, 4, 5)


@pytest.mark.parametrize(
    ("got", "want"),
    [
        (1, 1.0),
        (1.00004, 1.00001),
        (Decimal("2.50"), 2.5),
        (Decimal("100"), 100),
        (True, 1),
        (False, 0.0),
        (-0.00001, 0),
        (None, None),
        (DAY, "2025-01-02"),
        (MOMENT, "2025-01-02 03:04:05"),
        ("2025-01-02T03:04:05", MOMENT),
        (time(3, 4), "03:04:00"),
        ("é", "é"),
        (float("nan"), float("nan")),
        (b"\x01", bytearray(b"\x01")),
        ([1, 2], [1, 2]),
        (10**20, 10**20),
        (6194, "6194"),
        (2.5, "2.5"),
        (Decimal("3.00"), "3"),
    ],
)
def test_equal_values(got: Any, want: Any) -> None:
    assert same_rows([[got]], [[want]], ordered=True)
    assert same_rows([[want]], [[got]], ordered=False)


@pytest.mark.parametrize(
    ("got", "want"),
    [
        (1, "01"),
        (2.5, "2.50"),
        (1.0001, 1.0002),
        (None, "None"),
        (None, 0),
        (None, ""),
        ("a", "A"),
        ("a", "a "),
        (DAY, MOMENT),
        (DAY, "2025-01-03"),
        (float("nan"), None),
        (float("inf"), float("-inf")),
        (float("inf"), "inf"),
        (b"\x01", "01"),
        ("2025-13-02T03:04:05", "2025-13-02 03:04:05"),
        (10**20, 10**20 + 1),
    ],
)
def test_different_values(got: Any, want: Any) -> None:
    assert not same_rows([[got]], [[want]], ordered=True)
    assert not same_rows([[want]], [[got]], ordered=False)


def test_order_counts_only_where_it_does() -> None:
    assert same_rows([[1], [2]], [[2], [1]], ordered=False)
    assert not same_rows([[1], [2]], [[2], [1]], ordered=True)


def test_repeats_count() -> None:
    assert not same_rows([[1], [1], [2]], [[1], [2], [2]], ordered=False)
    assert not same_rows([[1]], [[1], [1]], ordered=False)


def test_columns_count_in_their_order() -> None:
    assert not same_rows([[1, "a"]], [["a", 1]], ordered=False)
    assert not same_rows([[1]], [[1, 1]], ordered=False)


def test_nothing_equals_nothing() -> None:
    assert same_rows([], [], ordered=True)
    assert not same_rows([], [[None]], ordered=False)


values = st.one_of(
    st.none(), st.booleans(), st.integers(), st.floats(), st.text(max_size=3), st.dates(), st.datetimes()
)


@given(st.lists(st.lists(values, max_size=3), max_size=6), st.randoms())
def test_a_result_equals_itself_in_any_order(rows: list[list[Any]], random: Any) -> None:
    shuffled = list(rows)
    random.shuffle(shuffled)
    assert same_rows(rows, rows, ordered=True)
    assert same_rows(shuffled, rows, ordered=False)


@pytest.mark.parametrize(
    ("got", "want", "ordered"),
    [
        ([["a", 1], ["b", 2]], [["b"], ["a"]], False),
        ([[1, "a"], [2, "b"]], [["a", 1], ["b", 2]], True),
        ([[12.34567]], [[12.3459]], False),
        ([["GLEN"]], [["Glen"]], False),
        ([["yes"]], [[1]], False),
        ([["2023-06-01 00:00:00"]], [["2023-06"]], False),
        ([["b", 1], ["a", 1], ["c", 0]], [["a", 1], ["b", 1], ["c", 0]], True),
    ],
)
def test_the_gold_columns_may_stand_among_others(got: Any, want: Any, ordered: bool) -> None:
    assert holds_rows(got, want, ordered)


@pytest.mark.parametrize(
    ("got", "want", "ordered"),
    [
        ([["a"], ["b"]], [["a"]], False),
        ([["a", 2], ["b", 1]], [["a", 1], ["b", 2]], False),
        ([["a"], ["b"]], [["b"], ["a"]], True),
        ([[1]], [[1, 1]], False),
        ([[1234]], [[1235]], False),
        ([], [["a"]], False),
    ],
)
def test_other_rows_are_not_right_even_loosely(got: Any, want: Any, ordered: bool) -> None:
    assert not holds_rows(got, want, ordered)

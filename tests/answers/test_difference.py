import datetime as dt
import math
import random
from collections.abc import Callable
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from answerable.answers.difference import Difference, difference

Stored = Callable[..., Path]


@pytest.fixture
def compared(stored: Stored) -> Callable[..., Difference]:
    def compare(before: Any, after: Any, *, ordered: bool = False) -> Difference:
        return difference(stored(before), stored(after), ordered=ordered)

    return compare


Compared = Callable[..., Difference]


def test_order_matters_only_when_it_was_asked_for(compared: Compared) -> None:
    before, after = {"n": [1, 2, 2]}, {"n": [2, 1, 2]}
    assert not compared(before, after).reordered
    found = compared(before, after, ordered=True)
    assert found.reordered
    assert found.none
    assert found.text == "the same rows in another order."
    assert not compared(before, before, ordered=True).reordered


def test_repeated_rows_are_counted(compared: Compared) -> None:
    found = compared({"n": ["a", "a", "b"]}, {"n": ["a", "b", "b"]})
    assert (found.added, found.removed) == ((("b",),), (("a",),))


def test_nulls_are_equal_to_each_other(compared: Compared) -> None:
    rows = {"a": [None, "x"], "b": [1.5, None]}
    assert compared(rows, {"a": ["x", None], "b": [None, 1.5]}).none
    assert not compared(rows, {"a": ["x", None], "b": [1.5, None]}).none


def test_the_last_digits_of_floats_do_not_count(compared: Compared) -> None:
    assert compared({"v": [0.1 + 0.2, 1e9]}, {"v": [1e9 + 1e-7, 0.3]}).none
    below, above = math.nextafter(1.000000000005, 0), math.nextafter(1.000000000005, 2)
    assert round(below, 11) != round(above, 11), "neighbours on two sides of a rounding"
    assert compared({"k": ["a"], "v": [below]}, {"k": ["a"], "v": [above]}).none
    assert not compared({"v": [1.0]}, {"v": [1.00001]}).none


def test_columns_that_changed(compared: Compared) -> None:
    found = compared({"a": [1], "b": [1], "c": [1]}, {"a": [1], "b": ["1"], "d": [1]})
    assert {(c.column, c.how) for c in found.columns} == {("c", "removed"), ("d", "added"), ("b", "type")}
    assert found.text == "column “c” was removed; column “d” was added; column “b” was integer and is text."
    assert compared({"a": [1], "b": [2]}, {"b": [2], "a": [1]}).none, "the order of columns does not count"


def test_rows_with_the_same_name_are_one_row_that_changed(compared: Compared) -> None:
    found = compared({"k": ["a", "b"], "day": [dt.date(2024, 1, 1)] * 2, "v": [1, 2]},
                     {"k": ["a", "b"], "day": [dt.date(2024, 1, 1)] * 2, "v": [1, 3]})  # fmt: skip
    (changed,) = found.changed
    assert changed.columns == ("v",)
    assert (found.added_count, found.removed_count, found.changed_count) == (0, 0, 1)
    assert found.text == "2 rows before, 2 now; 1 changed."


def test_nested_values_and_odd_names_compare(compared: Compared) -> None:
    rows = {"*": [[1, 2]], "^x$": [{"a": 1}], "#": [1]}
    assert compared(rows, rows).none
    assert not compared(rows, rows | {"*": [[1, 3]]}).none


def test_only_examples_are_kept(compared: Compared) -> None:
    found = compared({"n": range(1_000)}, {"n": range(500, 2_000)})
    assert (found.removed_count, found.added_count) == (500, 1_000)
    assert len(found.added) == len(found.removed) == 5
    assert found.rows_after == 1_500


ROWS = st.lists(st.tuples(st.sampled_from("abc"), st.none() | st.integers(0, 3)), max_size=12)


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None, max_examples=60)
@given(before=ROWS, after=ROWS, seed=st.integers(0, 99))
def test_it_is_right_about_sameness(compared: Compared, before: Any, after: Any, seed: int) -> None:
    schema = {"k": pl.String, "v": pl.Int64}
    shuffled = random.Random(seed).sample(before, len(before))

    def table(rows: Any) -> pl.DataFrame:
        return pl.DataFrame(rows, schema=schema, orient="row")

    assert compared(table(before), table(shuffled)).none
    found = compared(table(before), table(after))
    assert found.none == (sorted(map(repr, before)) == sorted(map(repr, after)))
    assert len(before) + found.added_count - found.removed_count == len(after)

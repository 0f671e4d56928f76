"""A chart that a program drew keeps what is known, and is refused for anything else."""

from typing import Any

import pytest

from answerable.answers.program_chart import chart_from, is_chart
from answerable.answers.result_table import records_of
from answerable.core.errors import UserError

CHART: dict[str, Any] = {
    "data": {"values": [{"region": "North", "sum(x)": 3}, {"region": "South", "sum(x)": 4}]},
    "mark": {"type": "bar"},
    "encoding": {
        "x": {"field": "region", "type": "nominal", "sort": "-y"},
        "y": {"field": "sum(x)", "type": "quantitative", "title": "total"},
    },
}

ODD: tuple[Any, ...] = ({}, [[]], [{}], 1)


def test_fields_are_renamed_and_rows_come_along() -> None:
    rows, chart = chart_from(CHART)
    assert rows == CHART["data"]["values"]
    assert chart["data"] == {"name": "rows"}
    assert chart["encoding"]["x"] == {"field": "c0", "type": "nominal", "sort": "-y", "title": "region"}
    assert chart["encoding"]["y"]["field"] == "c1"


@pytest.mark.parametrize(
    "change",
    [
        {"data": {"url": "http://127.0.0.1/x.json"}},
        {"data": {"values": []}},
        {"mark": {"type": "image", "url": "x"}},
        {"mark": {"type": "bar", "href": {"expr": "x"}}},
        {"params": [{"name": "p", "expr": "1"}]},
        {"transform": [{"calculate": "1", "as": "z"}]},
        {"encoding": {"x": {"field": "nobody"}}},
        {"encoding": {"x": {"field": "region", "condition": {"test": "1"}}}},
        {"encoding": {"href": {"field": "region"}}},
        {"encoding": {"x": {"value": {"expr": "1"}}}},
        {"layer": [{"layer": []}]},
        {"usermeta": {}},
    ],
)
def test_what_could_run_load_or_link_is_refused(change: dict[str, Any]) -> None:
    with pytest.raises(UserError) as caught:
        chart_from({**CHART, **change})
    assert caught.value.stable_code == "chart_refused"


@pytest.mark.parametrize(
    "change",
    [
        {"mark": {"type": ["bar"]}},
        {"mark": {"type": {}}},
        {"mark": None},
        *({"encoding": {"x": {"field": "region", word: odd}}} for word in ("type", "sort") for odd in ODD),
        *({"encoding": {"x": {word: odd}}} for word in ("field", "bin", "timeUnit") for odd in ODD),
        {"encoding": {"x": {"field": "region", "title": "x" * 1_000_000}}},
        {"encoding": {"x": {"field": "region", "sort": ["x"] * 100_000}}},
        {"encoding": {"tooltip": [{"field": "region"}] * 100_000}},
        {"encoding": []},
        {"layer": [{"mark": "bar"}] * 100_000},
        {"layer": {"mark": "bar"}},
        {"width": 1e12},
        {"height": -1},
    ],
)
def test_what_is_odd_or_endless_is_refused(change: dict[str, Any]) -> None:
    """Not a defect of ours, and nothing that a browser would have to draw."""
    with pytest.raises(UserError) as caught:
        chart_from({**CHART, **change})
    assert caught.value.stable_code == "chart_refused"


def test_a_table_is_not_a_chart() -> None:
    assert is_chart(CHART)
    assert not is_chart({"data": 1, "count": 2})
    assert not is_chart([CHART])


@pytest.mark.parametrize(
    ("value", "columns", "count"),
    [
        (3, ["result"], 1),
        (None, ["result"], 1),
        ("text", ["result"], 1),
        ([1, 2, 3], ["value"], 3),
        ([], [], 0),
        ([{"a": 1}, {"a": 2, "b": "x"}], ["a", "b"], 2),
        ({"a": 1, "b": 2.5}, ["a", "b"], 1),
        ({"a": {"b": [1]}}, ["result"], 1),
        (CHART, ["region", "sum(x)"], 2),
    ],
)
def test_a_value_becomes_the_smallest_table(value: Any, columns: list[str], count: int) -> None:
    records, _chart = records_of(value)
    assert list(dict.fromkeys(name for record in records for name in record)) == columns
    assert len(records) == count

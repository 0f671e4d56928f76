import json
from collections.abc import Callable, Sequence
from typing import Any

import pytest

from answerable.answers.chart import chart, chart_data
from answerable.core.values import OutputColumn

Columns = Callable[..., Sequence[OutputColumn]]

MONTHS = [f"2024-{month:02d}-01" for month in range(1, 13)]


def mark(spec: Any) -> str:
    return str(spec["mark"]["type"])


def test_time_and_measure_is_a_line(columns: Columns) -> None:
    rows = [(month, i) for i, month in enumerate(MONTHS)]
    spec = chart(columns(month="date", revenue="number"), rows, 12, units={"revenue": "EUR"})
    assert spec is not None
    assert mark(spec) == "line"
    assert spec["encoding"]["x"] == {"field": "c0", "title": "Month", "type": "temporal", "scale": {"type": "utc"}}
    assert spec["encoding"]["y"] == {"field": "c1", "type": "quantitative", "title": "Revenue (EUR)"}
    assert spec["data"] == {"name": "rows"}
    assert spec["title"] == "Revenue by month"


def test_series_have_colours_up_to_six(columns: Columns) -> None:
    def lines(series: int) -> Any:
        rows = [(month, f"s{n}", n) for month in MONTHS for n in range(series)]
        return chart(columns(month="date", product="text", revenue="number"), rows, len(rows))

    assert lines(6)["encoding"]["color"]["field"] == "c1"
    assert lines(7) is None


def test_measures_of_one_size_share_an_axis(columns: Columns) -> None:
    kinds = columns(month="date", planned="number", actual="number")
    together = chart(kinds, [(month, i + 10, i + 12) for i, month in enumerate(MONTHS)], 12)
    assert together is not None
    assert together["transform"][0] == {"fold": ["c1", "c2"], "as": ["measure", "value"]}
    assert together["transform"][1]["from"]["data"]["values"][1] == {"key": "c2", "series": "Actual"}
    apart = chart(kinds, [(month, i + 10, (i + 12) * 1_000) for i, month in enumerate(MONTHS)], 12)
    assert apart is not None
    assert apart["encoding"]["y"]["field"] == "c1", "there is no second axis"
    other_unit = chart(kinds, [(m, i + 10, i + 12) for i, m in enumerate(MONTHS)], 12, units={"actual": "kg"})
    assert other_unit is not None
    assert "transform" not in other_unit


def test_years_are_no_dates_but_time(columns: Columns) -> None:
    spec = chart(columns(year="integer", orders="integer"), [(2021, 5), (2022, 6)], 2)
    assert spec is not None
    assert (mark(spec), spec["encoding"]["x"]["type"]) == ("line", "ordinal")


def test_category_and_measure_is_a_bar(columns: Columns) -> None:
    kinds = columns(city="text", orders="integer")
    few = chart(kinds, [("Rome", 5), ("Oslo", 3)], 2)
    assert few is not None
    assert mark(few) == "bar"
    assert few["encoding"]["x"]["sort"] is None, "bars keep the order of the table"
    long = chart(kinds, [("Llanfairpwllgwyngyll", 5), ("Oslo", 3)], 2)
    many = chart(kinds, [(f"City {i}", i) for i in range(20)], 20)
    for lying in (long, many):
        assert lying is not None
        assert lying["encoding"]["y"]["field"] == "c0"
    assert chart(kinds, [(f"City {i}", i) for i in range(80)], 80) is None


def test_two_categories_are_grouped_bars(columns: Columns) -> None:
    rows = [(city, kind, 1) for city in ("Rome", "Oslo", "Bonn") for kind in ("new", "old")]
    spec = chart(columns(kind="text", city="text", orders="integer"), [(k, c, n) for c, k, n in rows], 6)
    assert spec is not None
    assert spec["encoding"]["x"]["field"] == "c1"
    assert spec["encoding"]["xOffset"]["field"] == "c0"


def test_shares_are_bars_and_never_pies(columns: Columns) -> None:
    spec = chart(columns(kind="text", share="number"), [("a", 0.7), ("b", 0.3)], 2)
    assert spec is not None
    assert mark(spec) == "bar"


def test_two_measures_are_points(columns: Columns) -> None:
    spec = chart(columns(height="number", weight="number"), [(1.0, 2.0), (2.0, 3.0), (3.0, 5.0)], 3)
    assert spec is not None
    assert mark(spec) == "point"
    rows = [(f"p{i}", i * 1.0, i * 2.0) for i in range(200)]
    named = chart(columns(name="text", height="number", weight="number"), rows, 200)
    assert named is not None
    assert mark(named) == "point"


@pytest.mark.parametrize(
    ("kinds", "rows", "count"),
    [
        ({"n": "integer"}, [(1,)], 1),
        ({"name": "text"}, [("a",), ("b",)], 2),
        ({"name": "text", "other": "text"}, [("a", "b"), ("c", "d")], 2),
        ({"order_id": "integer", "name": "text"}, [(1, "b"), (2, "d")], 2),
        ({"city": "text", "orders": "integer"}, [("Rome", 1), ("Rome", 2)], 2),
        ({"month": "date", "orders": "integer"}, [("2024-01-01", 1), ("2024-01-01", 2)], 2),
        ({"month": "date", "orders": "integer"}, [("2024-01-01", None), ("2024-02-01", None)], 2),
        ({"city": "text", "orders": "integer"}, [("Rome", 1), ("Oslo", 2)], 5_000),
        ({"city": "text", "total": "integer"}, [("Rome", "99999999999999999999"), ("Oslo", "1")], 2),
        ({"raw": "binary", "orders": "integer"}, [("eA==", 1), ("eQ==", 2)], 2),
        ({"orders": "integer"}, [], 0),
    ],
)
def test_where_none_fits_there_is_none(columns: Columns, kinds: dict[str, Any], rows: Any, count: int) -> None:
    assert chart(columns(**kinds), rows, count) is None


@pytest.mark.parametrize("name", ["a.b[0]", "x']; alert(1); //", 'quote "', "back\\slash", "new\nline", "__proto__"])
def test_hostile_names_are_titles_only(name: str) -> None:
    columns = (OutputColumn(name=name, type="text"), OutputColumn(name=f"{name} 2", type="integer"))
    spec = chart(columns, [("a", 1), ("b", 2)], 2)
    assert spec is not None

    def strings(node: Any, key: str = "") -> list[tuple[str, str]]:
        if isinstance(node, dict):
            return [found for k, v in node.items() for found in strings(v, k)]
        if isinstance(node, list):
            return [found for v in node for found in strings(v, key)]
        return [(key, node)] if isinstance(node, str) else []

    for key, text in strings(spec):
        assert text.isprintable()
        if key not in ("title", "description", "$schema"):
            assert name.strip() not in text
    json.dumps(spec)


def test_data_has_the_fields_of_the_specification() -> None:
    assert chart_data([("a", 1), ("b", None)]) == [{"c0": "a", "c1": 1}, {"c0": "b", "c1": None}]

"""What expressions mean, computed a second time in Python: three databases must come to the same values."""

from datetime import date, datetime, timedelta
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from answerable.core.catalog import Catalog
from answerable.core.values import Language
from answerable.query.plan import (
    Arithmetic,
    Bucket,
    Compare,
    Constant,
    DateDifference,
    DatePart,
    Expr,
    Filter,
    QueryPlan,
    SelectItem,
    TextMatch,
)
from answerable.query.sql.check import checked
from answerable.query.sql.to_sql import to_sql

SETTINGS = settings(
    max_examples=60,
    derandomize=True,
    deadline=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
)
MOMENTS = st.datetimes(datetime(1890, 1, 1), datetime(2110, 12, 31)).map(
    lambda moment: moment.replace(microsecond=moment.microsecond // 1000 * 1000)
)
TEXTS = st.text(st.characters(exclude_characters="\0", exclude_categories=["Cs"]), max_size=12)
ASCII = st.text("aAbB%_\\!'\" ", max_size=6)


def values(shop: Catalog, engines: dict[Language, Any], *exprs: Expr, where: Filter | None = None) -> list[list[Any]]:
    """The one row that each database gives for these expressions, or nothing when the filter does not hold."""
    items = tuple(SelectItem(expr=expr, label=f"c{number}") for number, expr in enumerate(exprs))
    plan = QueryPlan(entity="products", select=items, where=where, limit=1)
    rows = []
    for dialect, engine in engines.items():
        text = to_sql(plan, shop, dialect)
        assert checked(text, shop, dialect=dialect).text == text
        rows.append([list(row) for row in engine.execute(text)[1]])
    return rows


def moment(value: datetime) -> Constant:
    return Constant(value=value.isoformat(), type="datetime")


def plain_date(value: Any) -> str:
    return value[:10] if isinstance(value, str) else value.strftime("%Y-%m-%d")


@SETTINGS
@given(text=TEXTS)
def test_text_arrives_unchanged(text: str, shop: Catalog, engines: dict[Language, Any]) -> None:
    constant = Constant(value=text)
    assert values(shop, engines, constant) == [[[text]]] * 3


@SETTINGS
@given(left=ASCII, pattern=ASCII.filter(bool), how=st.sampled_from(["contains", "starts_with", "ends_with", "equals"]))
def test_matching(left: str, pattern: str, how: str, shop: Catalog, engines: dict[Language, Any]) -> None:
    low, sought = left.lower(), pattern.lower()
    expected = {
        "contains": sought in low,
        "starts_with": low.startswith(sought),
        "ends_with": low.endswith(sought),
        "equals": low == sought,
    }[how]
    for negated in (False, True):
        match = TextMatch.model_validate(
            {"left": {"kind": "constant", "value": left}, "how": how, "pattern": pattern, "negated": negated}
        )
        found = [bool(rows) for rows in values(shop, engines, Constant(value=1), where=match)]
        assert found == [expected != negated] * 3


@SETTINGS
@given(letter=st.sampled_from("éÉöÖñÑçÇžŽøØаАяЯωΩ"), upper=st.booleans())
def test_matching_letters_beyond_ascii(letter: str, upper: bool, shop: Catalog, engines: dict[Language, Any]) -> None:
    pattern = letter.upper() if upper else letter.lower()
    match = TextMatch(left=Constant(value=f"x{letter}Y"), how="equals", pattern=f"X{pattern}y")
    assert [bool(rows) for rows in values(shop, engines, Constant(value=1), where=match)] == [True] * 3


@SETTINGS
@given(value=MOMENTS)
def test_parts(value: datetime, shop: Catalog, engines: dict[Language, Any]) -> None:
    expected = {
        "year": value.year,
        "quarter": (value.month + 2) // 3,
        "month": value.month,
        "week": value.isocalendar().week,
        "day": value.day,
        "weekday": value.isoweekday(),
        "hour": value.hour,
        "minute": value.minute,
    }
    parts = [DatePart.model_validate({"part": part, "of": moment(value)}) for part in expected]
    assert values(shop, engines, *parts) == [[list(expected.values())]] * 3


@SETTINGS
@given(value=MOMENTS)
def test_buckets(value: datetime, shop: Catalog, engines: dict[Language, Any]) -> None:
    day = value.date()
    expected = {
        "day": day,
        "week": day - timedelta(days=day.weekday()),
        "month": day.replace(day=1),
        "quarter": date(day.year, (day.month - 1) // 3 * 3 + 1, 1),
        "year": date(day.year, 1, 1),
    }
    buckets = [Bucket.model_validate({"unit": unit, "of": moment(value)}) for unit in expected]
    for rows in values(shop, engines, *buckets):
        assert [plain_date(start) for start in rows[0]] == [start.isoformat() for start in expected.values()]


@SETTINGS
@given(value=MOMENTS)
def test_buckets_within_a_day(value: datetime, shop: Catalog, engines: dict[Language, Any]) -> None:
    expected = [
        value.replace(minute=0, second=0, microsecond=0),
        value.replace(second=0, microsecond=0),
        value.replace(microsecond=0),
    ]
    buckets = [Bucket.model_validate({"unit": unit, "of": moment(value)}) for unit in ("hour", "minute", "second")]
    for rows in values(shop, engines, *buckets):
        starts = [datetime.fromisoformat(start) if isinstance(start, str) else start for start in rows[0]]
        assert starts == expected


@SETTINGS
@given(start=MOMENTS, end=MOMENTS)
def test_durations(start: datetime, end: datetime, shop: Catalog, engines: dict[Language, Any]) -> None:
    seconds = (end - start).total_seconds()
    units = {"second": 1, "minute": 60, "hour": 3600, "day": 86400}
    durations = [
        DateDifference.model_validate({"unit": unit, "start": moment(start), "end": moment(end)}) for unit in units
    ]
    for rows in values(shop, engines, *durations):
        assert [float(length) for length in rows[0]] == pytest.approx([seconds / unit for unit in units.values()])


@SETTINGS
@given(left=MOMENTS, right=st.one_of(MOMENTS, st.none()), op=st.sampled_from(["=", "!=", "<", "<=", ">", ">="]))
def test_order_of_moments(
    left: datetime, right: datetime | None, op: str, shop: Catalog, engines: dict[Language, Any]
) -> None:
    other = right or left
    expected = {
        "=": left == other,
        "!=": left != other,
        "<": left < other,
        "<=": left <= other,
        ">": left > other,
        ">=": left >= other,
    }[op]
    compare = Compare.model_validate({"left": moment(left), "op": op, "right": moment(other)})
    assert [bool(rows) for rows in values(shop, engines, Constant(value=1), where=compare)] == [expected] * 3


@SETTINGS
@given(left=st.integers(-1000, 1000), right=st.integers(-10, 10))
def test_division(left: int, right: int, shop: Catalog, engines: dict[Language, Any]) -> None:
    quotient = Arithmetic(op="/", left=Constant(value=left), right=Constant(value=right))
    for rows in values(shop, engines, quotient):
        found = rows[0][0]
        assert found is None if right == 0 else float(found) == pytest.approx(left / right)


@SETTINGS
@given(
    numbers=st.lists(st.integers(-9, 9), min_size=4, max_size=4),
    ops=st.lists(st.sampled_from("+-*"), min_size=3, max_size=3),
)
def test_arithmetic_keeps_its_shape(
    numbers: list[int], ops: list[str], shop: Catalog, engines: dict[Language, Any]
) -> None:
    """Both ways to nest: ((a∘b)∘c)∘d and a∘(b∘(c∘d))."""
    compute = {"+": int.__add__, "-": int.__sub__, "*": int.__mul__}
    a, b, c, d = (Constant(value=number) for number in numbers)
    leftwards: Any = a
    left_value = numbers[0]
    for op, constant, number in zip(ops, (b, c, d), numbers[1:], strict=True):
        leftwards = Arithmetic.model_validate({"op": op, "left": leftwards, "right": constant})
        left_value = compute[op](left_value, number)
    rightwards: Any = d
    right_value = numbers[3]
    for op, constant, number in zip(reversed(ops), (c, b, a), reversed(numbers[:3]), strict=True):
        rightwards = Arithmetic.model_validate({"op": op, "left": constant, "right": rightwards})
        right_value = compute[op](number, right_value)
    assert values(shop, engines, leftwards, rightwards) == [[[left_value, right_value]]] * 3

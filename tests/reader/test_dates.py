"""Every phrase of the fixture file is found as written there, and no text at all makes the finder stumble."""

import json
from datetime import date, datetime
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from answerable.reader.time.calendar_periods import Period, around, floor, period_name, shift, unit_of
from answerable.reader.time.date_phrases import DateSpan, find_dates

FIXTURES = Path(__file__).parents[1] / "fixtures" / "dates"
CASES = [json.loads(line) for file in sorted(FIXTURES.glob("*.jsonl")) for line in file.read_text("utf-8").splitlines()]


def as_written(span: DateSpan) -> dict[str, Any]:
    """The span in the words of the fixture file: only what is set."""
    fields = {
        "start": span.start.isoformat() if span.start else None,
        "end": span.end.isoformat() if span.end else None,
        "unit": span.unit,
        "part": span.part,
        "values": list(span.values),
        "doubt": span.doubt,
        "alternatives": [[other.start.isoformat(), other.end.isoformat()] for other in span.alternatives],
    }
    return {"text": span.text, "kind": span.kind} | {name: value for name, value in fields.items() if value}


@pytest.mark.parametrize("case", CASES, ids=lambda case: f"{case['today']} {case['text']}")
def test_phrases(case: dict[str, Any]) -> None:
    found = find_dates(case["text"], date.fromisoformat(case["today"]))
    assert [as_written(span) for span in found] == case["spans"]


WORDS = (FIXTURES / "words.txt").read_text("utf-8").split()


@given(st.lists(st.sampled_from(WORDS), max_size=12).map(" ".join), st.dates())
def test_any_words_give_ordered_spans_of_the_text(text: str, today: date) -> None:
    spans = find_dates(text, today)
    position = 0
    for span in spans:
        assert position <= span.start_char < span.end_char <= len(text)
        assert text[span.start_char : span.end_char] == span.text
        assert span.start is None or span.end is None or span.start < span.end
        position = span.end_char


@given(st.text(max_size=80), st.dates())
def test_any_text_is_survived(text: str, today: date) -> None:
    assert all(text[span.start_char : span.end_char] == span.text for span in find_dates(text, today))


def test_a_very_long_question_is_read_in_linear_time() -> None:
    spans = find_dates("revenue in March 2024 and orders since last year " * 2_000, date(2026, 1, 15))
    assert len(spans) == 4_000


def test_a_moment_counts_as_its_day_for_today() -> None:
    assert find_dates("yesterday", datetime(2026, 1, 15, 23, 59)) == find_dates("yesterday", date(2026, 1, 15))


@given(
    st.dates(), st.sampled_from(["day", "week", "month", "quarter", "half", "year", "decade"]), st.integers(-9999, 9999)
)
def test_floor_and_shift_agree(day: date, unit: Any, count: int) -> None:
    period = around(day, unit)
    assert period.start <= day
    assert day < period.end or period.end == date.max
    assert floor(period.start, unit) == period.start
    assert date.min <= shift(day, unit, count) <= date.max


@pytest.mark.parametrize(
    ("start", "end", "name"),
    [
        ("2024-05-01", "2024-05-02", "on 1 May 2024"),
        ("2025-07-07", "2025-07-14", "in the week of 7 July 2025"),
        ("2024-03-01", "2024-04-01", "in March 2024"),
        ("2025-07-01", "2025-10-01", "in the third quarter of 2025"),
        ("2025-07-01", "2026-01-01", "in the second half of 2025"),
        ("2024-01-01", "2025-01-01", "in 2024"),
        ("1990-01-01", "2000-01-01", "in the 1990s"),
        ("2023-01-01", "2025-01-01", "from 2023 to 2024"),
        ("2024-11-01", "2025-03-01", "from November 2024 to February 2025"),
        ("2024-11-05", "2025-03-01", "from 5 November 2024 to 28 February 2025"),
        ("2024-11-05", "2024-11-05", None),
    ],
)
def test_periods_have_names(start: str, end: str, name: str | None) -> None:
    assert period_name(Period(date.fromisoformat(start), date.fromisoformat(end))) == name


def test_a_period_that_is_no_calendar_unit_has_none() -> None:
    assert unit_of(Period(date(2024, 1, 2), date(2024, 2, 2))) is None

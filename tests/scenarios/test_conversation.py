"""A question back keeps the thread: what was talked about before is not forgotten."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from answerable.library import Answerable


@pytest.fixture
def data(tmp_path: Path, sales: Path) -> Iterator[Answerable]:
    with Answerable(sales, home=tmp_path / "home") as opened:
        yield opened


def test_after_a_question_that_was_not_understood(data: Answerable) -> None:
    first = data.ask("how many orders in August 2025?")
    assert first.text == "6 orders match."
    lost = data.ask("what is the meaning of life?")
    assert lost.kind == "clarify"
    assert len(lost.choices) <= 3
    for choice in lost.choices:  # each was tried, so each is answered
        data.forget()
        assert data.ask(choice.label).kind in ("value", "table")


def test_the_subject_is_kept_over_a_question_back(data: Answerable) -> None:
    data.ask("how many orders in August 2025?")
    assert data.ask("florb the gnorp").kind == "clarify"
    assert data.ask("and in November 2025?").text == "6 orders match."


def test_a_follow_up_to_a_reading_that_was_not_chosen_is_not_sure(data: Answerable) -> None:
    asked = data.ask("zorbs per region")
    if asked.kind == "clarify" and asked.choices:
        followed = data.ask("without South")
        assert followed.answer.provenance.confidence != "high"


def test_a_superlative_of_another_period_is_a_question_of_its_own(tmp_path: Path) -> None:
    days = [
        f"2024-{month:02}-{day:02},{month + day / 10},{'sun' if day % 2 else 'rain'}"
        for month in (1, 2)
        for day in range(1, 29)
    ]
    (tmp_path / "weather.csv").write_text("\n".join(["date,temp_max,weather", *days]) + "\n")
    with Answerable(tmp_path / "weather.csv", home=tmp_path / "home") as data:
        assert data.ask("average temp max by weather").kind == "table"
        hottest = data.ask("hottest day")
        first = hottest.sql or hottest.choices[0].code or ""
        assert "GROUP BY" not in first
        assert "date" in first

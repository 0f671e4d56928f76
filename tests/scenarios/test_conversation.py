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

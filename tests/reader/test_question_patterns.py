"""A question of `semantic.yaml` with places is asked with any value of the column, and any period."""

from collections.abc import Callable, Sequence
from datetime import date, timedelta

import pytest

from answerable.core.catalog import Catalog, KnownQuestion, ValueLookup
from answerable.core.errors import UserError
from answerable.reader.reader import Reader
from answerable.sources.semantic import apply, parse

PER_CITY = "SELECT name FROM customer WHERE city = '{customer.city}'"
BOTH = "SELECT name FROM customer WHERE city IN ('{customer.city}', '{customer.city 2}')"
NEW = "SELECT id FROM orders WHERE ordered_on >= '{period.start}' AND ordered_on < '{period.end}'"
QUESTIONS = [
    KnownQuestion(
        question="Who stopped buying in {customer.city}?", also=("lost ones of {customer.city}",), sql=PER_CITY
    ),
    KnownQuestion(question="Who lives in either {customer.city} or {customer.city 2}?", sql=BOTH),
    KnownQuestion(question="What came in {period}?", sql=NEW),
    KnownQuestion(question="Who has not complained since moving to {customer.city}?", sql=PER_CITY + " LIMIT 1"),
    KnownQuestion(question="What lay around for {duration}?", sql="SELECT id FROM orders WHERE day < '{duration.ago}'"),
]  # fmt: skip


@pytest.fixture
def ask(shop: Catalog, values: ValueLookup, today: Callable[[], date]) -> Callable[[str], str | None]:
    reader = Reader(shop.model_copy(update={"questions": tuple(QUESTIONS)}), values, today=today)

    def asked(question: str) -> str | None:
        found = reader.learned(question)
        return None if found is None else " ".join(found.sql.split())

    return asked


@pytest.mark.parametrize(
    "question",
    [
        "Who stopped buying in Berlin?",
        "who stopped buying in berlin",
        "Berlin: who stopped buying",
        "lost ones of Berlin",
    ],
)
def test_a_value_of_the_column_takes_the_place(ask: Callable[[str], str | None], question: str) -> None:
    assert ask(question) == "SELECT name FROM customer WHERE city = 'Berlin'"


@pytest.mark.parametrize(
    "question",
    [
        "Who stopped buying in Atlantis?",
        "Who never stopped buying in Berlin?",
        "Who stopped buying shoes in Berlin?",
        "Who stopped buying?",
        "Who stopped buying in Berlin or Paris?",
        "Who stopped buying in Berlin in 2024?",
    ],
)
def test_a_question_that_says_anything_else_does_not_fit(ask: Callable[[str], str | None], question: str) -> None:
    assert ask(question) is None


@pytest.mark.parametrize(
    "question",
    [
        "who hasn't complained since moving to Berlin",
        "people who haven’t complained since moving to Berlin",
        "everyone that never complained since moving into Berlin",
    ],
)
def test_longer_and_shorter_ways_to_say_the_same_fit(ask: Callable[[str], str | None], question: str) -> None:
    assert ask(question) == "SELECT name FROM customer WHERE city = 'Berlin' LIMIT 1"


def test_two_values_of_one_column(ask: Callable[[str], str | None]) -> None:
    assert ask("Who lives in either Berlin or Paris?") == "SELECT name FROM customer WHERE city IN ('Berlin', 'Paris')"


def test_a_period_is_any_phrase_about_time(ask: Callable[[str], str | None]) -> None:
    assert ask("what came in during March 2024?") is not None
    assert "'2024-03-01'" in (ask("what came in March 2024?") or "")
    assert "'2024-04-01'" in (ask("what came in March 2024?") or "")
    assert ask("What came in?") is None


def test_a_duration_is_the_day_so_long_ago(ask: Callable[[str], str | None], today: Callable[[], date]) -> None:
    day = today() - timedelta(days=14)
    assert ask("what lay around for two weeks?") == f"SELECT id FROM orders WHERE day < '{day}'"
    assert ask("what lay around for 2 weeks or 3 days?") is None


@pytest.mark.parametrize(
    ("question", "sql"),
    [
        ("Who lives in {customer.town}?", "SELECT 1 FROM customer WHERE city = '{customer.town}'"),
        ("Who lives in {customer.city}?", "SELECT 1 FROM customer"),
        ("Who lives there?", "SELECT 1 FROM customer WHERE city = '{customer.city}'"),
    ],
)
def test_places_that_do_not_fit_are_refused_with_their_line(shop: Catalog, question: str, sql: str) -> None:
    text = f"version: 1\nquestions:\n  - question: '{question}'\n    sql: >-\n      {sql}\n"
    with pytest.raises(UserError, match=r"line 3"):
        apply(shop, parse(text))


def test_patterns_are_not_offered_as_questions(shop: Catalog, values: ValueLookup, today: Callable[[], date]) -> None:
    reader = Reader(shop.model_copy(update={"questions": tuple(QUESTIONS)}), values, today=today)
    offered: Sequence[str] = reader.learned_like("who stopped buying in town", 5)
    assert not any("{" in text for text in offered)


def test_a_very_long_question_is_not_searched_for_values(ask: Callable[[str], str | None]) -> None:
    """Every word could be one of the pattern, so each pair of phrases would be looked up."""
    assert ask(f"Who lives in either Berlin or Paris {'lives in either or ' * 300}?") is None

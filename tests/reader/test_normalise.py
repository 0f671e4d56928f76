"""Questions become tokens; nothing a user can type makes it fail."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from answerable.reader.linking.tokens import MAX_CHARACTERS, MAX_TOKENS, tokenize


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("How many?", ["How", "many", "?"]),
        ("the customer's city", ["the", "customer", "city"]),
        ("sign-ups per year", ["sign", "ups", "per", "year"]),
        ("more than 1,500.50", ["more", "than", "1,500.50"]),
        ("since 2018-03-17 07:13:53", ["since", "2018-03-17 07:13:53"]),
    ],
)
def test_words(text: str, expected: list[str]) -> None:
    assert [token.text for token in tokenize(text).tokens] == expected


@pytest.mark.parametrize(
    ("text", "value"),
    [("1,500", 1500), ("$2.5", 2.5), ("3k", 3000), ("twelve", 12), ("10%", 10), ("2m", 2_000_000)],
)
def test_numbers_have_their_value(text: str, value: float) -> None:
    assert tokenize(text).tokens[0].value == value


@pytest.mark.parametrize("text", ['from "New York" city', "from 'New York' city", "from “New York” city"])
def test_quotes_are_kept_whole(text: str) -> None:
    question = tokenize(text)
    (quote,) = question.quotes
    assert quote.text == "New York"
    assert [token.kind for token in question.tokens[quote.start : quote.end]] == ["quoted", "quoted"]


def test_an_apostrophe_is_no_quote() -> None:
    assert tokenize("what's the manager's name").quotes == ()


def test_long_questions_are_cut_and_say_so() -> None:
    question = tokenize("word " * 30_000)
    assert question.truncated
    assert len(question.tokens) <= MAX_TOKENS + 5
    assert len(question.text) <= MAX_CHARACTERS


@given(st.text(max_size=300))
def test_any_text_can_be_read(text: str) -> None:
    question = tokenize(text)
    for token in question.tokens:
        assert 0 <= token.start < token.end <= len(question.text)

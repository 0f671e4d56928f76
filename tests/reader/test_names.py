"""Names of columns become the words that people say."""

import pytest

from answerable.reader.linking.name_words import spelled_out, split_name


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("Vehicle_Flight_number", ("vehicle", "flight", "number")),
        ("roomName", ("room", "name")),
        ("lastname", ("last", "name")),
        ("HTTPStatus", ("http", "status")),
        ("total amount (EUR)", ("total", "amount", "eur")),
    ],
)
def test_split(name: str, words: tuple[str, ...]) -> None:
    assert split_name(name) == words


def test_the_words_of_the_schema_help_to_split() -> None:
    assert split_name("authid", {"authors"}) == ("auth", "id")
    assert split_name("authid") == ("authid",)


def test_abbreviations() -> None:
    assert spelled_out(("fname", "dept")) == ("first", "name", "department")

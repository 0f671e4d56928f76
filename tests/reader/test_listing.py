"""What a question lists to be shown, and how a candidate keeps to it."""

from collections.abc import Callable

import pytest

from answerable.reader.draft import Draft, Order, Term
from answerable.reader.listing import Listing, listed
from answerable.reader.scene import Scene
from answerable.reader.schema import Schema


@pytest.mark.parametrize(
    ("question", "items"),
    [
        ("What are the name, age and city of all customers?", ["name", "age", "city"]),
        ("Show the average, maximum and minimum age of customers", ["average", "maximum", "minimum age"]),
        ("How many customers are there?", ["How many customers"]),
        ("For each city, show the name of the customers", ["name"]),
        ("", []),
    ],
)
def test_the_items(scene_of: Callable[[str], Scene], question: str, items: list[str]) -> None:
    scene = scene_of(question)
    assert [" ".join(scene.tokens[place].text for place in item) for item in listed(scene)] == items


def _column(schema: Schema, name: str) -> Term:
    return Term(next(view.id for view in schema.columns if view.name == name))


@pytest.fixture
def listing(scene_of: Callable[[str], Scene]) -> Listing:
    return Listing(scene_of("Show the name and age of customers sorted by city"))


def test_a_list_that_is_kept_lacks_nothing(listing: Listing, schema: Schema) -> None:
    kept = Draft(0, (_column(schema, "name"), _column(schema, "age")))
    assert listing.vector(kept, ())[:5] == [2.0, 0.0, 0.0, 0.0, 0.0]


def test_what_is_left_out_turned_round_or_not_asked_for_is_seen(listing: Listing, schema: Schema) -> None:
    name, age, city = (_column(schema, each) for each in ("name", "age", "city"))
    _, longer, missed, turned, unasked, *_ = listing.vector(Draft(0, (name,)), ())
    assert (longer, missed) == (-1.0, 1.0)
    _, _, _, turned, _, *_ = listing.vector(Draft(0, (age, name)), ())
    assert turned == 1.0
    _, _, _, _, unasked, *_ = listing.vector(Draft(0, (name, city)), ())
    assert unasked == 1.0


def test_the_column_that_is_sorted_by_stands_near_the_word_for_it(listing: Listing, schema: Schema) -> None:
    by_city = Draft(0, (_column(schema, "name"),), order=(Order(_column(schema, "city")),))
    by_name = by_city._replace(order=(Order(_column(schema, "name")),))
    assert listing.vector(by_city, ())[-2] < listing.vector(by_name, ())[-2]

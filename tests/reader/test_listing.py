"""What a question lists to be shown, and how a candidate keeps to it."""

from collections.abc import Callable

import pytest

from answerable.reader.linking.scene import Scene
from answerable.reader.linking.schema import Schema
from answerable.reader.plans.draft import Draft, DraftOrder, Term
from answerable.reader.ranking.listed_items import Listing, listed


@pytest.mark.parametrize(
    ("question", "items"),
    [
        ("What are the name, age and city of all customers?", ["name", "age", "city"]),
        ("Show the average, maximum and minimum age of customers", ["average", "maximum", "minimum age"]),
        ("How many customers are there?", ["How many customers"]),
        ("For each city, show the name of the customers", ["name"]),
        ("What are the names of customers and the city of the stores that sell most?", ["names", "city"]),
        ("Which customers are old? List the name and the age.", ["name", "age"]),
        ("", []),
    ],
)
def test_the_items(scene_of: Callable[[str], Scene], question: str, items: list[str]) -> None:
    scene = scene_of(question)
    assert [" ".join(scene.tokens[place].text for place in sorted(item.head)) for item in listed(scene)] == items


def _column(schema: Schema, name: str) -> Term:
    return Term(next(view.id for view in schema.columns if view.name == name))


@pytest.fixture
def listing(scene_of: Callable[[str], Scene]) -> Listing:
    return Listing(scene_of("Show the name and age of customers sorted by city"))


def test_a_list_that_is_kept_lacks_nothing(listing: Listing, schema: Schema) -> None:
    kept = Draft(0, (_column(schema, "name"), _column(schema, "age")))
    assert listing.vector(kept, ())[:6] == [2.0, 0.0, 0.0, 0.0, 1.0, 0.0]


def test_what_is_left_out_turned_round_or_not_asked_for_is_seen(listing: Listing, schema: Schema) -> None:
    name, age, city = (_column(schema, each) for each in ("name", "age", "city"))
    _, longer, missed, _, in_order, *_ = listing.vector(Draft(0, (name,)), ())
    assert (longer, missed, in_order) == (-1.0, 1.0, 0.5)
    _, _, missed, _, in_order, turned, *_ = listing.vector(Draft(0, (age, name)), ())
    assert (missed, in_order, turned) == (0.0, 0.5, 1.0)
    _, _, _, unasked, *_ = listing.vector(Draft(0, (name, city)), ())
    assert unasked == 1.0


def test_a_function_that_is_listed_is_not_the_column_by_itself(
    scene_of: Callable[[str], Scene], schema: Schema
) -> None:
    listing = Listing(scene_of("Show the average, minimum and maximum age of customers"))
    age = _column(schema, "age")
    wanted = tuple(age._replace(function=function) for function in ("avg", "min", "max"))
    assert listing.vector(Draft(0, wanted), ())[2:6] == [0.0, 0.0, 1.0, 0.0]
    _, _, missed, *_ = listing.vector(Draft(0, (wanted[0], wanted[2])), ())
    assert missed == 1.0


def test_the_column_that_is_sorted_by_stands_near_the_word_for_it(listing: Listing, schema: Schema) -> None:
    by_city = Draft(0, (_column(schema, "name"),), order=(DraftOrder(_column(schema, "city")),))
    by_name = by_city._replace(order=(DraftOrder(_column(schema, "name")),))
    assert listing.vector(by_city, ())[-2] < listing.vector(by_name, ())[-2]

"""Questions of measures and periods are read by grammar, word for word or not at all."""

from collections.abc import Callable
from datetime import date

import pytest

from answerable.core.catalog import Catalog
from answerable.query.sql.to_sql import to_sql
from answerable.reader.grammar.dated_scene import DatedScene
from answerable.reader.grammar.follow_up import parse_follow_up
from answerable.reader.grammar.grammar import parse_question
from answerable.reader.linking.scene import Scene
from answerable.reader.time.date_phrases import find_dates

Make = Callable[[str], Scene]
TODAY = date(2025, 6, 15)


@pytest.fixture
def sql_of(scene_of: Make, shop: Catalog) -> Callable[..., str | None]:
    """The SQL of the last question, each read after the ones before."""

    def read(*questions: str) -> str | None:
        plan = None
        for question in questions:
            scene = scene_of(question)
            dated = DatedScene(scene, find_dates(scene.question.text, TODAY))
            follow_up = parse_follow_up(dated, plan) if plan else None
            alone = None if follow_up else parse_question(dated)
            plan = follow_up.plan if follow_up else alone.parse.plan if alone else None
        return None if plan is None else " ".join(to_sql(plan, shop).split())

    return read


PERIOD = "orders.order_date >= '2024-01-01' AND orders.order_date < '2025-01-01'"
JOIN_ORDERS = "FROM order_line JOIN orders ON order_line.order_id = orders.id"


@pytest.mark.parametrize(
    ("question", "pieces"),
    [
        ("What was our revenue in 2024?", ["SUM(order_line.amount)", PERIOD]),
        ("sales by category", ["GROUP BY product.category", "SUM(order_line.amount)"]),
        ("revenue per month in 2024", ["GROUP BY", "ORDER BY", "order_date"]),
        ("How many orders last month?", ["COUNT(*)", "'2025-05-01'", "'2025-06-01'"]),
        ("top 3 products by revenue", ["product.product_name", "ORDER BY revenue DESC", "LIMIT 3"]),
        ("customers with more than 5 orders", ["HAVING COUNT(*) > 5", "customer.name"]),
        ("Which customers have never placed an order?", ["NOT IN", "customer_id"]),
        ("What share of orders in 2024 were returned?", ["FILTER", "'Returned'"]),
        ("which category grew fastest last quarter?", ["ORDER BY", "LIMIT 1", "'2025-01-01'", "'2024-10-01'"]),
        ("revenue in 2024 vs 2023", ["'2023-01-01'", "'2024-01-01'"]),
        ("customers older than the average", ["AVG(age)", "age >"]),
    ],
)
def test_forms(sql_of: Callable[..., str | None], question: str, pieces: list[str]) -> None:
    sql = sql_of(question)
    assert sql is not None
    for piece in pieces:
        assert piece in sql, sql


@pytest.mark.parametrize(
    "question",
    [
        "revenue of purple elephants in 2024",
        'revenue of "Atlantis" in 2024',
        "how many orders did the wizards cast last month",
    ],
)
def test_a_word_that_it_cannot_explain_stops_it(sql_of: Callable[..., str | None], question: str) -> None:
    assert sql_of(question) is None


@pytest.mark.parametrize(
    ("questions", "pieces"),
    [
        (("How many orders in 2025?", "and in 2024?"), ["COUNT(*)", "'2024-01-01'", "'2025-01-01'"]),
        (("How many orders in 2025?", "what about 2024?"), ["'2024-01-01'"]),
        (("revenue in 2024", "and by category?"), ["GROUP BY product.category", "'2024-01-01'"]),
        (("revenue by category in 2024", "and per month?"), ["GROUP BY", "ORDER BY"]),
        (("revenue by category in 2024", "only books"), ["product.category = 'Books'"]),
        (("revenue by category in 2024", "sort by revenue"), ["ORDER BY revenue DESC"]),
        (("revenue by category in 2024", "top 2"), ["LIMIT 2"]),
        (("customers in Berlin", "with the age"), ["name, age", "'Berlin'"]),
        (("customers in Berlin", "and in Paris?"), ["'Paris'"]),
    ],
)
def test_follow_ups(sql_of: Callable[..., str | None], questions: tuple[str, ...], pieces: list[str]) -> None:
    sql = sql_of(*questions)
    assert sql is not None
    for piece in pieces:
        assert piece in sql, sql


def test_a_new_value_replaces_the_one_of_the_same_column(sql_of: Callable[..., str | None]) -> None:
    assert "Berlin" not in (sql_of("customers in Berlin", "and in Paris?") or "")


@pytest.mark.parametrize("entity", ["orders", "customers", "products", "order lines"])
@pytest.mark.parametrize(
    "form",
    [
        "{0} in 2024 but not {0} in 2025",
        "{0} in 2024 but not in 2025",
        "{0} with orders in 2024 but no {0} in 2025",
        "{0} without revenue",
        "{0} that never had {0}",
        "{0} without {0}",
        "{0} with no order date",
        "how many {0} have no revenue",
    ],
)
def test_a_partner_that_is_the_thing_itself_never_breaks_a_form(
    sql_of: Callable[..., str | None], form: str, entity: str
) -> None:
    """Some of these mean nothing; reading them must end without an error all the same."""
    sql_of(form.format(entity))

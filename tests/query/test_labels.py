"""Result columns have short, readable and unique names."""

from typing import Any

import pytest

from answerable.core.catalog import Catalog
from answerable.query.labels import labels_in
from answerable.query.plan import QueryPlan
from answerable.query.scope import scope_of


def column(name: str) -> dict[str, Any]:
    table, _, column = name.partition(".")
    return {"kind": "column", "table": table, "column": column}


def aggregate(function: str, of: str | None = None, **more: Any) -> dict[str, Any]:
    return {"kind": "aggregate", "function": function, "of": column(of) if of else None, **more}


def labels(shop: Catalog, *items: Any, **more: Any) -> tuple[str, ...]:
    select = [item if "expr" in item else {"expr": item} for item in items]
    plan = QueryPlan.model_validate({"entity": "orders", "select": select, **more})
    return labels_in(plan, scope_of(plan, shop))


OPEN = {"kind": "compare", "left": column("orders.status"), "op": "=", "right": {"kind": "constant", "value": "open"}}
ANY = {
    "kind": "in",
    "left": column("orders.status"),
    "values": [{"kind": "constant", "value": "open"}, {"kind": "constant", "value": "lost"}],
}
MANY = {"kind": "compare", "left": column("orders.total"), "op": ">", "right": {"kind": "constant", "value": 1}}
CUSTOMER = [{"table": "customers", "relationship": "customer"}]


@pytest.mark.parametrize(
    ("expression", "label"),
    [
        (column("orders.customer_id"), "customer_id"),
        (aggregate("count"), "count"),
        (aggregate("count", "orders.total"), "count"),
        (aggregate("count", "orders.customer_id", distinct=True), "distinct customer id"),
        (aggregate("avg", "orders.customer_id"), "avg customer id"),
        (aggregate("sum", "orders.customer_id"), "total customer id"),
        (aggregate("sum", "orders.total"), "sum total"),
        (aggregate("stddev", "orders.total"), "standard deviation total"),
        (aggregate("count", where=OPEN), "count open"),
        (aggregate("count", where=ANY), "count open or lost"),
        (aggregate("count", where=MANY), "count"),
        ({"kind": "bucket", "unit": "month", "of": column("orders.shipped")}, "month"),
        ({"kind": "part", "part": "weekday", "of": column("orders.shipped")}, "weekday"),
        (
            {"kind": "duration", "unit": "day", "start": column("orders.shipped"), "end": column("orders.shipped")},
            "days",
        ),
        ({"kind": "text", "function": "upper", "of": column("orders.status")}, "upper status"),
        ({"kind": "constant", "value": 1}, "value"),
        (
            {"kind": "arithmetic", "op": "/", "left": aggregate("sum", "orders.total"), "right": aggregate("count")},
            "sum total / count",
        ),
        ({"kind": "query", "plan": {"entity": "items", "select": [{"expr": aggregate("count")}]}}, "count"),
    ],
)
def test_of_an_expression(shop: Catalog, expression: dict[str, Any], label: str) -> None:
    assert labels(shop, expression) == (label,)


def test_the_given_word_wins(shop: Catalog) -> None:
    assert labels(shop, {"expr": aggregate("count"), "label": "How many?"}) == ("How many?",)


def test_tables_are_named_only_where_it_helps(shop: Catalog) -> None:
    both = labels(shop, column("orders.id"), column("customers.id"), column("customers.name"), joins=CUSTOMER)
    assert both == ("orders.id", "customers.id", "name")


def test_no_two_are_alike_but_for_case(shop: Catalog) -> None:
    found = labels(
        shop,
        aggregate("count"),
        aggregate("count", where=MANY),
        {"expr": aggregate("count"), "label": "COUNT"},
        {"expr": aggregate("count"), "label": "count 2"},
    )
    assert found == ("count", "count 2", "COUNT 3", "count 2 2")


def test_every_column_of_the_entity(shop: Catalog) -> None:
    plan = QueryPlan(entity="items")
    assert labels_in(plan, scope_of(plan, shop)) == ("order_id", "product_id", "quantity", "price")


def test_long_ones_fit_into_every_database(shop: Catalog) -> None:
    found = labels(
        shop, {"expr": column("orders.id"), "label": "ü" * 100}, {"expr": column("orders.id"), "label": "ü" * 90}
    )
    assert len(set(found)) == 2
    assert all(len(label.encode()) <= 63 for label in found)

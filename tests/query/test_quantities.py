"""Which numbers of a result add up, and which are changes or parts of a whole."""

from typing import Any

import pytest

from answerable.core.catalog import Catalog, Column, Measure, Table
from answerable.query.labels import labels_in
from answerable.query.plan import QueryPlan
from answerable.query.scope import scope_of
from answerable.query.units import result_quantities, result_units

GOODS = Catalog(
    source="shop",
    dialect="duckdb",
    tables=(
        Table(
            name="goods",
            columns=tuple(Column(name=name, type="number", unit="EUR") for name in ("price", "cost", "rating")),
        ),
    ),
    measures=(
        Measure(name="revenue", table="goods", expression="sum(price)"),
        Measure(name="buyers", table="goods", expression="count(DISTINCT rating)"),
        Measure(name="mean_price", table="goods", expression="sum(price) / count(*)"),
        Measure(name="broken", table="goods", expression="sum(nothing)"),
    ),
)


def column(name: str) -> dict[str, Any]:
    return {"kind": "column", "table": "goods", "column": name}


def total(name: str, above: int | None = None) -> dict[str, Any]:
    limit = {"kind": "constant", "value": above}
    where = {"kind": "compare", "left": column("rating"), "op": ">", "right": limit} if above is not None else None
    return {"kind": "aggregate", "function": "sum", "of": column(name), "where": where}


def calculated(left: Any, op: str, right: Any) -> dict[str, Any]:
    return {"kind": "arithmetic", "op": op, "left": left, "right": right}


def measure(name: str) -> dict[str, Any]:
    return {"kind": "measure", "name": name}


HUNDRED = {"kind": "constant", "value": 100.0}
COUNT = {"kind": "aggregate", "function": "count"}
WHOLE = {"kind": "query", "plan": {"entity": "goods", "select": [{"expr": total("price")}]}}
CHANGE = calculated(total("price", 2), "-", total("price", 1))


@pytest.mark.parametrize(
    ("expression", "quantity", "label", "unit"),
    [
        (total("price"), "amount", "total price", "EUR"),
        (COUNT, "amount", "count", None),
        ({"kind": "aggregate", "function": "avg", "of": column("price")}, None, "avg price", "EUR"),
        ({**COUNT, "of": column("price"), "distinct": True}, None, "distinct price", None),
        (measure("revenue"), "amount", "revenue", None),
        (measure("buyers"), None, "buyers", None),
        (measure("mean_price"), None, "mean_price", None),
        (column("price"), "amount", "price", "EUR"),
        (column("cost"), None, "cost", "EUR"),
        (calculated(total("price"), "-", total("cost")), "amount", "total price - total cost", "EUR"),
        (calculated(total("price"), "+", measure("buyers")), None, "total price + buyers", None),
        (CHANGE, "change", "change of total price", "EUR"),
        (
            calculated(calculated(HUNDRED, "*", CHANGE), "/", total("price", 1)),
            "growth",
            "growth of total price",
            "%",
        ),
        (
            calculated(HUNDRED, "*", calculated(CHANGE, "/", total("price", 1))),
            "growth",
            "growth of total price",
            "%",
        ),
        (calculated(total("price"), "/", WHOLE), "share", "share of total price", None),
        (calculated(calculated(total("price"), "*", HUNDRED), "/", WHOLE), "share", "share of total price", "%"),
        (calculated(total("price", 1), "/", total("price")), "rate", "share of total price", None),
        (calculated(total("cost"), "/", WHOLE), None, "total cost / total price", None),
        (calculated(total("price"), "/", COUNT), None, "total price / count", None),
        (calculated(HUNDRED, "*", total("price")), "amount", "value * total price", None),
    ],
)
def test_a_number_is_known_by_how_it_is_made(expression: Any, quantity: str | None, label: str, unit: str) -> None:
    plan = QueryPlan.model_validate({"entity": "goods", "select": [{"expr": expression}]})
    assert labels_in(plan, scope_of(plan, GOODS)) == (label,)
    assert result_quantities(plan, GOODS) == ({label: quantity} if quantity else {})
    assert result_units(plan, GOODS) == ({label: unit} if unit else {})

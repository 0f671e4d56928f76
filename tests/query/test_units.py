"""The numbers of a result are counted in what their column is counted in, as long as that can be known."""

from typing import Any

import pytest

from answerable.core.catalog import Catalog, Column, Measure, Table
from answerable.query.plan import QueryPlan
from answerable.query.units import result_units

PRICE, WEIGHT, TAX = ({"kind": "column", "table": "goods", "column": name} for name in ("price", "weight", "tax"))
GOODS = Catalog(
    source="shop",
    dialect="duckdb",
    tables=(
        Table(
            name="goods",
            columns=(
                Column(name="price", type="number", unit="EUR"),
                Column(name="tax", type="number", unit="EUR"),
                Column(name="weight", type="number", unit="kg"),
                Column(name="name", type="text"),
            ),
        ),
    ),
    measures=(Measure(name="revenue", table="goods", expression="sum(price)", unit="EUR"),),
)


def _calculated(op: str, left: Any, right: Any) -> dict[str, Any]:
    return {"kind": "arithmetic", "op": op, "left": left, "right": right}


@pytest.mark.parametrize(
    ("expression", "unit"),
    [
        (PRICE, "EUR"),
        ({"kind": "aggregate", "function": "sum", "of": PRICE}, "EUR"),
        ({"kind": "aggregate", "function": "max", "of": WEIGHT}, "kg"),
        ({"kind": "aggregate", "function": "count", "of": PRICE}, None),
        ({"kind": "aggregate", "function": "count"}, None),
        ({"kind": "measure", "name": "revenue"}, "EUR"),
        (_calculated("+", PRICE, TAX), "EUR"),
        (_calculated("-", PRICE, WEIGHT), None),
        (_calculated("/", PRICE, TAX), None),
        ({"kind": "column", "table": "goods", "column": "name"}, None),
    ],
)
def test_units(expression: dict[str, Any], unit: str | None) -> None:
    plan = QueryPlan.model_validate({"entity": "goods", "select": [{"expr": expression, "label": "it"}]})
    assert result_units(plan, GOODS) == ({} if unit is None else {"it": unit})

"""Plans under fixtures/query/plans compile to the text written there; three real databases agree on their rows."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import yaml

from answerable.core.catalog import Catalog
from answerable.core.errors import UserError
from answerable.core.values import Language
from answerable.query.labels import labels_in
from answerable.query.plan import QueryPlan
from answerable.query.scope import scope_of
from answerable.query.sql.check import checked
from answerable.query.sql.to_sql import to_sql

PLANS = sorted((Path(__file__).parents[1] / "fixtures" / "query" / "plans").glob("*.yaml"))


@pytest.fixture(params=PLANS, ids=lambda path: path.stem)
def case(request: pytest.FixtureRequest) -> dict[str, Any]:
    content: dict[str, Any] = yaml.safe_load(request.param.read_text())
    return content


@pytest.fixture
def plan(case: dict[str, Any]) -> QueryPlan:
    return QueryPlan.model_validate(case["plan"])


def test_text_and_its_check(case: dict[str, Any], plan: QueryPlan, shop: Catalog) -> None:
    """The text is the one in the fixture, and the check of written SQL passes it unchanged."""
    for dialect, expected in case["sql"].items():
        text = to_sql(plan, shop, dialect)
        assert text == expected.rstrip("\n")
        answer = checked(text, shop, dialect=dialect)
        assert answer.text == text
        assert answer.output_labels == labels_in(plan, scope_of(plan, shop))


def test_three_databases_agree(
    case: dict[str, Any],
    plan: QueryPlan,
    shop: Catalog,
    engines: dict[Language, Any],
    same_rows: Callable[[Any, Any, bool], bool],
) -> None:
    expected = [tuple(row) for row in case["rows"]]
    for dialect, engine in engines.items():
        labels, rows = engine.run(to_sql(plan, shop, dialect))
        assert labels == labels_in(plan, scope_of(plan, shop)) == tuple(case["labels"])
        assert same_rows(rows, expected, case["ordered"]), (dialect, rows)


def test_there_are_fixtures() -> None:
    assert len(PLANS) > 100


def test_the_catalog_says_which_dialect(shop: Catalog) -> None:
    plan = QueryPlan.model_validate({"entity": "orders", "where": _on_a_day("shipped")})
    for dialect in ("duckdb", "sqlite", "postgres"):
        catalog = shop.model_copy(update={"dialect": dialect})
        assert to_sql(plan, catalog) == to_sql(plan, shop, dialect)


def test_a_schema_is_written_apart_from_the_table(shop: Catalog) -> None:
    orders = shop.table("orders")
    assert orders is not None
    catalog = Catalog(source="shop", dialect="duckdb", tables=(orders.model_copy(update={"name": "sales.Orders"}),))
    plan = QueryPlan.model_validate(
        {"entity": "sales.Orders", "select": [{"expr": {"kind": "column", "table": "sales.Orders", "column": "id"}}]}
    )
    assert to_sql(plan, catalog, "postgres") == 'SELECT\n  id\nFROM sales."Orders"'
    assert to_sql(plan, catalog, "duckdb") == "SELECT\n  id\nFROM sales.Orders"
    assert to_sql(plan, catalog, "sqlite") == 'SELECT\n  id\nFROM "sales.Orders"'
    for dialect in ("postgres", "duckdb", "sqlite"):
        assert checked(to_sql(plan, catalog, dialect), catalog, dialect=dialect).tables == {"sales.Orders"}


def test_a_plan_that_does_not_fit_is_not_compiled(shop: Catalog) -> None:
    with pytest.raises(UserError, match="There is no table 'order'") as caught:
        to_sql(QueryPlan(entity="order"), shop)
    assert caught.value.hint is not None
    assert "'orders'" in caught.value.hint


def _on_a_day(column: str) -> dict[str, Any]:
    day = {"kind": "constant", "value": "2024-01-01", "type": "date"}
    return {"kind": "compare", "left": {"kind": "column", "table": "orders", "column": column}, "op": "=", "right": day}

"""What a follow-up may refer to: a plan over the tables and columns of the source that is asked."""

import pytest

from answerable.agents.readers import is_over
from answerable.core.catalog import Catalog, Column, Table
from answerable.query.plan import ColumnRef, QueryPlan, SelectItem


def _catalog(column: str) -> Catalog:
    return Catalog(
        source="shop",
        dialect="duckdb",
        tables=(Table(name="orders", columns=(Column(name=column, type="text"),)),),
    )


@pytest.mark.parametrize(("column", "same"), [("region", True), ("colour", False)])
def test_a_plan_of_another_source_is_not_followed(column: str, same: bool) -> None:
    """Both sources have a table of orders, but only one has the column that was asked for."""
    plan = QueryPlan(entity="orders", select=(SelectItem(expr=ColumnRef(table="orders", column="region")),))
    assert is_over(_catalog(column), plan) is same

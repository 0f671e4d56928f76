"""A check is done once for each query and catalog, and never serves another query or another catalog."""

import pytest

from answerable.computing.processes import ComputingProcesses
from answerable.core.catalog import Catalog, Column, Table
from answerable.core.errors import UserError
from answerable.engine.steps import checked_queries
from answerable.engine.steps.checked_queries import CheckedQueries
from answerable.query.plan import QueryPlan


def catalog_of(table: str) -> Catalog:
    columns = (Column(name="n", type="integer"), Column(name="f", type="boolean"))
    return Catalog(source="x", dialect="duckdb", tables=(Table(name=table, columns=columns),))


@pytest.fixture
def checks() -> CheckedQueries:
    return CheckedQueries(ComputingProcesses())


async def test_the_same_query_is_checked_once(checks: CheckedQueries) -> None:
    catalog = catalog_of("t")
    first = await checks.checked("SELECT n FROM t", catalog)
    assert await checks.checked("SELECT n FROM t", catalog) is first


async def test_a_query_that_was_right_is_refused_when_the_catalog_has_changed(checks: CheckedQueries) -> None:
    await checks.checked("SELECT n FROM t", catalog_of("t"))
    for _ in range(20):  # a catalog may get the id of one that is gone
        with pytest.raises(UserError):
            await checks.checked("SELECT n FROM t", catalog_of("other"))


async def test_plans_that_are_equal_but_not_the_same_are_told_apart(checks: CheckedQueries) -> None:
    catalog = catalog_of("t")
    plans = [
        QueryPlan.model_validate({"entity": "t", "select": [{"expr": {"kind": "constant", "value": value}}]})
        for value in (1, True)
    ]
    assert plans[0] == plans[1]
    texts = [(await checks.checked(plan, catalog)).text for plan in plans]
    assert texts[0] != texts[1]


async def test_what_is_remembered_is_bounded(checks: CheckedQueries, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(checked_queries, "REMEMBERED", 2)
    catalog = catalog_of("t")
    queries = [await checks.checked(f"SELECT n FROM t LIMIT {number}", catalog) for number in range(4)]
    assert await checks.checked("SELECT n FROM t LIMIT 3", catalog) is queries[3]
    assert await checks.checked("SELECT n FROM t LIMIT 0", catalog) is not queries[0]

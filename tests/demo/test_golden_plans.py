"""Every golden question can be said as a query plan: written by hand here, they give the golden rows."""

import asyncio
import json
from pathlib import Path

import pytest

from answerable import demo
from answerable.core.catalog import Catalog
from answerable.demo.golden import opened
from answerable.evals.cases import load_cases
from answerable.evals.compare import same_rows
from answerable.query.plan import QueryPlan
from answerable.query.sql.to_sql import to_sql
from answerable.reader.explaining.sentence import sentence
from answerable.sources.open import open_source

FILE = Path(__file__).parents[1] / "fixtures" / "demo" / "plans.jsonl"
PLANS = {
    raw["group"]: QueryPlan.model_validate(raw["plan"]) for raw in map(json.loads, FILE.read_text("utf-8").splitlines())
}
GOLDEN = {case.group: case for case in load_cases("demo") if case.split == "golden"}


@pytest.fixture(scope="module")
def catalog(tmp_path_factory: pytest.TempPathFactory) -> Catalog:
    async def described() -> Catalog:
        source = await open_source(str(demo.location()), name="demo", cache=tmp_path_factory.mktemp("cache"))
        try:
            return await source.describe()
        finally:
            await source.close()

    return asyncio.run(described())


def test_the_plans_give_the_golden_rows(catalog: Catalog) -> None:
    with opened(demo.location()) as connection:
        for group, plan in PLANS.items():
            rows = connection.execute(to_sql(plan, catalog)).fetchall()
            assert same_rows(rows, GOLDEN[group].gold_rows or (), GOLDEN[group].ordered), group


def test_each_golden_question_has_a_plan() -> None:
    assert set(PLANS) == set(GOLDEN)


def test_no_two_plans_are_told_the_same(catalog: Catalog) -> None:
    assert len({sentence(plan, catalog) for plan in PLANS.values()}) == len(PLANS)


def test_the_semantic_file_is_applied(catalog: Catalog) -> None:
    assert {measure.name for measure in catalog.measures} >= {"revenue", "average_order_value", "return_rate"}
    manager = catalog.relationship("manager_of_employee")
    assert manager is not None
    assert (manager.from_columns, manager.to_columns) == (("manager_id",), ("employee_id",))
    assert {relationship.origin for relationship in catalog.relationships} == {"semantic"}
    assert catalog.warnings == ()

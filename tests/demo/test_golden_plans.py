"""Every golden question can be said as a query plan: written by hand here, they give the golden rows."""

import json
from pathlib import Path

from answerable import demo
from answerable.core.catalog import Catalog
from answerable.demo.golden import opened
from answerable.evals.cases import load_cases
from answerable.evals.compare import same_rows
from answerable.query.plan import QueryPlan
from answerable.query.sql.to_sql import to_sql
from answerable.reader.explaining.sentence import sentence

FILE = Path(__file__).parents[1] / "fixtures" / "demo" / "plans.jsonl"
PLANS = {
    raw["group"]: QueryPlan.model_validate(raw["plan"]) for raw in map(json.loads, FILE.read_text("utf-8").splitlines())
}
GOLDEN = {case.group: case for case in load_cases("demo") if case.split == "golden"}


def test_the_plans_give_the_golden_rows(demo_catalog: Catalog) -> None:
    with opened(demo.location()) as connection:
        for group, plan in PLANS.items():
            rows = connection.execute(to_sql(plan, demo_catalog)).fetchall()
            assert same_rows(rows, GOLDEN[group].gold_rows or (), GOLDEN[group].ordered), group


def test_each_golden_question_has_a_plan() -> None:
    assert set(PLANS) == set(GOLDEN)


def test_no_two_plans_are_told_the_same(demo_catalog: Catalog) -> None:
    assert len({sentence(plan, demo_catalog) for plan in PLANS.values()}) == len(PLANS)


def test_the_semantic_file_is_applied(demo_catalog: Catalog) -> None:
    assert {measure.name for measure in demo_catalog.measures} >= {"revenue", "average_order_value", "return_rate"}
    manager = demo_catalog.relationship("manager_of_employee")
    assert manager is not None
    assert (manager.from_columns, manager.to_columns) == (("manager_id",), ("employee_id",))
    assert {relationship.origin for relationship in demo_catalog.relationships} == {"semantic"}
    assert demo_catalog.warnings == ()

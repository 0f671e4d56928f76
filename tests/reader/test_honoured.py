"""A superlative must leave a trace in the plan, unless it is part of a name that the plan uses."""

import pytest
from tests.reader.conftest import ListedValues

from answerable.core.catalog import Catalog, Column, Table
from answerable.query.plan import Aggregate, ColumnRef, Compare, Constant, Expr, OrderItem, QueryPlan, SelectItem
from answerable.reader.linking.links import link
from answerable.reader.linking.scene import Scene, build_scene
from answerable.reader.linking.schema import build_schema
from answerable.reader.linking.tokens import tokenize
from answerable.reader.ranking.plan_checks import covers_cues, dropped_numbers

CATALOG = Catalog(
    source="land",
    dialect="sqlite",
    tables=(
        Table(
            name="county",
            columns=(
                Column(name="id", type="integer", unique=True),
                Column(name="highest_point", type="text"),
                Column(name="elevation", type="integer"),
                Column(name="clerk_last_name", type="text"),
                Column(name="total_horses", type="integer"),
            ),
            primary_key=("id",),
        ),
    ),
)


def _column(name: str) -> ColumnRef:
    return ColumnRef(table="county", column=name)


def _plan(shown: Expr, *order: Expr) -> QueryPlan:
    sorting = tuple(OrderItem(expr=expr, descending=True) for expr in order)
    limit = 1 if order else None
    return QueryPlan(entity="county", select=(SelectItem(expr=shown),), order_by=sorting, limit=limit)


@pytest.mark.parametrize(
    ("question", "plan", "honoured"),
    [
        ("what is the highest point of each county", _plan(_column("highest_point")), True),
        ("last names of the clerks of all counties", _plan(_column("clerk_last_name")), True),
        ("total horses of each county", _plan(_column("total_horses")), True),
        ("what is the highest elevation of a county", _plan(_column("elevation")), False),
        ("what is the highest elevation", _plan(Aggregate(function="max", of=_column("elevation"))), True),
        ("which county has the highest elevation", _plan(_column("id"), _column("elevation")), True),
        ("county with the largest clerk last name", _plan(_column("id"), _column("clerk_last_name")), False),
        ("average total horses of all counties", _plan(_column("total_horses")), False),
    ],
)
def test_traces(question: str, plan: QueryPlan, honoured: bool) -> None:
    assert covers_cues(plan, _scene(question)) is honoured


def _scene(question: str) -> Scene:
    schema = build_schema(CATALOG)
    asked = tokenize(question)
    return build_scene(asked, schema, link(asked, schema, ListedValues({})))


@pytest.mark.parametrize(
    ("question", "dropped"),
    [
        ("points of counties in 2019", ("2019",)),
        ("the 3 counties with the highest elevation", ("3",)),
        ("the county with the highest elevation in 2019 and 2020", ("2019", "2020")),
        ("counties with at least one point", ()),
        ("the one with the highest elevation", ()),
    ],
)
def test_numbers_that_are_nowhere_in_the_plan(question: str, dropped: tuple[str, ...]) -> None:
    plan = _plan(_column("highest_point"), _column("elevation"))
    assert dropped_numbers(plan, _scene(question)) == dropped
    kept = plan.model_copy(update={"limit": 3, "offset": 2019})
    assert dropped_numbers(kept, _scene(question)) == tuple(each for each in dropped if each == "2020")


def test_a_digit_of_a_year_is_not_the_number() -> None:
    since = Compare(left=_column("elevation"), op=">=", right=Constant(value="2015-01-01", type="date"))
    plan = _plan(_column("id")).model_copy(update={"where": since})
    assert dropped_numbers(plan, _scene("counties with 5 points in 2015")) == ("5",)

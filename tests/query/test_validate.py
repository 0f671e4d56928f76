"""Plans that cannot run are refused with the path of the field and, where a name is wrong, the right one."""

from pathlib import Path
from typing import Any

import pytest
import yaml

from answerable.core.catalog import Catalog, Column, Measure, Table
from answerable.core.errors import UserError
from answerable.query.plan import (
    Aggregate,
    And,
    Arithmetic,
    ColumnRef,
    Compare,
    Constant,
    InList,
    InQuery,
    Join,
    MeasureRef,
    Not,
    QueryPlan,
    SelectItem,
)
from answerable.query.validate import MAX_DEPTH, MAX_JOINS, MAX_NODES, MAX_TEXT, validate

FIXTURES = Path(__file__).parents[1] / "fixtures" / "query"
INVALID = yaml.safe_load((FIXTURES / "invalid_plans.yaml").read_text())
ID = ColumnRef(table="orders", column="id")


@pytest.mark.parametrize("case", INVALID, ids=lambda case: case["name"])
def test_invalid(case: dict[str, Any], shop: Catalog) -> None:
    plan = QueryPlan.model_validate(case["plan"])
    with pytest.raises(UserError) as caught:
        validate(plan, shop)
    error = caught.value
    assert error.stable_code == "plan_invalid"
    assert (error.details["path"], error.message) == (case["path"], f"{case['path']}: {case['message']}")
    assert case.get("hint", "") in (error.hint or "")


def test_a_changed_copy_of_a_catalog_looks_up_its_own_tables(shop: Catalog) -> None:
    validate(QueryPlan(entity="orders"), shop)
    orders = shop.table("orders")
    assert orders is not None
    renamed = shop.model_copy(update={"tables": (orders.model_copy(update={"name": "sales", "columns": ()}),)})
    assert renamed.table("orders") is None
    sales = renamed.table("sales")
    assert sales is not None
    assert sales.column("id") is None
    assert shop.table("orders") is orders


def _refused(plan: QueryPlan, shop: Catalog) -> UserError:
    with pytest.raises(UserError) as caught:
        validate(plan, shop)
    assert caught.value.stable_code == "plan_invalid"
    return caught.value


def test_too_deep(shop: Catalog) -> None:
    condition: Any = Compare(left=ID, op="=", right=Constant(value=1))
    for _ in range(MAX_DEPTH):
        condition = Not(part=condition)
    assert "too deeply nested" in _refused(QueryPlan(entity="orders", where=condition), shop).message


def test_very_deep_does_not_exhaust_the_stack(shop: Catalog) -> None:
    expr: Any = ID
    for _ in range(50_000):
        expr = Arithmetic.model_construct(kind="arithmetic", op="+", left=expr, right=ID)
    plan = QueryPlan.model_construct(entity="orders", select=(SelectItem.model_construct(expr=expr, label=None),))
    assert "too deeply nested" in _refused(plan, shop).message
    while isinstance(expr, Arithmetic):  # taken apart from the outside: the interpreter would recurse
        expr = expr.__dict__.pop("left")


def test_too_large(shop: Catalog) -> None:
    values = tuple(Constant(value=number) for number in range(MAX_NODES))
    plan = QueryPlan(entity="orders", where=InList(left=ID, values=values))
    assert "too large" in _refused(plan, shop).message


def test_a_long_list_is_fine(shop: Catalog) -> None:
    values = tuple(Constant(value=number) for number in range(MAX_NODES - 10))
    validate(QueryPlan(entity="orders", where=InList(left=ID, values=values)), shop)


def test_too_many_joins(shop: Catalog) -> None:
    pair = ((ID, ColumnRef(table="x", column="id")),)
    joins = tuple(Join(table="orders", alias="x", on=pair) for _ in range(MAX_JOINS + 1))
    assert _refused(QueryPlan(entity="orders", joins=joins), shop).details["path"] == "joins"


@pytest.mark.parametrize("text", ["x" * (MAX_TEXT + 1), "a\0b"])
def test_texts(shop: Catalog, text: str) -> None:
    where = Compare(left=ColumnRef(table="orders", column="status"), op="=", right=Constant(value=text))
    _refused(QueryPlan(entity="orders", where=where), shop)


@pytest.mark.parametrize("number", [float("inf"), float("nan")])
def test_numbers_are_finite(shop: Catalog, number: float) -> None:
    where = Compare(left=ID, op="<", right=Constant(value=number))
    assert "not finite" in _refused(QueryPlan(entity="orders", where=where), shop).message


def test_what_a_key_determines(shop: Catalog) -> None:
    """Through a join to the other table, but not against its direction, and not from a unique column with gaps."""

    def plan(entity: str, join: str, key: ColumnRef, shown: ColumnRef) -> QueryPlan:
        items = (SelectItem(expr=shown), SelectItem(expr=Aggregate(function="count")))
        joins = (Join(table=join, relationship="customer", outer=True),)
        return QueryPlan(entity=entity, joins=joins, select=items, group_by=(key,))

    name, status = ColumnRef(table="customers", column="name"), ColumnRef(table="orders", column="status")
    customer = ColumnRef(table="customers", column="id")
    validate(plan("orders", "customers", ID, name), shop)
    _refused(plan("customers", "orders", customer, status), shop)
    _refused(plan("orders", "customers", name, customer), shop)


def test_an_outer_join_determines_one_way_only(shop: Catalog) -> None:
    """All customers without orders would fall into one group."""

    def plan(outer: bool) -> QueryPlan:
        return QueryPlan(
            entity="customers",
            joins=(Join(table="orders", relationship="customer", outer=outer),),
            select=(SelectItem(expr=ColumnRef(table="customers", column="name")),),
            group_by=(ColumnRef(table="orders", column="customer_id"),),
        )

    validate(plan(outer=False), shop)
    _refused(plan(outer=True), shop)


def test_a_unique_column_with_gaps_determines_nothing() -> None:
    def catalog(**code: Any) -> Catalog:
        columns = (Column(name="code", type="text", unique=True, **code), Column(name="name", type="text"))
        return Catalog(source="x", dialect="duckdb", tables=(Table(name="t", columns=columns),))

    shown = (SelectItem(expr=ColumnRef(table="t", column="name")), SelectItem(expr=Aggregate(function="count")))
    plan = QueryPlan(entity="t", select=shown, group_by=(ColumnRef(table="t", column="code"),))
    validate(plan, catalog(nullable=False))
    validate(plan, catalog(null_count=0))
    _refused(plan, catalog())
    _refused(plan, catalog(null_count=2))


@pytest.mark.parametrize(
    ("expression", "reason"),
    [
        ("quantity", "aggregate"),
        ("sum(sum(price))", "aggregate"),
        ("sum(price) + quantity", "aggregate"),
        ("1", "aggregate"),
        ("sum(prize)", "no column 'prize'"),
        ("sum(orders.total)", "columns of 'items'"),
        ("sum(price) over ()", "windows"),
        ("(select max(id) from orders)", "queries"),
        ("max(getenv('HOME'))", "getenv"),
        ("sum(price) from items", "line 1, column 15"),
        ("sum(price); drop table items", "cannot be read"),
        ("sum(", "cannot be read"),
        ("", "empty"),
        ("count(*) filter (where price > (select 1))", "queries"),
        ("sum(" + "(" * 500 + "price" + ")" * 500 + ")", "nested too deeply"),
    ],
)
def test_measures_are_checked_like_all_sql(shop: Catalog, expression: str, reason: str) -> None:
    measure = Measure(name="bad", table="items", expression=expression)
    catalog = shop.model_copy(update={"measures": (measure,)})
    plan = QueryPlan(entity="items", select=(SelectItem(expr=MeasureRef(name="bad")),))
    with pytest.raises(UserError) as caught:
        validate(plan, catalog)
    assert caught.value.stable_code == "measure_invalid"
    assert reason in caught.value.message


def test_and_is_flat_for_people_and_bounded_for_machines(shop: Catalog) -> None:
    one = Compare(left=ID, op=">", right=Constant(value=0))
    validate(QueryPlan(entity="orders", where=And(parts=(one,) * 1000)), shop)


def test_what_a_relationship_joins_may_be_compared_whatever_the_types(shop: Catalog) -> None:
    link = shop.relationships[0]
    table = next(t for t in shop.tables if t.name == link.from_table)
    as_text = tuple(
        c.model_copy(update={"type": "text"}) if c.name == link.from_columns[0] else c for c in table.columns
    )
    tables = tuple(t.model_copy(update={"columns": as_text}) if t is table else t for t in shop.tables)
    inner = QueryPlan(
        entity=link.from_table,
        select=(SelectItem(expr=ColumnRef(table=link.from_table, column=link.from_columns[0])),),
    )
    left = ColumnRef(table=link.to_table, column=link.to_columns[0])
    plan = QueryPlan(entity=link.to_table, where=InQuery(left=left, plan=inner, negated=True))
    validate(plan, shop.model_copy(update={"tables": tables}))
    with pytest.raises(UserError, match="cannot be compared"):
        validate(plan, shop.model_copy(update={"tables": tables, "relationships": ()}))

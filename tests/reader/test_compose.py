"""Candidates that could never answer are left out; shapes name what a draft asks for."""

import pytest

from answerable.core.catalog import Catalog
from answerable.query.sql.to_sql import to_sql
from answerable.reader.candidates.impossible_drafts import beyond_all, combines_figures, contradicts
from answerable.reader.candidates.shape import shape_of
from answerable.reader.linking.schema import Schema
from answerable.reader.plans.draft import ROWS, Combination, Draft, DraftCondition, DraftOrder, DraftRange, Term
from answerable.reader.plans.draft_to_plan import to_plan


@pytest.fixture
def ids(schema: Schema) -> dict[str, int]:
    return {f"{table}.{column}": number for (table, column), number in schema.column_ids.items()}


def _where(*conditions: DraftCondition) -> Draft:
    return Draft(0, (ROWS,), where=tuple((condition,) for condition in conditions))


AGE = Term(3)


@pytest.mark.parametrize(
    ("first", "second", "empty"),
    [
        (DraftCondition(AGE, "=", 3), DraftCondition(AGE, "=", 4), True),
        (DraftCondition(AGE, "=", 3), DraftCondition(AGE, "=", 3), False),
        (DraftCondition(AGE, ">", 5), DraftCondition(AGE, "<", 3), True),
        (DraftCondition(AGE, "<", 3), DraftCondition(AGE, ">", 5), True),
        (DraftCondition(AGE, ">", 3), DraftCondition(AGE, "<", 5), False),
        (DraftCondition(AGE, "=", 3), DraftCondition(Term(2), "=", 4), False),
    ],
)
def test_contradictions(schema: Schema, first: DraftCondition, second: DraftCondition, empty: bool) -> None:
    assert contradicts(_where(first, second), schema) is empty


def test_either_is_no_contradiction(schema: Schema) -> None:
    assert not contradicts(
        Draft(0, (ROWS,), where=((DraftCondition(AGE, "=", 3), DraftCondition(AGE, "=", 4)),)), schema
    )


@pytest.mark.parametrize(
    ("condition", "void"),
    [
        (DraftCondition(AGE, ">", Draft(0, (Term(3, "max"),))), True),
        (DraftCondition(AGE, "<", Draft(0, (Term(3, "min"),))), True),
        (DraftCondition(AGE, ">", Draft(0, (Term(3, "max"),), where=((DraftCondition(AGE, ">", 2),),))), True),
        (DraftCondition(AGE, ">", Draft(0, (Term(3, "max"),), where=((DraftCondition(Term(2), "=", "x"),),))), False),
        (DraftCondition(AGE, ">", Draft(0, (Term(3, "avg"),))), False),
        (DraftCondition(AGE, "=", Draft(0, (Term(3, "max"),))), False),
    ],
)
def test_nothing_is_more_than_the_most(schema: Schema, condition: DraftCondition, void: bool) -> None:
    assert beyond_all(_where(condition), schema) is void


def test_rows_are_combined_and_not_their_numbers(schema: Schema) -> None:
    one, two = _where(DraftCondition(AGE, "=", 3)), _where(DraftCondition(AGE, "=", 4))
    assert combines_figures(one._replace(combination=Combination("intersect", two)), schema)
    names = Draft(0, (Term(1),), combination=Combination("intersect", Draft(0, (Term(1),))))
    assert not combines_figures(names, schema)


def test_shape() -> None:
    draft = Draft(0, (Term(1), ROWS), group=(Term(1),), order=(DraftOrder(ROWS, True),), limit=3)
    shape = shape_of(draft)
    assert (shape.items, shape.kinds, shape.first) == ("2", "cn", "c")
    assert (shape.group, shape.order, shape.limit, shape.combination) == ("1", "n-", "k", "")


def test_rows_that_share_the_highest_value_have_the_shape_of_the_first_row() -> None:
    highest = Draft(0, (Term(3, "max"),))
    shared = Draft(0, (Term(1),), where=((DraftCondition(Term(3), "=", highest),),))
    first = Draft(0, (Term(1),), order=(DraftOrder(Term(3), True),), limit=1)
    assert shape_of(shared) == shape_of(first)


def test_drafts_become_plans(schema: Schema, shop: Catalog, ids: dict[str, int]) -> None:
    name, city = Term(ids["customer.name"]), Term(ids["customer.city"])
    inner = Draft(schema.table_ids["orders"], (Term(ids["orders.customer_id"]),))
    draft = Draft(
        schema.table_ids["customer"],
        (name,),
        where=(
            (DraftCondition(city, "=", "Berlin"), DraftCondition(city, "=", "Paris")),
            (DraftCondition(Term(ids["customer.id"]), "not_in", inner),),
            (DraftCondition(Term(ids["customer.age"]), "between", DraftRange(20, 30)),),
        ),
    )
    sql = " ".join(to_sql(to_plan(draft, schema), shop).split())
    for piece in ("city = 'Berlin' OR", "NOT IN", "BETWEEN 20 AND 30"):
        assert piece in sql, sql


def test_tables_without_a_column_are_joined(schema: Schema, shop: Catalog, ids: dict[str, int]) -> None:
    name = Term(ids["customer.name"])
    draft = Draft(
        schema.table_ids["customer"], (name, ROWS), group=(name,), extra=frozenset({schema.table_ids["orders"]})
    )
    assert "JOIN orders" in " ".join(to_sql(to_plan(draft, schema), shop).split())


def test_combinations(schema: Schema, shop: Catalog, ids: dict[str, int]) -> None:
    name, city = Term(ids["customer.name"]), Term(ids["customer.city"])
    right = Draft(0, (name,), where=((DraftCondition(city, "=", "Paris"),),))
    left = right._replace(where=((DraftCondition(city, "=", "Berlin"),),), combination=Combination("intersect", right))
    assert "INTERSECT" in to_sql(to_plan(left, schema), shop)

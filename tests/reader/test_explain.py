"""The sentences of the fixture file, and the promise behind them: one sentence never stands for different answers."""

import itertools
import json
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import duckdb
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pydantic import ValidationError

from answerable.core.catalog import Catalog, Column, Table
from answerable.core.errors import UserError
from answerable.query.nouns import plural, singular, spoken
from answerable.query.plan import ColumnRef, Compare, Constant, InList, QueryPlan
from answerable.query.sql.to_sql import to_sql
from answerable.reader.explaining.sentence import sentence

FIXTURES = Path(__file__).parents[1] / "fixtures" / "explain"
CASES = [json.loads(line) for line in (FIXTURES / "sentences.jsonl").read_text("utf-8").splitlines()]
CATALOG = Catalog.model_validate_json((FIXTURES / "catalog.json").read_text("utf-8"))
DATA = (FIXTURES / "data.sql").read_text("utf-8")


@pytest.fixture(scope="module")
def shop() -> Iterator["duckdb.DuckDBPyConnection"]:
    with duckdb.connect(":memory:") as connection:
        connection.execute(DATA)
        yield connection


def plan_of(case: Any) -> QueryPlan:
    return QueryPlan.model_validate(case["plan"])


@pytest.mark.parametrize("case", CASES, ids=lambda case: case["sentence"][:60])
def test_sentences(case: dict[str, Any]) -> None:
    assert sentence(plan_of(case), CATALOG) == case["sentence"]


def test_a_plan_that_does_not_fit_the_catalog_is_refused() -> None:
    with pytest.raises(UserError) as error:
        sentence(QueryPlan(entity="orderz"), CATALOG)
    assert error.value.stable_code == "plan_invalid"


# One change anywhere in a plan changes the sentence, or else nothing in the answer.

OTHERS: dict[str, tuple[Any, ...]] = {
    "op": ("=", "!=", "<", "<=", ">", ">=", "+", "-", "*", "/", "union", "union_all", "intersect", "except"),
    "function": ("count", "sum", "avg", "min", "max", "median", "stddev", "lower", "upper", "length"),
    "unit": ("day", "month", "quarter", "year", "hour"),
    "part": ("year", "quarter", "month", "weekday", "hour"),
    "how": ("contains", "starts_with", "ends_with", "equals"),
    "limit": (1, 2, 5, None),
    "offset": (1, 2, None),
    "kind": ("and", "or"),
    "type": ("date", "datetime", None),
    "relationship": tuple(relationship.name for relationship in CATALOG.relationships),
}
FLAGS = ("distinct", "negated", "descending", "outer")


def changed(value: Any, key: str = "") -> Iterator[Any]:
    """Every JSON value that differs in one place."""
    if isinstance(value, dict):
        for name, inner in value.items():
            for other in changed(inner, name):
                yield {**value, name: other}
        for flag in FLAGS:
            yield {**value, flag: not value.get(flag, False)}
    elif isinstance(value, list):
        for number, inner in enumerate(value):
            yield [*value[:number], *value[number + 1 :]]
            yield [*value[:number], *value[number + 1 :], inner]
            for other in changed(inner, key):
                yield [*value[:number], other, *value[number + 1 :]]
    else:
        yield from (other for other in alternatives(value, key) if other != value)


def alternatives(value: Any, key: str) -> Iterator[Any]:
    if key == "column":
        yield from sorted({column.name for table in CATALOG.tables for column in table.columns})
    elif key in OTHERS:
        yield from OTHERS[key]
    elif isinstance(value, bool):
        yield not value
    elif isinstance(value, int | float):
        yield value + 1
    elif isinstance(value, str) and key == "value":
        yield "2024-03-01" if value[:2] == "20" else value + "x"


def neighbours(raw_plan: Any) -> Iterator[QueryPlan]:
    for raw in changed(raw_plan):
        try:
            yield QueryPlan.model_validate(raw)
        except ValidationError:
            continue


def sentence_with(plan: QueryPlan) -> str | None:
    """The sentence of a plan that can run."""
    try:
        to_sql(plan, CATALOG)
        return sentence(plan, CATALOG)
    except UserError:
        return None


def answer(plan: QueryPlan, shop: "duckdb.DuckDBPyConnection") -> list[list[str]] | None:
    """What the user would see, without the names of columns; in order where the plan says so. Nothing if it fails."""
    try:
        rows = shop.execute(to_sql(plan, CATALOG)).fetchall()
    except duckdb.Error:
        return None
    texts = [[f"{value:.6g}" if isinstance(value, float) else str(value) for value in row] for row in rows]
    return texts if plan.order_by else sorted(texts)


@pytest.mark.parametrize("case", CASES, ids=lambda case: case["sentence"][:60])
def test_a_changed_plan_has_another_sentence(case: dict[str, Any], shop: "duckdb.DuckDBPyConnection") -> None:
    plan = plan_of(case)
    twins = [other for other in neighbours(case["plan"]) if other != plan and sentence_with(other) == case["sentence"]]
    expected = answer(plan, shop)
    assert expected is not None
    assert [other.model_dump_json() for other in twins if answer(other, shop) not in (None, expected)] == []


columns = st.sampled_from(["status", "amount", "customer_id", "ordered_at"]).map(
    lambda name: {"kind": "column", "table": "orders", "column": name}
)
aggregate = st.fixed_dictionaries(
    {"kind": st.just("aggregate"), "function": st.sampled_from(["count", "sum", "max"]), "of": columns},
    optional={"distinct": st.booleans()},
)
count = st.just({"kind": "aggregate", "function": "count"})
numbers = st.integers(0, 3).map(lambda value: {"kind": "constant", "value": value})
amount = {"kind": "column", "table": "orders", "column": "amount"}
leaf = st.one_of(
    st.fixed_dictionaries(
        {"kind": st.just("compare"), "left": st.just(amount), "op": st.sampled_from(["=", "<", ">="]), "right": numbers}
    ),
    st.fixed_dictionaries({"kind": st.just("null"), "left": columns, "negated": st.booleans()}),
)
condition = st.recursive(
    leaf,
    lambda inner: st.one_of(
        st.fixed_dictionaries(
            {"kind": st.sampled_from(["and", "or"]), "parts": st.lists(inner, min_size=1, max_size=3)}
        ),
        st.fixed_dictionaries({"kind": st.just("not"), "part": inner}),
    ),
    max_leaves=5,
)
plans = st.fixed_dictionaries(
    {
        "entity": st.just("orders"),
        "select": st.lists((columns | aggregate | count).map(lambda e: {"expr": e}), max_size=2),
    },
    optional={
        "where": condition,
        "group_by": st.lists(columns, max_size=2),
        "having": st.fixed_dictionaries(
            {"kind": st.just("compare"), "left": count, "op": st.just(">"), "right": numbers},
        ),
        "distinct": st.booleans(),
        "limit": st.integers(0, 2),
    },
).map(QueryPlan.model_validate)


def test_plans_with_one_sentence_give_one_answer(shop: "duckdb.DuckDBPyConnection") -> None:
    @settings(deadline=None, max_examples=60)
    @given(st.lists(plans, min_size=2, max_size=25))
    def check(plans: list[QueryPlan]) -> None:
        by_sentence: dict[str, QueryPlan] = {}
        for plan in plans:
            text = sentence_with(plan)
            twin = by_sentence.setdefault(text, plan) if text is not None else plan
            if twin != plan:
                answers = [answer(twin, shop), answer(plan, shop)]
                assert None in answers or answers[0] == answers[1], text

    check()


def trees(leaves: Sequence[Any]) -> Iterator[Any]:
    """Every way to put conditions together in this order with and, or and not."""
    if len(leaves) == 1:
        yield leaves[0]
        yield {"kind": "not", "part": leaves[0]}
    for cut in range(1, len(leaves)):
        for left, right in itertools.product(trees(leaves[:cut]), trees(leaves[cut:])):
            for kind in ("and", "or"):
                yield {"kind": kind, "parts": [left, right]}
                yield {"kind": "not", "part": {"kind": kind, "parts": [left, right]}}


def test_brackets_are_told(shop: "duckdb.DuckDBPyConnection") -> None:
    leaves = [
        {"kind": "compare", "left": amount, "op": op, "right": {"kind": "constant", "value": value}}
        for op, value in ((">=", 2), ("<", 15), ("=", 20.5))
    ]
    answers: dict[str, Any] = {}
    for tree in trees(leaves):
        plan = QueryPlan.model_validate({"entity": "orders", "where": tree})
        text = sentence(plan, CATALOG)
        assert answers.setdefault(text, answer(plan, shop)) == answer(plan, shop), text
    assert len(answers) > 100


def test_names_that_would_read_alike_are_told_exactly() -> None:
    raw = CATALOG.model_dump(mode="json")
    raw["tables"][0]["columns"][1]["label"] = "Town"
    raw["tables"][0]["columns"][2]["label"] = "town"
    plan = QueryPlan.model_validate(
        {"entity": "customers", "select": [{"expr": {"kind": "column", "table": "customers", "column": "city"}}]}
    )
    assert sentence(plan, Catalog.model_validate(raw)) == "List the `city` of the customers."


@pytest.mark.parametrize(
    ("column", "values", "told"),
    [
        ("name", ["it's", "both ' and \"", None], "name is \"it's\", 'both '' and \"' or nothing"),
        ("active", [True], "active is one of true"),
        ("region_id", [1, 2.5, -3], "region id is 1, 2.5 or -3"),
        ("name", ["2024-01-01"], "name is one of '2024-01-01'"),
    ],
)
def test_values_stay_what_they_are(column: str, values: list[Any], told: str) -> None:
    left = ColumnRef(table="customers", column=column)
    where = InList(left=left, values=tuple(Constant(value=value) for value in values))
    assert sentence(QueryPlan(entity="customers", where=where), CATALOG) == f"List the customers whose {told}."


@pytest.mark.parametrize(
    ("name", "one", "many"),
    [
        ("order_items", "order item", "order items"),
        ("Category", "category", "categories"),
        ("saleStaff", "sale staff", "sale staff"),
        ("address", "address", "addresses"),
        ("person", "person", "people"),
        ("HTTPLogs", "http log", "http logs"),
        ("boxes", "box", "boxes"),
        ("member_of_club", "member of club", "members of club"),
    ],
)
def test_names_as_words(name: str, one: str, many: str) -> None:
    assert plural(spoken(name)) == many
    assert singular(many).replace("person", one) == one


@pytest.mark.parametrize(
    ("table", "told"),
    [
        ("se", "se rows"),
        ("t1", "t1 rows"),
        ("AssignedTo", "assigned to rows"),
        ("seattle-weather", "seattle weather rows"),
        ("staff", "staff"),
        ("wheels", "wheels"),
    ],
)
def test_tables_without_a_plural_have_rows(table: str, told: str) -> None:
    hours = Column(name="hours", type="integer")
    catalog = Catalog(source="s", dialect="sqlite", tables=(Table(name=table, columns=(hours,)),))
    left = ColumnRef(table=table, column="hours")
    plan = QueryPlan(entity=table, where=Compare(left=left, op=">", right=Constant(value=3)))
    assert sentence(plan, catalog) == f"List the {told} whose hours are more than 3."

"""A plan over several sources: taken apart and put together again, it gives the rows that it gives over one."""

import json
from pathlib import Path
from typing import Any

import pytest

from answerable import demo
from answerable.core.catalog import Catalog, Column, Link, Measure, Relationship, Table
from answerable.core.errors import SemanticError
from answerable.demo.golden import opened
from answerable.evals.cases import load_cases
from answerable.evals.compare import same_rows
from answerable.query.merged import Merged, merged, short_name
from answerable.query.plan import QueryPlan
from answerable.query.sql.split import Alone, Together, split
from answerable.query.sql.to_sql import to_sql

FILE = Path(__file__).parents[1] / "fixtures" / "demo" / "plans.jsonl"
PLANS = {
    raw["group"]: QueryPlan.model_validate(raw["plan"]) for raw in map(json.loads, FILE.read_text("utf-8").splitlines())
}


def torn(catalog: Catalog, count: int) -> dict[str, Catalog]:
    """The tables dealt out to several sources; relationships that lead from one to another become links."""
    home = {table.name: f"source{number % count}" for number, table in enumerate(catalog.tables)}
    return {source: _part(catalog, source, home) for source in sorted(set(home.values()))}


def _part(catalog: Catalog, source: str, home: dict[str, str]) -> Catalog:
    within = [r for r in catalog.relationships if home[r.from_table] == home[r.to_table] == source]
    links = [
        Link(
            **r.model_dump(include={"name", "from_table", "from_columns", "to_table", "to_columns", "synonyms"}),
            to_source=home[r.to_table],
        )
        for r in catalog.relationships
        if home[r.from_table] == source != home[r.to_table]
    ]
    update = {
        "source": source,
        "tables": tuple(table for table in catalog.tables if home[table.name] == source),
        "relationships": tuple(within),
        "links": tuple(links),
        "measures": tuple(measure for measure in catalog.measures if home[measure.table] == source),
    }
    return catalog.model_copy(update=update)


def combined_rows(parts: Together, catalogs: dict[str, Catalog], connection: Any) -> list[tuple[Any, ...]]:
    """As the steps do it: each table's query, then the whole over what they gave and nothing else."""
    connection.execute("DROP SCHEMA IF EXISTS parts CASCADE; CREATE SCHEMA parts")
    for fetch in parts.fetches:
        connection.execute(f'CREATE TABLE parts."{fetch.name}" AS {to_sql(fetch.plan, catalogs[fetch.source])}')
    connection.execute("SET schema = 'parts'")
    try:
        return list(connection.execute(parts.sql).fetchall())
    finally:
        connection.execute("SET schema = 'main'")


def test_golden_plans_give_the_same_rows_from_several_sources(demo_catalog: Catalog) -> None:
    golden = {case.group: case for case in load_cases("demo") if case.split == "golden"}
    catalogs = torn(demo_catalog, 2)
    together = merged(catalogs)
    kinds = {Alone: 0, Together: 0}
    with opened(demo.location()) as connection:
        for group, plan in PLANS.items():
            parts = split(plan, together)
            kinds[type(parts)] += 1
            if isinstance(parts, Alone):
                rows = connection.execute(to_sql(parts.plan, catalogs[parts.source])).fetchall()
            else:
                rows = combined_rows(parts, catalogs, connection)
            assert same_rows(rows, golden[group].gold_rows or (), golden[group].ordered), (group, parts)
    assert all(count > 10 for count in kinds.values()), kinds


# Merging


def table(name: str, **columns: Any) -> Table:
    return Table(name=name, columns=tuple(Column(name=each, type=kind) for each, kind in columns.items()))


def catalog(source: str, *tables: Table, dialect: Any = "duckdb", **fields: Any) -> Catalog:
    return Catalog(source=source, dialect=dialect, tables=tables, **fields)


ORDERS = table("orders", id="integer", customer_id="integer", amount="number", day="date")
CUSTOMERS = table("customers", id="integer", city="text", since="date", active="boolean")
LINK = Link(
    name="customer",
    from_table="orders",
    from_columns=("customer_id",),
    to_source="crm",
    to_table="Customers",
    to_columns=("ID",),
    written_at="semantic.yaml, line 3, column 5: relationships.0.to",
)


@pytest.fixture
def shop_and_crm() -> Merged:
    return merged(
        {
            "./shop": catalog("./shop", ORDERS, links=(LINK,)),
            "data/crm.db": catalog("data/crm.db", CUSTOMERS, dialect="sqlite"),
        }
    )


def plan(**fields: Any) -> QueryPlan:
    joins = [{"table": "customers", "relationship": "customer", **fields.pop("join", {})}]
    select = [{"expr": {"kind": "column", "table": "customers", "column": "city"}}]
    return QueryPlan.model_validate({"entity": "orders", "joins": joins, "select": select, **fields})


def equals(table: str, column: str, value: Any) -> dict[str, Any]:
    left = {"kind": "column", "table": table, "column": column}
    return {"kind": "compare", "left": left, "op": "=", "right": {"kind": "constant", "value": value}}


def filters(parts: Alone | Together) -> dict[str, bool]:
    assert isinstance(parts, Together)
    return {fetch.name: fetch.plan.where is not None for fetch in parts.fetches}


@pytest.mark.parametrize(
    ("source", "name"),
    [
        ("crm", "crm"),
        ("./data/crm.db", "crm"),
        ("/data/shop/", "shop"),
        ("postgresql://user:secret@host/sales?sslmode=require", "sales"),
    ],
)
def test_a_source_goes_by_its_name_or_by_that_of_its_place(source: str, name: str) -> None:
    assert short_name(source) == name


def test_a_link_becomes_a_relationship_by_the_names_of_the_data(shop_and_crm: Merged) -> None:
    (found,) = shop_and_crm.catalog.relationships
    assert (found.from_table, found.to_table, found.to_columns) == ("orders", "customers", ("id",))
    assert shop_and_crm.origins["customers"].source == "data/crm.db"


def test_what_both_sides_declare_counts_once() -> None:
    back = LINK.model_copy(update={"from_source": "shop", "to_source": None, "name": "the same"})
    both = merged({"shop": catalog("shop", ORDERS, links=(LINK,)), "crm": catalog("crm", CUSTOMERS, links=(back,))})
    assert len(both.catalog.relationships) == 1


def test_a_link_to_a_source_that_was_not_asked_is_left_out() -> None:
    assert merged({"shop": catalog("shop", ORDERS, links=(LINK,))}).catalog.relationships == ()


@pytest.mark.parametrize(
    ("link", "problem"),
    [
        ({"to_table": "custs"}, "the source 'crm' has no table 'custs'"),
        ({"to_columns": ("number",)}, "table 'customers' of 'crm' has no column 'number'"),
        ({"to_columns": ("city",)}, "'customer_id' is integer and 'city' is text"),
    ],
)
def test_a_link_that_leads_nowhere_names_its_line(link: dict[str, Any], problem: str) -> None:
    wrong = LINK.model_copy(update=link)
    with pytest.raises(SemanticError) as caught:
        merged({"shop": catalog("shop", ORDERS, links=(wrong,)), "crm": catalog("crm", CUSTOMERS)})
    assert caught.value.message == f"{LINK.written_at}: {problem}"


def test_a_name_that_two_sources_go_by_is_an_error() -> None:
    with pytest.raises(SemanticError, match=r"'crm' may be any of a/crm.db, b/crm.db"):
        merged(
            {
                "shop": catalog("shop", ORDERS, links=(LINK,)),
                "a/crm.db": catalog("a/crm.db", CUSTOMERS),
                "b/crm.db": catalog("b/crm.db", CUSTOMERS),
            }
        )


def test_namesakes_get_the_name_of_their_source() -> None:
    measure = Measure(name="total", table="orders", expression="sum(amount)")
    relationship = Relationship(
        name="r", from_table="orders", from_columns=("id",), to_table="orders", to_columns=("id",), origin="declared"
    )
    one = catalog("one", ORDERS, table("answer", a="text"), measures=(measure,), relationships=(relationship,))
    two = catalog("two", ORDERS, table("order items", a="text"), measures=(measure,), relationships=(relationship,))
    both = merged({"one": one, "two": two})
    names = [each.name for each in both.catalog.tables]
    assert names == ["one_orders", "one_answer", "two_orders", "order_items"]
    assert [each.label for each in both.catalog.tables] == ["one orders", "one answer", "two orders", "order items"]
    assert [each.table for each in both.catalog.measures] == ["one_orders", "two_orders"]
    parts = split(
        QueryPlan.model_validate(
            {
                "entity": "two_orders",
                "select": [{"expr": {"kind": "measure", "name": "two total", "table": "two_orders"}}],
                "joins": [{"table": "two_orders", "alias": "other", "relationship": "two r"}],
                "where": equals("two_orders", "id", 1),
            }
        ),
        both,
    )
    assert isinstance(parts, Alone)
    assert (parts.source, parts.plan.entity, parts.plan.alias) == ("two", "orders", "two_orders")
    assert (parts.plan.joins[0].table, parts.plan.joins[0].relationship) == ("orders", "r")
    assert to_sql(parts.plan, two)


# Taking apart


def test_a_condition_on_one_table_is_left_to_its_source(shop_and_crm: Merged) -> None:
    where = {"kind": "and", "parts": [equals("customers", "city", "Rome"), equals("orders", "amount", 1)]}
    assert filters(split(plan(where=where), shop_and_crm)) == {"orders": True, "customers": True}


def test_a_condition_on_an_outer_join_is_not(shop_and_crm: Merged) -> None:
    missing = {"kind": "null", "left": {"kind": "column", "table": "customers", "column": "city"}}
    parts = split(plan(where=missing, join={"outer": True}), shop_and_crm)
    assert filters(parts) == {"orders": False, "customers": False}


def test_a_condition_on_a_table_that_is_used_twice_is_not(shop_and_crm: Merged) -> None:
    ids = {"entity": "orders", "select": [{"expr": {"kind": "column", "table": "orders", "column": "id"}}]}
    again = {"kind": "in_query", "left": {"kind": "column", "table": "orders", "column": "id"}, "plan": ids}
    where = {"kind": "and", "parts": [equals("orders", "amount", 1), again]}
    assert filters(split(plan(where=where), shop_and_crm)) == {"orders": False, "customers": False}


def test_a_choice_of_conditions_on_two_tables_is_not(shop_and_crm: Merged) -> None:
    where = {"kind": "or", "parts": [equals("customers", "city", "Rome"), equals("orders", "amount", 1)]}
    assert filters(split(plan(where=where), shop_and_crm)) == {"orders": False, "customers": False}


def test_letters_are_compared_where_rows_meet(shop_and_crm: Merged) -> None:
    city = {"kind": "column", "table": "customers", "column": "city"}
    where = {"kind": "match", "left": city, "how": "contains", "pattern": "é"}
    assert filters(split(plan(where=where), shop_and_crm)) == {"orders": False, "customers": False}


def test_only_columns_that_are_needed_are_fetched(shop_and_crm: Merged) -> None:
    parts = split(plan(), shop_and_crm)
    assert isinstance(parts, Together)
    labels = {fetch.name: [item.label for item in fetch.plan.select] for fetch in parts.fetches}
    assert labels == {"orders": ["customer_id"], "customers": ["id", "city"]}


def test_rows_of_sqlite_are_read_as_what_the_catalog_says(shop_and_crm: Merged) -> None:
    columns = [{"expr": {"kind": "column", "table": "customers", "column": name}} for name in ("since", "active")]
    parts = split(plan(select=columns), shop_and_crm)
    assert isinstance(parts, Together)
    assert 'CAST("since" AS DATE)' in parts.sql
    assert 'CAST("active" AS BOOLEAN)' in parts.sql
    assert "FROM orders" in parts.sql

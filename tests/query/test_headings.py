"""What people call the columns and the rows of a result."""

import pytest

from answerable.core.catalog import Catalog, Column, Relationship, Table
from answerable.query.headings import RowNoun, result_headers, row_noun
from answerable.query.plan import Aggregate, Bucket, ColumnRef, Expr, Join, QueryPlan, SelectItem
from answerable.query.units import result_units


def _column(name: str, kind: str = "text", *, unique: bool = False) -> Column:
    return Column.model_validate({"name": name, "type": kind, "unique": unique})


CHINOOK = Catalog(
    source="music",
    dialect="sqlite",
    tables=(
        Table(
            name="Invoice",
            primary_key=("InvoiceId",),
            columns=(
                _column("InvoiceId", "integer", unique=True),
                _column("CustomerId", "integer"),
                _column("InvoiceDate", "date"),
                _column("BillingCountry"),
                _column("Total", "number"),
                _column("weight_g", "number"),
            ),
        ),
        Table(
            name="Customer",
            primary_key=("CustomerId",),
            columns=(_column("CustomerId", "integer", unique=True), _column("Name", unique=True)),
        ),
        Table(name="claims_2024", columns=(_column("state"),)),
        Table(name="seattle_weather", columns=(_column("weather"),)),
    ),
    relationships=(
        Relationship(
            name="customer",
            from_table="Invoice",
            from_columns=("CustomerId",),
            to_table="Customer",
            to_columns=("CustomerId",),
            origin="declared",
        ),
    ),
)
COUNT = Aggregate(function="count")
TOTAL = ColumnRef(table="Invoice", column="Total")
COUNTRY = ColumnRef(table="Invoice", column="BillingCountry")
NAME = ColumnRef(table="Customer", column="Name")


def plan(*shown: Expr, entity: str = "Invoice", by: tuple[Expr, ...] = (), joins: tuple[str, ...] = ()) -> QueryPlan:
    joined = tuple(Join(table=table, relationship="customer") for table in joins)
    return QueryPlan(entity=entity, select=tuple(SelectItem(expr=expr) for expr in shown), group_by=by, joins=joined)


@pytest.mark.parametrize(
    ("expr", "head"),
    [
        (Aggregate(function="sum", of=TOTAL), "Total"),
        (Aggregate(function="avg", of=TOTAL), "Average total"),
        (Aggregate(function="max", of=TOTAL), "Highest total"),
        (Aggregate(function="min", of=ColumnRef(table="Invoice", column="InvoiceDate")), "Earliest invoice date"),
        (Aggregate(function="avg", of=ColumnRef(table="Invoice", column="weight_g")), "Average weight"),
        (Aggregate(function="count", of=COUNTRY, distinct=True), "Number of billing countries"),
        (COUNT, "Invoices"),
        (COUNTRY, "Billing country"),
    ],
)
def test_heads(expr: Expr, head: str) -> None:
    assert list(result_headers(plan(expr), CHINOOK).values()) == [head]


def test_the_name_of_another_table_is_headed_by_the_table() -> None:
    grouped = plan(NAME, COUNT, by=(NAME,), joins=("Customer",))
    assert list(result_headers(grouped, CHINOOK).values()) == ["Customer", "Invoices"]
    assert list(result_headers(plan(NAME, entity="Customer"), CHINOOK).values()) == ["Name"]


def test_two_columns_never_have_one_head() -> None:
    heads = result_headers(plan(TOTAL, Aggregate(function="sum", of=TOTAL), by=(TOTAL,)), CHINOOK)
    assert heads == {}


def test_a_unit_in_a_name_is_a_unit() -> None:
    assert result_units(plan(ColumnRef(table="Invoice", column="weight_g")), CHINOOK) == {"weight_g": "g"}


@pytest.mark.parametrize(
    ("query", "one", "many"),
    [
        (plan(COUNT), "invoice", "invoices"),
        (plan(COUNT, joins=("Customer",)), "invoice", "invoices"),
        (plan(COUNT, entity="claims_2024"), "claim", "claims"),
        (plan(COUNT, entity="seattle_weather"), "seattle weather row", "seattle weather rows"),
        (plan(TOTAL), "invoice", "invoices"),
        (plan(COUNTRY, COUNT, by=(COUNTRY,)), "billing country", "billing countries"),
        (plan(NAME, COUNT, by=(NAME,), joins=("Customer",)), "customer", "customers"),
        (
            plan(COUNT, by=(Bucket(unit="month", of=ColumnRef(table="Invoice", column="InvoiceDate")),)),
            "month",
            "months",
        ),
    ],
)
def test_what_the_rows_are(query: QueryPlan, one: str, many: str) -> None:
    assert row_noun(query, CHINOOK) == RowNoun(one=one, many=many)


def test_no_noun_is_better_than_a_wrong_one() -> None:
    weather = ColumnRef(table="seattle_weather", column="weather")
    assert row_noun(plan(weather, COUNT, entity="seattle_weather", by=(weather,)), CHINOOK) is None
    assert row_noun(plan(Aggregate(function="sum", of=TOTAL)), CHINOOK) is None
    assert row_noun(plan(COUNTRY, COUNT, by=(COUNTRY, TOTAL)), CHINOOK) is None

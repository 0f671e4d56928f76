"""Written SQL over several sources: which tables are meant, what each source is asked, and what runs over the rows."""

import pytest

from answerable.core.catalog import Catalog, Column, Table
from answerable.core.errors import RefusedError, UserError
from answerable.core.values import ColumnType, Language
from answerable.query.merged import Merged, merged
from answerable.query.sql.split import Together
from answerable.query.sql.split_sql import AloneSql, split_sql


def table(name: str, /, **columns: ColumnType) -> Table:
    return Table(name=name, columns=tuple(Column(name=each, type=kind) for each, kind in columns.items()))


def catalog(source: str, dialect: Language, *tables: Table) -> Catalog:
    return Catalog(source=source, dialect=dialect, tables=tables, fingerprint="f")


@pytest.fixture
def both() -> Merged:
    return merged(
        {
            "./shop": catalog(
                "./shop",
                "duckdb",
                table("orders", id="integer", customer_id="integer", amount="number"),
                table("customers", id="integer", score="integer"),
            ),
            "data/crm.db": catalog(
                "data/crm.db",
                "sqlite",
                table("customers", id="integer", name="text", since="date"),
                table("visits", customer_id="integer"),
            ),
            "warehouse": catalog("warehouse", "postgres", table("sales.regions", id="integer", name="text")),
        }
    )


@pytest.mark.parametrize(
    ("sql", "source", "own"),
    [
        ("SELECT count(*) FROM visits", "data/crm.db", 'SELECT COUNT(*) FROM "visits"'),
        ("SELECT shop.orders.amount FROM shop.orders", "./shop", 'SELECT orders.amount FROM "orders"'),
        ("SELECT c.name FROM CRM.Customers AS c", "data/crm.db", 'SELECT c.name FROM "customers" AS c'),
        ("SELECT name FROM warehouse.sales.regions", "warehouse", 'SELECT name FROM "sales"."regions"'),
        ("SELECT name FROM sales.regions", "warehouse", 'SELECT name FROM "sales"."regions"'),
        ("SELECT strftime('%Y', since) FROM crm.customers", "data/crm.db", "STRFTIME('%Y', since)"),
        ("SELECT 1", "./shop", "SELECT 1"),
    ],
)
def test_what_one_source_has_is_asked_there_in_its_own_words(both: Merged, sql: str, source: str, own: str) -> None:
    parts = split_sql(sql, both)
    assert isinstance(parts, AloneSql)
    assert parts.source == source
    assert own in parts.sql


def test_tables_of_several_sources_give_the_columns_that_are_read(both: Merged) -> None:
    sql = "SELECT name, sum(amount) FROM orders JOIN crm.customers ON crm.customers.id = customer_id GROUP BY 1"
    parts = split_sql(sql, both)
    assert isinstance(parts, Together)
    fetched = {each.name: (each.source, [item.label for item in each.plan.select]) for each in parts.fetches}
    assert fetched == {
        "orders": ("./shop", ["customer_id", "amount"]),
        "crm_customers": ("data/crm.db", ["id", "name"]),
    }
    assert 'FROM "crm_customers"' in parts.sql
    assert 'AS "customers"' in parts.sql


def test_tables_of_one_name_are_told_apart_by_their_sources(both: Merged) -> None:
    sql = "SELECT crm.customers.name, shop.customers.score FROM crm.customers JOIN shop.customers USING (id)"
    parts = split_sql(sql, both)
    assert isinstance(parts, Together)
    assert {each.name for each in parts.fetches} == {"crm_customers", "shop_customers"}
    with pytest.raises(UserError) as caught:
        split_sql("SELECT * FROM customers JOIN orders ON customers.id = customer_id", both)
    assert caught.value.stable_code == "table_ambiguous"
    assert caught.value.hint == "Write shop.customers or crm.customers."


def test_names_that_the_statement_makes_are_its_own(both: Merged) -> None:
    sql = """
        WITH customers AS (SELECT customer_id AS id FROM visits)
        SELECT amount FROM orders JOIN customers ON customers.id = customer_id
    """
    parts = split_sql(sql, both)
    assert isinstance(parts, Together)
    assert {each.name for each in parts.fetches} == {"orders", "visits"}


@pytest.mark.parametrize(
    "sql",
    [
        """WITH RECURSIVE steps AS (SELECT id FROM orders WHERE id = 1
           UNION ALL SELECT o.id FROM orders o JOIN steps ON o.customer_id = steps.id WHERE o.id < 9)
           SELECT count(*) FROM steps JOIN visits ON visits.customer_id = steps.id""",
        """WITH RECURSIVE first AS (SELECT id FROM orders), Steps(n) AS (SELECT 1
           UNION ALL SELECT n + 1 FROM steps WHERE n < 5)
           SELECT count(*) FROM steps, visits WHERE n = customer_id AND n IN (SELECT id FROM first)""",
        """SELECT * FROM visits WHERE customer_id IN (WITH RECURSIVE steps AS (SELECT id FROM orders
           UNION SELECT steps.id + 1 FROM steps WHERE steps.id < 3) SELECT id FROM steps)""",
    ],
)
def test_a_recursive_name_is_known_in_its_own_body(both: Merged, sql: str) -> None:
    parts = split_sql(sql, both)
    assert isinstance(parts, Together)
    assert {each.name for each in parts.fetches} == {"orders", "visits"}


def test_what_is_not_there_or_not_allowed_is_said(both: Merged) -> None:
    with pytest.raises(UserError, match="The source 'crm' has no table 'vists'") as caught:
        split_sql("SELECT * FROM crm.vists, orders", both)
    assert caught.value.hint == "Did you mean 'visits'?"
    with pytest.raises(UserError, match="nothing_such"):
        split_sql("SELECT nothing_such FROM orders JOIN visits USING (customer_id)", both)
    with pytest.raises(RefusedError):
        split_sql("DROP TABLE crm.customers", both)
    with pytest.raises(RefusedError):
        split_sql("SELECT * FROM orders JOIN visits USING (customer_id), read_csv('/etc/passwd')", both)

"""SQL that may run: it passes, means the same afterwards, and the check says what it reads."""

import logging
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml

from answerable.core.catalog import Catalog, Column, Table
from answerable.core.errors import AnswerableError, RefusedError, UserError
from answerable.core.values import Language
from answerable.query.sql.check import checked

FIXTURES = Path(__file__).parents[1] / "fixtures" / "query"
DIALECTS: tuple[Language, ...] = ("duckdb", "sqlite", "postgres")


def _cases() -> Iterator[Any]:
    for group in yaml.safe_load((FIXTURES / "accepted.yaml").read_text()):
        for sql in group["sql"]:
            for dialect in group.get("dialects", DIALECTS):
                yield pytest.param(sql, dialect, id=f"{dialect}: {sql[:60]!r}")


CASES = list(_cases())


@pytest.mark.parametrize(("sql", "dialect"), CASES)
def test_accepted_and_unchanged_in_meaning(
    sql: str, dialect: Language, shop: Catalog, engines: dict[Language, Any]
) -> None:
    answer = checked(sql, shop, dialect=dialect)
    labels, rows = engines[dialect].run(answer.text)
    assert rows == engines[dialect].run(sql)[1]
    assert len(answer.output_labels) == len(labels)
    named = [(said, given) for said, given in zip(answer.output_labels, labels, strict=True) if said is not None]
    assert all(said.lower() == given.lower() for said, given in named)
    assert "--" not in answer.text.replace("'; DROP TABLE orders; --'", "")
    assert checked(answer.text, shop, dialect=dialect) == answer


def test_there_are_many() -> None:
    assert len({case.values[0] for case in CASES}) > 100


@pytest.mark.parametrize(
    ("sql", "columns"),
    [
        ("SELECT 1", {}),
        ("SELECT count(*) FROM orders", {"orders": set()}),
        ("SELECT id FROM orders WHERE status = 'x'", {"orders": {"id", "status"}}),
        ("SELECT * FROM products", {"products": {"id", "name", "category", "stock"}}),
        ("SELECT * EXCLUDE (stock) FROM products", {"products": {"id", "name", "category"}}),
        (
            "SELECT p.* EXCLUDE (stock) FROM products p ORDER BY p.stock",
            {"products": {"id", "name", "category", "stock"}},
        ),
        ("SELECT name FROM products ORDER BY stock", {"products": {"name", "stock"}}),
        ("SELECT c.city FROM customers c", {"customers": {"City"}}),
        ("SELECT x.n FROM (SELECT name AS n, stock FROM products) x", {"products": {"name", "stock"}}),
        ("WITH x AS (SELECT id FROM orders) SELECT count(*) FROM x", {"orders": {"id"}}),
        (
            "SELECT name FROM customers c WHERE EXISTS (SELECT 1 FROM orders WHERE customer_id = c.id)",
            {"customers": {"name", "id"}, "orders": {"customer_id"}},
        ),
        (
            "SELECT quantity FROM items JOIN products ON product_id = id",
            {"items": {"quantity", "product_id"}, "products": {"id"}},
        ),
        ("SELECT id FROM orders UNION SELECT stock FROM products", {"orders": {"id"}, "products": {"stock"}}),
        ("SELECT sum(id) OVER (PARTITION BY status ORDER BY total) FROM orders", {"orders": {"id", "status", "total"}}),
        ("SELECT count(*) FILTER (WHERE total > 1) FROM orders", {"orders": {"total"}}),
        ("SELECT 1 FROM orders JOIN customers USING (id)", {"orders": {"id"}, "customers": {"id"}}),
        ("SELECT c FROM items AS i(a, b, c)", {"items": {"quantity"}}),
        ("SELECT price FROM items AS i(a, b)", {"items": {"price"}}),
        ("SELECT * FROM items AS i(a)", {"items": {"order_id", "product_id", "quantity", "price"}}),
        ("SELECT count(i.*) FROM items AS i", {"items": {"order_id", "product_id", "quantity", "price"}}),
        (
            "SELECT * REPLACE (quantity + 1 AS price) FROM items",
            {"items": {"order_id", "product_id", "quantity", "price"}},
        ),
    ],
)
def test_what_is_read(sql: str, columns: dict[str, set[str]], shop: Catalog) -> None:
    answer = checked(sql, shop)
    assert dict(answer.columns) == columns
    assert answer.tables == set(columns)


def test_fields_of_nested_values() -> None:
    columns = (Column(name="address", type="json"), Column(name="name", type="text"))
    catalog = Catalog(source="x", dialect="duckdb", tables=(Table(name="people", columns=columns),))
    for sql in ("SELECT address.city FROM people", "SELECT p.address.city FROM people AS p WHERE address.zip = 1"):
        assert dict(checked(sql, catalog).columns) == {"people": {"address"}}
    for sql in ("SELECT name.x FROM people", "SELECT p.name.x FROM people AS p", "SELECT address.a.b.c FROM people"):
        with pytest.raises(AnswerableError):
            checked(sql, catalog)


def test_labels_of_the_result(shop: Catalog) -> None:
    answer = checked("SELECT id, status AS s, count(*), o.total, 1 FROM orders o GROUP BY ALL", shop)
    assert answer.output_labels == ("id", "s", None, "total", None)
    assert checked("SELECT * FROM items", shop).output_labels == ("order_id", "product_id", "quantity", "price")


@pytest.mark.parametrize(
    ("sql", "limit"),
    [
        ("SELECT id FROM orders", "LIMIT 10"),
        ("SELECT id FROM orders LIMIT 5", "LIMIT 5"),
        ("SELECT id FROM orders LIMIT 50 OFFSET 3", "LIMIT 10\nOFFSET 3"),
        ("SELECT id FROM orders UNION SELECT id FROM customers ORDER BY id", "LIMIT 10"),
        ("SELECT id FROM orders FETCH FIRST 50 ROWS ONLY", "LIMIT 10"),
        ("SELECT id FROM orders FETCH FIRST 5 ROWS ONLY", "LIMIT 5"),
        ("SELECT id FROM orders FETCH FIRST ROW ONLY", "LIMIT 1"),
        ("SELECT id FROM orders ORDER BY id FETCH FIRST 50 ROWS WITH TIES", "FETCH FIRST 10 ROWS WITH TIES"),
    ],
)
def test_rows_are_limited(sql: str, limit: str, shop: Catalog) -> None:
    assert checked(sql, shop, dialect="postgres", max_rows=10).text.endswith(limit)


def test_a_limit_that_is_not_a_number_cannot_be_bounded(shop: Catalog) -> None:
    with pytest.raises(RefusedError):
        checked("SELECT id FROM orders LIMIT (SELECT 1000000)", shop, max_rows=10)


def test_the_limit_of_a_bracketed_query_is_bounded_too(shop: Catalog, engines: dict[Language, Any]) -> None:
    answer = checked("(SELECT id FROM orders LIMIT 5)", shop, max_rows=2)
    assert len(engines["duckdb"].run(answer.text)[1]) == 2


@pytest.mark.parametrize(
    ("sql", "message", "hint"),
    [
        ("SELECT * FROM ordrs", "There is no table 'ordrs'.", "Did you mean 'orders'?"),
        ("SELECT statu FROM orders", "There is no column statu.", "Did you mean 'status'?"),
        ("SELECT o.statu FROM orders o", "There is no column o.statu.", "Did you mean 'status'?"),
        ("SELECT ordes.id FROM orders", "'ordes' is not a table of this FROM.", "Did you mean 'orders'?"),
        ('SELECT id FROM orders WHERE status = "open"', 'There is no column "open".', "single quotes: 'open'"),
        ("SELECT id,\n  FROM orders WHERE", "at line 2", "Check the spelling"),
        ("SELECT getenv('HOME')", "The function getenv is not allowed.", "compute from the rows"),
        ("DELETE FROM orders", "DELETE is not allowed: Answerable does not change data", "SELECT"),
    ],
)
def test_reasons_name_the_thing_and_the_remedy(sql: str, message: str, hint: str, shop: Catalog) -> None:
    with pytest.raises(AnswerableError) as caught:
        checked(sql, shop)
    assert message in caught.value.message
    assert hint in (caught.value.hint or "")


def test_a_place_is_given_for_text_that_cannot_be_read(shop: Catalog) -> None:
    with pytest.raises(UserError) as caught:
        checked("SELECT id\nFROM orders\nWHERE (", shop)
    assert caught.value.details["line"] == 3


@pytest.mark.parametrize("dialect", DIALECTS)
@pytest.mark.parametrize(
    ("start", "more", "end"),
    [
        ("SELECT id FROM orders WHERE id IN (1", ", 2", ")"),
        ("SELECT id FROM orders WHERE id = 1", " OR id = 2", ""),
        ("SELECT 1", " + 1", " AS sum"),
        ("SELECT CASE", " WHEN id = 1 THEN 2", " END AS x FROM orders"),
        ("SELECT 1 AS x /*", "*", "*/"),
    ],
)
def test_long_is_not_deep(start: str, more: str, end: str, dialect: Language, shop: Catalog) -> None:
    sql = start + more * 2000 + end
    assert len(checked(sql, shop, dialect=dialect).output_labels) == 1


def _catalog(*tables: str) -> Catalog:
    columns = (Column(name="Id", type="integer"), Column(name="order", type="text"))
    return Catalog(source="x", dialect="duckdb", tables=tuple(Table(name=name, columns=columns) for name in tables))


@pytest.mark.parametrize(
    ("dialect", "sql", "passes"),
    [
        ("duckdb", "SELECT id FROM MIXED", True),
        ("duckdb", 'SELECT "ID" FROM "mixed"', True),
        ("sqlite", 'SELECT "ID" FROM "mIXED"', True),
        ("postgres", 'SELECT "Id" FROM "Mixed"', True),
        ("postgres", "SELECT id FROM Mixed", False),
        ("postgres", 'SELECT id FROM "Mixed"', False),
        ("postgres", 'SELECT "order" FROM "Mixed"', True),
        ("duckdb", 'SELECT "order" FROM Mixed', True),
        ("sqlite", "SELECT [order] FROM Mixed", True),
        ("duckdb", "SELECT Id FROM sales.orders", True),
        ("duckdb", "SELECT sales.orders.id FROM sales.orders", True),
        ("duckdb", "SELECT orders.id FROM Sales.Orders", True),
        ("duckdb", "SELECT Id FROM orders", False),
        ("duckdb", 'SELECT Id FROM "sales.orders"', False),
        ("postgres", 'SELECT "Id" FROM sales.orders', True),
        ("sqlite", 'SELECT Id FROM "sales.orders"', True),
        ("sqlite", "SELECT Id FROM sales.orders", False),
        ("duckdb", 'SELECT "Id" FROM "Größe"', True),
        ("duckdb", 'SELECT "Id" FROM "GRÖSSE"', False),
        ("duckdb", 'SELECT "Id" FROM "it\'s ""quoted"""', True),
    ],
)
def test_names_are_those_of_the_dialect(dialect: Language, sql: str, passes: bool) -> None:
    catalog = _catalog("Mixed", "sales.orders", "Größe", 'it\'s "quoted"')
    if passes:
        assert len(checked(sql, catalog, dialect=dialect).tables) == 1
    else:
        with pytest.raises(AnswerableError):
            checked(sql, catalog, dialect=dialect)


def test_nothing_is_logged(shop: Catalog, caplog: pytest.LogCaptureFixture) -> None:
    """The parser's own warnings about what it does not know would reach the user's terminal."""
    caplog.set_level(logging.WARNING)
    for sql in ("CALL x()", "VACUUM", "SELECT 1", "EXPORT DATABASE 'x'", "LISTEN x"):
        try:
            checked(sql, shop)
        except AnswerableError:
            continue
    assert caplog.records == []

"""A statement that changes data is refused in whatever place of a query it stands, also where a database takes the
whole for a SELECT: DuckDB and PostgreSQL let a WITH change rows and return them."""

import pytest

from answerable.core.catalog import Catalog
from answerable.core.errors import AnswerableError
from answerable.core.values import Language
from answerable.query.sql.check import checked

DIALECTS: tuple[Language, ...] = ("duckdb", "sqlite", "postgres")
CHANGES = (
    "INSERT INTO orders (id) VALUES (99) RETURNING id",
    "INSERT INTO orders SELECT * FROM orders RETURNING *",
    "INSERT OR REPLACE INTO orders (id) VALUES (1) RETURNING id",
    "INSERT INTO orders (id) VALUES (1) ON CONFLICT (id) DO UPDATE SET total = 0 RETURNING id",
    "REPLACE INTO orders (id) VALUES (1) RETURNING id",
    "UPDATE orders SET total = 0 RETURNING id",
    "DELETE FROM orders RETURNING id",
    "DELETE FROM orders",
    "TRUNCATE orders",
    "MERGE INTO orders USING (SELECT 1 AS id) AS s ON orders.id = s.id WHEN MATCHED THEN DELETE RETURNING orders.id",
    "MERGE INTO orders AS o USING orders AS s ON o.id = s.id WHEN NOT MATCHED THEN INSERT (id) VALUES (1)",
    "CREATE TABLE made AS SELECT 1 AS id",
    "DROP TABLE orders",
    "ALTER TABLE orders ADD COLUMN more integer",
    "COPY orders TO 'out.csv'",
    "ATTACH 'other.db' AS other",
    "SELECT id INTO made FROM orders",
    "WITH deep AS (DELETE FROM orders RETURNING id) SELECT id FROM deep",
)
PLACES = (
    "{}",
    "({})",
    "EXPLAIN {}",
    "EXPLAIN ANALYZE {}",
    "WITH a AS ({}) SELECT * FROM a",
    "WITH a AS ({}) FROM a",
    "FROM ({})",
    "FROM ({}) AS a SELECT a.id",
    "WITH a (id) AS MATERIALIZED ({}) SELECT id FROM a",
    "WITH a AS NOT MATERIALIZED ({}) SELECT id FROM a",
    "WITH a AS (SELECT 1 AS id), b AS ({}) SELECT a.id FROM a",
    "WITH RECURSIVE a AS (SELECT 1 AS id UNION ALL ({})) SELECT id FROM a",
    "WITH a AS (WITH b AS ({}) SELECT * FROM b) SELECT id FROM a",
    "WITH a AS ({}) SELECT 1 UNION ALL SELECT 2",
    "WITH a AS (SELECT 1 AS id) {}",
    "SELECT * FROM ({}) AS a",
    "SELECT * FROM (WITH a AS ({}) SELECT * FROM a) AS b",
    "SELECT ({}) FROM orders",
    "SELECT (WITH a AS ({}) SELECT count(*) FROM a) FROM orders",
    "SELECT id FROM orders WHERE id IN ({})",
    "SELECT id FROM orders WHERE EXISTS ({})",
    "SELECT id FROM orders WHERE id = ANY ({})",
    "SELECT id FROM orders WHERE id IN (WITH a AS ({}) SELECT id FROM a)",
    "SELECT id FROM orders UNION {}",
    "SELECT id FROM orders UNION ALL ({})",
    "SELECT id FROM orders INTERSECT ({})",
    "({}) EXCEPT SELECT id FROM orders",
    "SELECT o.id FROM orders AS o, LATERAL ({}) AS a",
    "SELECT o.id FROM orders AS o CROSS JOIN LATERAL (WITH b AS ({}) SELECT * FROM b) AS a",
    "SELECT o.id FROM orders AS o JOIN ({}) AS a ON true",
    "SELECT id FROM orders ORDER BY ({})",
    "SELECT id FROM orders LIMIT ({})",
    "SELECT count(*) FROM orders GROUP BY ({})",
    "SELECT CASE WHEN true THEN ({}) END",
    "SELECT array({})",
    "VALUES (({}))",
    "DESCRIBE {}",
    "SUMMARIZE {}",
    "PIVOT ({}) ON id USING count(*)",
    "SELECT 1; {}",
    "{}; SELECT 1",
    "/* {} */ WITH a AS ({}) SELECT 1",
)


@pytest.mark.parametrize("dialect", DIALECTS)
def test_nothing_that_changes_data_passes_in_any_place(dialect: Language, shop: Catalog) -> None:
    attempts = [place.replace("{}", change) for place in PLACES for change in CHANGES]
    attempts += [attempt.lower() for attempt in attempts]
    assert [sql for sql in attempts if _passes(sql, shop, dialect)] == []


@pytest.mark.parametrize("dialect", DIALECTS)
def test_the_same_places_take_a_query(dialect: Language, shop: Catalog) -> None:
    """Otherwise the places, and not what stands in them, might be what is refused."""
    passing = [place for place in PLACES if _passes(place.replace("{}", "SELECT id FROM orders"), shop, dialect)]
    assert len(passing) >= 20


def _passes(sql: str, shop: Catalog, dialect: Language) -> bool:
    try:
        checked(sql, shop, dialect=dialect, max_rows=10)
    except AnswerableError:
        return False
    return True

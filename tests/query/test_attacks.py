"""What writes, reads files, reaches the network, changes settings, names other schemas or reads secrets is refused, in
whatever place of a statement it stands."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from answerable.core.catalog import Catalog
from answerable.core.errors import AnswerableError, RefusedError
from answerable.core.values import Language
from answerable.query.sql.check import checked

FOLDER = Path(__file__).parents[1] / "fixtures" / "query" / "attacks"
DIALECTS: tuple[Language, ...] = ("duckdb", "sqlite", "postgres")
WHERE_VALUES_STAND = (
    "SELECT {}",
    "SELECT id FROM orders WHERE {} IS NOT NULL",
    "WITH t AS (SELECT {} AS x) SELECT * FROM t",
    "SELECT (SELECT {}) FROM orders",
    "SELECT count(*) FROM orders GROUP BY {}",
    "SELECT id FROM orders ORDER BY {}",
    "SELECT CASE WHEN id > 0 THEN {} END FROM orders",
    "SELECT upper(cast({} AS text)) FROM orders",
    "SELECT sum(total) OVER (PARTITION BY {}) FROM orders",
    "SELECT max(id) FILTER (WHERE {} IS NULL) FROM orders",
    "SELECT id FROM orders LIMIT {}",
    "VALUES ({})",
)
WHERE_TABLES_STAND = (
    "SELECT * FROM {}",
    "SELECT * FROM {} AS t",
    "SELECT * FROM orders, {}",
    "SELECT * FROM orders JOIN {} AS t ON true",
    "WITH t AS (SELECT * FROM {}) SELECT * FROM t",
    "SELECT (SELECT count(*) FROM {}) FROM orders",
    "SELECT * FROM orders WHERE id IN (SELECT 1 FROM {})",
    "SELECT * FROM orders, LATERAL {} AS t",
    "SELECT * FROM orders, LATERAL (SELECT * FROM {}) AS t",
    "SELECT id FROM orders UNION SELECT 1 FROM {}",
)


def _lines(name: str) -> list[str]:
    return [line for line in (FOLDER / f"{name}.sql").read_text().splitlines() if line]


def _attacks(dialect: Language) -> Iterator[str]:
    yield from _lines("all.statements")
    yield from _lines(f"{dialect}.statements")
    yield from (place.format(call) for call in _lines(f"{dialect}.calls") for place in WHERE_VALUES_STAND)
    yield from (place.format(table) for table in _lines(f"{dialect}.tables") for place in WHERE_TABLES_STAND)


@pytest.mark.parametrize("dialect", DIALECTS)
def test_refused(dialect: Language, shop: Catalog) -> None:
    attacks = list(_attacks(dialect))
    assert len(set(attacks)) >= 150
    assert [sql for sql in attacks if _passes(sql, shop, dialect)] == []


def _passes(sql: str, shop: Catalog, dialect: Language) -> bool:
    try:
        checked(sql, shop, dialect=dialect)
    except AnswerableError:
        return False
    return True


@pytest.mark.parametrize(
    ("dialect", "sql", "name"),
    [
        ("duckdb", "SELECT Read_CSV('x')", "Read_CSV"),
        ("duckdb", "SELECT * FROM read_csv_auto('x.csv')", "read_csv_auto"),
        ("duckdb", "SELECT string_splitt('a', ',')", "string_splitt"),
        ("postgres", "SELECT pg_Sleep(1)", "pg_Sleep"),
        ("postgres", "SELECT public.abs('x')", "public.abs"),
        ("postgres", "SELECT session_user", "session_user"),
        ("sqlite", 'SELECT "load_extension"(1)', "load_extension"),
    ],
)
def test_a_refusal_names_the_function_as_it_was_written(dialect: Language, sql: str, name: str, shop: Catalog) -> None:
    with pytest.raises(RefusedError) as caught:
        checked(sql, shop, dialect=dialect)
    assert caught.value.message == f"The function {name} is not allowed."

"""Names are quoted where a database or the parser needs it, and only there."""

import sqlite3
from typing import Any

import duckdb
import psycopg
import pytest
from sqlglot import Dialect as SqlglotDialect
from sqlglot import exp

from answerable.core.catalog import Catalog, Column, Relationship, Table
from answerable.core.values import Language
from answerable.query.plan import Aggregate, ColumnRef, Join, OrderItem, QueryPlan, SelectItem
from answerable.query.sql.check import checked
from answerable.query.sql.names import RESERVED, address, identifier
from answerable.query.sql.to_sql import to_sql

DIALECTS: tuple[Language, ...] = ("duckdb", "sqlite", "postgres")


def _keywords(postgres_server: str) -> list[str]:
    """All words that a database or the parser has a special use for, besides some plain ones."""
    words = {row[0] for row in duckdb.execute("SELECT keyword_name FROM duckdb_keywords()").fetchall()}
    with psycopg.connect(postgres_server) as connection:
        words |= {row[0] for row in connection.execute("SELECT word FROM pg_get_keywords()").fetchall()}
    for dialect in DIALECTS:
        tokenizer = SqlglotDialect.get_or_raise(dialect).tokenizer_class
        words |= {word.lower() for word in tokenizer.KEYWORDS if word.isidentifier()}
    return sorted(words | RESERVED | {"count", "name", "date", "year", "value", "total", "plan", "rowid"})


def _batched(words: list[str], size: int) -> list[list[str]]:
    return [words[start : start + size] for start in range(0, len(words), size)]


def _catalog(words: list[str]) -> Catalog:
    """A table with a column for every word, and a table for every word."""
    wide = Table(name="wide", columns=tuple(Column(name=word, type="integer") for word in words))
    small = tuple(Table(name=word, columns=(Column(name="a", type="integer"),)) for word in words)
    links = tuple(
        Relationship(
            name=word, from_table="wide", from_columns=(word,), to_table=word, to_columns=("a",), origin="declared"
        )
        for word in words
    )
    return Catalog(source="words", dialect="duckdb", tables=(wide, *small), relationships=links)


def _plans(words: list[str]) -> list[QueryPlan]:
    plans, count = [], Aggregate(function="count")
    for some in _batched(words, 5):
        refs = [ColumnRef(table="wide", column=word) for word in some]
        shown = (*(SelectItem(expr=ref) for ref in refs), *(SelectItem(expr=count, label=word + "s") for word in some))
        order = tuple(OrderItem(expr=ref) for ref in refs)
        plans.append(QueryPlan(entity="wide", select=shown, group_by=tuple(refs), order_by=order))
    for number, word in enumerate(words):
        if number % 3 and word not in RESERVED:
            continue
        ref, other = ColumnRef(table="wide", column=word), ColumnRef(table=word, column="a")
        joined = (Join(table=word, relationship=word),)
        shown = (SelectItem(expr=other, label=word), SelectItem(expr=ref, label="other"))
        plans.append(QueryPlan(entity="wide", joins=joined, select=shown, order_by=(OrderItem(expr=other),)))
        named = (SelectItem(expr=count, label=word),)
        plans.append(QueryPlan(entity="wide", select=named, order_by=(OrderItem(expr=count),)))
    return plans


def _database(dialect: Language, postgres_url: str) -> Any:
    if dialect == "duckdb":
        return duckdb.connect()
    if dialect == "sqlite":
        return sqlite3.connect(":memory:")
    return psycopg.connect(postgres_url, autocommit=True)


@pytest.mark.parametrize("dialect", DIALECTS)
def test_every_keyword_can_be_a_name(dialect: Language, postgres_server: str, postgres_url: str) -> None:
    every = _keywords(postgres_server)
    assert len(every) > 500
    with _database(dialect, postgres_url) as database:
        # A few at a time: a statement is checked against the whole catalog, and a large one takes long.
        for words in _batched(every, 40):
            catalog = _catalog(words)
            columns = ", ".join(f'"{word}" INT' for word in words)
            database.execute(f'CREATE TABLE "wide" ({columns})')
            for word in words:
                database.execute(f'CREATE TABLE "{word}" (a INT)')
            for plan in _plans(words):
                text = to_sql(plan, catalog, dialect)
                assert checked(text, catalog, dialect=dialect).text == text
                database.execute(text)
            database.execute('DROP TABLE "wide"')
    database.close()


@pytest.mark.parametrize("shown", ["all", "other"])
@pytest.mark.parametrize("name", ["all", "ALL"])
def test_order_by_a_column_called_all(name: str, shown: str) -> None:
    """DuckDB's ORDER BY ALL is another thing; the parser takes even a quoted name for it."""
    columns = (Column(name=name, type="integer"), Column(name="other", type="integer"))
    catalog = Catalog(source="x", dialect="duckdb", tables=(Table(name="t", columns=columns),))
    column = ColumnRef(table="t", column=name if shown == "all" else "other")
    order = (OrderItem(expr=ColumnRef(table="t", column=name), descending=True),)
    text = to_sql(QueryPlan(entity="t", select=(SelectItem(expr=column),), order_by=order), catalog)
    assert checked(text, catalog).text == text
    with duckdb.connect() as database:
        database.execute(f'CREATE TABLE t AS SELECT * FROM (VALUES (1, 9), (2, 8)) AS v("{name}", other)')
        expected = [(2,), (1,)] if shown == "all" else [(8,), (9,)]
        assert database.execute(text).fetchall() == expected


@pytest.mark.parametrize(
    ("name", "quoted"),
    [
        ("orders", ""),
        ("order_2", ""),
        ("date", ""),
        ("count", ""),
        ("Orders", "postgres"),
        ("order", "duckdb sqlite postgres"),
        ("SELECT", "duckdb sqlite postgres"),
        ("two words", "duckdb sqlite postgres"),
        ("2nd", "duckdb sqlite postgres"),
        ("größe", "duckdb sqlite postgres"),
        ("a.b", "duckdb sqlite postgres"),
        ("a-b", "duckdb sqlite postgres"),
        ("", "duckdb sqlite postgres"),
    ],
)
def test_quotes(name: str, quoted: str) -> None:
    found = {dialect for dialect in DIALECTS if identifier(name, dialect).args["quoted"]}
    assert found == set(quoted.split())


def test_a_quote_in_a_name_is_doubled() -> None:
    for dialect in DIALECTS:
        assert exp.Column(this=identifier('a"b', dialect)).sql(dialect=dialect) == '"a""b"'


@pytest.mark.parametrize(
    ("table", "dialect", "expected"),
    [
        ("orders", "postgres", (None, "orders")),
        ("sales.orders", "postgres", ("sales", "orders")),
        ("sales.orders", "duckdb", ("sales", "orders")),
        ("sales.orders.2024", "duckdb", ("sales", "orders.2024")),
        ("sales.orders", "sqlite", (None, "sales.orders")),
        (".orders", "duckdb", (None, ".orders")),
        ("orders.", "duckdb", (None, "orders.")),
    ],
)
def test_addresses(table: str, dialect: Language, expected: tuple[str | None, str]) -> None:
    assert address(table, dialect) == expected

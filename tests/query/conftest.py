"""One small shop in three real databases. SQLite holds its dates as the mixed text that such files have in practice."""

import contextlib
import json
import sqlite3
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from datetime import date, datetime, time
from decimal import Decimal
from pathlib import Path
from typing import Any

import duckdb
import psycopg
import pytest

from answerable.core.catalog import Catalog
from answerable.core.values import Language

FIXTURES = Path(__file__).parents[1] / "fixtures" / "query"
DIALECTS: tuple[Language, ...] = ("duckdb", "sqlite", "postgres")

_TYPES: dict[str, dict[str, str]] = {
    "duckdb": {"text": "VARCHAR", "integer": "BIGINT", "number": "DECIMAL(12,2)", "datetime": "TIMESTAMP"},
    "sqlite": {"text": "TEXT", "integer": "INTEGER", "number": "NUMERIC", "date": "TEXT", "datetime": "TEXT"},
    "postgres": {"text": "TEXT", "integer": "BIGINT", "number": "NUMERIC(12,2)", "datetime": "TIMESTAMP"},
}

Rows = list[tuple[Any, ...]]


@dataclass(frozen=True)
class Engine:
    """Runs SQL in a real database and gives labels and rows, with values in the same form for all three."""

    dialect: Language
    execute: Callable[[str], tuple[tuple[str, ...], Rows]]

    def run(self, sql: str) -> tuple[tuple[str, ...], Rows]:
        labels, rows = self.execute(sql)
        return labels, [tuple(_plain(value) for value in row) for row in rows]


@pytest.fixture(scope="session")
def shop_data() -> dict[str, Any]:
    data: dict[str, Any] = json.loads((FIXTURES / "shop.json").read_text())
    return data


@pytest.fixture(scope="session")
def shop(shop_data: dict[str, Any]) -> Catalog:
    return Catalog.model_validate(shop_data["catalog"])


@pytest.fixture(scope="session")
def engines(shop: Catalog, shop_data: dict[str, Any], postgres_server: str) -> Iterator[dict[Language, Engine]]:
    with contextlib.ExitStack() as stack:
        duck = stack.enter_context(duckdb.connect())
        lite = stack.enter_context(contextlib.closing(sqlite3.connect(":memory:")))
        postgres = stack.enter_context(psycopg.connect(postgres_server, autocommit=True))
        postgres.execute("CREATE SCHEMA query_tests; SET search_path = query_tests")
        for execute, dialect in ((duck.execute, "duckdb"), (lite.execute, "sqlite"), (postgres.execute, "postgres")):
            for statement in _statements(shop, shop_data["rows"], dialect):
                execute(statement)
        yield {
            "duckdb": Engine("duckdb", lambda sql: _fetched(duck.execute(sql))),
            "sqlite": Engine("sqlite", lambda sql: _fetched(lite.execute(sql))),
            "postgres": Engine("postgres", lambda sql: _fetched(postgres.execute(sql))),
        }
        postgres.execute("DROP SCHEMA query_tests CASCADE")


def _fetched(cursor: Any) -> tuple[tuple[str, ...], Rows]:
    return tuple(column[0] for column in cursor.description), cursor.fetchall()


def _statements(shop: Catalog, rows: dict[str, list[list[Any]]], dialect: str) -> Iterator[str]:
    for table in shop.tables:
        columns = ", ".join(f"{_quoted(c.name)} {_TYPES[dialect].get(c.type, c.type)}" for c in table.columns)
        yield f"CREATE TABLE {_quoted(table.name)} ({columns})"
        kinds = [column.type for column in table.columns]
        for number, row in enumerate(rows[table.name]):
            values = ", ".join(_literal(v, kind, dialect, number) for v, kind in zip(row, kinds, strict=True))
            yield f"INSERT INTO {_quoted(table.name)} VALUES ({values})"


def _quoted(name: str) -> str:
    return '"' + name.replace('"', '""') + '"'


def _literal(value: Any, kind: str, dialect: str, number: int) -> str:
    if value is None:
        return "NULL"
    if isinstance(value, bool):
        return str(int(value)) if dialect == "sqlite" else str(value)
    if isinstance(value, int | float):
        return repr(value)
    if dialect == "sqlite" and kind == "datetime":
        value = value.replace(" ", "T") if number % 2 else value
    if dialect == "sqlite" and kind == "date":
        value = f"{value} 00:00:00" if number % 2 else value
    return "'" + str(value).replace("'", "''") + "'"


def _plain(value: Any) -> Any:
    """Numbers to nine digits, points in time as ISO text, midnight as the date."""
    if isinstance(value, bool):
        return int(value)
    if isinstance(value, Decimal | float):
        rounded = float(f"{float(value):.9g}")
        return int(rounded) if rounded.is_integer() else rounded
    if isinstance(value, str):
        with contextlib.suppress(ValueError):
            value = datetime.fromisoformat(value) if len(value) > 8 else value
    if isinstance(value, datetime):
        return value.date().isoformat() if value.time() == time() else value.isoformat(sep=" ")
    return value.isoformat() if isinstance(value, date | time) else value


@pytest.fixture(scope="session")
def same_rows() -> Callable[[Sequence[Any], Sequence[Any], bool], bool]:
    def compare(left: Sequence[Any], right: Sequence[Any], ordered: bool) -> bool:
        if ordered:
            return list(left) == list(right)
        return sorted(map(repr, left)) == sorted(map(repr, right))

    return compare

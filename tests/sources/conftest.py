"""Probes that run SQL on real engines inside the test's own process."""

import sqlite3
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import duckdb
import psycopg
import pytest

from answerable.core.catalog import Column, Table
from answerable.core.errors import SourceError
from answerable.core.values import ColumnType, Language

_DECLARED: tuple[tuple[str, ColumnType], ...] = (
    ("INT", "integer"),
    ("BOOL", "boolean"),
    ("DATETIME", "datetime"),
    ("TIMESTAMP", "datetime"),
    ("DATE", "date"),
    ("REAL", "number"),
    ("NUM", "number"),
    ("DEC", "number"),
    ("DOUBLE", "number"),
    ("FLOAT", "number"),
    ("JSON", "json"),
)


class EngineProbe:
    """Counts the statements, so that a test can say how few were needed."""

    def __init__(self, dialect: Language, connection: Any) -> None:
        self.dialect = dialect
        self.connection = connection
        self.statements: list[str] = []

    async def rows(self, sql: str) -> list[tuple[Any, ...]]:
        self.statements.append(sql)
        try:
            return [tuple(row) for row in self.connection.execute(sql).fetchall()]
        except (sqlite3.Error, duckdb.Error, psycopg.Error) as error:
            raise SourceError(str(error)) from error

    def run(self, *statements: str) -> None:
        for statement in statements:
            self.connection.execute(statement)

    def tables(self) -> tuple[Table, ...]:
        """As declared, with nothing counted."""
        listing = {
            "sqlite": "SELECT name FROM sqlite_master WHERE type = 'table' AND name NOT LIKE 'sqlite_%' ORDER BY rowid",
            "duckdb": "SELECT table_name FROM duckdb_tables() ORDER BY table_oid",
            "postgres": "SELECT table_name FROM information_schema.tables WHERE table_schema = 'public' ORDER BY 1",
        }[self.dialect]
        names = [name for (name,) in self.connection.execute(listing).fetchall()]
        return tuple(Table(name=name, columns=self._columns(name)) for name in names)

    def _columns(self, table: str) -> tuple[Column, ...]:
        if self.dialect == "sqlite":
            quoted = table.replace('"', '""')
            rows = [(row[1], row[2]) for row in self.connection.execute(f'PRAGMA table_info("{quoted}")')]
        else:
            rows = self.connection.execute(
                "SELECT column_name, data_type FROM information_schema.columns "
                f"WHERE table_name = '{table}' ORDER BY ordinal_position"
            ).fetchall()
        return tuple(Column(name=name, type=_type(declared)) for name, declared in rows)


def _type(declared: str) -> ColumnType:
    return next((type_ for word, type_ in _DECLARED if word in declared.upper()), "text")


@pytest.fixture
def duck() -> Iterator[EngineProbe]:
    with duckdb.connect(":memory:") as connection:
        connection.execute("SET threads = 2")
        yield EngineProbe("duckdb", connection)


@pytest.fixture
def lite() -> Iterator[EngineProbe]:
    connection = sqlite3.connect(":memory:")
    yield EngineProbe("sqlite", connection)
    connection.close()


@pytest.fixture
def pg(postgres_url: str) -> Iterator[EngineProbe]:
    with psycopg.connect(postgres_url, autocommit=True) as connection:
        yield EngineProbe("postgres", connection)


@pytest.fixture(params=["duck", "lite", "pg"])
def engine(request: pytest.FixtureRequest) -> EngineProbe:
    """Each engine in turn."""
    probe: EngineProbe = request.getfixturevalue(request.param)
    return probe


@pytest.fixture
def sqlite_file() -> Iterator[Callable[[Path], EngineProbe]]:
    """Opens database files that are already there, read-only."""
    opened: list[sqlite3.Connection] = []

    def open_(path: Path) -> EngineProbe:
        connection = sqlite3.connect(f"file:{path}?mode=ro", uri=True)
        connection.text_factory = lambda raw: raw.decode("utf-8", "replace")
        opened.append(connection)
        return EngineProbe("sqlite", connection)

    yield open_
    for connection in opened:
        connection.close()

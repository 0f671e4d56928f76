"""One broken view does not cost the user the whole source: it is left out, with a note that names it and says why."""

import contextlib
import sqlite3
from collections.abc import Callable
from pathlib import Path
from typing import Any

import duckdb
import psycopg
import pytest

from answerable.core.catalog import Catalog
from answerable.core.errors import AnswerableError
from answerable.sources.open import open_source
from answerable.sources.sql.source import SqlSource
from answerable.sources.sql.statements import Sql

Described = Callable[[Path | str], Any]


@pytest.fixture
def described(opened: Callable[..., Any]) -> Described:
    async def described(location: Path | str) -> Catalog:
        source = await opened(location)
        catalog: Catalog = await source.describe()
        await source.values()
        assert await source.rows(Sql("SELECT a FROM own")) == [(1,)], "the rest can be asked"
        return catalog

    return described


def notes(catalog: Catalog) -> dict[str, str]:
    return {warning.subject: warning.message for warning in catalog.warnings}


async def test_sqlite(described: Described, tmp_path: Path) -> None:
    path = tmp_path / "shop.sqlite"
    with contextlib.closing(sqlite3.connect(path)) as connection:
        connection.create_function("own_function", 0, lambda: 1)
        for statement in (
            "CREATE TABLE own AS SELECT 1 AS a",
            "CREATE VIEW good AS SELECT a AS b FROM own",
            "CREATE TABLE gone (x)",
            "CREATE VIEW without_table AS SELECT x FROM gone",
            "CREATE VIEW without_column AS SELECT z FROM own",
            "CREATE VIEW without_function AS SELECT own_function() AS x",
            "CREATE VIEW on_another AS SELECT * FROM without_table",
            "CREATE VIEW round AS SELECT * FROM round",
            "CREATE VIEW reaching_out AS SELECT load_extension('x') AS x",
            "CREATE VIEW of_the_system AS SELECT sql FROM sqlite_master",
            "CREATE VIEW failing AS SELECT abs(-9223372036854775808 * a) AS x FROM own",
        ):
            connection.execute(statement)
        connection.execute("PRAGMA writable_schema = 1")
        connection.execute(
            "INSERT INTO sqlite_master VALUES ('table', 'unknown_module', 'unknown_module', 0,"
            " 'CREATE VIRTUAL TABLE unknown_module USING no_such_module(a)')"
        )
        connection.execute("DELETE FROM sqlite_master WHERE name = 'gone'")
        connection.commit()
    catalog = await described(path)
    broken = ["without_table", "without_column", "without_function", "on_another", "round", "reaching_out"]
    broken += ["of_the_system", "unknown_module"]
    assert {table.name for table in catalog.tables} == {"own", "good", "failing"}
    found = notes(catalog)
    assert set(broken) <= set(found)
    assert all(found[name].startswith("is left out") for name in broken)
    assert "gone" in found["without_table"]
    assert "not profiled" in found["failing"], "it can be planned, and fails only when it is read"


async def test_duckdb(described: Described, tmp_path: Path) -> None:
    path = tmp_path / "shop.duckdb"
    (tmp_path / "file.csv").write_text("x\n1\n")
    with duckdb.connect(str(path)) as connection:
        for statement in (
            "CREATE TABLE own AS SELECT 1 AS a",
            "CREATE VIEW good AS SELECT a AS b FROM own",
            "CREATE TABLE gone (x INTEGER)",
            "CREATE VIEW without_table AS SELECT x FROM gone",
            f"CREATE VIEW of_a_file AS SELECT * FROM read_csv('{tmp_path}/file.csv')",
            "CREATE MACRO own_function() AS 1",
            "CREATE VIEW without_function AS SELECT own_function() AS x",
            "CREATE VIEW failing AS SELECT CAST('x' || a AS INTEGER) AS x FROM own",
            "DROP MACRO own_function",
            "DROP TABLE gone",
        ):
            connection.execute(statement)
    catalog = await described(path)
    assert {table.name for table in catalog.tables} == {"own", "good", "failing"}
    found = notes(catalog)
    assert all(found[name].startswith("is left out") for name in ("without_table", "of_a_file", "without_function"))
    assert "gone" in found["without_table"]
    assert "not profiled" in found["failing"]


async def test_postgres(described: Described, postgres_url: str) -> None:
    with psycopg.connect(postgres_url, autocommit=True) as server:
        for statement in (
            "CREATE TABLE own AS SELECT 1 AS a",
            "CREATE VIEW good AS SELECT a AS b FROM own",
            "CREATE VIEW failing AS SELECT 1 / (a - 1) AS x FROM own",
            "CREATE TABLE hidden AS SELECT 1 AS a",
            "CREATE VIEW of_a_hidden_table AS SELECT a FROM hidden",
            "CREATE ROLE nobody_in_particular",
            "GRANT CREATE ON SCHEMA public TO nobody_in_particular",
            "ALTER VIEW of_a_hidden_table OWNER TO nobody_in_particular",
            "CREATE FOREIGN DATA WRAPPER nothing",
            "CREATE SERVER away FOREIGN DATA WRAPPER nothing",
            "CREATE FOREIGN TABLE far_away (x integer) SERVER away",
        ):
            server.execute(statement)
        try:
            catalog = await described(postgres_url)
        finally:
            server.execute("DROP OWNED BY nobody_in_particular CASCADE")
            server.execute("DROP ROLE nobody_in_particular")
    assert {table.name for table in catalog.tables} == {"own", "good", "failing", "hidden"}
    found = notes(catalog)
    assert found["of_a_hidden_table"].startswith("is left out")
    assert "permission denied" in found["of_a_hidden_table"]
    assert "no handler" in found["far_away"]
    assert "division by zero" in found["failing"]


PURE = {
    "json": "SELECT json_extract('{\"x\": 5}', '$.x') AS x FROM own",
    "arrow": "SELECT '{\"x\": 5}' ->> '$.x' AS x FROM own",
    "each": "SELECT value AS x FROM own, json_each('[5]')",
    "words": "SELECT length(printf('%05d', a)) AS x FROM own",
    "numbers": "SELECT round(sqrt(25.0)) AS x FROM own",
    "window": "SELECT 4 + row_number() OVER (ORDER BY a) AS x FROM own",
    "recursion": "WITH RECURSIVE r(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM r WHERE x < 5) SELECT max(x) x FROM r",
}


async def test_views_of_sqlite_may_use_every_function_that_only_computes(described: Described, tmp_path: Path) -> None:
    path = tmp_path / "shop.sqlite"
    with contextlib.closing(sqlite3.connect(path)) as connection:
        connection.execute("CREATE TABLE own AS SELECT 1 AS a")
        for name, select in PURE.items():
            connection.execute(f'CREATE VIEW "{name}" AS {select}')
        connection.execute("CREATE TABLE made (a, x AS (json_extract(a, '$.x')))")
        connection.execute("INSERT INTO made VALUES ('{\"x\": 5}')")
        connection.commit()
    catalog = await described(path)
    assert not notes(catalog)
    source = await open_source(str(path), cache=tmp_path / "cache")
    assert isinstance(source, SqlSource)
    try:
        found = {name: await source.rows(Sql(f'SELECT x FROM "{name}"')) for name in (*PURE, "made")}
    finally:
        await source.close()
    assert {name: float(rows[0][0]) for name, rows in found.items()} == dict.fromkeys((*PURE, "made"), 5.0)


@pytest.mark.parametrize("call", ["load_extension('/tmp/x.so')", "sqlite_version()", "sqlite_compileoption_get(1)"])
async def test_a_schema_of_sqlite_reaches_nothing_outside(call: str, tmp_path: Path) -> None:
    """The authorizer does not see what a generated column calls."""
    path = tmp_path / "shop.sqlite"
    with contextlib.closing(sqlite3.connect(path)) as connection:
        connection.execute("CREATE TABLE own (a)")
        connection.execute("INSERT INTO own VALUES (1)")
        connection.execute("PRAGMA writable_schema = 1")  # SQLite itself refuses to create some of these
        written = f"CREATE TABLE own (a, x AS ({call}))"
        connection.execute("UPDATE sqlite_master SET sql = ? WHERE name = 'own'", [written])
        connection.commit()
    source = await open_source(str(path), cache=tmp_path / "cache")
    assert isinstance(source, SqlSource)
    try:
        with pytest.raises(AnswerableError):
            await source.rows(Sql("SELECT x FROM own"))
    finally:
        await source.close()

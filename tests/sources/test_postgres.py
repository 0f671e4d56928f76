"""What is particular to PostgreSQL: schemas, roles, its types, and a server that may go away."""

import asyncio
from collections.abc import AsyncIterator, Callable
from pathlib import Path
from typing import Any

import polars as pl
import psycopg
import pytest
from as_written import as_written

from answerable.core.errors import TransientError, UserError
from answerable.sources.base import Limits
from answerable.sources.open import open_source


@pytest.fixture
def write(postgres_url: str) -> Callable[[str], None]:
    def write(sql: str) -> None:
        with psycopg.connect(postgres_url, autocommit=True) as connection:
            connection.execute(sql)

    return write


@pytest.fixture
def opened(opened: Callable[..., Any], postgres_url: str) -> Callable[..., Any]:
    return lambda url=postgres_url: opened(url)


TYPES: dict[str, tuple[str, str, Any]] = {
    "small": ("1::smallint", "integer", 1),
    "big": ("9223372036854775807::bigint", "integer", 2**63 - 1),
    "sum": ("(SELECT sum(x) FROM (VALUES (1::bigint), (2)) v(x))", "integer", 3),
    "money": ("12.34::numeric(10, 2)", "number", 12.34),
    "huge": ("1e30::numeric", "number", 1e30),
    "real": ("1.5::real", "number", 1.5),
    "flag": ("true", "boolean", True),
    "uuid": ("'6b2f0c7e-0000-4000-8000-000000000000'::uuid", "text", "6b2f0c7e-0000-4000-8000-000000000000"),
    "fixed": ("'ab'::char(4)", "text", "ab  "),
    "span": ("interval '1 day'", "text", "1 day"),
    "array": ("ARRAY[1, 2]", "json", "[1, 2]"),
    "doc": ("'{\"a\": 1}'::jsonb", "json", '{"a": 1}'),
    "raw": ("'\\xff'::bytea", "binary", b"\xff"),
    "address": ("'10.0.0.1'::inet", "text", "10.0.0.1"),
    "spot": ("point(1, 2)", "text", "(1,2)"),
    "bounds": ("int4range(1, 5)", "text", None),
    "clock": ("time '10:30'", "time", None),
    "day": ("date '2024-02-29'", "date", None),
    "moment": ("timestamp '2024-01-01 10:00'", "datetime", None),
    "zoned": ("timestamptz '2024-01-01 10:00+02'", "datetime", None),
    "none": ("NULL::numeric", "number", None),
}


async def test_every_type(write: Callable[[str], None], opened: Callable[..., Any], tmp_path: Path) -> None:
    items = ", ".join(f'{expression} AS "{name}"' for name, (expression, _, _) in TYPES.items())
    write(f"CREATE TABLE t AS SELECT {items}")
    source = await opened()
    done = await source.execute(as_written("SELECT * FROM t", source.languages[0]), tmp_path / "x.arrow", Limits())
    assert {column.name: column.type for column in done.columns} == {name: kind for name, (_, kind, _) in TYPES.items()}
    [row] = pl.read_ipc(tmp_path / "x.arrow").to_dicts()
    expected = {name: value for name, (*_, value) in TYPES.items() if value is not None}
    assert {name: row[name] for name in expected} == expected
    assert row["zoned"].isoformat() == "2024-01-01T08:00:00+00:00"
    described = {column.name: column.type for column in (await source.describe()).tables[0].columns}
    assert {name: kind for name, kind in described.items() if kind != done_type(done, name)} == {"sum": "number"}


def done_type(done: Any, name: str) -> str:
    return str(next(column.type for column in done.columns if column.name == name))


async def test_schemas_comments_and_keys(write: Callable[[str], None], opened: Callable[..., Any]) -> None:
    write(
        """
        CREATE TABLE customers (id int PRIMARY KEY, email text UNIQUE);
        COMMENT ON TABLE customers IS 'Who buys'; COMMENT ON COLUMN customers.email IS 'Where to write';
        CREATE SCHEMA sales;
        CREATE TABLE sales.orders (id int PRIMARY KEY, customer_id int NOT NULL REFERENCES customers (id));
        INSERT INTO customers VALUES (1, 'a@b'); INSERT INTO sales.orders VALUES (10, 1), (11, 1);
        CREATE VIEW sales.recent AS SELECT * FROM sales.orders;
        CREATE MATERIALIZED VIEW totals AS SELECT count(*) AS n FROM sales.orders;
        CREATE TABLE events (at date, n int) PARTITION BY RANGE (at);
        CREATE TABLE events_2024 PARTITION OF events FOR VALUES FROM ('2024-01-01') TO ('2025-01-01');
        INSERT INTO events VALUES ('2024-05-05', 1);
        """
    )
    source = await opened()
    catalog = await source.describe()
    assert [t.name for t in catalog.tables] == ["customers", "events", "totals", "sales.orders", "sales.recent"]
    customers = catalog.tables[0]
    assert (customers.description, customers.columns[1].description) == ("Who buys", "Where to write")
    assert [r.name for r in catalog.relationships if r.origin == "declared"] == [
        "sales.orders.customer_id -> customers.id"
    ]
    sql = 'SELECT c.email, count(*) AS n FROM "sales.orders" JOIN customers AS c ON c.id = customer_id GROUP BY 1'
    assert await source.rows(sql) == [("a@b", 2)]
    assert await source.rows("SELECT n FROM events") == [(1,)]


async def test_a_database_whose_tables_are_elsewhere(write: Callable[[str], None], opened: Callable[..., Any]) -> None:
    write("CREATE SCHEMA shop; CREATE TABLE shop.orders AS SELECT 1 AS a")
    source = await opened()
    assert [table.name for table in (await source.describe()).tables] == ["orders"]
    assert await source.rows("SELECT a FROM orders") == [(1,)]


async def test_a_superuser_reads_with_fewer_rights(write: Callable[[str], None], opened: Callable[..., Any]) -> None:
    write("CREATE TABLE t AS SELECT 1 AS a")
    source = await opened()
    assert await source.rows("SELECT current_user") == [("pg_read_all_data",)]


async def test_rows_hidden_by_rules_stay_as_they_were(write: Callable[[str], None], opened: Callable[..., Any]) -> None:
    write("CREATE TABLE t AS SELECT 1 AS a; ALTER TABLE t ENABLE ROW LEVEL SECURITY")
    source = await opened()
    assert await source.rows("SELECT a FROM t") == [(1,)], "the superuser sees all rows, as with any other client"


async def test_only_what_may_be_read_is_shown(
    write: Callable[[str], None], opened: Callable[..., Any], postgres_url: str
) -> None:
    name = f"reader_{postgres_url.partition('?')[0].rpartition('_')[2]}"
    write(
        f"CREATE TABLE open AS SELECT 1 AS a; CREATE TABLE closed AS SELECT 2 AS b; CREATE ROLE {name} LOGIN;"
        f"GRANT SELECT ON open TO {name}"
    )
    try:
        source = await opened(postgres_url.replace("postgres:@", f"{name}:@"))
        assert [table.name for table in (await source.describe()).tables] == ["open"]
        with pytest.raises(Exception, match="permission denied"):
            await source.rows("SELECT * FROM public.closed")
    finally:
        write(f"DROP OWNED BY {name}; DROP ROLE {name}")


async def test_a_lost_connection_is_made_again(write: Callable[[str], None], opened: Callable[..., Any]) -> None:
    write("CREATE TABLE t AS SELECT 1 AS a")
    source = await opened()
    await source.describe()
    write("SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name = 'answerable'")
    with pytest.raises(TransientError) as caught:
        await source.rows("SELECT a FROM t")
    assert caught.value.stable_code == "source_unreachable"
    assert await source.rows("SELECT a FROM t") == [(1,)]


@pytest.fixture
async def by_tcp(postgres_url: str) -> AsyncIterator[str]:
    """The server of the tests has only a socket in a folder; this puts a port of this machine before it."""
    folder = postgres_url.partition("host=")[2]

    async def forward(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        while data := await reader.read(65_536):
            writer.write(data)
            await writer.drain()
        writer.close()

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        server_reader, server_writer = await asyncio.open_unix_connection(f"{folder}/.s.PGSQL.5432")
        await asyncio.gather(forward(reader, server_writer), forward(server_reader, writer), return_exceptions=True)

    server = await asyncio.start_server(serve, "127.0.0.1", 0)
    port = server.sockets[0].getsockname()[1]
    yield postgres_url.partition("?")[0].replace("postgres:@", f"postgres:@localhost:{port}")
    server.close()
    await server.wait_closed()


async def test_over_the_network_by_name(write: Callable[[str], None], by_tcp: str, tmp_path: Path) -> None:
    """A worker that may reach only this port still finds the host and gets through."""
    write("CREATE TABLE t AS SELECT 1 AS a")
    source = await open_source(by_tcp, cache=tmp_path)
    try:
        assert [table.name for table in (await source.describe()).tables] == ["t"]
    finally:
        await source.close()


async def test_percent_signs_and_quotes_are_text(write: Callable[[str], None], opened: Callable[..., Any]) -> None:
    write("CREATE TABLE t AS SELECT '50%s' AS a")
    source = await opened()
    assert await source.rows("SELECT a FROM t WHERE a LIKE '50%' AND a <> '%(x)s' -- end") == [("50%s",)]


async def test_a_fraction_that_comes_late(opened: Callable[..., Any], tmp_path: Path) -> None:
    sql = "SELECT CASE WHEN i = 40000 THEN 0.5 ELSE i END AS n FROM generate_series(1, 50000) i"
    done = await (await opened()).execute(as_written(sql, "postgres"), tmp_path / "x.arrow", Limits())
    assert [column.type for column in done.columns] == ["number"]
    frame = pl.read_ipc(tmp_path / "x.arrow")
    assert (len(frame), frame["n"][39_999], frame["n"][49_999]) == (50_000, 0.5, 50_000.0)


async def test_nothing_is_left_open_on_the_server(opened: Callable[..., Any], postgres_url: str) -> None:
    source = await opened()
    for _ in range(5):
        await source.rows("SELECT 1")
    with psycopg.connect(postgres_url) as connection:
        states = "SELECT count(*), count(*) FILTER (WHERE state <> 'idle') FROM pg_stat_activity"
        found = connection.execute(f"{states} WHERE application_name = 'answerable'").fetchone()
    assert found == (1, 0)
    await source.close()


@pytest.mark.parametrize("port", ["0", "99999", "-1", "abc", "5432x", "५४३२"])
async def test_a_bad_port_is_a_mistake_in_the_url(port: str, tmp_path: Path) -> None:
    for url in (f"postgresql://me@127.0.0.1/shop?port={port}", f"postgresql://me@127.0.0.1:{port}/shop"):
        with pytest.raises(UserError) as caught:
            await open_source(url, cache=tmp_path)
        assert caught.value.stable_code == "source_url_invalid"


@pytest.mark.parametrize(
    "sql",
    [
        "SELECT chr(0)",
        "SELECT 1 / 0",
        "SELECT repeat('x', 2000000000)",
        "SELECT (SELECT n FROM generate_series(1, 2) n)",
    ],
)
async def test_a_statement_that_fails_is_no_lost_connection(
    sql: str, write: Callable[[str], None], opened: Callable[..., Any]
) -> None:
    write("CREATE TABLE t AS SELECT 1 AS a")
    source = await opened()
    with pytest.raises(UserError) as caught:
        await source.rows(sql)
    assert caught.value.stable_code == "sql_failed"
    assert await source.rows("SELECT 1") == [(1,)]

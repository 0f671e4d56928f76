"""What a statement cannot do even if the check of its text is passed by: the worker itself has no way."""

import asyncio
import contextlib
import sqlite3
import subprocess
import sys
from collections.abc import AsyncIterator, Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import duckdb
import polars as pl
import psycopg
import pytest
from as_written import as_written

from answerable.core.errors import AnswerableError, LimitError
from answerable.sources.base import Limits
from answerable.sources.sql.source import SqlSource
from answerable.sources.sql.statements import Sql

SECRET = "a secret that no answer may show"

pytestmark = pytest.mark.usefixtures("loading_workers")


@pytest.fixture
def secret(tmp_path: Path) -> Path:
    """A table outside every source, in each form that an engine could read."""
    folder = tmp_path / "outside"
    folder.mkdir()
    frame = pl.DataFrame({"s": [SECRET]})
    frame.write_csv(folder / "secret.csv")
    frame.write_parquet(folder / "secret.parquet")
    frame.write_ndjson(folder / "secret.json")
    with contextlib.closing(sqlite3.connect(folder / "secret.sqlite")) as connection:
        connection.execute("CREATE TABLE t AS SELECT ? AS s", [SECRET])
        connection.commit()
    with duckdb.connect(str(folder / "secret.duckdb")) as connection:
        connection.execute("CREATE TABLE t AS SELECT ? AS s", [SECRET])
    return folder


@pytest.fixture
async def listener() -> AsyncIterator[tuple[int, list[bytes]]]:
    """A server on loopback, and what was sent to it."""
    heard: list[bytes] = []

    async def hear(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        heard.append(await reader.read(100) or b"connected")
        writer.close()

    server = await asyncio.start_server(hear, "127.0.0.1", 0)
    yield server.sockets[0].getsockname()[1], heard
    server.close()
    await server.wait_closed()


def make_files(folder: Path) -> str:
    folder.mkdir()
    (folder / "own.csv").write_text("a\n1\n")
    pl.DataFrame({"b": [1]}).write_parquet(folder / "scanned.parquet")
    return str(folder)


def make_duckdb(path: Path) -> str:
    with duckdb.connect(f"{path}.duckdb") as connection:
        connection.execute("CREATE TABLE own AS SELECT 1 AS a")
    return f"{path}.duckdb"


def make_sqlite(path: Path) -> str:
    with contextlib.closing(sqlite3.connect(f"{path}.sqlite")) as connection:
        connection.execute("CREATE TABLE own AS SELECT 1 AS a")
        connection.commit()
    return f"{path}.sqlite"


DUCKDB_ATTEMPTS = (
    "SELECT * FROM read_csv('{out}/secret.csv')",
    "SELECT * FROM '{out}/secret.csv'",
    "SELECT * FROM '{out}/secret.parquet'",
    "SELECT * FROM read_text('{out}/secret.csv')",
    "SELECT * FROM read_blob('{out}/secret.csv')",
    "SELECT * FROM read_json('{out}/secret.json')",
    "SELECT * FROM glob('{out}/*')",
    "SELECT * FROM parquet_metadata('{out}/secret.parquet')",
    "SELECT * FROM sniff_csv('{out}/secret.csv')",
    "SELECT * FROM read_csv('/etc/passwd', sep=':')",
    "SELECT * FROM read_csv('/proc/self/environ')",
    "SELECT content FROM read_text('/proc/self/maps')",
    "SELECT * FROM query('SELECT * FROM read_csv(''{out}/secret.csv'')')",
    "SELECT * FROM read_csv('http://127.0.0.1:{port}/x.csv')",
    "SELECT * FROM read_parquet('https://127.0.0.1:{port}/x.parquet')",
    "SELECT * FROM read_parquet('s3://bucket/x.parquet')",
    "ATTACH '{out}/secret.duckdb' AS x",
    "ATTACH '{out}/secret.sqlite' AS x (TYPE sqlite)",
    "COPY (SELECT 1) TO '{out}/written.csv'",
    "COPY (SELECT 1) TO '{own}/written.csv'",
    "EXPORT DATABASE '{out}/dump'",
    "INSTALL httpfs",
    "LOAD httpfs",
    "SET enable_external_access = true",
    "RESET allowed_directories",
    "PRAGMA enable_profiling",
    "CREATE SECRET s (TYPE s3)",
    "CREATE VIEW leak AS SELECT * FROM read_csv('{out}/secret.csv')",
    "CALL pragma_version()",
)
SQLITE_ATTEMPTS = (
    "ATTACH DATABASE '{out}/secret.sqlite' AS x",
    "SELECT load_extension('{out}/x.so')",
    "SELECT readfile('{out}/secret.csv')",
    "SELECT writefile('{out}/written.csv', 'x')",
    "SELECT * FROM fsdir('{out}')",
    "SELECT fts3_tokenizer('x')",
    "SELECT * FROM pragma_database_list",
    "SELECT * FROM dbstat",
    "SELECT count(*) FROM dbstat",
    "SELECT count(*) FROM sqlite_master",
    "SELECT count(*) FROM pragma_database_list",
    "SELECT sql FROM sqlite_master",
    "SELECT * FROM sqlite_schema",
    "PRAGMA writable_schema = 1",
    "PRAGMA database_list",
    "VACUUM INTO '{out}/written.sqlite'",
    "CREATE TEMP TABLE t (a)",
)
POSTGRES_ATTEMPTS = (
    "SELECT pg_read_file('/etc/passwd')",
    "SELECT pg_ls_dir('/')",
    "SELECT lo_import('/etc/passwd')",
    "COPY (SELECT 1) TO PROGRAM 'touch {out}/written.csv'",
    "COPY own TO '{out}/written.csv'",
    "SELECT pg_terminate_backend(pg_backend_pid())",
    "SELECT set_config('default_transaction_read_only', 'off', false), nextval('s')",
    "SELECT pg_reload_conf()",
    "SET ROLE postgres",
    "DO $$ BEGIN DELETE FROM own; END $$",
)


def names_in(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir())


@pytest.mark.parametrize("kind", ["files", "duckdb", "sqlite", "postgres"])
async def test_attempts_to_get_out(
    kind: str,
    opened: Callable[..., Any],
    tmp_path: Path,
    secret: Path,
    listener: tuple[int, list[bytes]],
    request: pytest.FixtureRequest,
) -> None:
    port, heard = listener
    own = tmp_path / "own"
    attempts: tuple[str, ...]
    if kind == "postgres":
        location = request.getfixturevalue("postgres_url")
        with psycopg.connect(location, autocommit=True) as connection:
            connection.execute("CREATE TABLE own AS SELECT 1 AS a; CREATE SEQUENCE s")
        attempts = POSTGRES_ATTEMPTS
    elif kind == "sqlite":
        location, attempts = make_sqlite(own), SQLITE_ATTEMPTS
    else:
        location = make_files(own) if kind == "files" else make_duckdb(own)
        attempts = DUCKDB_ATTEMPTS
    source = await opened(location)
    before = names_in(secret)
    for attempt in attempts:
        sql = attempt.format(out=secret, own=own, port=port)
        for way in (
            source.rows,
            lambda sql: source.execute(
                as_written(sql, source.languages[0]), tmp_path / "result.arrow", Limits(seconds=10)
            ),
        ):
            with pytest.raises(AnswerableError) as caught:
                await way(sql)
            assert SECRET not in str(caught.value)
    assert heard == []
    assert names_in(secret) == before
    assert await source.rows("SELECT a FROM own") == [(1,)]


MEMORY_BOMBS = {
    "files": (
        "SELECT repeat('x', 2000000000) AS x",
        "SELECT length(repeat(repeat('x', 1000000), 3000)) AS x",
        "SELECT list(a.range) AS x FROM range(200000000) a",
        "SELECT string_agg(repeat('x', 1000000), '') AS x FROM range(5000)",
    ),
    "sqlite": (
        "SELECT hex(printf('%.*c', 200000000, 'x')) AS x",
        "SELECT replace(printf('%.*c', 100000, 'x'), 'x', printf('%.*c', 100000, 'y')) AS x",
        "SELECT group_concat(printf('%.*c', 1000000, 'x')) AS x FROM many",
    ),
}


MEMORY_BOMBS["duckdb"] = MEMORY_BOMBS["files"]
MEMORY_BOMBS["postgres"] = ("SELECT repeat('x', 140000000) AS a, repeat('x', 140000000) AS b",)
"""What reaches the worker: the server's own memory is for whoever runs the server to limit."""
MEMORY_LIMIT = 256


@pytest.fixture(params=["files", "duckdb", "sqlite", "postgres"])
async def many(request: pytest.FixtureRequest, opened: Callable[..., Any], tmp_path: Path) -> SqlSource:
    """A source of each kind, with the tables `own` of one row and `many` of 2,000."""
    kind = request.param
    if kind == "postgres":
        location = request.getfixturevalue("postgres_url")
        with psycopg.connect(location, autocommit=True) as server:
            server.execute("CREATE TABLE own AS SELECT 1 AS a")
            server.execute("CREATE TABLE many AS SELECT generate_series AS n FROM generate_series(0, 1999)")
    elif kind == "sqlite":
        location = make_sqlite(tmp_path / "own")
        with contextlib.closing(sqlite3.connect(location)) as connection:
            connection.execute("CREATE TABLE many (n)")
            connection.executemany("INSERT INTO many VALUES (?)", [(n,) for n in range(2000)])
            connection.commit()
    elif kind == "duckdb":
        location = make_duckdb(tmp_path / "own")
        with duckdb.connect(location) as writer:
            writer.execute("CREATE TABLE many AS SELECT range AS n FROM range(2000)")
    else:
        location = make_files(tmp_path / "own")
        (tmp_path / "own" / "many.csv").write_text("n\n" + "".join(f"{n}\n" for n in range(2000)))
    return await opened(location)  # type: ignore[no-any-return]


async def test_memory_bombs(many: SqlSource, tmp_path: Path) -> None:
    for bomb in MEMORY_BOMBS[many.kind]:
        with pytest.raises(LimitError) as caught:
            await many.execute(
                as_written(bomb, many.languages[0]),
                tmp_path / "result.arrow",
                Limits(seconds=60, memory_mb=MEMORY_LIMIT),
            )
        assert caught.value.stable_code == "query_memory", bomb
        assert f"{MEMORY_LIMIT} MB" in caught.value.message
        assert caught.value.hint
    assert await many.rows(Sql("SELECT a FROM own")) == [(1,)]


ENDLESS = {
    "duckdb": (
        ("SELECT range AS n FROM range(1000000000000)", "result_rows"),
        ("SELECT sum(range) AS n FROM range(1000000000000)", "query_time"),
        ("SELECT unnest(range(3000000000)) AS n", "query_memory"),
        ("WITH RECURSIVE s(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM s) SELECT count(*) FROM s", "query_time"),
        ("SELECT count(*) AS n FROM many a, many b, many c, many d WHERE a.n + b.n < c.n * d.n", "query_time"),
        ("SELECT a.n FROM many a, many b, many c, many d", "result_rows"),
        ("SELECT repeat('x', 1000) AS x FROM range(90000)", "result_bytes"),
    ),
    "sqlite": (
        ("WITH RECURSIVE s(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM s) SELECT n FROM s", "result_rows"),
        ("WITH RECURSIVE s(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM s) SELECT count(*) FROM s", "query_time"),
        ("SELECT count(*) AS n FROM many a, many b, many c, many d WHERE a.n + b.n < c.n * d.n", "query_time"),
        ("SELECT a.n FROM many a, many b, many c, many d", "result_rows"),
        ("SELECT printf('%.*c', 100000, 'x') AS x FROM many a, many b", "result_bytes"),
    ),
    "postgres": (
        ("SELECT generate_series(1, 1000000000000) AS n", "result_rows"),
        ("SELECT sum(n) FROM generate_series(1, 1000000000000) AS n", "query_time"),
        ("WITH RECURSIVE s(n) AS (SELECT 1::bigint UNION ALL SELECT n + 1 FROM s) SELECT n FROM s", "result_rows"),
        ("SELECT count(*) AS n FROM many a, many b, many c, many d WHERE a.n + b.n < c.n * d.n", "query_time"),
        ("SELECT a.n FROM many a, many b, many c, many d", "result_rows"),
        ("SELECT repeat('x', 100000) AS x FROM generate_series(1, 100000)", "result_bytes"),
    ),
}
ENDLESS["files"] = ENDLESS["duckdb"]


async def test_what_never_ends_is_ended(many: SqlSource, tmp_path: Path) -> None:
    limits = Limits(seconds=1.0, memory_mb=512, rows=100_000, result_mb=20)
    for sql, code in ENDLESS[many.kind]:
        # What ends by rows or bytes needs its time too, more of it on a busy machine.
        given = limits if code == "query_time" else replace(limits, seconds=30.0)
        with pytest.raises(LimitError) as caught:
            await many.execute(as_written(sql, many.languages[0]), tmp_path / "result.arrow", given)
        assert caught.value.stable_code == code, (sql, caught.value.message)
        assert not (tmp_path / "result.arrow").exists()
    assert await many.rows(Sql("SELECT a FROM own")) == [(1,)]


async def test_a_larger_limit_holds_more(opened: Callable[..., Any], tmp_path: Path) -> None:
    source = await opened(make_files(tmp_path / "own"))
    sql = "SELECT length(repeat('x', 150000000)) AS n"
    query, into = as_written(sql, source.languages[0]), tmp_path / "result.arrow"
    with pytest.raises(LimitError):
        await source.execute(query, into, Limits(memory_mb=128, seconds=300))
    result = await source.execute(query, into, Limits(memory_mb=1500, seconds=300))
    assert result.row_count == 1


WALLS = """
import os, socket, subprocess, sys, threading
from answerable.sources.workers import harden

def attempt(name, act):
    try:
        act()
    except (PermissionError, MemoryError, BlockingIOError):
        print(name, "refused")
    except OSError as error:
        print(name, error)
    else:
        print(name, "done")

inside, outside, port = sys.argv[1], sys.argv[2], int(sys.argv[3])
print(sorted(harden.confine(harden.Needs(read=[inside]), 512).items()))
attempt("read inside", lambda: open(inside + "/x").read())
attempt("list inside", lambda: os.listdir(inside))
attempt("read outside", lambda: open(outside + "/secret.csv").read())
attempt("list outside", lambda: os.listdir(outside))
attempt("read passwd", lambda: open("/etc/passwd").read())
attempt("write inside", lambda: open(inside + "/y", "w"))
attempt("remove inside", lambda: os.unlink(inside + "/x"))
attempt("make inside", lambda: os.mkdir(inside + "/d"))
attempt("tcp", lambda: socket.create_connection(("127.0.0.1", port)))
attempt("udp", lambda: socket.socket(socket.AF_INET, socket.SOCK_DGRAM))
attempt("unix", lambda: socket.socket(socket.AF_UNIX))
attempt("program", lambda: subprocess.run(["/bin/true"]))
attempt("exec", lambda: os.execv("/bin/true", ["true"]))
attempt("fork", os.fork)
attempt("signal", lambda: os.kill(os.getppid(), 0))
attempt("memory", lambda: bytearray(2_000_000_000))
attempt("thread", lambda: threading.Thread(target=int).start())
attempt("import", lambda: __import__("decimal"))
"""


async def test_each_wall_stands(tmp_path: Path, secret: Path, listener: tuple[int, list[bytes]]) -> None:
    inside = tmp_path / "inside"
    inside.mkdir()
    (inside / "x").write_text("x")
    command = [sys.executable, "-I", "-c", WALLS, str(inside), str(secret), str(listener[0])]
    done = await asyncio.to_thread(subprocess.run, command, capture_output=True, text=True, check=True)
    report, *lines = done.stdout.splitlines()
    if "open" in report:
        pytest.skip(f"this kernel lacks a wall: {report}")
    outcome = dict(line.rsplit(" ", 1) for line in lines)
    allowed = {"read inside", "list inside", "thread", "import"}
    assert {name for name, what in outcome.items() if what == "done"} == allowed
    assert {what for name, what in outcome.items() if name not in allowed} == {"refused"}
    assert len(outcome) == 18
    assert listener[1] == []

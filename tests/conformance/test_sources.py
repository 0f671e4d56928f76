"""What every kind of source does alike: the same tables, the same questions, the same errors."""

import asyncio
import contextlib
import itertools
import sqlite3
import time
from collections.abc import AsyncIterator, Callable, Iterator
from dataclasses import dataclass
from datetime import date, datetime
from pathlib import Path
from typing import Any

import duckdb
import polars as pl
import psutil
import psycopg
import pytest
import pytest_asyncio
from as_written import as_written

from answerable.core.errors import AnswerableError, LimitError, RefusedError, UserError
from answerable.sources.base import Limits, QueryResult
from answerable.sources.open import open_source
from answerable.sources.sql.source import SqlSource
from answerable.sources.sql.statements import Sql

pytestmark = pytest.mark.asyncio(loop_scope="module")

KINDS = ("files", "sqlite", "duckdb", "postgres")

CUSTOMERS: list[tuple[Any, ...]] = [
    (1, "Ana Müller", "Berlin", date(2022, 1, 31), True),
    (2, "Björn Åkesson", "São Paulo", date(2022, 3, 1), False),
    (3, "陳大文", "東京", date(2023, 12, 31), True),
    (4, 'O\'Neil, "Jo"', "Berlin", None, None),
]
ORDERS: list[tuple[Any, ...]] = [
    (10, 1, 19.99, datetime(2024, 1, 1, 8, 30), "first"),
    (11, 1, 5.0, datetime(2024, 1, 2, 0, 0, 1), None),
    (12, 2, 1200.5, datetime(2024, 2, 29, 23, 59, 59), "with\nline"),
    (13, 3, -7.25, datetime(2024, 3, 1, 12, 0), "東京"),
]
NUMBERS = range(1000)
SIZES = [("klein", 1.5), ("groß", 2.25)]

CREATE = """
CREATE TABLE customers (id INTEGER PRIMARY KEY, name VARCHAR(50) NOT NULL, city VARCHAR(50), joined DATE,
                        active BOOLEAN);
CREATE TABLE orders (id INTEGER PRIMARY KEY, customer_id INTEGER REFERENCES customers(id), amount DECIMAL(10, 2),
                     placed TIMESTAMP, note VARCHAR(50));
CREATE TABLE numbers (n INTEGER);
CREATE TABLE "Größen" ("Name der Größe" VARCHAR(20), "Länge (m)" DOUBLE PRECISION);
"""
INSERT = {"customers": CUSTOMERS, "orders": ORDERS, "numbers": [(n,) for n in NUMBERS], '"Größen"': SIZES}


def fill_files(folder: Path) -> str:
    folder.mkdir()
    pl.DataFrame(CUSTOMERS, schema=["id", "name", "city", "joined", "active"], orient="row").write_csv(
        folder / "customers.csv"
    )
    pl.DataFrame(ORDERS, schema=["id", "customer_id", "amount", "placed", "note"], orient="row").write_csv(
        folder / "orders.csv", datetime_format="%Y-%m-%d %H:%M:%S"
    )
    pl.DataFrame({"n": NUMBERS}).write_parquet(folder / "numbers.parquet")
    pl.DataFrame(SIZES, schema=["Name der Größe", "Länge (m)"], orient="row").write_ndjson(folder / "Größen.ndjson")
    return str(folder)


def fill_sqlite(path: Path) -> str:
    sqlite3.register_adapter(date, date.isoformat)
    sqlite3.register_adapter(datetime, lambda moment: moment.isoformat(sep=" "))
    with contextlib.closing(sqlite3.connect(path)) as connection:
        connection.executescript(CREATE)
        for table, rows in INSERT.items():
            connection.executemany(f"INSERT INTO {table} VALUES ({', '.join('?' * len(rows[0]))})", rows)
        connection.commit()
    return str(path)


def fill_duckdb(path: Path) -> str:
    with duckdb.connect(str(path)) as connection:
        connection.execute(CREATE)
        for table, rows in INSERT.items():
            connection.executemany(f"INSERT INTO {table} VALUES ({', '.join('?' * len(rows[0]))})", rows)
    return str(path)


_databases = itertools.count(1)


def fill_postgres(server: str) -> str:
    name = f"conformance_{next(_databases)}"
    with psycopg.connect(server, autocommit=True) as connection:
        connection.execute(f"CREATE DATABASE {name}")
    url = server.replace("/postgres?", f"/{name}?")
    with psycopg.connect(url, autocommit=True) as connection:
        connection.execute(CREATE)
        with connection.cursor() as cursor:
            for table, rows in INSERT.items():
                cursor.executemany(f"INSERT INTO {table} VALUES ({', '.join(['%s'] * len(rows[0]))})", rows)
    return url


@dataclass(frozen=True)
class Data:
    kind: str
    location: str
    cache: Path
    fresh: Callable[[], str]
    """Another copy of the data, to be changed."""

    @property
    def sizes(self) -> str:
        return "größen" if self.kind == "files" else "Größen"


@pytest.fixture(scope="module", params=KINDS)
def data(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Data:
    kind = request.param
    folder = tmp_path_factory.mktemp(kind)
    numbers = itertools.count(1)

    def fresh() -> str:
        path = folder / f"daten {next(numbers)}"
        if kind == "files":
            return fill_files(path)
        if kind == "sqlite":
            return fill_sqlite(path.with_suffix(".db"))
        if kind == "duckdb":
            return fill_duckdb(path.with_suffix(".duckdb"))
        return fill_postgres(request.getfixturevalue("postgres_server"))

    return Data(kind, fresh(), folder / "cache", fresh)


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def source(data: Data) -> AsyncIterator[SqlSource]:
    """One for all tests that leave it as it was."""
    async with opened(data) as source:
        yield source


@contextlib.asynccontextmanager
async def opened(data: Data) -> AsyncIterator[SqlSource]:
    source = await open_source(data.location, name="shop", cache=data.cache)
    assert isinstance(source, SqlSource)
    try:
        yield source
    finally:
        await source.close()


@pytest.fixture
def run(source: SqlSource, tmp_path: Path) -> Callable[..., Any]:
    async def run(sql: str, **limits: Any) -> tuple[QueryResult, pl.DataFrame]:
        into = tmp_path / "result.arrow"
        result = await source.execute(as_written(sql, source.languages[0]), into, Limits(**limits))
        return result, pl.read_ipc(into)

    return run


def workers() -> list[psutil.Process]:
    return [child for child in psutil.Process().children() if "answerable.sources.workers" in _command(child)]


@pytest.fixture(scope="module", autouse=True)
def elsewhere() -> list[psutil.Process]:
    """Workers of sources that other files keep open."""
    return workers()


def _command(process: psutil.Process) -> str:
    with contextlib.suppress(psutil.ZombieProcess, psutil.NoSuchProcess):
        return " ".join(process.cmdline())
    return ""


async def test_describes_tables_types_and_counts(source: SqlSource, data: Data) -> None:
    catalog = await source.describe()
    assert (catalog.source, source.kind) == ("shop", data.kind)
    assert {table.name: table.row_count for table in catalog.tables} == {
        "customers": 4,
        "orders": 4,
        "numbers": 1000,
        data.sizes: 2,
    }
    types = {table.name: {column.name: column.type for column in table.columns} for table in catalog.tables}
    assert types["customers"] == {
        "id": "integer",
        "name": "text",
        "city": "text",
        "joined": "date",
        "active": "boolean",
    }
    assert types["orders"] == {
        "id": "integer",
        "customer_id": "integer",
        "amount": "number",
        "placed": "datetime",
        "note": "text",
    }
    assert types[data.sizes] == {"Name der Größe": "text", "Länge (m)": "number"}
    assert catalog.fingerprint.startswith("sha256:")


async def test_finds_keys_and_relationships(source: SqlSource, data: Data) -> None:
    catalog = await source.describe()
    [link] = [r for r in catalog.relationships if r.from_table == "orders"]
    assert (link.from_columns, link.to_table, link.to_columns) == (("customer_id",), "customers", ("id",))
    assert link.origin == ("inferred" if data.kind == "files" else "declared")
    customers = catalog.table("customers")
    assert customers is not None
    assert customers.primary_key == ("id",)
    assert customers.column("id").unique  # type: ignore[union-attr]


async def test_describing_again_reads_nothing(source: SqlSource, data: Data) -> None:
    first = await source.describe()
    assert await source.describe() is first
    async with opened(data) as again:
        assert await again.describe() == first


async def test_gives_typed_rows(run: Callable[..., Any]) -> None:
    result, frame = await run("SELECT id, name, city, joined, active FROM customers ORDER BY id")
    assert [column.type for column in result.columns] == ["integer", "text", "text", "date", "boolean"]
    assert frame.rows() == CUSTOMERS
    assert (result.row_count, result.duration_ms > 0) == (4, True)


async def test_gives_moments_and_numbers(run: Callable[..., Any]) -> None:
    result, frame = await run("SELECT amount, placed, note FROM orders ORDER BY id")
    assert [column.type for column in result.columns] == ["number", "datetime", "text"]
    assert frame.rows() == [row[2:] for row in ORDERS]


async def test_sums_of_whole_numbers_stay_whole(run: Callable[..., Any]) -> None:
    result, frame = await run("SELECT sum(n) AS total, avg(n) AS mean, count(*) AS many FROM numbers")
    assert [column.type for column in result.columns] == ["integer", "number", "integer"]
    assert frame.rows() == [(499_500, 499.5, 1000)]


async def test_unicode_names_of_tables_and_columns(run: Callable[..., Any], data: Data) -> None:
    _, frame = await run(f'SELECT "Länge (m)" AS "Länge" FROM "{data.sizes}" WHERE "Name der Größe" = \'groß\'')
    assert frame.to_dict(as_series=False) == {"Länge": [2.25]}


async def test_no_rows_still_have_columns(run: Callable[..., Any]) -> None:
    result, frame = await run("SELECT id, name FROM customers WHERE id < 0")
    assert ([column.name for column in result.columns], result.row_count) == (["id", "name"], 0)
    assert frame.shape == (0, 2)


async def test_columns_of_one_name_are_numbered(run: Callable[..., Any]) -> None:
    result, frame = await run("SELECT a.id, b.id FROM customers a JOIN orders b ON b.customer_id = a.id ORDER BY b.id")
    assert [column.name for column in result.columns] == ["id", "id_2"]
    assert frame.rows()[0] == (1, 10)


async def test_nulls_only_and_big_text(run: Callable[..., Any]) -> None:
    _, frame = await run("SELECT NULL AS missing, note FROM orders WHERE id = 12")
    assert frame.rows() == [(None, "with\nline")]


async def test_order_is_kept(run: Callable[..., Any]) -> None:
    _, frame = await run("SELECT a.n * 1000 + b.n AS x FROM numbers a, numbers b ORDER BY x DESC LIMIT 70000")
    assert frame["x"].to_list() == list(range(999_999, 929_999, -1))


async def test_checks_without_running(source: SqlSource) -> None:
    await source.check(as_written("SELECT name FROM customers", source.languages[0]))
    with pytest.raises(UserError, match="nowhere") as caught:
        await source.check(as_written("SELECT * FROM nowhere", source.languages[0]))
    assert caught.value.stable_code == "sql_invalid"
    with pytest.raises(UserError, match="colour"):
        await source.check(as_written("SELECT colour FROM customers", source.languages[0]))


async def test_bad_sql_is_the_askers_to_mend(run: Callable[..., Any], tmp_path: Path) -> None:
    with pytest.raises(UserError) as caught:
        await run("SELECT * FORM customers")
    assert caught.value.stable_code == "sql_invalid"
    assert not (tmp_path / "result.arrow").exists()


@pytest.mark.parametrize(
    ("limits", "code"),
    [({"rows": 999}, "result_rows"), ({"rows": 1000}, None), ({"result_mb": 0}, "result_bytes")],
)
async def test_limits_on_results(
    run: Callable[..., Any], tmp_path: Path, limits: dict[str, int], code: str | None
) -> None:
    if code is None:
        assert (await run("SELECT n FROM numbers", **limits))[0].row_count == 1000
        return
    with pytest.raises(LimitError) as caught:
        await run("SELECT n FROM numbers", **limits)
    assert caught.value.stable_code == code
    assert caught.value.hint
    assert not (tmp_path / "result.arrow").exists()
    assert (await run("SELECT count(*) AS c FROM numbers"))[1].item() == 1000


BOMB = "SELECT sum(a.n * b.n - c.n * d.n) AS x FROM numbers a, numbers b, numbers c, numbers d"


async def test_a_slow_query_is_stopped(run: Callable[..., Any]) -> None:
    await run("SELECT 1 AS one")
    before = workers()
    with pytest.raises(LimitError, match=r"longer than 0\.5 seconds") as caught:
        await run(BOMB, seconds=0.5)
    assert caught.value.stable_code == "query_time"
    assert (await run("SELECT 1 AS one"))[1].item() == 1
    assert workers() == before, "it was interrupted, not killed"


async def test_cancelling_stops_the_query(run: Callable[..., Any], tmp_path: Path, data: Data) -> None:
    await run("SELECT 1 AS one")
    before = workers()
    task = asyncio.create_task(run(BOMB, seconds=60))
    await asyncio.sleep(0.3)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert not (tmp_path / "result.arrow").exists()
    assert (await run("SELECT 1 AS one"))[1].item() == 1
    assert workers() == before, "it was interrupted, not killed"
    if data.kind == "postgres":
        with psycopg.connect(data.location) as connection:
            active = "SELECT count(*) FROM pg_stat_activity WHERE application_name = 'answerable' AND state = 'active'"
            assert connection.execute(active).fetchone() == (0,)


WRITES = (
    "INSERT INTO customers (id, name) VALUES (99, 'x')",
    "UPDATE customers SET name = 'x'",
    "DELETE FROM orders",
    "DROP TABLE orders",
    "CREATE TABLE t (a INTEGER)",
    "CREATE TEMP TABLE t AS SELECT 1 AS a",
    "ALTER TABLE customers ADD COLUMN x INTEGER",
    "SELECT 1; DELETE FROM orders",
    "SELECT 1; SELECT 2",
    "COMMIT; DELETE FROM orders",
    "VACUUM",
    "WITH gone AS (DELETE FROM orders RETURNING *) SELECT * FROM gone",
)


async def test_nothing_can_be_written(run: Callable[..., Any], source: SqlSource) -> None:
    async def check(sql: str) -> None:
        await source.check(as_written(sql, source.languages[0]))

    for sql in WRITES:
        for attempt in (run, source.rows, check):
            with pytest.raises((RefusedError, UserError)):
                await attempt(Sql(sql))
    _, frame = await run("SELECT (SELECT count(*) FROM customers) AS c, (SELECT count(*) FROM orders) AS o")
    assert frame.rows() == [(4, 4)]


async def test_a_million_rows_in_bounded_memory(data: Data, tmp_path: Path) -> None:
    sql = "SELECT a.n AS a, b.n AS b, a.n * 1000 + b.n AS x, note FROM numbers a, numbers b, orders WHERE id = 10"
    others, into = workers(), tmp_path / "million.arrow"
    async with opened(data) as source:

        async def execute(sql: str) -> QueryResult:
            return await source.execute(as_written(sql, source.languages[0]), into, Limits(seconds=100))

        await execute(f"{sql} LIMIT 100000")
        [worker] = [process for process in workers() if process not in others]
        small, parent_small = peak(worker.pid), peak("self")
        result = await execute(sql)
        assert result.row_count == 1_000_000
        assert result.byte_count == into.stat().st_size
        assert peak(worker.pid) - small < 48, "the worker's memory does not grow with the rows"
        assert peak("self") - parent_small < 16, "the parent holds none of them"
    frame = pl.scan_ipc(into).select(pl.len(), pl.col("x").sum(), pl.col("note").n_unique()).collect()
    assert frame.rows() == [(1_000_000, 499_999_500_000, 1)]
    into.unlink()


def peak(pid: int | str) -> int:
    """The most memory that a process has held, in MB."""
    status = Path(f"/proc/{pid}/status").read_text()
    return int(status.split("VmHWM:")[1].split()[0]) // 1024


async def test_finds_values(source: SqlSource) -> None:
    lookup = await source.values()
    hits = lookup.find("berlin")
    assert ("customers", "city", "Berlin") in [(hit.table, hit.column, hit.value) for hit in hits]


async def test_probes_give_python_values(source: SqlSource, data: Data) -> None:
    [row] = await source.rows(Sql("SELECT id, name, joined, active FROM customers WHERE id = 1"))
    expected = (1, "Ana Müller", date(2022, 1, 31), True)
    assert row == ((1, "Ana Müller", "2022-01-31", 1) if data.kind == "sqlite" else expected)


async def test_many_at_once(source: SqlSource, tmp_path: Path, elsewhere: list[psutil.Process]) -> None:
    async def one(number: int) -> Any:
        into = tmp_path / f"{number}.arrow"
        await source.execute(
            as_written(f"SELECT n FROM numbers WHERE n = {number}", source.languages[0]), into, Limits()
        )
        return pl.read_ipc(into).item()

    assert await asyncio.gather(*(one(number) for number in range(20))) == list(range(20))
    assert len([process for process in workers() if process not in elsewhere]) <= 2


async def test_changed_data_is_seen(data: Data) -> None:
    location = data.fresh()
    source = await open_source(location, name="shop", cache=data.cache)
    try:
        before = await source.describe()
        await asyncio.to_thread(change, data.kind, location)
        for _ in range(50):  # PostgreSQL reports its counters with a delay
            after = await source.describe()
            if after.fingerprint != before.fingerprint:
                break
            await asyncio.sleep(0.1)
        assert after.table("numbers").row_count == 1001  # type: ignore[union-attr]
        assert isinstance(source, SqlSource)
        assert await source.rows(Sql("SELECT max(n) FROM numbers")) == [(5000,)]
    finally:
        await source.close()


def change(kind: str, location: str) -> None:
    if kind == "files":
        pl.DataFrame({"n": [*NUMBERS, 5000]}).write_parquet(Path(location) / "numbers.parquet")
    elif kind == "sqlite":
        with contextlib.closing(sqlite3.connect(location)) as connection:
            connection.execute("INSERT INTO numbers VALUES (5000)")
            connection.commit()
    elif kind == "duckdb":
        with written_when_free(location) as connection:
            connection.execute("INSERT INTO numbers VALUES (5000)")
    else:
        with psycopg.connect(location) as connection:
            connection.execute("INSERT INTO numbers VALUES (5000)")


def written_when_free(location: str) -> "duckdb.DuckDBPyConnection":
    """DuckDB has either readers or one writer: an idle source must let go of the file."""
    for _ in range(100):
        with contextlib.suppress(duckdb.IOException):
            return duckdb.connect(location)
        time.sleep(0.1)
    raise AssertionError("the source holds on to the file")


async def test_says_which_walls_stand(data: Data) -> None:
    async with opened(data) as source:
        assert source.isolation == {}
        await source.check(as_written("SELECT 1", source.languages[0]))
        assert set(source.isolation) == {"memory", "files", "network", "programs"}
        assert source.isolation["memory"] == "2048 MB"


async def test_a_meaning_beside_the_data(data: Data, tmp_path: Path) -> None:
    if data.kind == "postgres":
        pytest.skip("a URL has nothing beside it")
    location = Path(data.fresh())
    folder = data.kind == "files"
    beside = location / "semantic.yaml" if folder else location.with_name(f"{location.stem}.semantic.yaml")
    beside.write_text("tables:\n  customers:\n    synonyms: [clients]\n")
    source = await open_source(str(location), cache=tmp_path)
    try:
        assert (await source.describe()).table("customers").synonyms == ("clients",)  # type: ignore[union-attr]
        beside.write_text("tables:\n  customers:\n    synonyms: [buyers]\n")
        assert (await source.describe()).table("customers").synonyms == ("buyers",)  # type: ignore[union-attr]
        beside.write_text("tables:\n  nobody: {}\n")
        with pytest.raises(AnswerableError, match="nobody"):
            await source.describe()
        beside.unlink()
        assert (await source.describe()).table("customers").synonyms == ()  # type: ignore[union-attr]
    finally:
        await source.close()


async def test_closing_ends_the_workers(data: Data) -> None:
    before = workers()
    async with opened(data) as source:
        await source.check(as_written("SELECT 1", source.languages[0]))
        assert len(workers()) > len(before)
    assert workers() == before


@pytest.fixture(autouse=True)
def no_dead_worker_is_left() -> Iterator[None]:
    before = _dead()
    yield
    assert _dead() <= before


def _dead() -> set[int]:
    return {child.pid for child in psutil.Process().children() if child.status() == psutil.STATUS_ZOMBIE}

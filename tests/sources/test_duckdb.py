"""What is particular to DuckDB: its many types, schemas, and one writer at a time."""

import subprocess
import sys
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import duckdb
import polars as pl
import pytest
from as_written import as_written

from answerable.core.errors import LimitError, SourceError
from answerable.sources.base import Limits


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "data.duckdb"


@pytest.fixture
def write(path: Path) -> Callable[[str], None]:
    def write(sql: str) -> None:
        with duckdb.connect(str(path)) as connection:
            connection.execute(sql)

    return write


@pytest.fixture
def opened(opened: Callable[..., Any], path: Path) -> Callable[..., Any]:
    return partial(opened, path)


TYPES: dict[str, tuple[str, str, Any]] = {
    "small": ("1::TINYINT", "integer", 1),
    "huge": ("170141183460469231731687303715884105727::HUGEINT", "text", str(2**127 - 1)),
    "sum": ("(SELECT sum(x) FROM (VALUES (1), (2)) v(x))", "integer", 3),
    "unsigned": ("18446744073709551615::UBIGINT", "text", str(2**64 - 1)),
    "money": ("12.34::DECIMAL(10, 2)", "number", 12.34),
    "whole": ("12::DECIMAL(10, 0)", "integer", 12),
    "single": ("1.5::FLOAT", "number", 1.5),
    "uuid": ("'6b2f0c7e-0000-4000-8000-000000000000'::UUID", "text", "6b2f0c7e-0000-4000-8000-000000000000"),
    "choice": ("'a'::ENUM('a', 'b')", "text", "a"),
    "span": ("INTERVAL 1 DAY", "text", "1 day"),
    "list": ("[1, 2]", "json", "[1,2]"),
    "struct": ("{'a': 1}", "json", '{"a":1}'),
    "map": ("MAP {'k': 1}", "json", '{"k":1}'),
    "json": ("'{\"a\": 1}'::JSON", "json", '{"a": 1}'),
    "bits": ("'101'::BIT", "text", "101"),
    "raw": ("'\\xFF'::BLOB", "binary", b"\xff"),
    "clock": ("TIME '10:30:00'", "time", None),
    "second": ("TIMESTAMP_S '2024-01-01 10:00:00'", "datetime", None),
    "nano": ("TIMESTAMP_NS '2024-01-01 10:00:00.000001'", "datetime", None),
    "zoned": ("TIMESTAMPTZ '2024-01-01 10:00:00+02'", "datetime", None),
    "null": ("NULL", "text", None),
}


async def test_every_type(write: Callable[[str], None], opened: Callable[..., Any], tmp_path: Path) -> None:
    items = ", ".join(f'{expression} AS "{name}"' for name, (expression, _, _) in TYPES.items())
    write(f"CREATE TABLE t AS SELECT {items}")
    source = await opened()
    done = await source.execute(as_written("SELECT * FROM t", source.languages[0]), tmp_path / "x.arrow", Limits())
    assert {column.name: column.type for column in done.columns} == {name: kind for name, (_, kind, _) in TYPES.items()}
    [row] = pl.read_ipc(tmp_path / "x.arrow").to_dicts()
    assert {name: row[name] for name, (*_, value) in TYPES.items() if value is not None} == {
        name: value for name, (*_, value) in TYPES.items() if value is not None
    }
    assert row["zoned"].isoformat() == "2024-01-01T08:00:00+00:00"
    [probed] = await source.rows("SELECT zoned, list, money FROM t")
    assert (probed[0].isoformat(), *probed[1:]) == ("2024-01-01T08:00:00", "[1,2]", 12.34)


async def test_an_engine_that_breaks_down_is_replaced(
    write: Callable[[str], None], opened: Callable[..., Any], tmp_path: Path
) -> None:
    """DuckDB 2.0 takes this cast for a defect of its own, and then refuses to run anything."""
    write("CREATE TABLE t AS SELECT 1 AS a")
    source = await opened()
    broken = f"SELECT TRY_CAST({10**40}::BIGNUM AS BIGINT) AS v"
    for _ in range(2):
        with pytest.raises(SourceError) as caught:
            await source.execute(as_written(broken, source.languages[0]), tmp_path / "x.arrow", Limits())
        assert caught.value.stable_code == "engine_broke"
    assert await source.rows("SELECT a FROM t") == [(1,)]


async def test_schemas(write: Callable[[str], None], opened: Callable[..., Any]) -> None:
    write("CREATE TABLE plain AS SELECT 1 AS a; CREATE SCHEMA sales; CREATE TABLE sales.orders AS SELECT 2 AS b")
    source = await opened()
    assert [table.name for table in (await source.describe()).tables] == ["plain", "sales.orders"]
    assert await source.rows('SELECT b FROM "sales.orders"') == [(2,)]
    assert await source.rows('SELECT "sales.orders".b FROM "sales.orders"') == [(2,)]
    await source.check(
        as_written('SELECT x.b FROM plain JOIN "sales.orders" AS x ON x.b > plain.a', source.languages[0])
    )


async def test_keys(write: Callable[[str], None], opened: Callable[..., Any]) -> None:
    write(
        "CREATE TABLE a (id INT PRIMARY KEY, code VARCHAR UNIQUE, n INT NOT NULL);"
        "CREATE TABLE b (x INT, y INT, a_id INT REFERENCES a (id), PRIMARY KEY (x, y));"
        "CREATE VIEW v AS SELECT * FROM a"
    )
    catalog = await (await opened()).describe()
    a, b, v = catalog.tables
    assert (a.primary_key, b.primary_key, v.name) == (("id",), ("x", "y"), "v")
    assert [(c.name, c.nullable) for c in a.columns] == [("id", False), ("code", True), ("n", False)]
    assert [r.name for r in catalog.relationships if r.origin == "declared"] == ["b.a_id -> a.id"]


HOLD = """
import duckdb, sys
connection = duckdb.connect(sys.argv[1])
print("held", flush=True)
sys.stdin.read()
"""


async def test_a_file_that_is_being_written(
    write: Callable[[str], None], opened: Callable[..., Any], path: Path
) -> None:
    write("CREATE TABLE t AS SELECT 1 AS a")
    with held(path) as holder:
        source = await opened()
        with pytest.raises(SourceError) as caught:
            await source.describe()
        assert caught.value.stable_code == "source_locked"
        assert "close the writer" in (caught.value.hint or "")
        holder.communicate()
    assert await source.rows("SELECT a FROM t") == [(1,)]


def held(path: Path) -> subprocess.Popen[str]:
    command = [sys.executable, "-c", HOLD, str(path)]
    holder = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    assert holder.stdout is not None
    assert holder.stdout.readline() == "held\n"
    return holder


async def test_an_error_in_the_middle_of_the_rows(
    write: Callable[[str], None], opened: Callable[..., Any], tmp_path: Path
) -> None:
    write("CREATE TABLE t AS SELECT i FROM range(1000000) r(i)")
    source = await opened()
    with pytest.raises(Exception, match="Could not convert") as caught:
        await source.execute(
            as_written(
                "SELECT CAST(CASE WHEN i = 900000 THEN 'x' ELSE '1' END AS INT) AS n FROM t", source.languages[0]
            ),
            tmp_path / "x.arrow",
            Limits(),
        )
    assert caught.value.stable_code == "sql_failed"  # type: ignore[attr-defined]
    with pytest.raises(LimitError) as limit:
        await source.execute(
            as_written("SELECT i FROM t", source.languages[0]), tmp_path / "x.arrow", Limits(result_mb=3)
        )
    assert limit.value.stable_code == "result_bytes"

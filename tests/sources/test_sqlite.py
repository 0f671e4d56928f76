"""What is particular to SQLite: types that are only promises, write-ahead logs, text that is not text."""

import shutil
import sqlite3
from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from as_written import as_written

from answerable.core.errors import SourceError
from answerable.sources.base import Limits
from answerable.sources.sql.source import SqlSource


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "some data.sqlite"


@pytest.fixture
def writer(path: Path) -> Iterator[sqlite3.Connection]:
    with closing(sqlite3.connect(path, isolation_level=None)) as connection:
        yield connection


@pytest.fixture
def opened(opened: Callable[..., Any], path: Path) -> Callable[..., Any]:
    return lambda location=path: opened(location)


async def result(source: SqlSource, sql: str, into: Path) -> tuple[list[str], list[tuple[Any, ...]]]:
    done = await source.execute(as_written(sql, source.languages[0]), into, Limits())
    return [column.type for column in done.columns], pl.read_ipc(into).rows()


async def test_values_decide_types(writer: sqlite3.Connection, opened: Callable[..., Any], tmp_path: Path) -> None:
    writer.execute("CREATE TABLE t (flag BOOLEAN, odd BOOLEAN, day DATE, bad DATE, mixed INTEGER, plain, big BIGINT)")
    writer.execute("INSERT INTO t VALUES (1, 1, '2024-01-31', '31.1.2024', 1, x'00ff', 9223372036854775807)")
    writer.execute("INSERT INTO t VALUES (0, 7, '2024-02-29', '2024-02-30', 'x', NULL, -1)")
    types, rows = await result(await opened(), "SELECT * FROM t", tmp_path / "x.arrow")
    assert types == ["boolean", "integer", "date", "text", "text", "binary", "integer"]
    assert rows[0][0] is True
    assert [row[4] for row in rows] == ["1", "x"]
    assert [row[6] for row in rows] == [2**63 - 1, -1]


async def test_a_type_that_must_be_widened_late(
    writer: sqlite3.Connection, opened: Callable[..., Any], tmp_path: Path
) -> None:
    """The first batch says integer, a later one number, the last text; every row is there once, as text."""
    writer.execute("CREATE TABLE t (n, day)")
    writer.execute("BEGIN")
    writer.executemany("INSERT INTO t VALUES (?, '2024-01-01')", [(n,) for n in range(50_000)])
    writer.execute("INSERT INTO t VALUES (0.5, '2024-01-01 10:00')")
    writer.executemany("INSERT INTO t VALUES (?, '2024-01-01')", [(n,) for n in range(50_000)])
    writer.execute("COMMIT")
    source = await opened()
    types, rows = await result(source, "SELECT * FROM t", tmp_path / "x.arrow")
    assert types == ["number", "datetime"]
    assert (len(rows), rows[50_000][0]) == (100_001, 0.5)
    writer.execute("INSERT INTO t VALUES ('end', 'never')")
    types, rows = await result(source, "SELECT * FROM t", tmp_path / "x.arrow")
    assert types == ["text", "text"]
    assert (rows[0], rows[50_000], rows[-1]) == (
        ("0", "2024-01-01"),
        ("0.5", "2024-01-01 10:00"),
        ("end", "never"),
    )


async def test_a_live_write_ahead_log_is_read(writer: sqlite3.Connection, opened: Callable[..., Any]) -> None:
    writer.execute("PRAGMA journal_mode = WAL")
    writer.execute("CREATE TABLE t AS SELECT 1 AS a")
    source = await opened()
    assert await source.rows("SELECT sum(a) FROM t") == [(1,)]
    writer.execute("INSERT INTO t VALUES (2)")
    writer.execute("BEGIN")
    writer.execute("INSERT INTO t VALUES (100)")
    assert await source.rows("SELECT sum(a) FROM t") == [(3,)], "committed rows, and no others"
    writer.execute("COMMIT")
    assert (await source.describe()).tables[0].row_count == 3


async def test_a_closed_write_ahead_log(writer: sqlite3.Connection, opened: Callable[..., Any], path: Path) -> None:
    writer.execute("PRAGMA journal_mode = WAL")
    writer.execute("CREATE TABLE t AS SELECT 1 AS a")
    writer.close()
    assert not path.with_name(f"{path.name}-wal").exists()
    assert await (await opened()).rows("SELECT a FROM t") == [(1,)]


async def test_a_log_left_by_a_crash_is_told(
    writer: sqlite3.Connection, opened: Callable[..., Any], path: Path, tmp_path: Path
) -> None:
    writer.execute("PRAGMA journal_mode = WAL")
    writer.execute("CREATE TABLE t AS SELECT 1 AS a")
    left = tmp_path / "left.sqlite"
    shutil.copy(path, left)
    shutil.copy(f"{path}-wal", f"{left}-wal")
    source = await opened(left)
    with pytest.raises(SourceError) as caught:
        await source.describe()
    assert caught.value.stable_code == "source_unreadable"
    assert "open it once" in (caught.value.hint or "")


async def test_text_that_is_no_text(writer: sqlite3.Connection, opened: Callable[..., Any], tmp_path: Path) -> None:
    writer.execute("CREATE TABLE t (a TEXT, d DATE)")
    writer.execute("INSERT INTO t VALUES (CAST(x'ff41' AS TEXT), CAST(x'fe' AS TEXT)), ('fine', '2024-01-01')")
    source = await opened()
    assert await source.rows("SELECT a FROM t") == [("\ufffdA",), ("fine",)]
    _, rows = await result(source, "SELECT * FROM t", tmp_path / "x.arrow")
    assert rows == [("\ufffdA", "\ufffd"), ("fine", "2024-01-01")]


async def test_keys_as_declared(writer: sqlite3.Connection, opened: Callable[..., Any]) -> None:
    writer.executescript(
        """
        CREATE TABLE Parent (Id INTEGER PRIMARY KEY, code TEXT UNIQUE, a INT, b INT, UNIQUE (a, b));
        CREATE TABLE child (parent_id REFERENCES parent, x INT, y INT, FOREIGN KEY (x, y) REFERENCES Parent (A, B));
        CREATE TABLE stray (nowhere_id REFERENCES nowhere (id));
        CREATE VIEW both AS SELECT * FROM Parent JOIN child ON parent_id = Id;
        """
    )
    catalog = await (await opened()).describe()
    assert [table.name for table in catalog.tables] == ["Parent", "both", "child", "stray"]
    declared = [r.name for r in catalog.relationships if r.origin == "declared"]
    assert sorted(declared) == ["child.(x, y) -> Parent.(a, b)", "child.parent_id -> Parent.Id"]
    parent = catalog.tables[0]
    assert parent.primary_key == ("Id",)
    assert [column.name for column in parent.columns if column.unique][:2] == ["Id", "code"]


async def test_a_table_made_later_can_be_asked(writer: sqlite3.Connection, opened: Callable[..., Any]) -> None:
    writer.execute("CREATE TABLE t AS SELECT 1 AS a")
    source = await opened()
    await source.describe()
    writer.execute("CREATE TABLE later AS SELECT 5 AS b")
    assert [table.name for table in (await source.describe()).tables] == ["later", "t"]
    assert await source.rows("SELECT b FROM later") == [(5,)]


async def test_a_view_cannot_call_what_a_query_may_not(writer: sqlite3.Connection, opened: Callable[..., Any]) -> None:
    writer.execute("CREATE TABLE t AS SELECT 1 AS a")
    writer.execute("CREATE VIEW leak AS SELECT sql FROM sqlite_master")
    source = await opened()
    with pytest.raises(Exception, match="prohibited"):
        await source.rows("SELECT * FROM leak")

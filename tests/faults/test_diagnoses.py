"""What went wrong is told as what it was: each cause has its own sentence and code."""

import asyncio
import contextlib
import os
import resource
import sqlite3
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import duckdb
import psutil
import psycopg
import pytest
from as_written import as_written

from answerable.core.errors import AnswerableError, OperatorError, SourceError, TransientError
from answerable.sources.base import Limits
from answerable.sources.open import open_source
from answerable.sources.sql.statements import Sql

Opened = Callable[[Path | str], Any]


@pytest.fixture
def database(tmp_path: Path) -> Path:
    path = tmp_path / "shop.sqlite"
    with contextlib.closing(sqlite3.connect(path)) as connection:
        connection.execute("CREATE TABLE numbers AS SELECT 1 AS n")
        connection.commit()
    return path


def workers() -> list[psutil.Process]:
    return [child for child in psutil.Process().children() if "answerable.sources.workers" in child.cmdline()]


# A worker that somebody kills

SLOW = "SELECT count(*) FROM numbers a JOIN numbers b ON a.n <> b.n JOIN numbers c ON c.n <> b.n"


async def test_what_only_reads_is_read_again_when_its_worker_is_killed(opened: Opened, tmp_path: Path) -> None:
    path = tmp_path / "n.sqlite"
    with contextlib.closing(sqlite3.connect(path)) as connection:
        connection.execute("CREATE TABLE numbers (n)")
        connection.executemany("INSERT INTO numbers VALUES (?)", [(n,) for n in range(250)])
        connection.commit()
    source = await opened(path)
    await source.describe()
    asked = asyncio.create_task(source.rows(Sql(SLOW)))
    await asyncio.sleep(0.1)
    [worker] = workers()
    worker.terminate()
    assert await asked == [(250 * 249 * 249,)]


async def test_a_worker_that_keeps_being_killed_is_told_as_that(opened: Opened, database: Path, tmp_path: Path) -> None:
    source = await opened(database)
    await source.check(as_written("SELECT 1", "sqlite"))
    [worker] = workers()
    worker.suspend()
    asked = asyncio.create_task(source.execute(as_written("SELECT 1", "sqlite"), tmp_path / "x", Limits()))
    await asyncio.sleep(0.1)
    worker.kill()
    with pytest.raises(TransientError, match="killed from outside") as caught:
        await asked
    assert caught.value.stable_code == "worker_died"
    assert "MB" not in caught.value.message


# No file descriptors


@contextlib.contextmanager
def no_descriptors() -> Iterator[None]:
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    taken: list[int] = []
    highest = max(map(int, os.listdir("/proc/self/fd")))
    resource.setrlimit(resource.RLIMIT_NOFILE, (highest + 2, hard))
    try:
        with contextlib.suppress(OSError):
            while True:
                taken.append(os.open("/dev/null", os.O_RDONLY))
        yield
    finally:
        for descriptor in taken:
            os.close(descriptor)
        resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))


async def test_no_descriptors_are_not_an_empty_source(opened: Opened, database: Path, tmp_path: Path) -> None:
    folder = tmp_path / "folder"
    (folder / "inner").mkdir(parents=True)
    (folder / "inner" / "orders.csv").write_text("a\n1\n")
    known, new, closed = await opened(folder), await opened(folder / "inner"), await opened(database)
    await known.describe()
    for source in (known, new, closed):
        with no_descriptors(), pytest.raises(OperatorError) as caught:
            await source.describe()
        assert caught.value.stable_code == "descriptors_exhausted", source.name
    with no_descriptors(), pytest.raises(OperatorError) as caught:
        await open_source(str(database), cache=tmp_path)
    assert caught.value.stable_code == "descriptors_exhausted"
    with no_descriptors(), pytest.raises(OperatorError) as caught:
        await known.execute(as_written("SELECT 1", "duckdb"), tmp_path / "x", Limits())
    assert caught.value.stable_code == "descriptors_exhausted"
    assert [len((await source.describe()).tables) for source in (known, new, closed)] == [1, 1, 1]


# Locks


async def test_a_locked_sqlite_table_is_not_a_slow_query(opened: Opened, database: Path, tmp_path: Path) -> None:
    source = await opened(database)
    await source.describe()
    with contextlib.closing(sqlite3.connect(database, isolation_level=None)) as writer:
        writer.execute("BEGIN EXCLUSIVE")
        with pytest.raises(TransientError, match="locked by another program") as caught:
            await source.execute(as_written("SELECT n FROM numbers", "sqlite"), tmp_path / "x", Limits(seconds=1))
    assert caught.value.stable_code == "source_locked"
    assert (
        await source.execute(as_written("SELECT n FROM numbers", "sqlite"), tmp_path / "x", Limits())
    ).row_count == 1


async def test_a_locked_postgres_table_is_not_a_slow_query(opened: Opened, postgres_url: str, tmp_path: Path) -> None:
    with psycopg.connect(postgres_url) as owner:
        owner.execute("CREATE TABLE numbers AS SELECT 1 AS n")
        owner.commit()
        source = await opened(postgres_url)
        await source.describe()
        owner.execute("LOCK TABLE numbers")
        query = as_written("SELECT n FROM numbers", "postgres")
        with pytest.raises(TransientError, match="locked by another program") as caught:
            await source.execute(query, tmp_path / "x", Limits(seconds=1))
        assert caught.value.stable_code == "source_locked"
        owner.rollback()
        assert (await source.execute(query, tmp_path / "x", Limits())).row_count == 1


# Data that went away


async def test_a_deleted_file_is_not_a_mistake_in_the_semantic_file(opened: Opened, tmp_path: Path) -> None:
    folder = tmp_path / "shop"
    folder.mkdir()
    for name in ("orders", "customers"):
        (folder / f"{name}.csv").write_text("a\n1\n")
    (folder / "semantic.yaml").write_text("tables:\n  orders:\n    description: What was bought\n")
    source = await opened(folder)
    await source.describe()
    (folder / "orders.csv").unlink()
    for again in (source, await opened(folder)):
        with pytest.raises(SourceError, match="'orders' is no longer in shop") as caught:
            await again.describe()
        assert caught.value.stable_code == "table_missing"
    assert [table.name for table in (await source.describe_plainly()).tables] == ["customers"]
    (folder / "semantic.yaml").write_text("tables:\n  ordres:\n    description: What was bought\n")
    with pytest.raises(AnswerableError) as mistaken:
        await source.describe()
    assert mistaken.value.stable_code == "semantic_invalid", "a name that never was is a mistake in the file"


@pytest.mark.parametrize("name", ["shop.sqlite", "shop.duckdb", "shop.csv"])
async def test_a_source_that_was_deleted(opened: Opened, tmp_path: Path, name: str) -> None:
    path = tmp_path / name
    if name == "shop.csv":
        path.write_text("a\n1\n")
    elif name == "shop.duckdb":
        with duckdb.connect(str(path)) as connection:
            connection.execute("CREATE TABLE t AS SELECT 1 AS a")
    else:
        with contextlib.closing(sqlite3.connect(path)) as writer:
            writer.execute("CREATE TABLE t AS SELECT 1 AS a")
            writer.commit()
    source = await opened(path)
    await source.describe()
    path.unlink()
    with pytest.raises(SourceError, match="no longer there") as caught:
        await source.describe()
    assert caught.value.stable_code == "source_missing"

"""Readings run ahead of the answer only where that costs next to nothing, and what fails there tells nothing."""

import sqlite3
from collections.abc import AsyncIterator
from pathlib import Path

import pytest
from as_written import as_written

from answerable.agents.dry_run import MOST_DATA, dry_run
from answerable.reader.ranking.dry_run import MOST_ROWS
from answerable.sources.base import Limits, Peekable, Source
from answerable.sources.federation import FederatedSources
from answerable.sources.open import open_source


@pytest.fixture
async def source(tmp_path: Path) -> AsyncIterator[Source]:
    path = tmp_path / "towns.sqlite"
    with sqlite3.connect(path) as connection:
        connection.execute("CREATE TABLE town (id INTEGER PRIMARY KEY, name TEXT)")
        connection.executemany("INSERT INTO town (name) VALUES (?)", [(f"T{n}",) for n in range(MOST_ROWS + 1)])
    connection.close()
    opened = await open_source(str(path), cache=tmp_path / "cache")
    yield opened
    await opened.close()


async def test_rows_of_each_statement(source: Source) -> None:
    run = dry_run(source, await source.describe())
    assert run is not None
    statements = [
        as_written(sql, source.languages[0])
        for sql in (
            "SELECT name FROM town WHERE id = 2",
            "SELECT nothing FROM town",
            "SELECT name FROM town",
            "DELETE FROM town",
            "SELECT count(*) FROM town",
        )
    ]
    assert await run(statements) == [[("T1",)], None, None, None, [(MOST_ROWS + 1,)]]


async def test_large_or_distant_data_is_not_run_ahead(source: Source) -> None:
    catalog = await source.describe()
    table = catalog.tables[0]
    for rows in (MOST_DATA + 1, None):
        large = catalog.model_copy(update={"tables": (table.model_copy(update={"row_count": rows}),)})
        assert dry_run(source, large) is None
    source.is_local = False
    assert dry_run(source, catalog) is None
    assert dry_run(FederatedSources({}), catalog) is None


async def test_more_data_is_run_until_its_time_is_spent(source: Source, monkeypatch: pytest.MonkeyPatch) -> None:
    catalog = await source.describe()
    large = catalog.model_copy(update={"tables": (catalog.tables[0].model_copy(update={"row_count": MOST_DATA}),)})
    run = dry_run(source, large)
    assert run is not None
    count = as_written("SELECT count(*) FROM town", source.languages[0])
    assert await run([count]) == [[(MOST_ROWS + 1,)]]
    monkeypatch.setattr("answerable.agents.dry_run._SECONDS", 0.0)
    spent = dry_run(source, large)
    assert spent is not None
    assert await spent([count]) == [None]


async def test_a_slow_statement_does_not_lose_those_before_it(source: Source) -> None:
    slow = "SELECT count(*) FROM town a, town b, town c WHERE a.name < b.name AND b.name < c.name"
    statements = [as_written(sql, source.languages[0]) for sql in ("SELECT count(*) FROM town", slow)]
    limits = Limits(seconds=2.0, memory_mb=512, rows=10, result_mb=1)
    assert isinstance(source, Peekable)
    found = await source.peek([*statements, statements[0]], limits)
    assert found == [[(MOST_ROWS + 1,)], None, None]

"""Many sources, few processes: the workers of all sources together have a ceiling, by number and by memory."""

import asyncio
import contextlib
import sqlite3
from collections.abc import AsyncIterator
from pathlib import Path

import psutil
import pytest
from as_written import as_written

from answerable.core.context import LOCAL
from answerable.sources.base import Limits
from answerable.sources.open import open_source
from answerable.sources.registry import SourceRegistry
from answerable.sources.sql.backend import SourceOptions
from answerable.sources.sql.source import SqlSource
from answerable.sources.sql.statements import Sql
from answerable.sources.worker_places import WorkerPlaces

MANY, MOST = 7, 3


def workers() -> list[psutil.Process]:
    found = []
    for child in psutil.Process().children():
        with contextlib.suppress(psutil.NoSuchProcess, psutil.ZombieProcess):
            found += [child] if "answerable.sources.workers" in child.cmdline() else []
    return found


def database(path: Path, number: int) -> str:
    with contextlib.closing(sqlite3.connect(path)) as connection:
        connection.execute(f"CREATE TABLE own AS SELECT {number} AS n")
        connection.commit()
    return str(path)


@pytest.fixture
async def registry(tmp_path: Path) -> AsyncIterator[SourceRegistry]:
    named = {f"s{n}": database(tmp_path / f"s{n}.sqlite", n) for n in range(MANY)}
    options = SourceOptions(places=WorkerPlaces(MOST))
    opened = SourceRegistry(named, tmp_path / "home", any_location=False, options=options)
    yield opened
    await opened.close()
    assert workers() == []


async def number_in(registry: SourceRegistry, name: str) -> int:
    source = await registry.get(name, LOCAL)
    assert isinstance(source, SqlSource)
    [(number,)] = await source.rows(Sql("SELECT n FROM own"))
    return int(number)


async def test_many_sources_share_a_few_processes(registry: SourceRegistry) -> None:
    names = [f"s{n}" for n in range(MANY)]
    most = 0

    async def watch() -> None:
        nonlocal most
        while True:
            most = max(most, len(workers()))
            await asyncio.sleep(0.05)

    watching = asyncio.create_task(watch())
    assert await asyncio.gather(*(number_in(registry, name) for name in names)) == list(range(MANY))
    assert await number_in(registry, "s0") == 0, "its worker had to go, and nobody notices"
    watching.cancel()
    # Those that were told to end are gone a moment later.
    assert 0 < most <= MOST + 2
    await asyncio.sleep(0.2)
    assert len(workers()) <= MOST


async def test_the_one_that_was_used_least_recently_goes(registry: SourceRegistry) -> None:
    for name in ("s0", "s1", "s2", "s0"):
        await number_in(registry, name)
    kept = {process.pid for process in workers()}
    await number_in(registry, "s3")
    await number_in(registry, "s0")
    await number_in(registry, "s2")
    await asyncio.sleep(0.2)
    assert len(kept & {process.pid for process in workers()}) == 2, "s1 alone gave up its place"


async def test_memory_is_a_ceiling_too(tmp_path: Path) -> None:
    """A place that holds less than two workers need: the idle one goes before another starts."""
    options = SourceOptions(places=WorkerPlaces(8, memory_mb=1))
    sources = [await open_source(database(tmp_path / f"{n}.db", n), cache=tmp_path, options=options) for n in range(3)]
    for number, source in enumerate(sources):
        assert isinstance(source, SqlSource)
        assert await source.rows(Sql("SELECT n FROM own")) == [(number,)]
    await asyncio.sleep(0.2)
    assert len(workers()) == 1
    for source in sources:
        await source.close()


async def test_statements_wait_for_their_turn_and_all_get_one(tmp_path: Path) -> None:
    options = SourceOptions(places=WorkerPlaces(2))
    sources = [await open_source(database(tmp_path / f"{n}.db", n), cache=tmp_path, options=options) for n in range(2)]
    query = as_written("SELECT n FROM own", "sqlite")
    asked = [
        source.execute(query, tmp_path / f"{number}-{turn}.arrow", Limits())
        for number, source in enumerate(sources)
        for turn in range(3)
    ]
    assert [result.row_count for result in await asyncio.gather(*asked)] == [1] * 6
    for source in sources:
        await source.close()

"""Sources are read in the background, and it can be seen how far that is."""

import asyncio
import sqlite3
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from answerable.core.clock import SystemClock
from answerable.core.context import LOCAL
from answerable.sources.added import AddedSources
from answerable.sources.registry import SourceRegistry
from answerable.sources.watch import Seen, Watch


@pytest.fixture
async def registry(tmp_path: Path) -> AsyncIterator[SourceRegistry]:
    path = tmp_path / "shop.db"
    with sqlite3.connect(path) as made:
        for number in range(20):
            made.execute(f"CREATE TABLE t{number} (id INTEGER PRIMARY KEY, city TEXT)")
            made.execute(f"INSERT INTO t{number} VALUES (1, 'Oslo')")
    made.close()
    opened = SourceRegistry({"shop": str(path), "gone": str(tmp_path / "no.csv")}, tmp_path, any_location=False)
    yield opened
    await opened.close()


async def settled(watch: Watch, name: str) -> tuple[Seen, set[tuple[str, int, int, bool]]]:
    told = set()
    while watch.seen(name, LOCAL).state == "reading":
        told.add(watch.progress(name, LOCAL))
        await asyncio.sleep(0)
    return watch.seen(name, LOCAL), told


async def test_tables_are_counted_while_they_are_read(registry: SourceRegistry) -> None:
    watch = Watch(registry, SystemClock())
    assert watch.seen("shop", LOCAL).state == "unread"
    assert watch.look("shop", LOCAL).state == "reading"
    seen, told = await settled(watch, "shop")
    assert (seen.state, seen.kind, len(seen.catalog.tables if seen.catalog else ())) == ("ready", "sqlite", 20)
    counted = {done for _message, done, total, of_tables in told if of_tables and total == 20}
    assert len(counted) > 5
    assert ("Opening", 1, 4, False) in told
    assert watch.look("shop", LOCAL).state == "ready"


async def test_what_cannot_be_read_is_told_and_tried_again(registry: SourceRegistry, tmp_path: Path) -> None:
    watch = Watch(registry, SystemClock())
    watch.read("gone", LOCAL)
    seen, _ = await settled(watch, "gone")
    assert seen.state == "failed"
    assert seen.error is not None
    assert seen.error.stable_code == "source_missing"
    (tmp_path / "no.csv").write_text("a\n1\n")
    watch.read("gone", LOCAL)
    watch.read("gone", LOCAL)
    assert (await settled(watch, "gone"))[0].state == "ready"


async def test_reading_can_be_given_up(registry: SourceRegistry) -> None:
    watch = Watch(registry, SystemClock())
    watch.read("shop", LOCAL)
    await watch.forget("shop", LOCAL)
    assert watch.seen("shop", LOCAL).state == "unread"
    await watch.close()


async def test_a_source_that_was_read_is_looked_at_again_after_a_while(
    registry: SourceRegistry, tmp_path: Path
) -> None:
    class Later(SystemClock):
        passed = 0.0

        def monotonic(self) -> float:
            return super().monotonic() + self.passed

    clock = Later()
    watch = Watch(registry, clock)
    watch.read("shop", LOCAL)
    before = (await settled(watch, "shop"))[0].catalog
    with sqlite3.connect(tmp_path / "shop.db") as made:
        made.execute("CREATE TABLE one_more (id INTEGER PRIMARY KEY)")
    made.close()
    assert watch.look("shop", LOCAL).catalog is before
    clock.passed = 60
    seen = watch.look("shop", LOCAL)
    while seen.catalog is before:
        await asyncio.sleep(0)
        seen = watch.look("shop", LOCAL)
    assert seen.catalog is not None
    assert len(seen.catalog.tables) == 21
    await watch.close()


async def test_a_source_that_moved_is_opened_and_read_again(registry: SourceRegistry, tmp_path: Path) -> None:
    """Another process may remove a source and add one of the same name elsewhere."""
    watch, added = Watch(registry, SystemClock()), AddedSources(tmp_path)
    for name, rows in (("one", "1\n"), ("two", "1\n2\n")):
        (tmp_path / f"{name}.csv").write_text(f"a\n{rows}")
    added.add_location("moved", str(tmp_path / "one.csv"), by_operator=True)
    watch.look("moved", LOCAL)
    before = (await settled(watch, "moved"))[0].catalog
    together = await registry.federated(("moved", "shop"), LOCAL)
    added.remove("moved")
    added.add_location("moved", str(tmp_path / "two.csv"), by_operator=True)
    assert watch.seen("moved", LOCAL).state == "unread"
    watch.look("moved", LOCAL)
    after = (await settled(watch, "moved"))[0].catalog
    assert [before.tables[0].row_count, after.tables[0].row_count] == [1, 2] if before and after else False
    assert await registry.federated(("moved", "shop"), LOCAL) is not together

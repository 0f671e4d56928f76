"""Short business questions of plain files, with no word of explanation beside them."""

from collections.abc import AsyncIterator
from datetime import date
from pathlib import Path

import polars as pl
import pytest
from as_written import as_written

from answerable.reader.reader import Reader
from answerable.reader.reading import Read, Reply
from answerable.sources.base import Limits, Source
from answerable.sources.open import open_source

ORDERS = """order_id,ordered_on,region_id,product,quantity,amount,ship_weight_kg
1,2025-08-15,1,Tea,1,75.0,2.5
2,2025-08-15,1,Coffee,2,25.0,1.5
3,2025-11-15,1,Tea,3,82.5,2.0
4,2025-08-15,2,Tea,4,100.0,3.0
5,2025-11-15,2,Coffee,5,150.0,4.0
6,2025-11-15,3,Coffee,6,80.0,1.0
"""
REGIONS = "region_id,region\n1,North\n2,South\n3,East\n"


@pytest.fixture(scope="module")
def files(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("everyday") / "sales"
    folder.mkdir()
    (folder / "orders.csv").write_text(ORDERS)
    (folder / "regions.csv").write_text(REGIONS)
    return folder


@pytest.fixture
async def sales(files: Path) -> AsyncIterator[Source]:
    """What one test has learned of the files, the next finds in the cache."""
    source = await open_source(str(files), cache=files.parent / "cache")
    yield source
    await source.close()


async def read(source: Source, question: str) -> Reply:
    reader = Reader(await source.describe(), await source.values(), today=lambda: date(2026, 1, 10))
    return reader.read(question)


@pytest.mark.parametrize(
    ("question", "cells"),
    [
        ("total amount per region", {"North": 182.5, "South": 250.0, "East": 80.0}),
        ("amount by region", {"North": 182.5, "South": 250.0, "East": 80.0}),
        ("how many orders per region", {"North": 3, "South": 2, "East": 1}),
        ("orders per product", {"Tea": 3, "Coffee": 3}),
        ("sum of quantity by product", {"Tea": 8, "Coffee": 13}),
        ("average ship_weight_kg by product", {"Tea": 2.5, "Coffee": 2.1667}),
        ("average ship weight per product", {"Tea": 2.5, "Coffee": 2.1667}),
        ("amount per month", {date(2025, 8, 1): 200.0, date(2025, 11, 1): 312.5}),
        ("top 2 regions by amount", {"South": 250.0, "North": 182.5}),
    ],
)
async def test_it_is_read(sales: Source, tmp_path: Path, question: str, cells: dict[object, float]) -> None:
    reply = await read(sales, question)
    assert isinstance(reply, Read), reply
    assert reply.best.sql is not None
    await sales.execute(as_written(reply.best.sql, sales.languages[0]), tmp_path / "rows.arrow", Limits())
    rows = pl.read_ipc(tmp_path / "rows.arrow").rows()
    found = {next(c for c in row if not isinstance(c, int | float)): row for row in rows}
    assert found.keys() == cells.keys()
    for key, number in cells.items():
        assert number == pytest.approx(next(c for c in found[key] if isinstance(c, int | float)), abs=1e-3)


async def test_growth_without_a_measure_means_the_one_sum_of_money(sales: Source, tmp_path: Path) -> None:
    reply = await read(sales, "which region grew fastest last quarter?")
    assert isinstance(reply, Read)
    assert reply.best.sql is not None
    await sales.execute(as_written(reply.best.sql, sales.languages[0]), tmp_path / "rows.arrow", Limits())
    assert pl.read_ipc(tmp_path / "rows.arrow").row(0)[0] == "South"


@pytest.mark.parametrize(
    "question", ["highest amount of Tea", "orders that are not Tea", "average amount of zeppelins"]
)
async def test_no_word_is_dropped_in_silence(sales: Source, question: str) -> None:
    """Read with its superlative or negation, or asked back: never answered as if the word were not there."""
    reply = await read(sales, question)
    if isinstance(reply, Read):
        assert reply.best.sql is not None
        assert any(sign in reply.best.sql for sign in ("MAX", "ORDER BY", "<>", "NOT"))


async def test_the_largest_number_is_a_number(sales: Source, tmp_path: Path) -> None:
    reply = await read(sales, "what was the highest amount in August 2025?")
    assert isinstance(reply, Read)
    assert reply.best.sql is not None
    await sales.execute(as_written(reply.best.sql, sales.languages[0]), tmp_path / "rows.arrow", Limits())
    assert pl.read_ipc(tmp_path / "rows.arrow").rows() == [(100.0,)]


@pytest.mark.parametrize(
    "question",
    [
        "the highest amount of an order in 2024",
        "which order had the highest amount in 2024",
        "orders without a product in 2024",
        "show 5 orders of 2024",
        "regions that bought both Tea and Coffee in 2024",
    ],
)
async def test_no_period_is_dropped_in_silence(sales: Source, question: str) -> None:
    reply = await read(sales, question)
    if isinstance(reply, Read):
        assert "2024" in str(reply.best.sql)

"""Folders of files: parts, names, and the copies kept in the cache."""

import asyncio
from collections.abc import Callable
from pathlib import Path
from typing import Any

import polars as pl
import pytest
import xlsxwriter  # type: ignore[import-untyped]
from as_written import as_written

from answerable.sources.base import Limits


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    folder = tmp_path / "company"
    folder.mkdir()
    return folder


@pytest.fixture
def opened(opened: Callable[..., Any], folder: Path) -> Callable[..., Any]:
    return lambda location=folder: opened(location, name="company")


async def test_parts_of_one_table(folder: Path, opened: Callable[..., Any]) -> None:
    for year in (2023, 2024):
        place = folder / "sales" / f"year={year}"
        place.mkdir(parents=True)
        pl.DataFrame({"amount": [year, 1]}).write_parquet(place / "data.parquet")
    (folder / "events").mkdir()
    for number in range(3):
        pl.DataFrame({"n": [number]}).write_parquet(folder / "events" / f"part-{number:04}.parquet")
    source = await opened()
    catalog = await source.describe()
    assert {t.name: t.row_count for t in catalog.tables} == {"events": 3, "sales": 4}
    assert await source.rows("SELECT year, sum(amount) FROM sales GROUP BY 1 ORDER BY 1") == [
        (2023, 2024),
        (2024, 2025),
    ]


async def test_those_who_ask_together_share_a_look_that_began_after_they_asked(
    folder: Path, opened: Callable[..., Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    (folder / "sales.csv").write_text("amount\n1\n")
    source = await opened()
    looks, look, begun, let_go = 0, source._backend.look, asyncio.Event(), asyncio.Event()

    async def slow_look(progress: Any) -> Any:
        nonlocal looks
        looks += 1
        begun.set()
        found = await look(progress)
        await let_go.wait()
        return found

    monkeypatch.setattr(source._backend, "look", slow_look)
    first = asyncio.create_task(source.describe())
    await begun.wait()
    (folder / "visits.csv").write_text("visits\n2\n")
    later = [asyncio.create_task(source.describe()) for _ in range(20)]
    await asyncio.sleep(0.01)
    let_go.set()
    await first
    for catalog in await asyncio.gather(*later):
        assert {table.name for table in catalog.tables} == {"sales", "visits"}
    assert looks == 2


async def test_names_that_clash(folder: Path, opened: Callable[..., Any]) -> None:
    for place in ("north", "south"):
        (folder / place).mkdir()
        (folder / place / "Sales 2024.csv").write_text(f"place\n{place}\n")
    source = await opened()
    catalog = await source.describe()
    assert [t.name for t in catalog.tables] == ["north_sales_2024", "south_sales_2024"]
    assert await source.rows("SELECT place FROM south_sales_2024") == [("south",)]
    assert len(catalog.warnings) == 2


async def test_all_formats_in_one_folder(folder: Path, opened: Callable[..., Any]) -> None:
    import gzip

    frame = pl.DataFrame({"id": [1, 2], "name": ["a", "b"]})
    frame.write_csv(folder / "a.csv")
    frame.write_csv(folder / "b.tsv", separator="\t")
    frame.write_parquet(folder / "c.parquet")
    frame.write_json(folder / "d.json")
    frame.write_ndjson(folder / "e.ndjson")
    frame.write_excel(folder / "f.xlsx")
    (folder / "g.csv.gz").write_bytes(gzip.compress(b"id,name\n1,a\n2,b\n"))
    (folder / "h.json.gz").write_bytes(gzip.compress(frame.write_json().encode()))
    source = await opened()
    catalog = await source.describe()
    assert [table.name for table in catalog.tables] == list("abcdefgh")
    for table in catalog.tables:
        assert [(c.name, c.type) for c in table.columns] == [("id", "integer"), ("name", "text")], table.name
        assert await source.rows(f"SELECT id, name FROM {table.name} ORDER BY id") == [(1, "a"), (2, "b")]


async def test_copies_are_kept_and_used_again(folder: Path, opened: Callable[..., Any], tmp_path: Path) -> None:
    (folder / "a.csv").write_text("x\n1\n")
    (folder / "b.csv").write_text("x\n2\n")
    await (await opened()).describe()
    copies = {path: path.stat().st_ino for path in (tmp_path / "cache").rglob("*.parquet")}
    assert len(copies) == 2
    (folder / "b.csv").write_text("x\n3\n")
    source = await opened()
    await source.describe()
    assert await source.rows("SELECT x FROM b") == [(3,)]
    after = {path: path.stat().st_ino for path in (tmp_path / "cache").rglob("*.parquet")}
    assert len(after) == 2
    assert len(set(copies.items()) & set(after.items())) == 1, "the copy of a.csv was not made again"
    assert list((tmp_path / "cache").rglob(".*")) == [], "nothing half made is left"


@pytest.mark.parametrize("what", ["catalogs", "files", "tables"])
async def test_a_damaged_cache_is_made_again(
    folder: Path, opened: Callable[..., Any], tmp_path: Path, what: str
) -> None:
    (folder / "a.csv").write_text("x\n1\n")
    first = await (await opened()).describe()
    for path in (tmp_path / "cache").rglob("*"):
        if path.is_file() and what in path.parts:
            path.write_bytes(b"rubbish") if path.suffix == ".json" else path.unlink()
    source = await opened()
    assert await source.describe() == first
    assert await source.rows("SELECT x FROM a") == [(1,)]


async def test_two_that_open_the_same_folder_at_once(folder: Path, opened: Callable[..., Any]) -> None:
    (folder / "a.csv").write_text("x\n" + "1\n" * 1000)
    sources = [await opened() for _ in range(3)]
    catalogs = await asyncio.gather(*(source.describe() for source in sources))
    assert [catalog.tables[0].row_count for catalog in catalogs] == [1000] * 3


async def test_each_table_has_a_fingerprint_of_its_own(folder: Path, opened: Callable[..., Any]) -> None:
    (folder / "a.csv").write_text("x\n1\n")
    (folder / "b.csv").write_text("x\n1\n")
    source = await opened()
    before = await source.describe()
    (folder / "b.csv").write_text("x\n2\n")
    after = await source.describe()
    assert before.tables[0].fingerprint == after.tables[0].fingerprint != ""
    assert before.tables[1].fingerprint != after.tables[1].fingerprint
    assert before.fingerprint != after.fingerprint
    assert after.last_sync is not None
    (folder / "semantic.yaml").write_text("tables: {a: {synonyms: [first]}}\n")
    named = await source.describe()
    assert named.tables[0].synonyms == ("first",)
    assert (named.fingerprint, named.last_sync) == (after.fingerprint, after.last_sync)


async def test_a_running_answer_survives_a_change(folder: Path, opened: Callable[..., Any], tmp_path: Path) -> None:
    pl.DataFrame({"n": range(2000)}).write_parquet(folder / "numbers.parquet")
    source = await opened()
    await source.describe()
    sql = "SELECT sum(a.n * b.n % 7) AS x FROM numbers a, numbers b, (SELECT 1 FROM numbers LIMIT 20)"
    running = asyncio.create_task(source.execute(as_written(sql, source.languages[0]), tmp_path / "x.arrow", Limits()))
    await asyncio.sleep(0.05)
    (folder / "new.csv").write_text("x\n1\n")
    assert len((await source.describe()).tables) == 2
    assert (await running).row_count == 1


async def test_the_parquet_of_others_is_not_touched(folder: Path, opened: Callable[..., Any]) -> None:
    path = folder / "odd.parquet"
    pl.DataFrame({"a": [[1, 2], []], "b": [{"c": 1}, {"c": None}], "d": ["x", None]}).write_parquet(path)
    before = path.read_bytes()
    source = await opened()
    assert {c.name: c.type for c in (await source.describe()).tables[0].columns} == {
        "a": "json",
        "b": "json",
        "d": "text",
    }
    assert (await source.rows("SELECT a, b, d FROM odd"))[0] == ("[1,2]", '{"c":1}', "x")
    assert path.read_bytes() == before


async def test_a_long_query_reports_the_megabytes_that_it_has_written(
    folder: Path, opened: Callable[..., Any], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("answerable.sources.sql.worker_result._REPORT_SECONDS", 0.01)
    (folder / "numbers.csv").write_text("n\n" + "\n".join(map(str, range(3_000))))
    source, reports = await opened(), list[tuple[str, float | None, float | None]]()
    sql = "SELECT a.n AS a, b.n AS b FROM numbers AS a CROSS JOIN numbers AS b LIMIT 2000000"
    query = as_written(sql, source.languages[0])
    await source.execute(query, tmp_path / "rows.arrow", Limits(), lambda *report: reports.append(report))
    written = [done for _, done, _ in reports if done]
    assert written == sorted(written) != []
    assert {(text, total) for text, _, total in reports} == {
        (f"{done / 1_000_000:,.1f} MB of rows written", None) for done in written
    }


def _cell_far_away(book: Any) -> None:
    sheet = book.add_worksheet()
    sheet.write(0, 0, "a")
    sheet.write(1_048_575, 16_383, 1)  # the last cell that there is: sixteen billion lie between


def _many_sheets(book: Any) -> None:
    for _ in range(501):
        book.add_worksheet()


@pytest.mark.parametrize("filled", [_cell_far_away, _many_sheets])
async def test_a_workbook_that_cannot_be_read_leaves_the_other_files(
    folder: Path, opened: Callable[..., Any], filled: Callable[[Any], None]
) -> None:
    (folder / "good.csv").write_text("n\n1\n")
    with xlsxwriter.Workbook(folder / "bad.xlsx", {"constant_memory": True}) as book:
        filled(book)
    catalog = await (await opened()).describe()
    assert [table.name for table in catalog.tables] == ["good"]
    assert [warning.subject for warning in catalog.warnings] == ["bad.xlsx"]

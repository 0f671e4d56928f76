"""Names and contents of files that come from somewhere, and where they are kept."""

import gzip
import sqlite3
import stat
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import polars as pl
import pytest

from answerable.core.errors import AnswerableError, RefusedError
from answerable.sources.added import AddedSources, safe_file_name, source_name
from answerable.sources.discovery import sniffed


@pytest.mark.parametrize(
    ("given", "kept"),
    [
        ("orders.csv", "orders.csv"),
        ("../../etc/cron.d/orders.csv", "orders.csv"),
        ("C:\\Users\\ana\\Q3 (final).xlsx", "Q3 (final).xlsx"),
        ("Übersicht.csv", "Übersicht.csv"),
        ("<img src=x onerror=alert(1)>.csv", "_img src_x onerror_alert(1)_.csv"),
        ("a\0b\n.csv", "a_b_.csv"),
        ("...hidden.csv", "hidden.csv"),
        ("$(reboot);`x`.csv", "_(reboot)__x_.csv"),
        ("n" * 300 + ".csv", "n" * 117 + ".csv"),
    ],
)
def test_a_name_becomes_a_safe_one(given: str, kept: str) -> None:
    assert safe_file_name(given) == kept


@pytest.mark.parametrize("given", ["", ".csv", "..", "../..", "orders", "/", "...csv.", "   .csv"])
def test_what_is_no_name_is_refused(given: str) -> None:
    with pytest.raises(AnswerableError) as caught:
        safe_file_name(given)
    assert caught.value.stable_code == "upload_name_invalid"


@pytest.mark.parametrize("given", ["../x", "/etc", ".", "..", "a/b", ""])
def test_a_source_name_is_never_a_path(given: str) -> None:
    assert not set(source_name(given)) & set("/.\\")
    assert source_name(given)


def test_name_and_content_must_agree(tmp_path: Path) -> None:
    file = tmp_path / "staged"

    def seen(name: str, content: bytes) -> str | None:
        file.write_bytes(content)
        return sniffed(file, name)

    pl.DataFrame({"a": [1]}).write_parquet(tmp_path / "a.parquet")
    pl.DataFrame({"a": [1]}).write_excel(tmp_path / "a.xlsx")
    with sqlite3.connect(tmp_path / "a.db") as made:
        made.execute("CREATE TABLE t (a)")
    made.close()
    parquet, excel, sqlite = ((tmp_path / name).read_bytes() for name in ("a.parquet", "a.xlsx", "a.db"))
    assert seen("a.csv", b"a,b\n1,2\n") == "csv"
    assert seen("a.csv.gz", gzip.compress(b"a,b\n1,2\n")) == "csv"
    assert seen("a.json", b'[{"a": 1}]') == "json"
    assert (seen("a.parquet", parquet), seen("a.xlsx", excel), seen("a.db", sqlite)) == ("parquet", "excel", "sqlite")
    for name, content in (
        ("a.csv", parquet),
        ("a.csv", sqlite),
        ("a.csv", excel),
        ("a.csv", b"\x7fELF\0\0"),
        ("a.csv", gzip.compress(b"a,b\n")),
        ("a.csv.gz", b"a,b\n1,2\n"),
        ("a.parquet", b"a,b\n1,2\n"),
        ("a.xlsx", b"PK\x03\x04 not a workbook"),
        ("a.db", b"a,b\n1,2\n"),
        ("a.exe", b"a,b\n1,2\n"),
        ("a.html", b"<html>"),
        ("semantic.yaml", b"tables: {}"),
    ):
        assert seen(name, content) is None, name


def test_a_url_is_kept_for_its_owner_only(tmp_path: Path) -> None:
    added = AddedSources(tmp_path)
    added.add_location("crm", "postgresql://u:secret@h/crm", by_operator=True)
    added.add_location("shop", "postgresql://h/shop", by_operator=False)
    file = tmp_path / "added-sources.json"
    assert stat.S_IMODE(file.stat().st_mode) == 0o600
    assert AddedSources(tmp_path).all()["crm"].location == "postgresql://u:secret@h/crm"
    added.remove("crm")
    assert "secret" not in file.read_text()
    assert set(added.all()) == {"shop"}
    with pytest.raises(RefusedError):
        added.remove("demo")
    file.write_text("{")
    with pytest.raises(AnswerableError) as caught:
        added.all()
    assert caught.value.stable_code == "added_sources_unreadable"


def test_files_join_a_source_and_a_database_stands_alone(tmp_path: Path) -> None:
    added = AddedSources(tmp_path)

    def put(name: str, content: bytes, source: str, *, replace: bool = False) -> str:
        staged = added.staging()
        staged.write_bytes(content)
        return added.adopt(staged, name, source, replace=replace)

    assert put("a.csv", b"a\n1\n", "shop") == "csv"
    assert put("b.csv", b"b\n1\n", "shop") == "csv"
    assert added.all()["shop"].files == ("a.csv", "b.csv")
    for name, content, code in (
        ("a.csv", b"a\n2\n", "upload_exists"),
        ("c.exe", b"MZ\0", "upload_unsupported"),
        ("d.db", b"SQLite format 3\0" + b"\0" * 100, "upload_alone"),
    ):
        with pytest.raises(AnswerableError) as caught:
            put(name, content, "shop")
        assert caught.value.stable_code == code
    assert put("a.csv", b"a\n2\n", "shop", replace=True) == "csv"
    assert (added.uploads / "shop" / "a.csv").read_bytes() == b"a\n2\n"
    put("d.db", b"SQLite format 3\0" + b"\0" * 100, "other")
    assert added.all()["other"].location.endswith("/other/d.db")
    added.remove("shop")
    assert not (added.uploads / "shop").exists()
    assert set(added.all()) == {"other"}


def test_files_on_their_way_take_room(tmp_path: Path) -> None:
    added = AddedSources(tmp_path)
    assert added.room(100) == 100
    broken, coming = added.staging(), added.staging()
    broken.write_bytes(b"x" * 30)
    coming.write_bytes(b"x" * 90)
    assert added.room(100) == -20
    broken.unlink()
    assert added.room(100) == 10


def test_two_processes_that_add_at_the_same_time_lose_nothing(tmp_path: Path) -> None:
    def add(number: int) -> None:
        AddedSources(tmp_path).add_location(f"s{number}", "/nowhere", by_operator=True)

    with ThreadPoolExecutor(8) as pool:  # each call opens the lock anew, as another process would
        list(pool.map(add, range(60)))
    assert len(AddedSources(tmp_path).all()) == 60

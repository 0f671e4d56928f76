"""Files as people really have them: each is read, or refused with a reason that names what to mend. Nothing is lost
in silence."""

import contextlib
import gzip
import io
import json
import os
import re
import sqlite3
import zipfile
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import polars as pl
import pytest
import xlsxwriter  # type: ignore[import-untyped]

from answerable.core.catalog import Catalog
from answerable.core.errors import AnswerableError, LimitError, NotFoundError, SourceError, UserError
from answerable.sources.sql.backend import SourceOptions


@pytest.fixture
def read(opened: Callable[..., Any], tmp_path: Path) -> Callable[..., Any]:
    """The rows of a file with this content, the types of its columns, and what was told about it."""

    async def read(content: str | bytes, name: str = "data.csv") -> tuple[list[Any], dict[str, str], list[str]]:
        path = tmp_path / name
        path.write_bytes(content if isinstance(content, bytes) else content.encode())
        source = await opened(path)
        catalog: Catalog = await source.describe()
        [table] = catalog.tables
        rows = await source.rows(f'SELECT * FROM "{table.name}"')
        return rows, {c.name: c.type for c in table.columns}, [w.message for w in catalog.warnings]

    return read


@pytest.fixture
def read_all(opened: Callable[..., Any], tmp_path: Path) -> Callable[..., Any]:
    """As `read`, for many files at once: they are in one folder, and one process reads them."""

    async def read_all(contents: Mapping[str, str | bytes]) -> dict[str, Any]:
        folder = tmp_path / "all"
        folder.mkdir()
        for name, content in contents.items():
            (folder / name).write_bytes(content if isinstance(content, bytes) else content.encode())
        source = await opened(folder)
        catalog: Catalog = await source.describe()
        found: dict[str, Any] = {}
        for name, table in zip(sorted(contents), sorted(catalog.tables, key=lambda table: table.name), strict=True):
            assert table.name == Path(name).stem
            rows = await source.rows(f'SELECT * FROM "{table.name}"')
            notes = [w.message for w in catalog.warnings if w.subject == name]
            found[name] = rows, {c.name: c.type for c in table.columns}, notes
        return found

    return read_all


@pytest.fixture
def refused(read: Callable[..., Any]) -> Callable[..., Any]:
    async def refused(content: str | bytes, name: str = "data.csv") -> AnswerableError:
        with pytest.raises(AnswerableError) as caught:
            await read(content, name)
        error = caught.value
        assert isinstance(error, SourceError)
        assert name in error.message, "the message names the file"
        return error

    return refused


# Not there, not readable, not a table


async def test_missing(opened: Callable[..., Any], tmp_path: Path) -> None:
    (tmp_path / "sales.csv").write_text("a\n1\n")
    with pytest.raises(NotFoundError, match=r"no file or folder at .*salse\.csv") as caught:
        await opened(tmp_path / "salse.csv")
    assert caught.value.stable_code == "source_missing"
    assert "sales.csv" in (caught.value.hint or "")


@pytest.mark.parametrize("location", ["", "   "])
async def test_unnamed(opened: Callable[..., Any], location: str) -> None:
    with pytest.raises(UserError) as caught:
        await opened(location)
    assert caught.value.stable_code == "source_unnamed"


@pytest.mark.parametrize("location", ["a\0b", "x" * 5000])
async def test_impossible_paths(opened: Callable[..., Any], location: str) -> None:
    with pytest.raises(UserError):
        await opened(location)


async def test_another_scheme(opened: Callable[..., Any]) -> None:
    with pytest.raises(UserError, match="mysql") as caught:
        await opened("mysql://root:secret@host/db")
    assert caught.value.stable_code == "source_unsupported"
    assert "secret" not in str(caught.value)


async def test_empty_file(refused: Callable[..., Any]) -> None:
    assert (await refused("")).stable_code == "file_empty"
    assert (await refused("  \n\n")).stable_code == "file_empty"
    assert (await refused("[]", "data.json")).stable_code in ("file_empty", "file_malformed")


async def test_empty_folder(opened: Callable[..., Any], tmp_path: Path) -> None:
    folder = tmp_path / "void"
    folder.mkdir()
    with pytest.raises(SourceError, match="holds no table") as caught:
        await (await opened(folder)).describe()
    assert caught.value.stable_code == "source_empty"
    assert caught.value.hint


@pytest.mark.parametrize("name", ["data.csv", "data.json", "data.xlsx", "data.parquet", "data.bin", "data.db"])
async def test_binary_rubbish(refused: Callable[..., Any], name: str) -> None:
    error = await refused(bytes(range(256)) * 40, name)
    assert error.stable_code in ("file_binary", "file_mismatch", "source_unsupported")


async def test_a_picture_is_no_table(refused: Callable[..., Any]) -> None:
    error = await refused(b"\x89PNG\r\n\x1a\n" + os.urandom(4000), "photo.png")
    assert error.stable_code == "source_unsupported"
    assert "CSV" in (error.hint or "")


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("cut.parquet", b"PAR1" + b"\0" * 100),
        ("cut.xlsx", b"PK\x03\x04" + b"\0" * 100),
        ("cut.csv.gz", gzip.compress(b"a,b\n1,2\n" * 1000, mtime=0)[:-30]),
        ("cut.json", b'[{"a": 1}, {"a"'),
    ],
)
async def test_cut_off(refused: Callable[..., Any], name: str, content: bytes) -> None:
    assert (await refused(content, name)).stable_code in ("file_malformed", "file_damaged", "file_mismatch")


async def test_damaged_databases(opened: Callable[..., Any], tmp_path: Path) -> None:
    lite = tmp_path / "cut.sqlite"
    lite.write_bytes(b"SQLite format 3\0" + os.urandom(4000))
    duck = tmp_path / "cut.duckdb"
    duck.write_bytes(os.urandom(8) + b"DUCK" + os.urandom(20_000))
    for path in (lite, duck):
        with pytest.raises(SourceError, match="cut") as caught:
            await (await opened(path)).describe()
        assert caught.value.stable_code == "source_unreadable"


async def test_a_device_is_no_table(opened: Callable[..., Any]) -> None:
    with pytest.raises(SourceError):
        await opened("/dev/null")


# The content decides, not the name


async def test_formats_by_content(opened: Callable[..., Any], tmp_path: Path) -> None:
    frame = pl.DataFrame({"a": [1, 2]})
    frame.write_parquet(tmp_path / "really_parquet.csv")
    frame.write_excel(tmp_path / "book.xlsx")
    (tmp_path / "book.xlsx").rename(tmp_path / "really_excel.csv")
    (tmp_path / "packed.csv").write_bytes(gzip.compress(b"a\n1\n2\n"))
    (tmp_path / "plain").write_text("a,b\n1,x\n2,y\n")
    (tmp_path / "records").write_text('[{"a": 1}, {"a": 2}]')
    for name in ("really_parquet.csv", "really_excel.csv", "packed.csv", "plain", "records"):
        source = await opened(tmp_path / name)
        [table] = (await source.describe()).tables
        assert await source.rows(f'SELECT sum(a) FROM "{table.name}"') == [(3,)], name


# Encodings


ENCODINGS = {
    "utf-8": None,
    "utf-8-sig": None,
    "utf-16": "UTF-16",
    "utf-16-le": "UTF-16",
    "cp1252": "Windows-1252",
    "latin-1": "Windows-1252",
}


async def test_encodings(read_all: Callable[..., Any]) -> None:
    names = {f"{encoding.replace('-', '_')}.csv": encoding for encoding in ENCODINGS}
    text = "name,größe\nMüller,1.5\nÅse,2\n"
    found = await read_all({name: text.encode(encoding) for name, encoding in names.items()})
    for name, (rows, types, notes) in found.items():
        told = ENCODINGS[names[name]]
        assert rows == [("Müller", 1.5), ("Åse", 2.0)], name
        assert types == {"name": "text", "größe": "number"}, name
        assert notes == [] if told is None else told in notes[0], name


async def test_zero_bytes_are_left_out_and_told(read: Callable[..., Any]) -> None:
    rows, _, notes = await read(b"name,n\n" + b"Ann\0,1\n" + b"Bob,2\n" * 400)
    assert rows[0] == ("Ann", 1)
    assert notes == ["1 NUL characters were left out"]


async def test_line_endings(read_all: Callable[..., Any]) -> None:
    endings = {"unix.csv": "\n", "windows.csv": "\r\n", "old_mac.csv": "\r"}
    found = await read_all({name: ending.join(["a,b", "1,x", "2,y", ""]) for name, ending in endings.items()})
    assert {name: rows for name, (rows, _, _) in found.items()} == {name: [(1, "x"), (2, "y")] for name in endings}


async def test_mixed_line_endings(read: Callable[..., Any]) -> None:
    rows, _, notes = await read("a,b\r\n1,x\n2,y\r3,z\r\n")
    assert rows == [(1, "x"), (2, "y"), (3, "z")]
    assert notes == ["its lines end in different ways"]


# Delimiters, quotes, rows that do not fit


async def test_delimiters(read_all: Callable[..., Any]) -> None:
    rows = [["id", "name", "note"], ["1", '"Smith, J; Dr | x\ty"', "ok"], ["2", "Ann", '"two\nlines"']]
    delimiters = {"comma.csv": ",", "semicolon.csv": ";", "tab.csv": "\t", "bar.csv": "|"}
    found = await read_all(
        {name: "".join(f"{delimiter.join(row)}\n" for row in rows) for name, delimiter in delimiters.items()}
    )
    for name, (read, _, _) in found.items():
        assert read == [(1, "Smith, J; Dr | x\ty", "ok"), (2, "Ann", "two\nlines")], name


async def test_delimiter_stated_as_excel_does(read: Callable[..., Any]) -> None:
    assert (await read("sep=;\na;b\n1;2\n"))[0] == [(1, 2)]


async def test_quotes_escaped_by_a_backslash(read: Callable[..., Any]) -> None:
    rows, _, _ = await read('id,said\n1,"he \\"waved\\", twice"\n2,nothing\n')
    assert [row[0] for row in rows] == [1, 2]
    assert "waved" in rows[0][1]


async def test_quotes_that_mean_nothing_in_tab_separated_text(read: Callable[..., Any]) -> None:
    rows, _, _ = await read('id\tsize\n1\t5" pipe\n2\t"6" hose\n3\t7"\n', "data.tsv")
    assert rows == [(1, '5" pipe'), (2, '"6" hose'), (3, '7"')]


async def test_few_broken_rows_are_left_out_and_named(read: Callable[..., Any]) -> None:
    lines = ["id,name,note", *(f"{n},n{n},x" for n in range(1000))]
    lines[5] = '4,"several\nlines",x'
    lines[10], lines[700] = "9,short", "699,a,b,too,many"
    rows, _, notes = await read("\n".join(lines) + "\n")
    assert len(rows) == 998
    assert {row[0] for row in rows} == set(range(1000)) - {9, 699}
    assert notes == ["2 of 1,000 rows cannot be read and were left out: line 12, 702"]


async def test_many_broken_rows_are_an_error_that_names_the_first(refused: Callable[..., Any]) -> None:
    lines = ["id,name", *(f"{n},x" if n % 10 else f"{n},x,surplus" for n in range(1, 201))]
    error = await refused("\n".join(lines))
    assert error.stable_code == "file_ragged"
    assert "Line 11 has too many values" in error.message
    assert "20 of 200 rows" in error.message
    assert error.hint


async def test_a_quote_that_never_closes(refused: Callable[..., Any]) -> None:
    error = await refused("id,name\n" + '1,"open\n' + "".join(f"{n},x\n" for n in range(2, 300)))
    assert error.stable_code == "file_ragged"
    assert "quote" in error.message


async def test_a_header_of_another_length(refused: Callable[..., Any]) -> None:
    error = await refused("id,name\n" + "1,a,x\n2,b,y\n3,c,z\n")
    assert error.stable_code == "file_ragged"
    assert "Line 1 has 2 values, but most lines have 3" in error.message


async def test_a_delimiter_at_the_end_of_each_row(read: Callable[..., Any]) -> None:
    rows, types, notes = await read("a,b\n1,2,\n3,4,\n")
    assert list(types) == ["a", "b", "column_3"]
    assert [row[:2] for row in rows] == [(1, 2), (3, 4)]
    assert notes == ["columns without a name are called column_3"]


async def test_lines_above_the_table(read: Callable[..., Any]) -> None:
    rows, types, notes = await read("Quarterly report\nfor you\n\nid,name\n1,a\n2,b\n")
    assert (rows, list(types)) == ([(1, "a"), (2, "b")], ["id", "name"])
    assert notes == ["2 lines above the table were left out"]


async def test_blank_lines_are_no_rows(read: Callable[..., Any]) -> None:
    assert (await read("\n\nid,name\n1,a\n\n   \n2,b\n\n"))[0] == [(1, "a"), (2, "b")]


async def test_a_huge_value(read: Callable[..., Any]) -> None:
    rows, _, _ = await read('id,text\n1,"' + "x" * 20_000_000 + '"\n2,y\n')
    assert [(row[0], len(row[1])) for row in rows] == [(1, 20_000_000), (2, 1)]


# Headers


async def test_names_that_occur_twice(read: Callable[..., Any]) -> None:
    rows, types, notes = await read("id,name,Name,name\n1,a,b,c\n")
    assert (rows, list(types)) == ([(1, "a", "b", "c")], ["id", "name", "Name_2", "name_3"])
    assert notes == ["names that occur more than once were numbered: 'Name_2', 'name_3'"]


async def test_no_header(read: Callable[..., Any]) -> None:
    rows, types, notes = await read("1,Ann,2024-01-31\n2,Bob,2024-02-29\n")
    assert list(types) == ["column_1", "column_2", "column_3"]
    assert len(rows) == 2
    assert "holds values, not names" in notes[0]


async def test_years_as_names(read: Callable[..., Any]) -> None:
    _, types, _ = await read("country,2021,2022\nPeru,5.5,6.1\nChad,1,2\n")
    assert list(types) == ["country", "2021", "2022"]


async def test_a_header_alone_is_a_table_without_rows(read: Callable[..., Any]) -> None:
    rows, types, _ = await read("id,name\n")
    assert (rows, list(types)) == ([], ["id", "name"])


async def test_a_nameless_first_column(read: Callable[..., Any]) -> None:
    _, types, notes = await read(",name\n0,a\n1,b\n")
    assert list(types) == ["column_1", "name"]
    assert notes == ["columns without a name are called column_1"]


# Values


TYPES = [
    (["1", "-2", "+3", "0"], "integer"),
    (["1", "2.5", "1e3", ".5"], "number"),
    (["007", "123"], "text"),
    (["12345678901234567890"], "text"),
    (["true", "FALSE"], "boolean"),
    (["yes", "no"], "text"),
    (["2024-01-31", "2024-2-9"], "date"),
    (["2024-02-30"], "text"),
    (["2024-01-31 10:30", "2024-01-31T10:30:00.5"], "datetime"),
    (["2024-01-31T10:30:00Z", "2024-01-31 10:30:00+02:00"], "datetime"),
    (["2024-01-31 00:00:00", "2024-02-01 00:00:00"], "date"),
    (["31/01/2024", "01/02/2024"], "date"),
    (["1/31/2024", "2/1/2024"], "date"),
    (["31.01.2024 08:00", "01.02.2024 09:30"], "datetime"),
    (["Jan 5 2024", "Dec 31 2023"], "date"),
    (["5 January 2024", "31 December 2023"], "date"),
    (["10:30", "23:59:59"], "time"),
    (["x", "1"], "text"),
]


async def test_types(read_all: Callable[..., Any]) -> None:
    files = {
        f"case_{number:02}.csv": "v,w\n" + "".join(f"{value},x\n" for value in values)
        for number, (values, _) in enumerate(TYPES)
    }
    found = await read_all(files)
    assert [(values, found[name][1]["v"]) for name, (values, _) in zip(files, TYPES, strict=True)] == TYPES


async def test_day_and_month(read_all: Callable[..., Any]) -> None:
    found = await read_all(
        {
            "clear.csv": "when,w\n31/01/2024,x\n02/03/2024,x\n",
            "monthly.csv": "when,w\n01/02/2024,x\n01/03/2024,x\n",
            "either.csv": "when,w\n01/02/2024,x\n05/03/2024,x\n",
        }
    )
    assert [row[0].isoformat() for row in found["clear.csv"][0]] == ["2024-01-31", "2024-03-02"]
    rows, _, notes = found["monthly.csv"]
    assert [row[0].isoformat() for row in rows] == ["2024-02-01", "2024-03-01"]
    assert "day first" in notes[0]
    _, types, notes = found["either.csv"]
    assert types["when"] == "text"
    assert "day/month or month/day" in notes[0]


async def test_missing_values(read: Callable[..., Any]) -> None:
    rows, types, _ = await read("n,t\n1,a\n,b\nN/A,c\nNULL,\n#N/A,n/a\n")
    assert rows == [(1, "a"), (None, "b"), (None, "c"), (None, None), (None, None)]
    assert types == {"n": "integer", "t": "text"}


async def test_na_means_missing_only_where_the_file_uses_it_so(read_all: Callable[..., Any]) -> None:
    found = await read_all({"missing.csv": "n,country\n1,NA\nNA,DE\n", "namibia.csv": "n,country\n1,NA\n2,DE\n"})
    rows, _, notes = found["missing.csv"]
    assert rows == [(1, None), (None, "DE")]
    assert notes == ["'NA' was read as a missing value"]
    assert found["namibia.csv"][0] == [(1, "NA"), (2, "DE")]


async def test_separators_of_thousands_stay_text_and_are_told(read: Callable[..., Any]) -> None:
    _, types, notes = await read('item,price\na,"1,200"\nb,"3,400,000"\n')
    assert types["price"] == "text"
    assert "left as text" in notes[0]


async def test_decimal_commas_of_european_files(read: Callable[..., Any]) -> None:
    rows, types, notes = await read("item;price\na;1,5\nb;20\n")
    assert (rows, types["price"]) == ([("a", 1.5), ("b", 20.0)], "number")
    assert notes == ["price: the comma was read as the decimal sign"]


async def test_one_odd_value_is_named(read: Callable[..., Any]) -> None:
    lines = ["age,w", *(f"{n},x" for n in range(3000)), "unknown,x"]
    _, types, notes = await read("\n".join(lines))
    assert types["age"] == "text"
    assert notes == ["age: 1 of 3,001 values are no integer, such as 'unknown', so it is left as text"]


async def test_a_late_fraction_makes_all_numbers(read: Callable[..., Any]) -> None:
    lines = ["n,w", *(f"{n},x" for n in range(5000)), "0.5,x"]
    assert (await read("\n".join(lines)))[1]["n"] == "number"


# JSON


async def test_json_forms(read_all: Callable[..., Any]) -> None:
    records = [{"id": 1, "name": "a"}, {"id": 2, "name": None, "extra": True}]
    expected = [(1, "a", None), (2, None, True)]
    found = await read_all(
        {
            "list.json": json.dumps(records),
            "lines.ndjson": "\n".join(map(json.dumps, records)),
            "wrapped.json": json.dumps({"total": 2, "items": records}),
            "bare.json": "[1, 2, 3]",
        }
    )
    assert found["list.json"][0] == expected
    assert found["lines.ndjson"][0] == expected
    assert found["wrapped.json"][0] == expected
    assert found["wrapped.json"][2] == ["the records are those under 'items'"]
    assert found["bare.json"][0] == [(1,), (2,), (3,)]


async def test_nested_json(read: Callable[..., Any]) -> None:
    record = {"id": 1, "address": {"city": "Bonn", "geo": {"lat": 1}}, "tags": ["x", "y"]}
    rows, types, _ = await read(json.dumps([record]), "nested.json")
    assert types == {"id": "integer", "address_city": "text", "address_geo": "json", "tags": "json"}
    assert rows[0][:2] == (1, "Bonn")
    assert json.loads(rows[0][3]) == ["x", "y"]


async def test_broken_json_names_the_place(refused: Callable[..., Any]) -> None:
    error = await refused('{"a": 1}\n{"a": }\n', "broken.ndjson")
    assert error.stable_code == "file_malformed"
    assert "line" in error.message


# Excel


async def test_each_sheet_is_a_table(opened: Callable[..., Any], tmp_path: Path) -> None:
    path = tmp_path / "Company Data.xlsx"
    with xlsxwriter.Workbook(path) as book:
        people, title, _ = (book.add_worksheet(name) for name in ("People", "With Title", "Nothing"))
        day = book.add_format({"num_format": "yyyy-mm-dd"})
        people.write_row(0, 0, ["id", "name", "born", "name"])
        people.write_row(1, 0, [1, "Ann"])
        people.write_datetime(1, 2, __import__("datetime").datetime(2001, 5, 6), day)
        people.write(1, 3, "again")
        title.write(1, 1, "Numbers of the year")
        title.write_row(3, 1, ["what", "how many"])
        title.write_row(4, 1, ["apples", 5])
        title.write_row(6, 1, ["pears", 7.5])
    source = await opened(path)
    catalog: Catalog = await source.describe()
    assert [table.name for table in catalog.tables] == ["people", "with_title"]
    assert {c.name: c.type for c in catalog.tables[0].columns} == {
        "id": "integer",
        "name": "text",
        "born": "date",
        "name_2": "text",
    }
    assert await source.rows("SELECT * FROM with_title") == [("apples", 5.0), ("pears", 7.5)]
    assert "sheet 'With Title': 2 rows above the table were left out" in [w.message for w in catalog.warnings]


async def test_a_single_sheet_goes_by_its_file(opened: Callable[..., Any], tmp_path: Path) -> None:
    pl.DataFrame({"a": [1]}).write_excel(tmp_path / "Sales 2024.xlsx")
    assert [t.name for t in (await (await opened(tmp_path / "Sales 2024.xlsx")).describe()).tables] == ["sales_2024"]


async def test_a_zip_that_is_no_workbook(refused: Callable[..., Any], tmp_path: Path) -> None:
    with zipfile.ZipFile(tmp_path / "other.zip", "w") as packed:
        packed.writestr("readme.txt", "hello")
    await refused((tmp_path / "other.zip").read_bytes(), "other.zip")
    await refused((tmp_path / "other.zip").read_bytes(), "other.xlsx")


def zipped(name: str = "readme.txt") -> bytes:
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w") as file:
        file.writestr(name, "hello")
    return packed.getvalue()


def sqlite_bytes() -> bytes:
    with contextlib.closing(sqlite3.connect(":memory:")) as connection:
        connection.execute("CREATE TABLE t AS SELECT 1 AS a")
        return connection.serialize()


TEXT, PDF = b"a,b\n1,2\n", b"%PDF-1.7\n1 0 obj\n<<>>\nendobj\n"
PNG, HTML = b"\x89PNG\r\n\x1a\n" + bytes(100), b"<!DOCTYPE html>\n<html><table><tr><td>1</td></tr></table></html>"
MISMATCHES = {
    "x.sqlite": (TEXT, "is text, not a SQLite database"),
    "x.db": (TEXT, "is text, not a SQLite database"),
    "notes.duckdb": (TEXT, "is text, not a DuckDB database"),
    "y.sqlite": (zipped(), "is a ZIP archive, not a SQLite database"),
    "x.xlsx": (TEXT, "is text, not a workbook"),
    "y.xlsx": (zipped(), "is a ZIP archive, not a workbook"),
    "z.xlsx": (zipped("xl/workbook.xml")[:-10], "is a ZIP archive that is damaged or incomplete, not a workbook"),
    "x.xls": (HTML, "is a web page, not a workbook"),
    "x.ods": (PDF, "is a PDF document, not a workbook"),
    "x.parquet": (TEXT, "is text, not a Parquet file"),
    "y.parquet": ("a,b\n1,2\n".encode("utf-16"), "is text in UTF-16, not a Parquet file"),
    "z.parquet": (bytes(100), "is binary data, not a Parquet file"),
    "x.csv.gz": (PNG, "is a PNG picture, not a table of text"),
    "x.csv": (zipped(), "is a ZIP archive, not a table of text"),
    "y.csv": (PDF, "is a PDF document, not a table of text"),
    "z.csv": (HTML, "is a web page, not a table of text"),
    "x.json": (PNG, "is a PNG picture, not JSON"),
    "x.tsv": (zipped()[:30], "is a ZIP archive that is damaged or incomplete, not a table of text"),
}


@pytest.mark.parametrize("name", MISMATCHES)
async def test_what_a_file_is_and_what_was_expected(opened: Callable[..., Any], tmp_path: Path, name: str) -> None:
    content, told = MISMATCHES[name]
    (tmp_path / name).write_bytes(content)
    with pytest.raises(SourceError) as caught:
        await opened(tmp_path / name)
    assert told in caught.value.message
    assert name in caught.value.message
    assert (caught.value.stable_code, caught.value.exit_code) == ("file_mismatch", 2)


async def test_in_a_folder_each_of_them_is_left_out_and_named(opened: Callable[..., Any], tmp_path: Path) -> None:
    folder = tmp_path / "folder"
    folder.mkdir()
    for name, (content, _) in MISMATCHES.items():
        (folder / name).write_bytes(content)
    (folder / "good.csv").write_text("a\n1\n")
    catalog = await (await opened(folder)).describe()
    assert [table.name for table in catalog.tables] == ["good"]
    told = [f"{warning.subject} {warning.message}" for warning in catalog.warnings]
    assert [name for name in MISMATCHES if not any(name in line for line in told)] == []


@pytest.mark.parametrize("content", [PDF, PNG, sqlite_bytes()], ids=["pdf", "png", "sqlite"])
async def test_what_is_packed_is_looked_at_too(refused: Callable[..., Any], content: bytes) -> None:
    error = await refused(gzip.compress(content), "x.csv.gz")
    assert error.stable_code == "file_binary"
    assert re.search("PDF document|PNG picture|SQLite database", error.message)
    assert error.exit_code == 2


async def test_words_that_begin_as_other_files_do(read_all: Callable[..., Any]) -> None:
    headers = ("MZ,b", "PAR1,PAR2", "ORC,b", "BZh,b", "GIF8,b", "PK,b", "Obj,b")
    found = await read_all({f"case_{number}.csv": f"{header}\n1,2\n" for number, header in enumerate(headers)})
    assert [rows for rows, _, _ in found.values()] == [[(1, 2)]] * len(headers)


# Folders


async def test_one_bad_file_does_not_spoil_a_folder(opened: Callable[..., Any], tmp_path: Path) -> None:
    folder = tmp_path / "mixed"
    (folder / "sub").mkdir(parents=True)
    (folder / "good.csv").write_text("a\n1\n")
    (folder / "sub" / "good2.ndjson").write_text('{"b": 2}\n')
    (folder / "empty.csv").write_text("")
    (folder / "ragged.csv").write_text("a,b\n1,2\n3,4\n5\n")
    (folder / "bad.parquet").write_bytes(b"PAR1rubbish")
    (folder / "notes.docx").write_bytes(b"whatever")
    (folder / "README.md").write_text("# hello")
    (folder / "gone.csv").symlink_to(folder / "nowhere.csv")
    (folder / "shop.sqlite").write_bytes(b"SQLite format 3\0" + b"\0" * 100)
    catalog: Catalog = await (await opened(folder)).describe()
    assert [table.name for table in catalog.tables] == ["good", "good2"]
    told = {warning.subject: warning.message for warning in catalog.warnings}
    assert set(told) == {"empty.csv", "ragged.csv", "bad.parquet", "mixed", "gone.csv", "shop.sqlite"}
    assert "empty" in told["empty.csv"]
    assert "Line 4" in told["ragged.csv"]
    assert "notes.docx" in told["mixed"]
    assert "source of its own" in told["shop.sqlite"]


async def test_a_folder_without_any_good_file(opened: Callable[..., Any], tmp_path: Path) -> None:
    folder = tmp_path / "bad"
    folder.mkdir()
    (folder / "a.csv").write_text("")
    (folder / "b.parquet").write_bytes(b"PAR1")
    with pytest.raises(SourceError, match=r"a\.csv: .*empty.*b\.parquet") as caught:
        await (await opened(folder)).describe()
    assert caught.value.stable_code == "source_unreadable"


async def test_links_do_not_lead_out_of_the_folder(opened: Callable[..., Any], tmp_path: Path) -> None:
    (tmp_path / "secret.csv").write_text("s\n1\n")
    folder = tmp_path / "shared"
    folder.mkdir()
    (folder / "own.csv").write_text("a\n1\n")
    (folder / "alias.csv").symlink_to(folder / "own.csv")
    (folder / "leak.csv").symlink_to(tmp_path / "secret.csv")
    catalog: Catalog = await (await opened(folder)).describe()
    assert [table.name for table in catalog.tables] == ["alias", "own"]
    assert [w.subject for w in catalog.warnings] == ["leak.csv"]


async def test_too_many_files_and_too_much(opened: Callable[..., Any], tmp_path: Path) -> None:
    folder = tmp_path / "many"
    folder.mkdir()
    for number in range(5):
        (folder / f"{number}.csv").write_text("a\n1\n")
    with pytest.raises(LimitError) as caught:
        await (await opened(folder, options=SourceOptions(max_files=4))).describe()
    assert caught.value.stable_code == "source_too_large"
    with pytest.raises(LimitError) as caught:
        await (await opened(folder, options=SourceOptions(max_mb=0))).describe()
    assert caught.value.stable_code == "source_too_large"


async def test_a_bomb_in_a_packed_file(opened: Callable[..., Any], tmp_path: Path) -> None:
    (tmp_path / "bomb.csv.gz").write_bytes(gzip.compress(b"a,b\n" + b"1,2\n" * 2_000_000))
    with pytest.raises(LimitError, match="larger than 5 MB") as caught:
        await (await opened(tmp_path / "bomb.csv.gz", options=SourceOptions(max_mb=5))).describe()
    assert caught.value.stable_code == "file_too_large"


async def test_a_folder_that_goes_away(opened: Callable[..., Any], tmp_path: Path) -> None:
    folder = tmp_path / "fleeting"
    folder.mkdir()
    (folder / "a.csv").write_text("a\n1\n")
    source = await opened(folder)
    await source.describe()
    (folder / "a.csv").unlink()
    folder.rmdir()
    with pytest.raises(SourceError) as caught:
        await source.describe()
    assert caught.value.stable_code == "source_missing"


async def test_a_file_that_changes_is_read_again(opened: Callable[..., Any], tmp_path: Path) -> None:
    path = tmp_path / "live.csv"
    path.write_text("a\n1\n")
    source = await opened(path)
    assert await source.rows("SELECT sum(a) FROM live") == [(1,)]
    path.write_text("a\n1\n41\n")
    await source.describe()
    assert await source.rows("SELECT sum(a) FROM live") == [(42,)]
    kept = list((tmp_path / "cache").rglob("*.parquet"))
    assert len(kept) == 1, "the copy of the old state is gone"

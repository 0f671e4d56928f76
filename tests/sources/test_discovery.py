"""Which files are tables, and what they are called."""

from pathlib import Path

import pytest

from answerable.sources.discovery import (
    Naming,
    data_file,
    parquet_tables,
    sheet_names,
    table_name,
    unique_table_names,
)


@pytest.mark.parametrize(
    ("text", "name"),
    [
        ("sales", "sales"),
        ("Sales 2024 (final)", "sales_2024_final"),
        ("2024-01", "t_2024_01"),
        ("Größe", "größe"),
        ("売上", "売上"),
        ("a.b.c", "a_b_c"),
        ("...", "table"),
        ('x"; DROP TABLE y; --', "x_drop_table_y"),
    ],
)
def test_table_names(text: str, name: str) -> None:
    assert table_name(text) == name


def naming(wanted: str, folder: str = "data", suffix: str = "csv") -> Naming:
    return Naming(wanted, folder, suffix, f"{folder}/{wanted}.{suffix}")


def test_names_that_clash_are_told_apart() -> None:
    names, warnings = unique_table_names(
        [naming("sales", "north"), naming("sales", "south"), naming("sales", "south", "json"), naming("other")]
    )
    assert names == ["north_sales", "sales_csv", "sales_json", "other"]
    assert [warning.subject for warning in warnings] == ["north/sales.csv", "south/sales.csv", "south/sales.json"]
    assert "'north_sales'" in warnings[0].message


def test_names_that_cannot_be_told_apart_are_numbered() -> None:
    names, _ = unique_table_names([naming("a b"), naming("a-b"), naming("A_B")])
    assert names == ["data_a_b_csv", "data_a_b_csv_2", "data_a_b_csv_3"]


@pytest.mark.parametrize(
    ("sheets", "names"),
    [
        ([None], ["book"]),
        (["Only"], ["book"]),
        (["People", "Orders"], ["People", "Orders"]),
        (["Sheet1", "Sheet2"], ["book Sheet1", "book Sheet2"]),
    ],
)
def test_names_of_sheets(sheets: list[str | None], names: list[str]) -> None:
    assert sheet_names("book", sheets) == names


def tables(*paths: str, other: tuple[str, ...] = ()) -> list[tuple[str, int]]:
    schemas = [(Path("/d") / path, "a INT") for path in paths] + [(Path("/d") / path, "b TEXT") for path in other]
    return [(table.stem, len(table.files)) for table in parquet_tables(schemas)]


def test_parts_become_one_table() -> None:
    assert tables("sales/part-0001.parquet", "sales/part-0002.parquet") == [("sales", 2)]
    assert tables("sales/0.parquet", "sales/1.parquet", "sales/2.parquet") == [("sales", 3)]
    assert tables("sales/year=2023/x.parquet", "sales/year=2024/y.parquet") == [("sales", 2)]
    assert tables("sales/year=2023/month=1/x.parquet") == [("sales", 1)]


def test_other_files_stay_tables_of_their_own() -> None:
    assert tables("north.parquet", "south.parquet") == [("north", 1), ("south", 1)]
    assert tables("sales/part-1.parquet", other=("sales/part-2.parquet",)) == [("part-1", 1), ("part-2", 1)]
    assert tables("s/part-1.parquet", "s/part-2.parquet", "s/summary.parquet") == [("s", 2), ("summary", 1)]
    assert tables("part-1.parquet") == [("part-1", 1)]


def test_text_files_are_read_only_when_named(tmp_path: Path) -> None:
    path = tmp_path / "notes.txt"
    path.write_text("a,b\n1,2\n")
    assert data_file(path, named=False) is None
    file = data_file(path, named=True)
    assert file is not None
    assert (file.format, file.stem) == ("csv", "notes")

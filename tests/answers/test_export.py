import csv
import datetime as dt
import io
import json
import tempfile
import warnings
import zipfile
from collections.abc import Callable
from decimal import Decimal
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from answerable.answers import export as exporting
from answerable.answers import frame
from answerable.answers.export import FORMATS, Format, export, format_of
from answerable.answers.format import ColumnFormat, FormatSpec, NumberFormat, Sort
from answerable.core.errors import LimitError, OperatorError, UserError

Stored = Callable[..., Path]

MIXED = pl.DataFrame(
    {
        "n": [1, 2**53 + 1, None],
        "amount": [1.5, float("nan"), -2.0],
        "price": pl.Series([Decimal("1.50"), None, Decimal("12345678901234567.89")], dtype=pl.Decimal(38, 2)),
        "day": [dt.date(2024, 1, 31), dt.date(1850, 5, 5), None],
        "at": [dt.datetime(2024, 1, 31, 13, 45, 6), None, dt.datetime(2024, 2, 1)],
        "open": [dt.time(9, 30), None, None],
        "yes": [True, False, None],
        "text": ['say "hi", there', "line\nbreak", None],
        "tags": [["a", "b"], [], None],
        "raw": [b"\x00\x01", None, b""],
        "größe": ["ü", "日本", "😀"],
    }
)


def whole(path: Path, format: Format, **options: Any) -> bytes:
    return b"".join(export(path, format, **options))


def test_every_format_is_declared() -> None:
    assert list(FORMATS) == ["csv", "ndjson", "json", "parquet", "arrow", "xlsx"]
    for format, info in FORMATS.items():
        assert format_of(Path(f"out.{info.extension.upper()}")) == format


def test_unknown_formats(stored: Stored) -> None:
    with pytest.raises(UserError, match="does not say"):
        format_of(Path("report.docx"))
    with pytest.raises(UserError, match="no export format"):
        export(stored({"a": [1]}), "docx")  # type: ignore[arg-type]


def test_json_and_ndjson_carry_what_rows_carry(stored: Stored) -> None:
    path = stored(MIXED)
    names = MIXED.columns
    expected = [dict(zip(names, row, strict=True)) for row in frame.rows(path)]
    assert json.loads(whole(path, "json")) == expected
    assert [json.loads(line) for line in whole(path, "ndjson").splitlines()] == expected


def test_json_of_several_batches_is_one_document(stored: Stored, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(exporting, "batch_rows", lambda path: 3)
    path = stored({"n": range(10), "t": ["a\nb"] * 10})
    assert json.loads(whole(path, "json")) == [{"n": n, "t": "a\nb"} for n in range(10)]
    assert len(list(export(path, "ndjson"))) == 4
    assert list(csv.reader(io.StringIO(whole(path, "csv").decode())))[1:] == [[str(n), "a\nb"] for n in range(10)]


def test_csv(stored: Stored) -> None:
    head, first, second, third = csv.reader(io.StringIO(whole(stored(MIXED), "csv").decode("utf-8")))
    assert head == MIXED.columns
    assert first == [
        "1", "1.5", "1.50", "2024-01-31", "2024-01-31T13:45:06", "09:30:00", "true", 'say "hi", there', '["a","b"]',
        "AAE=", "ü",
    ]  # fmt: skip
    assert second[0] == str(2**53 + 1)
    assert second[7] == "line\nbreak"
    assert third[2] == "12345678901234567.89"


@pytest.mark.parametrize("text", ["=1+1", "+cmd", "-2+3", "@SUM(A1)", "\tx", "\rx", "\n=1", "＝1+1", "+", "-"])
def test_csv_disarms_formulas(stored: Stored, text: str) -> None:
    path = stored(pl.DataFrame({text: [text, "fine"]}))
    head, cell, fine = csv.reader(io.StringIO(whole(path, "csv").decode(), newline=""))
    assert (head, cell, fine) == (["'" + text], ["'" + text], ["fine"])
    head, cell, _ = csv.reader(io.StringIO(whole(path, "csv", guard_formulas=False).decode(), newline=""))
    assert (head, cell) == ([text], [text])


def test_csv_leaves_numbers_alone(stored: Stored) -> None:
    path = stored({"text": ["-5", "+49.5", "5-5"], "number": [-5, -6, -7], "wide": [str(-(2**70))] * 3})
    rows = list(csv.reader(io.StringIO(whole(path, "csv").decode())))[1:]
    assert rows == [["-5", "-5", str(-(2**70))], ["+49.5", "-6", str(-(2**70))], ["5-5", "-7", str(-(2**70))]]


def test_parquet_and_arrow_keep_types(stored: Stored) -> None:
    path = stored(MIXED)
    assert pl.read_parquet(whole(path, "parquet")).equals(MIXED)
    assert whole(path, "arrow") == path.read_bytes()


def test_xlsx_has_types(stored: Stored, tmp_path: Path) -> None:
    out = tmp_path / "out.xlsx"
    out.write_bytes(whole(stored(MIXED.drop("n")), "xlsx"))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        read = pl.read_excel(out)
    assert read.columns == MIXED.drop("n").columns
    assert read["amount"].to_list() == [1.5, None, -2.0]
    assert read["at"].to_list() == [dt.datetime(2024, 1, 31, 13, 45, 6), None, dt.datetime(2024, 2, 1)]
    assert read["yes"].to_list() == [True, False, None]
    assert read["text"].to_list() == ['say "hi", there', "line\nbreak", None]
    assert read["day"].to_list()[1] == "1850-05-05"
    assert read["größe"].to_list() == ["ü", "日本", "😀"]


def test_xlsx_never_holds_a_formula_or_a_link(stored: Stored) -> None:
    path = stored({"t": ["=HYPERLINK(1)", "http://example.org", "{=1}", "123"], "n": [2**53 + 1] * 4})
    book = zipfile.ZipFile(io.BytesIO(whole(path, "xlsx")))
    sheet = book.read("xl/worksheets/sheet1.xml").decode()
    assert "<f>" not in sheet
    assert "hyperlink" not in sheet.lower().replace("=hyperlink(1)", "")
    assert str(2**53 + 1) in sheet


def test_xlsx_limits_are_told_before_the_first_piece(stored: Stored, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(exporting, "XLSX_ROWS", 4)
    assert whole(stored({"n": range(3)}), "xlsx")
    with pytest.raises(LimitError, match="4 rows; an Excel sheet holds 3") as error:
        export(stored({"n": range(4)}), "xlsx")
    assert error.value.stable_code == "xlsx_too_many_rows"
    monkeypatch.setattr(exporting, "XLSX_COLUMNS", 1)
    with pytest.raises(LimitError, match="2 columns"):
        export(stored({"a": [1], "b": [2]}), "xlsx")


def test_xlsx_refuses_what_a_cell_cannot_hold(stored: Stored) -> None:
    with pytest.raises(LimitError, match="“note”"):
        whole(stored({"note": ["x" * 40_000]}), "xlsx")


@pytest.mark.parametrize("format", FORMATS)
def test_no_rows_are_no_rows(stored: Stored, format: Format) -> None:
    path = stored(pl.DataFrame(schema={"a": pl.Int64, "b": pl.String}))
    content = whole(path, format)
    if format == "csv":
        assert content == b"a,b\n"
    elif format == "json":
        assert json.loads(content) == []
    elif format == "ndjson":
        assert content == b""
    elif format == "parquet":
        assert pl.read_parquet(content).columns == ["a", "b"]


@pytest.mark.parametrize("format", FORMATS)
def test_a_damaged_file_is_refused_at_once(tmp_path: Path, format: Format) -> None:
    path = tmp_path / "damaged.arrow"
    path.write_bytes(b"nonsense")
    with pytest.raises(OperatorError):
        export(path, format)


def test_formatted_for_people(stored: Stored) -> None:
    path = stored({"name": ["a", "b"], "total": [1234.5, 99999.0], "hidden": [1, 2]})
    spec = FormatSpec(
        columns=(
            ColumnFormat(column="name", header="Name"),
            ColumnFormat(column="total", header="Total", unit="EUR", format=NumberFormat(decimals=2)),
        ),
        sort=(Sort(column="total", descending=True),),
    )
    assert whole(path, "csv", spec=spec).decode() == 'Name,Total (EUR)\nb,"99,999.00"\na,"1,234.50"\n'
    with pytest.raises(UserError, match="does not have: gone"):
        export(path, "csv", spec=FormatSpec(columns=(ColumnFormat(column="gone", header="G"),)))


def test_a_reader_that_leaves_early_leaves_nothing_behind(
    stored: Stored, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path / "scratch"))
    (tmp_path / "scratch").mkdir()
    pieces = export(stored(MIXED), "parquet")
    next(pieces)
    assert list((tmp_path / "scratch").glob("*/*"))
    pieces.close()  # type: ignore[attr-defined]
    assert not list((tmp_path / "scratch").glob("*/*"))


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None, max_examples=50)
@given(st.lists(st.tuples(st.text(max_size=20), st.none() | st.floats(allow_nan=False)), min_size=1, max_size=20))
def test_any_text_comes_back(stored: Stored, rows: list[tuple[str, float | None]]) -> None:
    path = stored(pl.DataFrame(rows, schema={"text": pl.String, "n": pl.Float64}, orient="row"))
    found = json.loads(whole(path, "json"))
    assert [row["text"] for row in found] == [text for text, _ in rows]
    lines = whole(path, "ndjson").decode().split("\n")[:-1]
    assert [json.loads(line)["text"] for line in lines] == [text for text, _ in rows]
    table = csv.reader(io.StringIO(whole(path, "csv", guard_formulas=False).decode(), newline=""))
    assert [row[0] for row in list(table)[1:]] == [text for text, _ in rows]

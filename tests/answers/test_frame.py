import base64
import datetime as dt
import json
import subprocess
import sys
from collections.abc import Callable
from decimal import Decimal
from pathlib import Path
from typing import Any

import orjson
import polars as pl
import pytest

from answerable.answers import frame
from answerable.answers.export import export
from answerable.core.errors import InternalError, LimitError, OperatorError

Stored = Callable[..., Path]


def carried(stored: Stored, values: list[Any] | pl.Series, **options: Any) -> list[Any]:
    return [row[0] for row in frame.rows(stored(pl.DataFrame({"v": values}, **options)))]


def test_reads_ranges(stored: Stored) -> None:
    path = stored({"n": range(10)})
    assert frame.rows(path, 3, 2) == [(3,), (4,)]
    assert frame.rows(path, 8, 100) == [(8,), (9,)]
    assert frame.rows(path, 10, 5) == []
    assert frame.row_count(path) == 10


def test_a_negative_range_is_a_defect(stored: Stored) -> None:
    with pytest.raises(InternalError):
        frame.rows(stored({"n": [1]}), -1, 2)


def test_dates_and_times_are_iso(stored: Stored) -> None:
    moment = dt.datetime(2024, 3, 9, 14, 5, 6, 250_000)
    assert carried(stored, [dt.date(2024, 3, 9), None]) == ["2024-03-09", None]
    assert carried(stored, [moment]) == ["2024-03-09T14:05:06.250"]
    assert carried(stored, [dt.datetime(2024, 3, 9)]) == ["2024-03-09T00:00:00"]
    assert carried(stored, [dt.time(14, 5)]) == ["14:05:00"]
    assert carried(stored, [dt.timedelta(days=1, seconds=3)]) == ["P1DT3S"]
    zoned = pl.Series([dt.datetime(2024, 7, 1, 12)]).dt.replace_time_zone("Europe/Berlin")
    assert carried(stored, zoned) == ["2024-07-01T12:00:00+02:00"]
    assert dt.datetime.fromisoformat(carried(stored, [moment])[0]) == moment


def test_not_a_number_is_null_and_told(stored: Stored) -> None:
    path = stored({"v": [1.5, float("nan"), float("inf"), None], "fine": [1.0, 2.0, 3.0, 4.0]})
    assert [row[0] for row in frame.rows(path)] == [1.5, None, None, None]
    (finding,) = frame.json_form(path).findings
    assert "2 values" in finding
    assert "“v”" in finding


def test_whole_numbers_stay_whole(stored: Stored) -> None:
    assert carried(stored, [2**53 + 1, -(2**63), 2**63 - 1]) == [2**53 + 1, -(2**63), 2**63 - 1]
    assert carried(stored, pl.Series([2**64 - 1], dtype=pl.UInt64)) == [2**64 - 1]
    assert carried(stored, pl.Series([5, None], dtype=pl.Int128)) == [5, None]
    assert carried(stored, pl.Series([2**100, 5], dtype=pl.Int128)) == [str(2**100), "5"]


def test_decimals_are_numbers_while_exact(stored: Stored) -> None:
    wide = pl.Series([Decimal("12345.67"), Decimal("-0.01")], dtype=pl.Decimal(38, 2))
    assert carried(stored, wide) == [12345.67, -0.01]
    assert carried(stored, pl.Series([Decimal(7)], dtype=pl.Decimal(38, 0))) == [7]
    path = stored({"v": pl.Series([Decimal("12345678901234567.89"), Decimal("0.10")], dtype=pl.Decimal(38, 2))})
    assert frame.rows(path) == [("12345678901234567.89",), ("0.10",)]
    assert frame.rows(path, 1, 1) == [("0.10",)], "all ranges of a file agree about a column"
    assert "given as text" in frame.json_form(path).findings[0]


def test_binary_lists_and_structures(stored: Stored) -> None:
    assert carried(stored, [b"\x00\xff"]) == ["AP8="]
    assert carried(stored, [[1.0, float("nan")], None, []]) == [[1.0, None], None, []]
    record = {"day": dt.date(2024, 1, 2), "raw": b"x", "*": 1}
    assert carried(stored, [record, None]) == [{"day": "2024-01-02", "raw": "eA==", "*": 1}, None]
    assert carried(stored, pl.Series([[1, 2]], dtype=pl.Array(pl.Int64, 2))) == [[1, 2]]
    assert carried(stored, pl.Series(["a", None], dtype=pl.Categorical)) == ["a", None]


def test_every_value_is_json(stored: Stored) -> None:
    path = stored(
        pl.DataFrame({"f": [float("-inf")], "d": [Decimal("1.5")], "b": [b"\xff"], "l": [[dt.time(1)]], "n": [None]})
    )
    json.dumps(frame.rows(path), allow_nan=False)
    orjson.dumps(frame.rows(path))


@pytest.mark.parametrize("name", ["*", "^a.*$", "", "a.b", "b[0]", 'q"', "new\nline"])
def test_column_names_are_only_names(stored: Stored, name: str) -> None:
    path = stored(pl.DataFrame({"ab": [1.5], name: [dt.date(2024, 1, 2)]}))
    assert frame.rows(path) == [(1.5, "2024-01-02")]
    assert [column.name for column in frame.columns(path)] == ["ab", name]


def test_column_types(stored: Stored) -> None:
    path = stored(
        pl.DataFrame(
            {
                "text": ["a"],
                "integer": [1],
                "number": [1.5],
                "boolean": [True],
                "date": [dt.date(2024, 1, 1)],
                "datetime": [dt.datetime(2024, 1, 1)],
                "time": [dt.time(1)],
                "json": [[1]],
                "binary": [b"x"],
            }
        )
    )
    assert all(column.type == column.name for column in frame.columns(path))


def test_sample_records_are_whole(stored: Stored) -> None:
    path = stored({"a": range(9), "b": ["x"] * 9})
    assert frame.sample_records(path) == ({"a": 0, "b": "x"}, {"a": 1, "b": "x"}, {"a": 2, "b": "x"})


def test_batches_cover_all_rows_once(stored: Stored) -> None:
    path = stored({"n": range(1_000)}, record_batch_size=64)
    parts = list(frame.batches(path, 300))
    assert [part.height for part in parts] == [300, 300, 300, 100]
    assert pl.concat(parts)["n"].to_list() == list(range(1_000))
    assert [part["n"].to_list() for part in frame.batches(path, 300, offset=990)] == [list(range(990, 1_000))]
    assert list(frame.batches(stored({"n": []}), 10)) == []


def test_a_missing_or_damaged_file_says_so(tmp_path: Path) -> None:
    with pytest.raises(OperatorError, match="gone") as missing:
        frame.scan(tmp_path / "nothing.arrow")
    assert missing.value.stable_code == "artifact_missing"
    damaged = tmp_path / "damaged.arrow"
    damaged.write_bytes(b"not arrow at all")
    with pytest.raises(OperatorError) as broken:
        frame.columns(damaged)
    assert broken.value.stable_code == "artifact_damaged"
    assert broken.value.hint


MEASURE = """
import resource, sys
from pathlib import Path
from answerable.answers.export import export
sum(len(piece) for piece in export(Path(sys.argv[1]), "ndjson"))
before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
total = sum(len(piece) for piece in export(Path(sys.argv[2]), "ndjson"))
print(total, resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before)
"""


def test_memory_does_not_grow_with_rows(stored: Stored) -> None:
    """Ten times the rows need less than a quarter of their size more, in a process of their own."""
    paths = [
        stored({"n": pl.int_range(n, eager=True), "text": pl.int_range(n, eager=True).cast(pl.String) + " and so on"})
        for n in (200_000, 2_000_000)
    ]
    done = subprocess.run(
        [sys.executable, "-c", MEASURE, *map(str, paths)], capture_output=True, text=True, check=True, timeout=60
    )
    written, grown = map(int, done.stdout.split())
    assert written > 75_000_000
    assert grown * 1024 < written / 4


def test_long_texts_are_cut_where_rows_are_shown_and_whole_in_exports(stored: Stored) -> None:
    long = "é" * 3_000_000
    path = stored(
        pl.DataFrame(
            {
                "n": [1, 2],
                "text": [long, "short"],
                "bytes": [b"x" * 5_000_000, None],
                "list": [list(range(500_000)), [1, None]],
            }
        )
    )
    first, second = frame.shown_rows(path)
    assert [len(cell) for cell in first[1:]] == [100_001, len(base64.b64encode(b"x" * 100_000)) + 1, 100_001]
    assert all(cell.endswith("…") for cell in first[1:])
    assert first[3].startswith("[0,1,2,")
    assert second == (2, "short", None, "[1,null]")
    assert frame.rows(path, 0, 1)[0][1] == long
    found = frame.shown_form(path).findings
    assert [finding.partition(",")[0] for finding in found] == ["1 value of more than 100"] * 3
    assert frame.sample_records(path)[0]["text"] == first[1]
    whole = b"".join(export(path, "ndjson")).splitlines()[0]
    assert orjson.loads(whole)["text"] == long


def test_a_page_of_rows_has_a_bound(stored: Stored, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(frame, "LARGEST_PAGE", 1_000_000)
    path = stored({"text": ["x" * 190] * 30_000})
    assert len(frame.shown_rows(path, 29_000, 2_000)) == 1_000
    with pytest.raises(LimitError, match="larger than"):
        frame.shown_rows(path, 0, 20_000)


def test_rows_of_a_large_file_are_read_in_pieces_and_stay_the_same(stored: Stored) -> None:
    path = stored({"n": range(40_000), "text": ["é" * 80] * 40_000})
    assert frame.shown_rows(path, 24_990, 10_020) == frame.rows(path, 24_990, 10_020)
    assert frame.shown_rows(path, 39_999, 10) == frame.rows(path, 39_999, 10)
    assert frame.shown_rows(path, 40_000, 10) == []

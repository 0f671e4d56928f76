"""The files that workers write are Arrow IPC files that other programs read."""

import os
from pathlib import Path
from typing import Any

import nanoarrow
import polars as pl
import pytest

from answerable.sources.workers import row_batches
from answerable.sources.workers.arrow_file import ArrowFile
from answerable.sources.workers.failures import Failure

NAMES = ["n", "t", "x", "b", "d", "ts", "z", "tm", "j", "raw"]
TYPES = ["integer", "text", "number", "boolean", "date", "datetime", "datetime_utc", "time", "json", "binary"]


def rows(count: int) -> list[tuple[Any, ...]]:
    from datetime import UTC, date, datetime, time

    full = (
        1,
        "äöü 東京",
        1.5,
        True,
        date(2024, 2, 29),
        datetime(1969, 12, 31, 23, 59, 59, 1),
        datetime(2024, 1, 1, tzinfo=UTC),
        time(23, 59, 1),
        '{"a": 1}',
        b"\x00\xff",
    )
    return [full if number % 3 else (None,) * len(full) for number in range(count)]


def written(path: Path, batches: list[int], **limits: int) -> ArrowFile:
    descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC)
    try:
        out = ArrowFile(descriptor, **{"max_rows": 10**9, "max_bytes": 10**9, **limits})
        out.write_all(
            row_batches.schema(NAMES, TYPES), (row_batches.batch(NAMES, TYPES, rows(count)) for count in batches)
        )
        return out
    finally:
        os.close(descriptor)


@pytest.mark.parametrize("batches", [[], [0], [1], [7, 0, 5], [1000] * 40])
def test_every_type_comes_back(tmp_path: Path, batches: list[int]) -> None:
    out = written(tmp_path / "x.arrow", batches)
    frame = pl.read_ipc(tmp_path / "x.arrow")
    assert frame.columns == NAMES
    assert frame.rows() == [row for count in batches for row in rows(count)]
    assert (out.row_count, out.byte_count) == (sum(batches), (tmp_path / "x.arrow").stat().st_size)


def test_parts_can_be_read_without_the_rest(tmp_path: Path) -> None:
    written(tmp_path / "x.arrow", [1000] * 10)
    assert pl.scan_ipc(tmp_path / "x.arrow").slice(5001, 1).select("n").collect().item() == 1


def test_beginning_again_leaves_nothing_of_the_first_try(tmp_path: Path) -> None:
    path = tmp_path / "x.arrow"
    descriptor = os.open(path, os.O_WRONLY | os.O_CREAT)
    out = ArrowFile(descriptor, max_rows=10**6, max_bytes=10**9)
    out.start(nanoarrow.struct({"first": nanoarrow.int64()}))
    out.add(row_batches.batch(["first"], ["integer"], [(n,) for n in range(100_000)]))
    out.write_all(row_batches.schema(["second"], ["text"]), [row_batches.batch(["second"], ["text"], [("x",)])])
    os.close(descriptor)
    assert pl.read_ipc(path).to_dict(as_series=False) == {"second": ["x"]}
    assert out.row_count == 1


@pytest.mark.parametrize(("limits", "code"), [({"max_rows": 99}, "result_rows"), ({"max_bytes": 5000}, "result_bytes")])
def test_limits(tmp_path: Path, limits: dict[str, int], code: str) -> None:
    with pytest.raises(Failure) as caught:
        written(tmp_path / "x.arrow", [50, 50], **limits)
    assert caught.value.report.code == code

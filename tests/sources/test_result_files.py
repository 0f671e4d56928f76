"""Rows that a worker has written: only what a good worker writes is taken, whatever one that was taken over forges."""

import random
import struct
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import polars as pl
import pytest

from answerable.core.values import ColumnType
from answerable.isolation.arrow_stream import Forged
from answerable.sources.result_files import check_result_file
from answerable.sources.workers import row_batches
from answerable.sources.workers.arrow_file import ArrowFile

COLUMNS: list[tuple[str, ColumnType]] = [("n", "integer"), ("name", "text"), ("share", "number"), ("yes", "boolean")]
ROWS: list[tuple[Any, ...]] = [(1, "ab", 0.5, True), (None, None, None, None), (3, "ü", 1.5, False)]


def written(path: Path, columns: list[tuple[str, ColumnType]] = COLUMNS, *batches: list[tuple[Any, ...]]) -> bytes:
    names, kinds = zip(*columns, strict=True)
    with path.open("wb") as file:
        out = ArrowFile(file.fileno(), max_rows=10**9, max_bytes=10**9)
        out.start(row_batches.schema(names, kinds))
        for rows in batches or (ROWS, ROWS):
            out.add(row_batches.batch(names, kinds, rows))
        out.finish()
    return path.read_bytes()


def test_what_a_worker_writes_is_taken(tmp_path: Path) -> None:
    path = tmp_path / "x.arrow"
    written(path)
    check_result_file(path, COLUMNS, 6)
    many = [(n, f"name {n}", n / 2, None) for n in range(50_000)]
    written(path, COLUMNS, many, many)
    check_result_file(path, COLUMNS, 100_000)
    written(path, COLUMNS, [])
    check_result_file(path, COLUMNS, 0)


@pytest.mark.parametrize(
    ("columns", "rows"),
    [
        (COLUMNS, 5),
        (COLUMNS, 7),
        (COLUMNS[:3], 6),
        ([*COLUMNS, ("more", "text")], 6),
        ([("n", "text"), *COLUMNS[1:]], 6),
        ([("m", "integer"), *COLUMNS[1:]], 6),
    ],
)
def test_another_description_is_refused(tmp_path: Path, columns: list[tuple[str, ColumnType]], rows: int) -> None:
    written(tmp_path / "x.arrow")
    with pytest.raises(Forged):
        check_result_file(tmp_path / "x.arrow", columns, rows)


def forgeries(good: bytes) -> Iterator[tuple[str, bytes]]:
    footer = struct.unpack("<i", good[-10:-6])[0]
    begin = len(good) - 10 - footer
    yield "a footer that is longer", good[:-10] + struct.pack("<i", footer + 8) + good[-6:]
    yield "no footer", good[:begin]
    yield "a footer of another file", good[:begin] + good[begin : begin + 40] + b"\x7f" * (footer - 40) + good[-10:]
    yield "blocks elsewhere", good[: begin + 40] + struct.pack("<q", 1 << 40) + good[begin + 48 :]
    yield "something behind it", good + b"x" * 8
    yield "something before it", good[:8] + b"x" * 8 + good[8:]
    yield "a length beyond the file", good[:12] + struct.pack("<i", 1 << 30) + good[16:]
    yield "a negative length", good[:12] + struct.pack("<i", -8) + good[16:]
    yield "an empty file but for its words", good[:8] + good[-10:]
    yield "nothing", b"\0"


def test_forgeries_are_refused(tmp_path: Path) -> None:
    path, names = tmp_path / "x.arrow", []
    for name, bad in forgeries(written(path)):
        path.write_bytes(bad)
        with pytest.raises(Forged):
            check_result_file(path, COLUMNS, 6)
        names.append(name)
    assert len(names) == 10


@pytest.mark.parametrize("kind", ["dictionary", "list", "wide schema", "long name", "compressed"])
def test_other_dialects_are_refused(tmp_path: Path, kind: str) -> None:
    """Metadata bombs among them: what takes few bytes in the file and many in memory."""
    path = tmp_path / "x.arrow"
    frames = {
        "dictionary": pl.DataFrame({"n": pl.Series(["a"] * 6, dtype=pl.Categorical)}),
        "list": pl.DataFrame({"n": [[1]] * 6}),
        "wide schema": pl.DataFrame({f"c{n}": [1] for n in range(12_000)}),
        "long name": pl.DataFrame({"n" * 5_000: [1] * 6}),
        "compressed": pl.DataFrame({"n": [1] * 6}),
    }
    frames[kind].write_ipc(path, compression="zstd" if kind == "compressed" else "uncompressed")
    columns: list[tuple[str, ColumnType]] = [(name, "integer") for name in frames[kind].columns]
    with pytest.raises(Forged):
        check_result_file(path, columns, frames[kind].height)


def test_bytes_that_were_changed_are_refused_or_harmless(tmp_path: Path) -> None:
    """A file that passes is read by polars without a panic, and has the columns and rows that were said."""
    path = tmp_path / "x.arrow"
    good = written(path)
    chance = random.Random(7)
    taken = 0
    for _ in range(1_000):
        bad = bytearray(good)
        for _ in range(chance.randint(1, 3)):
            place = chance.randrange(len(bad))
            bad[place] = chance.choice((0, 1, 0x7F, 0x80, 0xFF, chance.randrange(256)))
        path.write_bytes(bad)
        try:
            check_result_file(path, COLUMNS, 6)
        except ValueError:
            continue
        taken += 1
        try:
            frame = pl.read_ipc(path)
        except pl.exceptions.ComputeError:  # text that is not UTF-8
            continue
        assert (frame.columns, frame.height) == ([name for name, _ in COLUMNS], 6)
        frame.to_dicts()
    assert 0 < taken < 1_000


def test_a_struct_of_nanoarrow_that_lies_about_nulls(tmp_path: Path) -> None:
    path = tmp_path / "x.arrow"
    good = written(path, [("n", "integer")], [(1,), (None,)])
    # The node of the batch: its length, then how many are null.
    place = good.rindex(struct.pack("<qq", 2, 1))
    for lie in (0, 2, 1 << 40, -1):
        path.write_bytes(good[: place + 8] + struct.pack("<q", lie) + good[place + 16 :])
        with pytest.raises(Forged, match="nulls"):
            check_result_file(path, [("n", "integer")], 2)

"""Tables that come out of a sandbox: true ones arrive, forged ones are refused, and none ends the process."""

import io
import struct
import subprocess
import sys
from collections.abc import Callable
from datetime import UTC, date, datetime, time, timedelta
from decimal import Decimal
from pathlib import Path
from typing import Any

import polars as pl
import pyarrow as pa
import pytest

from answerable.core.errors import OperatorError
from answerable.sandbox.tables.received import received, write_table
from answerable.sandbox.tables.workers import TableWorkers, frame_of

TABLE = pl.DataFrame(
    {
        "integer": [1, None, -3],
        "small": pl.Series([1, 2, 255], dtype=pl.UInt8),
        "number": [1.5, None, 2.0],
        "truth": [True, None, False],
        "text": ["a", None, "ünï ☃, and longer than a view"],
        "bytes": [b"\x00\xff", None, b""],
        "date": [date(2026, 1, 2), None, date(1969, 12, 31)],
        "moment": [datetime(2026, 1, 2, 3, 4, tzinfo=UTC), None, datetime(1950, 1, 1, tzinfo=UTC)],
        "time": [time(1, 2, 3), None, time(23, 59)],
        "span": [timedelta(days=1), None, timedelta(seconds=-1)],
        "decimal": [Decimal("1.50"), None, Decimal("-2.25")],
        "list": [["a"], None, []],
        "lists": [[["a", None], []], None, [None]],
        "struct": [{"a": 1, "b": "x"}, {"a": None, "b": None}, {"a": 3, "b": "z"}],
        "structs": [[{"a": "x"}], None, []],
        "array": pl.Series([["a", "b"], None, ["c", "d"]], dtype=pl.Array(pl.String, 2)),
    }
)


def sent(frame: pl.DataFrame, **options: Any) -> bytes:
    """As the runner sends it."""
    stream = io.BytesIO()
    frame.write_ipc_stream(stream, compat_level=pl.CompatLevel.oldest(), **options)
    return stream.getvalue()


def refusal(data: bytes) -> str:
    with pytest.raises(ValueError, match="cannot be read") as caught:
        received(memoryview(data))
    return str(caught.value)


@pytest.mark.parametrize("column", TABLE.columns)
def test_each_type_arrives(column: str) -> None:
    table = TABLE.select(column)
    found = received(memoryview(sent(table)))
    assert found.schema == table.schema
    assert found.equals(table)


@pytest.mark.parametrize(
    "table",
    [TABLE, TABLE.head(0), TABLE.slice(1, 1), pl.concat([TABLE] * 20, rechunk=False)],
    ids=["whole", "no-rows", "slice", "pieces"],
)
def test_a_table_arrives(table: pl.DataFrame, tmp_path: Path) -> None:
    found = received(memoryview(sent(table)))
    assert found.schema == table.schema
    assert found.equals(table)
    with (tmp_path / "kept.arrow").open("wb") as file:
        frame = frame_of(write_table(found, file.fileno()))
    assert (frame.row_count, len(frame.columns)) == (table.height, table.width)
    assert pl.read_ipc(tmp_path / "kept.arrow").equals(table)


# Forged by hand


def flipped(data: bytes, before: bytes, after: bytes) -> bytes:
    """The first time that it occurs."""
    assert before in data
    return data.replace(before, after, 1)


def offsets(*numbers: int) -> bytes:
    return struct.pack(f"<{len(numbers)}q", *numbers)


def text(*told: int, values: tuple[str, str] = ("abc", "def")) -> bytes:
    first, second = (len(value.encode()) for value in values)
    return flipped(sent(pl.DataFrame({"c": values})), offsets(0, first, first + second), offsets(*told))


def lists(*told: int) -> bytes:
    return flipped(sent(pl.DataFrame({"c": [["a", "b", "c"], ["d", "e"]]})), offsets(0, 3, 5), offsets(*told))


def streamed(array: pa.Array) -> bytes:
    sink = io.BytesIO()
    batch = pa.RecordBatch.from_arrays([array], ["c"])
    with pa.ipc.new_stream(sink, batch.schema) as writer:
        writer.write_batch(batch)
    return sink.getvalue()


def in_lists() -> bytes:
    return flipped(sent(pl.DataFrame({"c": [["qqqq"]]})), b"qqqq", b"\xff\xfe\xfd\xfc")


def in_structs() -> bytes:
    return flipped(sent(pl.DataFrame({"c": [{"a": "qqqq"}]})), b"qqqq", b"\xff\xfe\xfd\xfc")


def with_nulls(told: int) -> bytes:
    """Ten values, five of them null, and another number of them told."""
    data = sent(pl.DataFrame({"c": [1, None] * 5}))
    return flipped(data, struct.pack("<qq", 10, 5), struct.pack("<qq", 10, told))


def with_length(told: int, column: Any = range(1234)) -> bytes:
    data = sent(pl.DataFrame({"c": column}))
    return data.replace(struct.pack("<q", 1234), struct.pack("<q", told))


def deep(levels: int) -> pl.DataFrame:
    value: Any = ["x"]
    for _ in range(levels):
        value = [value]
    return pl.DataFrame({"c": [value]})


def many_pieces() -> bytes:
    sink = io.BytesIO()
    batch = pa.RecordBatch.from_pydict({"c": [1]})
    with pa.ipc.new_stream(sink, batch.schema) as writer:
        for _ in range(1_100):
            writer.write_batch(batch)
    return sink.getvalue()


def a_file() -> bytes:
    sink = io.BytesIO()
    TABLE.write_ipc(sink)
    return sink.getvalue()


FORGED: dict[str, Callable[[], bytes]] = {
    "nothing": lambda: b"",
    "not-arrow": lambda: b"no arrow at all",
    "zeros": lambda: bytes(4096),
    "ones": lambda: b"\xff" * 4096,
    "a-file-and-no-stream": a_file,
    "no-columns": lambda: sent(pl.DataFrame()),
    "offset-past-the-text": lambda: text(0, 3, 700),
    "offset-before-the-text": lambda: text(-5, 3, 6),
    "offsets-that-go-back": lambda: text(6, 3, 0),
    "offset-past-the-values-of-lists": lambda: lists(0, 1, 1000),
    "offset-before-the-values-of-lists": lambda: lists(-8, 1, 5),
    "lists-that-go-back": lambda: lists(3, 5, 2),
    "half-a-character": lambda: text(0, 1, 4, values=("ü", "ab")),
    "not-text": lambda: flipped(sent(pl.DataFrame({"c": ["qqqq"]})), b"qqqq", b"\xff\xfe\xfd\xfc"),
    "not-text-in-lists": in_lists,
    "not-text-in-structs": in_structs,
    "longer-than-its-values": lambda: with_length(1_400),
    "longer-than-its-offsets": lambda: with_length(1_400, ["x"] * 1234),
    "endlessly-long": lambda: with_length(1 << 62),
    "longer-by-far": lambda: with_length(1 << 40),
    "negative-length": lambda: with_length(-1234),
    "numbers-too-many-to-multiply": lambda: with_length((1 << 61) + 1),
    "texts-too-many-to-multiply": lambda: with_length((1 << 61) + 1, ["x"] * 1234),
    "lists-too-many-to-multiply": lambda: with_length((1 << 61) + 1, [["x"]] * 1234),
    "truths-too-many": lambda: with_length(1 << 60, [True] * 1234),
    "arrays-too-many-to-multiply": lambda: with_length(1 << 60, pl.Series([[1, 2]] * 1234, dtype=pl.Array(pl.Int8, 2))),
    "dictionary": lambda: streamed(pa.array(["a", "b", "a"]).dictionary_encode()),
    "dictionary-pointing-out-of-it": lambda: streamed(
        pa.DictionaryArray.from_arrays(pa.array([0, 100], pa.int8()), pa.array(["a"]), safe=False)
    ),
    "run-ends": lambda: streamed(pa.RunEndEncodedArray.from_arrays([1, 3], [1, 2])),
    "union": lambda: streamed(pa.UnionArray.from_sparse(pa.array([0], pa.int8()), [pa.array([1])])),
    "map": lambda: streamed(pa.array([[("a", 1)]], pa.map_(pa.string(), pa.int64()))),
    "views": lambda: streamed(pa.array(["a", "much longer than a view"], pa.string_view())),
    "values-without-room": lambda: streamed(pa.nulls(5)),
    "arrays-without-room": lambda: streamed(pa.array([[], []], pa.list_(pa.int64(), 0))),
    "interval": lambda: streamed(pa.array([None], pa.month_day_nano_interval())),
    "wide-decimal": lambda: streamed(pa.array([Decimal(1)], pa.decimal256(50, 0))),
    "zone-that-is-none": lambda: streamed(pa.array([1], pa.timestamp("us", "No/Where"))),
    "compressed-zstd": lambda: sent(TABLE, compression="zstd"),
    "compressed-lz4": lambda: sent(TABLE, compression="lz4"),
    "bomb": lambda: sent(pl.DataFrame({"c": ["x" * 10_000_000]}), compression="zstd"),
    "deep": lambda: sent(deep(40)),
    "many-columns": lambda: sent(pl.DataFrame({f"c{n}": [n] for n in range(10_001)})),
    "many-pieces": many_pieces,
    "long-name": lambda: sent(pl.DataFrame({"c" * 2_000: [1]})),
    "names-twice-in-structs": lambda: flipped(sent(pl.DataFrame({"c": [{"one": 1, "two": 2}]})), b"two", b"one"),
    "names-twice": lambda: flipped(sent(pl.DataFrame({"one": [1], "two": [2]})), b"two", b"one"),
}


@pytest.mark.parametrize("name", FORGED)
def test_what_is_forged_is_refused(name: str) -> None:
    refusal(FORGED[name]())


@pytest.mark.parametrize("told", [0, 3, 10, 11, 1_000, -1, -(2**63), 2**40])
def test_the_number_of_nulls_is_counted_and_not_believed(told: int) -> None:
    """polars, when it believes 11 of 10, reads memory that is not there."""
    found = received(memoryview(with_nulls(told)))["c"]
    assert (found.null_count(), found.drop_nulls().to_list()) == (5, [1] * 5)


def test_a_column_cannot_be_shown_twice() -> None:
    """Ten thousand columns over the same bytes would be a bomb."""
    data = sent(pl.DataFrame({"a": range(50), "b": range(50)}))
    second = struct.pack("<qq", 448, 400)
    assert data.count(second) == 1
    assert "share" in refusal(data.replace(second, struct.pack("<qq", 0, 400)))


def test_a_stream_that_is_cut_short_is_refused_wherever_it_is_cut() -> None:
    data = sent(TABLE)
    end = data.rfind(b"\xff\xff\xff\xff\0\0\0\0")
    assert end > 0
    begun = len(sent(TABLE.head(0))) - 8
    for length in range(1, end, 13):
        if length != begun:
            refusal(data[:length])


def test_thousands_of_damaged_streams_end_nothing(tmp_path: Path) -> None:
    """In a process of its own, without pyarrow: one that is ended by a signal says so."""
    script = Path(__file__).with_name("damaged_streams.py")
    folder = tmp_path / "good"
    folder.mkdir()
    (folder / "whole").write_bytes(sent(TABLE))
    (folder / "pieces").write_bytes(sent(pl.concat([TABLE] * 3, rechunk=False)))
    for column in TABLE.columns:
        (folder / column).write_bytes(sent(TABLE.select(column)))
    done = subprocess.run(
        [sys.executable, script, folder, tmp_path / "kept.arrow", "2000"],
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )
    assert done.returncode == 0, done.stderr[-2_000:]
    taken, refused = map(int, done.stdout.split())
    assert taken > 100
    assert refused > 1_000


async def test_a_full_disk_is_not_a_result_that_is_too_large(small_disk: Path) -> None:
    workers = TableWorkers()
    with pytest.raises(OperatorError, match="disk is full") as caught:
        await workers.from_records([{"a": "x" * 1_000} for _ in range(200)], small_disk / "table", 512)
    assert caught.value.stable_code == "disk_full"
    assert not (small_disk / "table").exists()
    assert (await workers.from_records([{"a": 1}], small_disk / "table", 512)).row_count == 1
    await workers.close()

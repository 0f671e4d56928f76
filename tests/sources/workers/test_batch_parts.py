"""A result with large rows: it is written in small batches, so that whoever reads a part of it holds a part of it."""

import tempfile

import duckdb
import nanoarrow
import polars as pl
import pytest

from answerable.sources.workers import batch_parts
from answerable.sources.workers.arrow_file import ArrowFile

EVERY_TYPE = """
    SELECT i, CASE WHEN i % 3 THEN repeat('é', (i % 50)::INT) END AS t, CASE WHEN i % 5 THEN i % 2 = 0 END AS b,
        i::DOUBLE AS d, DATE '2020-01-01' + i::INT AS day, repeat('ab', (i % 7)::INT)::BLOB AS z,
        TIMESTAMP '2020-01-01' AS moment, CASE WHEN i < 990 THEN TIME '10:00' END AS hour
    FROM range(1003) AS t(i)
"""


def _written(sql: str) -> tuple[pl.DataFrame, int]:
    """The rows as they are read back, and in how many batches they were written."""
    stream = nanoarrow.c_array_stream(duckdb.connect().sql(sql))
    with tempfile.TemporaryFile() as file:
        written = ArrowFile(file.fileno(), max_rows=10**6, max_bytes=10**9)
        batches = [part for batch in stream for part in batch_parts.parts(batch)]
        written.write_all(stream.get_schema(), batches)
        file.seek(0)
        return pl.read_ipc(file), len(batches)


@pytest.mark.parametrize("largest", [1, 1_000, 5_000])
def test_the_rows_stay_the_same(largest: int, monkeypatch: pytest.MonkeyPatch) -> None:
    whole, batches = _written(EVERY_TYPE)
    assert batches == 1
    monkeypatch.setattr(batch_parts, "LARGEST", largest)
    found, batches = _written(EVERY_TYPE)
    assert batches > 10
    assert found.equals(whole)


def test_no_batch_is_larger_than_it_may_be() -> None:
    _rows, batches = _written("SELECT i, repeat('x', 1_000_000) AS text FROM range(100) AS t(i)")
    assert batches == 7

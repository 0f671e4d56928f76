"""Under a null lies nothing: neither hidden values nor what the memory held before."""

import io
from collections.abc import Iterator

import duckdb
import nanoarrow
import pyarrow
import pytest

from answerable.sources.workers import null_slots

TYPES = (
    "TINYINT",
    "USMALLINT",
    "INTEGER",
    "BIGINT",
    "HUGEINT",
    "DECIMAL(4, 1)",
    "DECIMAL(30, 2)",
    "FLOAT",
    "DOUBLE",
    "BOOLEAN",
    "VARCHAR",
    "BLOB",
    "DATE",
    "TIME",
    "TIMESTAMP",
    "TIMESTAMP_S",
    "TIMESTAMPTZ",
    "INTERVAL",
    "UUID",
)


def _value(kind: str) -> str:
    special = {
        "BLOB": "CAST(CAST(x AS VARCHAR) AS BLOB)",
        "DATE": "DATE '2001-01-01' + CAST(x % 99 AS INTEGER)",
        "TIME": "TIME '10:11:12'",
        "INTERVAL": "INTERVAL 3 DAY",
        "UUID": "UUID '6ba7b810-9dad-11d1-80b4-00c04fd430c8'",
        "BOOLEAN": "true",
        "TIMESTAMPTZ": "TIMESTAMPTZ '2001-01-01 00:00:00+00'",
    }
    if kind.startswith("TIMESTAMP") and kind not in special:
        return f"CAST(TIMESTAMP '2001-01-01' AS {kind})"
    return special.get(kind, f"CAST(x % 99 + 1 AS {kind})")


def _batches(sql: str) -> Iterator[tuple[object, object]]:
    """Each batch as pyarrow sees it, with its values before."""
    with duckdb.connect(":memory:", config={"threads": 1}) as database:
        for batch in nanoarrow.c_array_stream(database.sql(sql)):
            before = pyarrow.record_batch(nanoarrow.c_array(batch)).to_pylist()
            null_slots.clear(batch)
            after = pyarrow.record_batch(nanoarrow.c_array(batch))
            assert after.to_pylist() == before
            yield batch, after


@pytest.mark.parametrize("kind", TYPES)
@pytest.mark.parametrize("rows", [1, 7, 8, 70_003])
def test_slots_of_nulls_are_empty_and_all_others_stay(kind: str, rows: int) -> None:
    # A filter leaves the values of the rows before it in the vector that the nulls are put into.
    sql = f"SELECT CASE WHEN hash(x) % 3 > 0 THEN {_value(kind)} END AS c FROM range({rows}) AS r(x)"
    for _, after in _batches(sql):
        column = after.column(0)  # type: ignore[attr-defined]
        if kind in ("VARCHAR", "BLOB", "UUID", "BOOLEAN") or not column.null_count:
            continue
        width = column.type.bit_width // 8
        held = column.buffers()[1].to_pybytes()
        for place, valid in enumerate(column.is_valid().to_pylist()[:5_000]):
            slot = held[place * width : (place + 1) * width]
            assert valid or slot == b"\x00" * width


def test_the_same_statement_gives_the_same_bytes() -> None:
    sql = "SELECT avg(x) AS a, max(x) AS b, bool_or(x > 1) AS c FROM range(9) AS r(x) WHERE x > 10"
    written = set()
    for _ in range(20):
        for _, after in _batches(sql):
            sink = io.BytesIO()
            with pyarrow.ipc.new_stream(sink, after.schema) as writer:  # type: ignore[attr-defined]
                writer.write_batch(after)
            written.add(sink.getvalue())
    assert len(written) == 1


def test_nested_values_are_cleared_too() -> None:
    sql = "SELECT CASE WHEN x % 2 = 0 THEN {'a': x, 'b': [x, NULL]} END AS c FROM range(20) AS r(x)"
    for _, after in _batches(sql):
        inner = after.column(0).field(0)  # type: ignore[attr-defined]
        held = memoryview(inner.buffers()[1]).cast("q")
        assert [held[place] for place in range(1, 20, 2)] == [0] * 10

"""The rows of a small result come with it, and are exactly those that its file gives."""

import contextlib
import sqlite3
from pathlib import Path

import pytest
from as_written import as_written

from answerable.answers import frame
from answerable.core.errors import InternalError
from answerable.sources.base import Limits, QueryResult
from answerable.sources.open import open_source
from answerable.sources.sql.worker_result import plain_rows

DUCKDB_VALUES = {
    "text": "'a', '', 'ü\"{\\', '陳', chr(10), NULL",
    "integer": "1, -9223372036854775808, 9223372036854775807, NULL",
    "huge integer": "1::HUGEINT, 170141183460469231731687303715884105727::HUGEINT, NULL",
    "number": "1.5::DOUBLE, -0.0::DOUBLE, 1e300::DOUBLE, 0.1::FLOAT::DOUBLE, NULL",
    "single": "0.1::FLOAT, NULL",
    "decimal": "1.10::DECIMAL(18, 2), 12345678901234.55::DECIMAL(18, 2), NULL",
    "boolean": "true, false, NULL",
    "date": "DATE '2024-02-29', DATE '0001-01-01', DATE '9999-12-31', NULL",
    "moment": "TIMESTAMP '2024-01-01 08:30:00', TIMESTAMP '2024-01-01 08:30:00.5', "
    "TIMESTAMP '2024-01-01 08:30:00.000001', TIMESTAMP '0001-01-01 00:00:00', NULL",
    "moment with zone": "TIMESTAMPTZ '2024-01-01 08:30:00.120+02:00', NULL",
    "time": "TIME '08:30:00', TIME '08:30:00.25', TIME '23:59:59.999999', NULL",
    "list": "[1, 2], [], NULL",
    "structure": "{'a': 1, 'b': 'x'}, NULL",
    "uuid": "'6ba7b810-9dad-11d1-80b4-00c04fd430c8'::UUID, NULL",
    "interval": "INTERVAL 3 DAY, NULL",
}
NOT_PLAIN = {
    "NaN": "'nan'::DOUBLE, 1.0",
    "infinity": "'infinity'::DOUBLE",
    "binary": "'ab'::BLOB",
}


async def asked(path: Path, sql: str, folder: Path) -> tuple[QueryResult, list[tuple[object, ...]]]:
    source = await open_source(str(path), cache=folder / "cache")
    try:
        result = await source.execute(as_written(sql, source.languages[0]), folder / "x.arrow", Limits())
    finally:
        await source.close()
    return result, frame.rows(folder / "x.arrow")


def values(texts: dict[str, str]) -> str:
    return " UNION ALL BY NAME ".join(
        f'SELECT {place} AS place, unnest([{text}]) AS "{name}"' for place, (name, text) in enumerate(texts.items())
    )


@pytest.fixture
def numbers(tmp_path: Path) -> Path:
    path = tmp_path / "numbers.csv"
    path.write_text("n\n" + "\n".join(map(str, range(2_000))) + "\n")
    return path


async def test_every_type_is_as_in_the_file(numbers: Path, tmp_path: Path) -> None:
    result, rows = await asked(numbers, values(DUCKDB_VALUES), tmp_path)

    assert result.plain_rows is not None
    assert len(rows) > 40
    assert [repr(row) for row in result.plain_rows] == [repr(row) for row in rows]


@pytest.mark.parametrize("name", NOT_PLAIN)
async def test_what_is_not_plain_is_read_from_the_file(name: str, numbers: Path, tmp_path: Path) -> None:
    result, rows = await asked(numbers, f"SELECT unnest([{NOT_PLAIN[name]}]) AS v", tmp_path)

    assert result.plain_rows is None
    assert rows


async def test_sqlite_has_any_value_anywhere(tmp_path: Path) -> None:
    path = tmp_path / "mixed.db"
    with contextlib.closing(sqlite3.connect(path)) as connection:
        connection.execute("CREATE TABLE t (i INTEGER, r REAL, s TEXT, d DATE, m TIMESTAMP, b BOOLEAN)")
        rows = [(1, 2, "x", "2024-01-31", "2024-01-31 08:30:00.25", 1), (None, 0.5, 7, None, None, 0)]
        connection.executemany("INSERT INTO t VALUES (?, ?, ?, ?, ?, ?)", rows)
        connection.commit()
    result, from_file = await asked(path, "SELECT * FROM t", tmp_path)

    assert result.plain_rows is not None
    assert [repr(row) for row in result.plain_rows] == [repr(row) for row in from_file]


@pytest.mark.parametrize(("limit", "come_along"), [(0, True), (1_000, True), (1_001, False)])
async def test_only_few_rows_come_along(limit: int, come_along: bool, numbers: Path, tmp_path: Path) -> None:
    result, _rows = await asked(numbers, f"SELECT n FROM numbers ORDER BY n LIMIT {limit}", tmp_path)

    assert result.row_count == limit
    assert (result.plain_rows is not None) == come_along


async def test_long_texts_stay_in_the_file(numbers: Path, tmp_path: Path) -> None:
    result, _rows = await asked(numbers, "SELECT repeat('x', 300000) AS v", tmp_path)

    assert result.plain_rows is None


@pytest.mark.parametrize("sent", [[[1, 2]], [[1], [2]], [[{"a": 1}]], [[[1]]], [[1]] * 3, []])
def test_a_worker_cannot_send_something_else(sent: list[list[object]]) -> None:
    with pytest.raises(InternalError):
        plain_rows(sent, 1, 1)

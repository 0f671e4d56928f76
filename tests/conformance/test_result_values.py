"""The values of every engine, extreme ones included: each comes exactly or as text, never as another value, and never
makes a query fail that the database itself can answer."""

import sqlite3
from collections.abc import AsyncIterator, Iterator, Mapping
from contextlib import closing
from pathlib import Path
from typing import Any

import duckdb
import polars as pl
import psycopg
import pytest
from as_written import as_written

from answerable.answers import frame
from answerable.sources.base import Limits
from answerable.sources.open import open_source
from answerable.sources.sql.source import SqlSource
from answerable.sources.sql.statements import Sql

Cases = Mapping[str, tuple[str, Any]]
"""By the expression in SQL: our type, and the value as JSON carries it."""

ODD_NUMBERS: Cases = {"'nan'::DOUBLE PRECISION": ("number", None), "'-inf'::REAL": ("number", None)}
"""In the rows they are what they are; JSON has no such numbers, and the answer says so."""
BOTH: Cases = {
    **ODD_NUMBERS,
    "'infinity'::DATE": ("text", "infinity"),
    "'-infinity'::DATE": ("text", "-infinity"),
    "'12024-01-01'::DATE": ("text", "12024-01-01"),
    "'0001-01-01'::DATE": ("date", "0001-01-01"),
    "'9999-12-31'::DATE": ("date", "9999-12-31"),
    "'infinity'::TIMESTAMP": ("text", "infinity"),
    "'-infinity'::TIMESTAMPTZ": ("text", "-infinity"),
    "'9999-12-31 23:59:59.999999'::TIMESTAMP": ("datetime", "9999-12-31T23:59:59.999999"),
    "'10000-01-01 00:00:00'::TIMESTAMP": ("text", "10000-01-01 00:00:00"),
    "'9999-12-31 23:59:59-05'::TIMESTAMPTZ": ("text", "10000-01-01 04:59:59+00"),
    "'2024-01-01 10:00:00+02'::TIMESTAMPTZ": ("datetime", "2024-01-01T08:00:00+00:00"),
    "'24:00:00'::TIME": ("text", "24:00:00"),
    "'23:59:59.999999'::TIME": ("time", "23:59:59.999999"),
    "'10:00:00+02'::TIMETZ": ("text", "10:00:00+02"),
    "9223372036854775807": ("integer", 2**63 - 1),
    "-9223372036854775807": ("integer", -(2**63) + 1),
    "9007199254740993": ("integer", 2**53 + 1),
    "12345678901234567890::DECIMAL(38, 0)": ("text", "12345678901234567890"),
    "12.34::DECIMAL(38, 2)": ("number", 12.34),
    "12345678901234567890.1234567891::DECIMAL(38, 10)": ("text", "12345678901234567890.1234567891"),
    "0.12345678901234567890::DECIMAL(38, 20)": ("text", "0.12345678901234567890"),
    "'6b2f0c7e-0000-4000-8000-000000000000'::UUID": ("text", "6b2f0c7e-0000-4000-8000-000000000000"),
    "NULL::DATE": ("date", None),
}
DUCKDB: Cases = {
    **BOTH,
    "'0044-03-15 (BC)'::DATE": ("text", "0044-03-15 (BC)"),
    "TIMESTAMP '290309-12-22 (BC) 00:00:00'": ("text", "290309-12-22 (BC) 00:00:00"),
    "TIMESTAMP_S '12024-01-01 00:00:00'": ("text", "12024-01-01 00:00:00"),
    "TIMESTAMP_MS '2024-01-01 10:00:00.123'": ("datetime", "2024-01-01T10:00:00.123"),
    "TIMESTAMP_NS '2024-01-01 10:00:00.000001'": ("datetime", "2024-01-01T10:00:00.000001"),
    "TIMESTAMP_NS '2024-01-01 10:00:00.000000001'": ("text", "2024-01-01 10:00:00.000000001"),
    "'infinity'::TIMESTAMP_NS": ("text", "infinity"),
    "'10:00:00.000000001'::TIME_NS": ("text", "10:00:00.000000001"),
    "INTERVAL '1 month 2 days'": ("text", "1 month 2 days"),
    "170141183460469231731687303715884105727::HUGEINT": ("text", str(2**127 - 1)),
    "340282366920938463463374607431768211455::UHUGEINT": ("text", str(2**128 - 1)),
    "18446744073709551615::UBIGINT": ("text", str(2**64 - 1)),
    "5::HUGEINT": ("integer", 5),
    "123456789012345678901234567890123456789012::BIGNUM": ("text", "123456789012345678901234567890123456789012"),
    "5::BIGNUM": ("integer", 5),
    "9999999999999999999999999999.9999999999::DECIMAL(38, 10)": ("text", "9999999999999999999999999999.9999999999"),
    "'\\xFF\\x00'::BLOB": ("binary", "/wA="),
    "'a'::ENUM('a', 'b')": ("text", "a"),
    "'101'::BIT": ("text", "101"),
    "['infinity'::DATE]": ("json", '["infinity"]'),
    "{'a': INTERVAL 1 MONTH}": ("json", '{"a":"1 month"}'),
    "MAP {1: 170141183460469231731687303715884105727}": ("json", f'{{"1":{2**127 - 1}}}'),
    "[12345678901234567890.1234567891::DECIMAL(38, 10)]": ("json", "[12345678901234567890.1234567891]"),
    "union_value(a := 1)": ("json", '{"a":1}'),
}
POSTGRES: Cases = {
    **BOTH,
    "'0044-03-15 BC'::date": ("text", "0044-03-15 BC"),
    "'0044-03-15 10:00 BC'::timestamp": ("text", "0044-03-15 10:00:00 BC"),
    "'0001-01-01 00:00:00+05'::timestamptz": ("text", "0001-12-31 19:00:00+00 BC"),
    "interval '1 month 2 days'": ("text", "1 mon 2 days"),
    "'NaN'::numeric": ("number", None),
    "1e30::numeric": ("number", 1e30),
    "12345678901234567890": ("text", "12345678901234567890"),
    "1e400::numeric": ("text", "1" + "0" * 400),
    "1e5000::numeric": ("text", "1" + "0" * 5000),
    "'1e-400'::numeric": ("text", "0." + "0" * 399 + "1"),
    "1::numeric / 3": ("number", 1 / 3),
    "'\\xff00'::bytea": ("binary", "/wA="),
    "daterange('-infinity', 'infinity')": ("text", "[-infinity,infinity)"),
    "'{[1,2]}'::int4multirange": ("text", "{[1,3)}"),
    "ARRAY['infinity'::date]": ("json", '["infinity"]'),
    "ARRAY[time '24:00']": ("json", '["24:00:00"]'),
    "ARRAY['nan'::float8, 1]": ("json", '["nan", 1.0]'),
    "ARRAY['\\xff'::bytea]": ("json", '["\\\\xff"]'),
    "ARRAY[12345678901234567890.123]": ("json", '["12345678901234567890.123"]'),
    "'{\"a\": 1e999}'::jsonb IS NULL": ("boolean", False),
    "4294967295::oid": ("integer", 4294967295),
}
SQLITE: Cases = {
    "9e999": ("number", None),
    "9223372036854775807": ("integer", 2**63 - 1),
    "9223372036854775807 AS v UNION ALL SELECT 0.5": ("text", "9223372036854775807"),
    "0.5 AS v UNION ALL SELECT 9223372036854775807": ("text", "0.5"),
    "5 AS v UNION ALL SELECT 0.5": ("number", 5.0),
    "x'FF00'": ("binary", "/wA="),
    "x'FF' AS v UNION ALL SELECT 'a'": ("text", "x'FF'"),
    "'2024-W01-1'": ("text", "2024-W01-1"),
    "'0000-01-01'": ("text", "0000-01-01"),
    "'10000-01-01'": ("text", "10000-01-01"),
    "'2024-02-30'": ("text", "2024-02-30"),
    "'2024-02-29'": ("date", "2024-02-29"),
    "'2024-01-01T24:00:00'": ("text", "2024-01-01T24:00:00"),
    "'2024-01-01 10:00:00.1234567'": ("text", "2024-01-01 10:00:00.1234567"),
    "'2024-01-01 10:00:00+02:00'": ("text", "2024-01-01 10:00:00+02:00"),
    "'infinity'": ("text", "infinity"),
}


@pytest.fixture
async def opened(tmp_path: Path, request: pytest.FixtureRequest) -> AsyncIterator[tuple[SqlSource, Cases]]:
    kind: str = request.param
    name, cases = tmp_path / f"data.{kind}", {"duckdb": DUCKDB, "postgres": POSTGRES, "sqlite": SQLITE}[kind]
    if kind == "duckdb":
        duckdb.connect(str(name)).execute("CREATE TABLE t AS SELECT 1 AS a").close()
    if kind == "sqlite":
        with closing(sqlite3.connect(name)) as connection:
            connection.execute("CREATE TABLE t (a)")
    url = request.getfixturevalue("postgres_url") if kind == "postgres" else str(name)
    source = await open_source(url, cache=tmp_path / "cache")
    assert isinstance(source, SqlSource)
    yield source, cases
    await source.close()


async def result(source: SqlSource, sql: str, into: Path) -> tuple[str, Any]:
    """The type of the only column and the value in the first row, the same whether read from the file or sent along."""
    done = await source.execute(as_written(sql, source.languages[0]), into, Limits())
    [column], [row, *_] = done.columns, frame.rows(into)
    if done.plain_rows is not None:
        assert done.plain_rows[0] == row
    return column.type, row[0]


@pytest.mark.parametrize("opened", ["duckdb", "postgres", "sqlite"], indirect=True)
async def test_each_value_is_exact_or_text(opened: tuple[SqlSource, Cases], tmp_path: Path) -> None:
    source, cases = opened
    found: dict[str, tuple[str, Any]] = {}
    for expression in cases:
        written = f"SELECT {expression}" + ("" if " AS v" in expression else " AS v")
        found[expression] = await result(source, written, tmp_path / "x.arrow")
    assert found == dict(cases)


@pytest.mark.parametrize("opened", ["duckdb", "postgres"], indirect=True)
async def test_one_odd_value_late_in_a_column(opened: tuple[SqlSource, Cases], tmp_path: Path) -> None:
    """The batches before it are written again."""
    source, _ = opened
    series = "generate_series(1, 30000)" if source.kind == "postgres" else "range(1, 30001)"
    odd = {"DATE": ("2024-01-01", "infinity"), "DECIMAL(38, 2)": ("1.25", "12345678901234567890.12")}
    for kind, (usual, extreme) in odd.items():
        sql = f"SELECT CASE WHEN i < 30000 THEN '{usual}' ELSE '{extreme}' END::{kind} AS v FROM {series} AS t(i)"
        done = await source.execute(as_written(sql, source.languages[0]), tmp_path / "x.arrow", Limits())
        rows = pl.read_ipc(tmp_path / "x.arrow")["v"]
        assert (done.columns[0].type, rows[0], rows[-1], len(rows)) == ("text", usual, extreme, 30_000)


@pytest.mark.parametrize("opened", ["duckdb", "postgres", "sqlite"], indirect=True)
async def test_rows_that_are_looked_at_say_the_same(opened: tuple[SqlSource, Cases]) -> None:
    """Those that a table is browsed by."""
    source, cases = opened
    for expression, (kind, expected) in cases.items():
        if kind == "text" and " AS v" not in expression:
            [(value,)] = await source.rows(Sql(f"SELECT {expression} AS v"))
            assert str(value) == expected, expression


async def test_tables_with_such_values_are_described(tmp_path: Path, postgres_url: str) -> None:
    columns = (
        "'infinity'::DATE AS until, '-infinity'::TIMESTAMP AS since, 'nan'::DOUBLE PRECISION AS rate,"
        " 12345678901234567890.12::DECIMAL(38, 2) AS money, '24:00:00'::TIME AS clock"
    )
    usual = "DATE '2024-01-01', TIMESTAMP '2024-01-01', 1, 2, TIME '10:00'"
    create = f"CREATE TABLE t AS SELECT {columns} UNION ALL SELECT {usual}"
    duckdb.connect(str(tmp_path / "d.duckdb")).execute(create).close()
    with psycopg.connect(postgres_url, autocommit=True) as connection:
        connection.execute(create)
    for url in (str(tmp_path / "d.duckdb"), postgres_url):
        source = await open_source(url, cache=tmp_path / "cache")
        assert isinstance(source, SqlSource)
        try:
            [table] = (await source.describe()).tables
            assert [column.type for column in table.columns] == ["date", "datetime", "number", "number", "time"]
            await source.values()
            rows = await source.first_rows(table, 0, 10)
            assert sorted(str(row[0]) for row in rows) == ["2024-01-01", "infinity"]
            assert {str(row[3]) for row in rows} >= {"12345678901234567890.12"}
            assert (await source.statistics(table)).row_count == 2
        finally:
            await source.close()


async def test_the_same_in_parquet(tmp_path: Path) -> None:
    folder = tmp_path / "data"
    folder.mkdir()
    values = "'infinity'::DATE AS a, 18446744073709551615::UBIGINT AS b, 12345678901234567890.12::DECIMAL(38, 2) AS c"
    duckdb.execute(f"COPY (SELECT {values}) TO '{folder / 't.parquet'}'")
    source = await open_source(str(folder), cache=tmp_path / "cache")
    try:
        await source.execute(as_written("SELECT * FROM t", source.languages[0]), tmp_path / "x.arrow", Limits())
        assert frame.rows(tmp_path / "x.arrow") == [("infinity", str(2**64 - 1), "12345678901234567890.12")]
    finally:
        await source.close()


def far_frames() -> Iterator[pl.DataFrame]:
    for dtype in (pl.Date(), pl.Datetime("us"), pl.Datetime("ms", "UTC")):
        for number in (2**31 - 1, -(2**31), 0):
            scale = 1 if isinstance(dtype, pl.Date) else 10**9
            moment = pl.Series("when", [number * scale], dtype=pl.Int64)
            plain = moment.cast(pl.Int32).cast(dtype) if scale == 1 else moment.cast(dtype)
            yield pl.DataFrame({"when": plain})
            yield pl.DataFrame({"when": plain.implode()})
            yield pl.DataFrame({"when": pl.DataFrame({"inner": plain}).to_struct()})


async def test_dates_of_programs_can_be_shown_or_are_refused(tmp_path: Path) -> None:
    from answerable.sandbox.runner.plain import Unreturnable
    from answerable.sandbox.tables.received import write_table

    refused = 0
    for number, table in enumerate(far_frames()):
        path = tmp_path / f"{number}.arrow"
        with path.open("w+b") as file:
            try:
                write_table(table, file.fileno())
            except Unreturnable:
                refused += 1
                continue
        assert frame.rows(path)
    assert refused == 18

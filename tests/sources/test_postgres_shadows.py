"""A PostgreSQL database full of traps: functions, operators, types and domains that look like built-in ones, and write
down that they were used. Nothing that the source does may use them."""

from collections.abc import AsyncIterator, Callable
from pathlib import Path

import polars as pl
import psycopg
import pytest

from answerable.core.errors import AnswerableError
from answerable.query.sql.check import checked
from answerable.sources.base import Limits
from answerable.sources.open import open_source
from answerable.sources.sql.backend import SourceOptions
from answerable.sources.sql.source import SqlSource

TRAP = "LANGUAGE plpgsql SECURITY DEFINER AS $$ BEGIN PERFORM nextval('public.sprung'); RETURN {}; END $$"
TRAPS = f"""
CREATE SEQUENCE sprung;
CREATE TABLE orders (id int PRIMARY KEY, status varchar(20), total numeric(10, 2), placed date);
INSERT INTO orders SELECT n, CASE WHEN n % 2 = 0 THEN 'open' ELSE 'done' END, n, date '2023-01-01' + n
  FROM generate_series(1, 20) AS n;
CREATE FUNCTION abs(text) RETURNS text {TRAP.format("'x'")};
CREATE FUNCTION upper(varchar) RETURNS text {TRAP.format("'x'")};
CREATE FUNCTION lower(varchar) RETURNS text {TRAP.format("'x'")};
CREATE FUNCTION length(varchar) RETURNS int {TRAP.format("1")};
CREATE FUNCTION round(numeric, bigint) RETURNS numeric {TRAP.format("1")};
CREATE FUNCTION date_trunc(varchar, date) RETURNS date {TRAP.format("now()")};
CREATE FUNCTION same(varchar, varchar) RETURNS boolean {TRAP.format("true")};
CREATE FUNCTION less(varchar, varchar) RETURNS boolean {TRAP.format("true")};
CREATE FUNCTION joined(varchar, varchar) RETURNS text {TRAP.format("'x'")};
CREATE FUNCTION plus(date, bigint) RETURNS date {TRAP.format("now()")};
CREATE OPERATOR = (LEFTARG = varchar, RIGHTARG = varchar, PROCEDURE = same);
CREATE OPERATOR < (LEFTARG = varchar, RIGHTARG = varchar, PROCEDURE = less);
CREATE OPERATOR || (LEFTARG = varchar, RIGHTARG = varchar, PROCEDURE = joined);
CREATE OPERATOR + (LEFTARG = date, RIGHTARG = bigint, PROCEDURE = plus);
CREATE FUNCTION add_up(numeric, numeric) RETURNS numeric {TRAP.format("1")};
CREATE AGGREGATE sum(numeric) (SFUNC = add_up, STYPE = numeric);
CREATE FUNCTION checked(text) RETURNS boolean {TRAP.format("true")};
CREATE DOMAIN "text" AS pg_catalog.text CHECK (checked(VALUE::pg_catalog.text));
CREATE DOMAIN "date" AS pg_catalog.date CHECK (checked(VALUE::pg_catalog.text));
"""
QUERIES = (
    "SELECT upper(status), lower(status), length(status) FROM orders",
    "SELECT count(*) FROM orders WHERE status = 'open'",
    "SELECT count(*) FROM orders a JOIN orders b ON a.status = b.status WHERE a.status < b.status",
    "SELECT status || status FROM orders",
    "SELECT sum(total), round(avg(total), 2) FROM orders",
    "SELECT date_trunc('month', placed), placed + 1 FROM orders",
    "SELECT CAST(status AS text), CAST('2023-01-01' AS date) FROM orders",
    "SELECT status, sum(total) OVER (PARTITION BY status ORDER BY id) FROM orders ORDER BY status",
    "SELECT DISTINCT status FROM orders WHERE status IN ('open', 'done') ORDER BY 1",
)
REFUSED = (
    "SELECT public.abs('x')",
    "SELECT abs(status) FROM orders",
    "SELECT public.upper(status) FROM orders",
    "SELECT status OPERATOR(public.=) status FROM orders",
    "SELECT CAST(status AS public.text) FROM orders",
    "SELECT same(status, status) FROM orders",
)


@pytest.fixture
async def source(postgres_url: str, tmp_path: Path) -> AsyncIterator[SqlSource]:
    with psycopg.connect(postgres_url, autocommit=True) as connection:
        connection.execute(TRAPS)
    source = await open_source(postgres_url, cache=tmp_path / "cache")
    assert isinstance(source, SqlSource)
    yield source
    await source.close()


@pytest.fixture
def sprung(postgres_url: str) -> Callable[[], bool]:
    def sprung() -> bool:
        with psycopg.connect(postgres_url, autocommit=True) as connection:
            return bool(connection.execute("SELECT is_called FROM sprung").fetchall()[0][0])

    return sprung


async def test_no_trap_springs(source: SqlSource, sprung: Callable[[], bool], tmp_path: Path) -> None:
    catalog = await source.describe()
    await source.values()
    orders = catalog.table("orders")
    assert orders is not None
    assert orders.row_count == 20
    await source.statistics(orders)
    assert not sprung()
    for sql in QUERIES:
        query = checked(sql, catalog)
        await source.check(query)
        assert (await source.execute(query, tmp_path / "rows.arrow", Limits(seconds=10))).row_count > 0
        assert not sprung(), sql


async def test_what_names_a_trap_is_refused(source: SqlSource, sprung: Callable[[], bool], tmp_path: Path) -> None:
    catalog = await source.describe()
    for sql in REFUSED:
        with pytest.raises(AnswerableError):
            await source.execute(checked(sql, catalog), tmp_path / "rows.arrow", Limits(seconds=10))
        assert not sprung(), sql


VIEWS = f"""
CREATE SEQUENCE sprung;
CREATE TABLE orders (id int PRIMARY KEY, total int);
INSERT INTO orders SELECT n, n FROM generate_series(1, 5) AS n;
CREATE FUNCTION trap(int) RETURNS int {TRAP.format("$1")};
CREATE VIEW trapped AS SELECT trap(id) AS id FROM orders;
CREATE TYPE mood AS ENUM ('good', 'bad');
CREATE FUNCTION told(mood) RETURNS text {TRAP.format("'x'")};
CREATE CAST (mood AS text) WITH FUNCTION told(mood) AS IMPLICIT;
CREATE TABLE people (id int PRIMARY KEY, feels mood);
INSERT INTO people VALUES (1, 'good');
"""


async def test_what_the_owner_of_the_database_put_into_a_view_or_a_cast_cannot_write(
    postgres_url: str, sprung: Callable[[], bool], tmp_path: Path
) -> None:
    """They are part of the data, so they run; the transaction is read-only for them too."""
    with psycopg.connect(postgres_url, autocommit=True) as connection:
        connection.execute(VIEWS)
    source = await open_source(postgres_url, cache=tmp_path / "cache")
    assert isinstance(source, SqlSource)
    try:
        catalog = await source.describe()
        assert {"orders", "people", "trapped"} == {table.name for table in catalog.tables}
        for sql in ("SELECT id FROM trapped", "SELECT CAST(feels AS text) FROM people"):
            with pytest.raises(AnswerableError) as caught:
                await source.execute(checked(sql, catalog), tmp_path / "rows.arrow", Limits(seconds=10))
            assert "read-only" in caught.value.message
        assert not sprung()
        result = await source.execute(
            checked("SELECT sum(total) FROM orders", catalog), tmp_path / "rows.arrow", Limits()
        )
        assert result.row_count == 1
    finally:
        await source.close()


def test_the_traps_do_spring(postgres_url: str) -> None:
    """Else the tests above would prove nothing."""
    with psycopg.connect(postgres_url, autocommit=True) as connection:
        connection.execute(TRAPS)
        for sql in (
            "SELECT abs(status) FROM orders",
            "SELECT status = status FROM orders",
            "SELECT length(status) FROM orders",
        ):
            connection.execute("ALTER SEQUENCE sprung RESTART")
            connection.execute(sql)
            assert connection.execute("SELECT is_called FROM sprung").fetchall() == [(True,)], sql


OWN = f"""
CREATE SCHEMA tools;
CREATE FUNCTION tools.plain(text) RETURNS text LANGUAGE sql IMMUTABLE AS $$ SELECT lower($1) $$;
CREATE FUNCTION tools."Plain"(text) RETURNS text {TRAP.format("'x'")};
CREATE FUNCTION tools.levenshtein(text, text) RETURNS int LANGUAGE sql IMMUTABLE AS $$ SELECT 7 $$;
CREATE FUNCTION tools.upper(text) RETURNS text LANGUAGE sql IMMUTABLE AS $$ SELECT 'tools' $$;
CREATE FUNCTION public.plain(text) RETURNS text {TRAP.format("'x'")};
CREATE FUNCTION tools.other(text) RETURNS text {TRAP.format("'x'")};
"""
NAMED = ("tools.plain", "tools.levenshtein", "tools.upper")
RUNS = {
    "SELECT plain('ÄB') AS v": "äb",
    "SELECT PLAIN('AB') AS v": "ab",
    "SELECT tools.plain('AB') AS v": "ab",
    'SELECT "TOOLS"."Plain"(\'AB\') AS v': "ab",
    "SELECT tools.plain(plain(upper('ab'))) AS v": "ab",
    "SELECT levenshtein('a', 'b') AS v": 7,
    "SELECT upper('ab') AS v": "AB",
    "SELECT tools.upper('ab') AS v": "tools",
    "SELECT plain(status) AS v FROM orders WHERE plain(status) = 'open' LIMIT 1": "open",
}
STILL_REFUSED = (
    "SELECT public.plain('x')",
    "SELECT tools.other('x')",
    "SELECT other('x')",
    "SELECT plain(other('x'))",
    "SELECT plain(pg_read_file('/etc/passwd'))",
    "SELECT * FROM tools.plain('x')",
    "SELECT * FROM plain('x')",
    "SELECT plain('x') FROM pg_catalog.pg_authid",
    "SELECT (orders).plain FROM orders",
)


async def test_functions_that_the_operator_names(
    postgres_url: str, tmp_path: Path, source: SqlSource, sprung: Callable[[], bool]
) -> None:
    with psycopg.connect(postgres_url, autocommit=True) as connection:
        connection.execute(OWN)
    named = await open_source(postgres_url, cache=tmp_path / "cache", options=SourceOptions(postgres_functions=NAMED))
    try:
        catalog = await named.describe()
        for sql, expected in RUNS.items():
            await named.execute(checked(sql, catalog), tmp_path / "x.arrow", Limits())
            assert pl.read_ipc(tmp_path / "x.arrow")["v"].to_list() == [expected], sql
        for sql in STILL_REFUSED:
            with pytest.raises(AnswerableError):
                await named.execute(checked(sql, catalog), tmp_path / "x.arrow", Limits())
        with pytest.raises(AnswerableError):
            checked("SELECT tools.plain('x')", await source.describe())
    finally:
        await named.close()
    assert not sprung()

from datetime import date
from typing import Any

import pytest

from answerable.core.catalog import Column, Table, Warning
from answerable.core.errors import LimitError
from answerable.sources.sql.profile import ProbeBudget, profile


async def profiled(engine: Any, **options: Any) -> dict[str, Table]:
    return {table.name: table for table in await profile(engine, engine.dialect, engine.tables(), **options)}


def column(table: Table, name: str) -> Column:
    found = table.column(name)
    assert found is not None
    return found


async def test_every_engine_gives_the_same_figures(engine: Any) -> None:
    engine.run(
        "CREATE TABLE people (id INTEGER, name TEXT, born DATE, height DECIMAL(5, 2), city TEXT, note TEXT)",
        "INSERT INTO people VALUES (1, 'Ann', '1990-05-01', 1.70, 'Rome', NULL),"
        " (2, 'Bob', '1985-01-31', 1.82, 'Oslo', NULL), (3, 'Cid', '1999-12-24', NULL, 'Rome', NULL),"
        " (4, 'Dot', '1999-12-24', 1.5, 'Rome', NULL)",
    )
    people = (await profiled(engine))["people"]
    assert people.row_count == 4
    assert people.primary_key == ("id",)
    assert [(c.name, c.type, c.distinct_count, c.null_count, c.unique) for c in people.columns] == [
        ("id", "integer", 4, 0, True),
        ("name", "text", 4, 0, True),
        ("born", "date", 3, 0, False),
        ("height", "number", 3, 1, True),
        ("city", "text", 2, 0, False),
        ("note", "text", 0, 4, False),
    ]
    assert (column(people, "born").minimum, column(people, "born").maximum) == ("1985-01-31", "1999-12-24")
    assert (column(people, "height").minimum, column(people, "height").maximum) == (1.5, 1.82)
    assert column(people, "city").examples == ("Rome", "Oslo")
    assert column(people, "name").examples == ("Ann", "Bob", "Cid", "Dot")
    assert column(people, "name").minimum is None
    assert column(people, "note").examples == ()


async def test_names_with_any_character(engine: Any) -> None:
    engine.run(
        'CREATE TABLE "odd ""table"".⟨x⟩; --" ("select" INTEGER, "a ""b"" ⟨column⟩" TEXT, "naïve.col" TEXT)',
        """INSERT INTO "odd ""table"".⟨x⟩; --" VALUES (1, 'x', 'y'), (2, 'x', NULL)""",
    )
    [table] = (await profiled(engine)).values()
    assert [c.distinct_count for c in table.columns] == [2, 1, 1]
    assert [c.examples for c in table.columns] == [(), ("x",), ("y",)]


async def test_names_that_our_own_statements_use(engine: Any) -> None:
    engine.run(
        "CREATE TABLE counts (v TEXT, n TEXT, k INTEGER, part TEXT, asked INTEGER)",
        "INSERT INTO counts VALUES ('a', 'z', 1, 'p', 2), ('a', 'y', 2, 'p', 2), ('b', 'z', 3, 'q', 2)",
    )
    table = (await profiled(engine))["counts"]
    assert [c.examples for c in table.columns] == [("a", "b"), ("z", "y"), (), ("p", "q"), ()]
    assert [c.distinct_count for c in table.columns] == [2, 2, 3, 2, 1]


async def test_an_empty_table_proves_nothing(engine: Any) -> None:
    engine.run("CREATE TABLE empty (id INTEGER, name TEXT)")
    table = (await profiled(engine))["empty"]
    assert table.row_count == 0
    assert table.primary_key == ()
    assert [(c.unique, c.distinct_count, c.null_count) for c in table.columns] == [(False, 0, 0)] * 2


async def test_few_statements_for_many_tables(lite: Any) -> None:
    for number in range(30):
        lite.run(f"CREATE TABLE t{number} (id INTEGER, a TEXT, b TEXT)", f"INSERT INTO t{number} VALUES (1, 'x', 'y')")
    await profiled(lite)
    assert len(lite.statements) == 1 + 30 + 1


async def test_a_table_wider_than_one_statement(lite: Any) -> None:
    names = [f"c{number}" for number in range(250)]
    lite.run(f"CREATE TABLE wide ({', '.join(f'{name} INTEGER' for name in names)})")
    lite.run(f"INSERT INTO wide VALUES ({', '.join(map(str, range(250)))})")
    wide = (await profiled(lite))["wide"]
    assert [c.maximum for c in wide.columns] == list(range(250))


# Keys


@pytest.mark.parametrize(
    ("table", "columns", "key"),
    [
        ("orders", "total INTEGER, id INTEGER", ("id",)),
        ("orders", "total INTEGER, order_id INTEGER", ("order_id",)),
        ("customer_orders", "total INTEGER, customer_no INTEGER, order_no INTEGER", ("order_no",)),
        ("airlines", "carrier TEXT, name TEXT", ("carrier",)),
        ("weather", "height REAL, day DATE", ("day",)),
        ("heights", "height REAL, width REAL", ()),
        ("publication", "abstract TEXT, pages INTEGER", ()),
        ("publication", "abstract TEXT, citation_count INTEGER, title TEXT", ("title",)),
        ("scores", "total_score INTEGER, price INTEGER", ()),
        ("users", "password_hash TEXT, login TEXT", ("login",)),
    ],
)
async def test_a_key_is_guessed_by_name_then_place(lite: Any, table: str, columns: str, key: tuple[str, ...]) -> None:
    width = columns.count(",") + 1
    lite.run(
        f"CREATE TABLE {table} ({columns})",
        f"INSERT INTO {table} VALUES ({', '.join(['1'] * width)}), ({', '.join(['2'] * width)})",
    )
    assert (await profiled(lite))[table].primary_key == key


async def test_no_key_with_doubles_or_nulls(engine: Any) -> None:
    engine.run(
        "CREATE TABLE t (id INTEGER, code TEXT)",
        "INSERT INTO t VALUES (1, 'a'), (1, 'b'), (2, NULL)",
    )
    table = (await profiled(engine))["t"]
    assert table.primary_key == ()
    assert [c.unique for c in table.columns] == [False, True]


async def test_what_is_declared_stays(lite: Any) -> None:
    lite.run("CREATE TABLE t (id INTEGER, code TEXT)", "INSERT INTO t VALUES (1, 'a'), (2, 'b')")
    [declared] = lite.tables()
    declared = declared.model_copy(
        update={"primary_key": ("code",), "label": "Things", "columns": (declared.columns[0], declared.columns[1])}
    )
    [table] = await profile(lite, "sqlite", [declared])
    assert (table.primary_key, table.label) == (("code",), "Things")


# Large tables


@pytest.fixture
def large(engine: Any) -> Any:
    """20,000 rows, to be profiled as if that were many."""
    numbers = {
        "duckdb": "SELECT range AS n FROM range(20000)",
        "postgres": "SELECT n FROM generate_series(0, 19999) AS s(n)",
        "sqlite": "WITH RECURSIVE s(n) AS (SELECT 0 UNION ALL SELECT n + 1 FROM s WHERE n < 19999) SELECT n FROM s",
    }[engine.dialect]
    cast = "CAST(n AS INTEGER)"
    engine.run(
        f"CREATE TABLE big AS SELECT {cast} AS id, {cast} - {cast} % 2 AS half, {cast} % 7 AS weekday,"
        f" 'name ' || n AS name, CASE WHEN n % 4 = 0 THEN NULL ELSE 'city ' || (n % 10) END AS city"
        f" FROM ({numbers}) AS numbers"
    )
    if engine.dialect == "postgres":
        engine.run("ANALYZE big")
    return engine


SMALL = ProbeBudget(exact_rows=1_000, sample_rows=2_000)


async def test_large_tables_are_estimated_but_facts_are_proven(large: Any) -> None:
    big = (await profiled(large, budget=SMALL))["big"]
    assert big.row_count == 20_000
    assert big.primary_key == ("id",)
    id_, half, weekday, name, city = big.columns
    assert (id_.unique, id_.distinct_count, id_.minimum, id_.maximum) == (True, 20_000, 0, 19_999)
    assert (half.unique, half.maximum, half.null_count) == (False, 19_998, 0)
    assert half.distinct_count == pytest.approx(10_000, rel=1.1)
    assert weekday.distinct_count == pytest.approx(7, abs=1)
    assert not name.unique, "nobody proved it"
    assert name.distinct_count == pytest.approx(20_000, rel=0.1)
    assert city.null_count == 5_000
    assert set(city.examples) <= {f"city {n}" for n in range(10)}
    assert len(city.examples) == 5


async def test_beyond_the_budget_nothing_is_claimed(large: Any) -> None:
    tight = ProbeBudget(exact_rows=1_000, sample_rows=2_000, proof_rows=1_000, range_cells=1_000)
    big = (await profiled(large, budget=tight))["big"]
    assert big.primary_key == ()
    assert [(c.unique, c.minimum, c.maximum, c.null_count) for c in big.columns] == [(False, None, None, None)] * 5
    assert all(c.distinct_count for c in big.columns)


async def test_the_smallest_tables_are_exact_when_cells_run_out(lite: Any) -> None:
    for name, rows in (("a", 60), ("b", 10), ("c", 20)):
        lite.run(f"CREATE TABLE {name} (n INTEGER)")
        lite.run(*(f"INSERT INTO {name} VALUES ({n})" for n in range(rows)))
    tables = await profiled(lite, budget=ProbeBudget(exact_cells=40, proof_rows=0))
    assert [column(tables[name], "n").unique for name in "abc"] == [False, True, True]


async def test_views_of_postgres_are_profiled(pg: Any) -> None:
    pg.run(
        "CREATE TABLE base AS SELECT n AS id, 'x' AS kind FROM generate_series(1, 5000) AS s(n)",
        "CREATE VIEW seen AS SELECT * FROM base",
    )
    seen = (await profiled(pg, budget=SMALL))["seen"]
    assert seen.row_count == 5_000
    assert column(seen, "kind").examples == ("x",)


async def test_a_huge_postgres_table_is_not_counted(pg: Any) -> None:
    pg.run("CREATE TABLE huge AS SELECT n AS id FROM generate_series(1, 5000) AS s(n)", "ANALYZE huge")
    await profiled(pg, budget=ProbeBudget(exact_rows=10, proof_rows=100))
    assert not any("COUNT(*) FROM" in statement for statement in pg.statements)


# What cannot be counted


async def test_a_column_that_cannot_be_compared_costs_only_itself(pg: Any) -> None:
    pg.run("CREATE TABLE odd (id INTEGER, spot POINT, body JSON, name TEXT)")
    pg.run("""INSERT INTO odd VALUES (1, '(1,2)', '{"a": 1}', 'x')""")
    wrong = tuple(Column(name=c.name, type="integer" if c.name == "spot" else c.type) for c in pg.tables()[0].columns)
    notices: list[Warning] = []
    [odd] = await profile(pg, "postgres", [Table(name="odd", columns=wrong)], notices=notices)
    assert [c.distinct_count for c in odd.columns] == [1, None, None, 1]
    assert column(odd, "body").null_count == 0
    assert [notice.subject for notice in notices] == ["odd"]


async def test_postgres_types_shown_as_text_are_counted(pg: Any) -> None:
    pg.run("CREATE TABLE odd (ring CIRCLE, area BOX)", "INSERT INTO odd VALUES ('<(1,2),3>', '(2,2),(1,1)')")
    odd = (await profiled(pg))["odd"]
    assert [c.examples for c in odd.columns] == [("<(1,2),3>",), ("(2,2),(1,1)",)]


async def test_a_table_that_vanished_is_told_not_hidden(lite: Any) -> None:
    lite.run("CREATE TABLE here (id INTEGER)")
    notices: list[Warning] = []
    gone = Table(name="gone", columns=(Column(name="id", type="integer"),))
    tables = await profile(lite, "sqlite", [*lite.tables(), gone], notices=notices)
    assert [table.row_count for table in tables] == [0, None]
    assert "gone" in notices[0].message


async def test_running_out_of_time_is_not_tried_column_by_column(lite: Any) -> None:
    lite.run("CREATE TABLE slow (a INTEGER, b INTEGER, c INTEGER)")

    class Slow:
        asked = 0

        async def rows(self, sql: str) -> list[tuple[Any, ...]]:
            if "COUNT(DISTINCT" not in sql:
                rows: list[tuple[Any, ...]] = await lite.rows(sql)
                return rows
            self.asked += 1
            raise LimitError("took longer than 30 s")

    probe, notices = Slow(), list[Warning]()
    [table] = await profile(probe, "sqlite", lite.tables(), notices=notices)
    assert (table.row_count, probe.asked) == (0, 1)
    assert "30 s" in notices[0].message


# What SQLite really holds


async def stored(lite: Any, declared: str, *values: Any) -> Column:
    lite.run(f"CREATE TABLE t (c {declared})")
    lite.connection.executemany("INSERT INTO t VALUES (?)", [(value,) for value in values])
    return (await profiled(lite))["t"].columns[0]


@pytest.mark.parametrize(
    ("declared", "values", "type_"),
    [
        ("TEXT", ["2021-02-03", "1999-12-31", None], "date"),
        ("TEXT", ["2021-02-03 10:11:12", "2021-02-03T10:11", "2021-02-03 10:11:12.5"], "datetime"),
        ("TEXT", ["2021-02-03 10:11:12", "2021-02-03"], "datetime"),
        ("TEXT", ["2021-02-03", "unknown"], "text"),
        ("TEXT", ["2021-02-30"], "text"),
        ("TEXT", ["2021"], "text"),
        ("TEXT", ["12:30:00"], "text"),
        ("TEXT", [None], "text"),
        ("DATE", ["2021-02-03"], "date"),
        ("DATE", ["3/2/2021", "4/2/2021"], "text"),
        ("DATE", [1612310400, 1612310401], "integer"),
        ("DATETIME", ["2021-02-03"], "date"),
        ("DATE", [None], "date"),
        ("BOOLEAN", [0, 1, 1], "boolean"),
        ("BOOLEAN", [0, 1, 2], "integer"),
        ("BOOLEAN", ["t", "f"], "text"),
        ("TEXT", ["0", "1"], "text"),
        ("INTEGER", [0, 1], "integer"),
        ("INTEGER", [1, 2.5], "number"),
        ("INTEGER", ["a", "b", 3], "text"),
        ("INTEGER", [1, 2, "n/a"], "integer"),
        ("", [1, 2], "integer"),
        ("", [1, 2.5], "number"),
        ("REAL", [1, 2], "number"),
    ],
)
async def test_the_type_that_holds_for_every_value(lite: Any, declared: str, values: list[Any], type_: str) -> None:
    assert (await stored(lite, declared, *values)).type == type_


async def test_ranges_of_recognised_dates(lite: Any) -> None:
    found = await stored(lite, "TEXT", "2021-02-03 10:11:12", "2020-02-03 00:00:00")
    assert (found.minimum, found.maximum) == ("2020-02-03T00:00:00", "2021-02-03T10:11:12")


async def test_a_stray_text_is_not_the_greatest_number(lite: Any) -> None:
    found = await stored(lite, "INTEGER", 3, 9, "n/a")
    assert (found.minimum, found.maximum) == (3, 9)


async def test_dates_of_a_large_table_are_proven_on_all_rows(lite: Any) -> None:
    lite.run("CREATE TABLE t (good TEXT, bad TEXT)")
    days = [date.fromordinal(730_000 + n).isoformat() for n in range(3_000)]
    lite.connection.executemany("INSERT INTO t VALUES (?, ?)", [(day, day) for day in days])
    lite.run("INSERT INTO t VALUES ('2022-02-02', 'soon')")
    table = (await profiled(lite, budget=ProbeBudget(exact_rows=100, sample_rows=1_000)))["t"]
    assert [c.type for c in table.columns] == ["date", "text"]


async def test_a_part_of_the_rows_refutes_a_type_but_proves_none(lite: Any) -> None:
    lite.run("CREATE TABLE t (likely TEXT, refuted DATE, declared DATE)")
    lite.connection.executemany("INSERT INTO t VALUES (?, ?, ?)", [("2021-02-03", "3/2/2021", "2021-02-03")] * 50)
    table = (await profiled(lite, budget=ProbeBudget(exact_rows=10, sample_rows=20, proof_rows=10)))["t"]
    assert [c.type for c in table.columns] == ["text", "text", "date"]

import sqlite3
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

import duckdb
import pytest
from hypothesis import given
from hypothesis import strategies as st

from answerable.core.catalog import Column, Relationship, Table, Warning
from answerable.core.errors import LimitError, SourceError
from answerable.sources.sql.profile import profile
from answerable.sources.sql.relationship_candidates import MOST_PROBES
from answerable.sources.sql.relationships import relate, relationship_name


async def related(engine: Any, declared: tuple[Relationship, ...] = (), **options: Any) -> dict[str, float]:
    tables = await profile(engine, engine.dialect, engine.tables())
    found = await relate(engine, engine.dialect, tables, declared, **options)
    assert len({relationship.name for relationship in found}) == len(found)
    return {relationship.name: relationship.confidence for relationship in found}


def make(engine: Any, table: str, columns: str, rows: Iterable[tuple[Any, ...]]) -> None:
    engine.run(f"CREATE TABLE {table} ({columns})")
    for row in rows:
        engine.run(f"INSERT INTO {table} VALUES ({', '.join('NULL' if v is None else repr(v) for v in row)})")


@pytest.fixture
def shop(engine: Any) -> Any:
    make(engine, "customers", "id INTEGER, name TEXT", [(n, f"name {n}") for n in range(1, 9)])
    make(
        engine,
        "orders",
        "id INTEGER, customer_id INTEGER, quantity INTEGER, store TEXT",
        [(n, n % 8 + 1, n % 3 + 1, ("North", "South", "")[n % 3]) for n in range(1, 31)],
    )
    make(engine, "stores", "name TEXT, size INTEGER", [("North", 1), ("South", 2), ("West", 3)])
    return engine


async def test_names_and_values_together_on_every_engine(shop: Any) -> None:
    assert await related(shop) == {"orders.customer_id -> customers.id": 1.0, "orders.store -> stores.name": 0.92}


@pytest.mark.parametrize(
    ("column", "table", "key"),
    [
        ("customer_id", "customers", "id"),
        ("customer_id", "customers", "customer_id"),
        ("CustomerID", "Customer", "CustomerId"),
        ("customer_no", "customers", "no"),
        ("customer", "customers", "id"),
        ("customer_key", "dim_customer", "customer_key"),
        ("billing_customer_id", "customers", "id"),
        ("host_city", "cities", "city_id"),
        ("member_in_charge_id", "members", "id"),
        ("company_id", "operate_company", "id"),
        ("dept_id", "departments", "id"),
        ("manager_id", "employees", "id"),
        ("tailnum", "planes", "tailnum"),
    ],
)
async def test_names_that_speak_of_another_table(lite: Any, column: str, table: str, key: str) -> None:
    make(lite, "things", f"id INTEGER, {column} INTEGER", [(n, n % 12 + 1) for n in range(1, 30)])
    make(lite, table, f"{key} INTEGER, other TEXT", [(n, f"other {n}") for n in range(1, 20)])
    found = await related(lite)
    assert list(found) == [f"things.{column} -> {table}.{key}"]
    assert found[f"things.{column} -> {table}.{key}"] >= 0.5


@pytest.mark.parametrize("column", ["quantity", "rank", "age", "customers", "home_games", "id", "year", "level_id"])
async def test_small_numbers_are_not_related_by_accident(lite: Any, column: str) -> None:
    make(lite, "things", f"name TEXT, {column} INTEGER", [(f"thing {n}", n % 5 + 1) for n in range(1, 30)])
    make(lite, "customers", "id INTEGER, label TEXT", [(n, f"label {n}") for n in range(1, 20)])
    make(lite, "games", "id INTEGER, label TEXT", [(n, f"game {n}") for n in range(1, 20)])
    assert await related(lite) == {}


@pytest.mark.parametrize("column", ["review_count", "review_score", "review_total", "review_rating"])
async def test_amounts_do_not_point_to_what_they_count(lite: Any, column: str) -> None:
    make(lite, "business", f"bid INTEGER, {column} INTEGER", [(n, n % 12 + 1) for n in range(1, 30)])
    make(lite, "review", "rid INTEGER, words TEXT", [(n, f"words {n}") for n in range(1, 20)])
    assert await related(lite) == {}


async def test_values_must_exist_over_there(lite: Any) -> None:
    make(lite, "customers", "id INTEGER, name TEXT", [(n, f"name {n}") for n in range(1, 20)])
    make(lite, "orders", "id INTEGER, customer_id INTEGER", [(n, n + 10) for n in range(1, 20)])
    make(lite, "visits", "id INTEGER, customer_id INTEGER", [(n, n + 1) for n in range(1, 20)])
    assert await related(lite) == {}
    make(lite, "calls", "id INTEGER, customer_id INTEGER", [(n, n % 19 + 1) for n in range(1, 20)])
    assert await related(lite) == {"calls.customer_id -> customers.id": 1.0}


async def test_a_namesake_of_a_key_may_have_gaps(lite: Any) -> None:
    make(lite, "planes", "tailnum TEXT, seats INTEGER", [(f"N{n}", n) for n in range(100)])
    make(lite, "flights", "flight INTEGER, tailnum TEXT", [(n, f"N{n + 15}") for n in range(100)])
    assert await related(lite) == {"flights.tailnum -> planes.tailnum": pytest.approx(0.765)}


async def test_the_target_must_be_unique(lite: Any) -> None:
    make(lite, "customers", "id INTEGER, name TEXT", [(1, "a"), (1, "b"), (2, "c")])
    make(lite, "orders", "id INTEGER, customer_id INTEGER", [(1, 1), (2, 2)])
    assert await related(lite) == {}


async def test_types_must_agree(duck: Any) -> None:
    make(duck, "customers", "id INTEGER, name TEXT", [(n, f"name {n}") for n in range(1, 20)])
    make(duck, "orders", "id INTEGER, customer_id TEXT", [(n, str(n)) for n in range(1, 20)])
    assert await related(duck) == {}


async def test_codes_are_found_without_a_name(lite: Any) -> None:
    airports = ["EWR", "JFK", "LGA", "ATL", "ORD", "LAX", "MIA"]
    make(lite, "airports", "faa TEXT, name TEXT", [(code, f"Airport {code}") for code in airports])
    make(
        lite,
        "flights",
        "number INTEGER, origin TEXT, grade TEXT",
        [(n, airports[n % 3], "ABC"[n % 3]) for n in range(30)],
    )
    assert list(await related(lite)) == ["flights.origin -> airports.faa"]


async def test_names_are_found_only_in_the_table_about_them(lite: Any) -> None:
    names = [f"North {chr(97 + n)}land" for n in range(25)]
    make(lite, "heights", "state_name TEXT, height INTEGER", [(name, n) for n, name in enumerate(names)])
    make(lite, "states", "state_name TEXT, area INTEGER", [(name, n) for n, name in enumerate(names)])
    make(lite, "rivers", "river TEXT, traverses TEXT", [(f"river {n}", names[n % 24]) for n in range(60)])
    assert await related(lite) == {
        "heights.state_name -> states.state_name": 0.97,
        "rivers.traverses -> states.state_name": 0.65,
    }


@pytest.mark.parametrize("names", [("column_1", "column_1"), ("f0", "f0"), ("Field 2", "field 2")])
async def test_columns_without_a_name_are_no_namesakes(lite: Any, names: tuple[str, str]) -> None:
    for table, column in zip(("one", "two"), names, strict=True):
        make(lite, table, f'"{column}" INTEGER, note TEXT', [(n, f"note {n}") for n in range(30)])
    assert await related(lite) == {}


async def test_few_values_are_unique_by_accident(lite: Any) -> None:
    make(lite, "banks", "id INTEGER, state TEXT", [(n, ("Texas", "Utah")[n % 2]) for n in range(9)])
    make(lite, "clients", "id INTEGER, state TEXT", [(0, "Texas"), (1, "Utah"), (2, "Ohio")])
    assert await related(lite) == {}


async def test_people_by_their_role_and_parents_in_the_same_table(lite: Any) -> None:
    make(
        lite,
        "employees",
        "id INTEGER, name TEXT, reports_to INTEGER",
        [(n, f"name {n}", n // 2 or None) for n in range(1, 20)],
    )
    make(lite, "categories", "id INTEGER, parent_id INTEGER", [(n, n // 2 or None) for n in range(1, 20)])
    make(lite, "projects", "id INTEGER, manager_id INTEGER", [(n, n) for n in range(1, 15)])
    assert list(await related(lite)) == [
        "employees.reports_to -> employees.id",
        "categories.parent_id -> categories.id",
        "projects.manager_id -> employees.id",
    ]


async def test_the_better_of_two_targets(lite: Any) -> None:
    for table in ("customers", "customer_notes"):
        make(lite, table, "customer_id INTEGER, text TEXT", [(n, f"text {n}") for n in range(1, 20)])
    make(lite, "orders", "id INTEGER, customer_id INTEGER", [(n, n % 15 + 1) for n in range(1, 40)])
    assert list(await related(lite)) == [
        "customer_notes.customer_id -> customers.customer_id",
        "orders.customer_id -> customers.customer_id",
    ]


async def test_empty_tables_only_by_the_clearest_name(lite: Any) -> None:
    make(lite, "customers", "id INTEGER PRIMARY KEY, name TEXT", [])
    make(lite, "orders", "id INTEGER, customer_id INTEGER, manager_id INTEGER", [])
    tables = [t.model_copy(update={"primary_key": ("id",)}) for t in await profile(lite, "sqlite", lite.tables())]
    [found] = await relate(lite, "sqlite", tables, ())
    assert (found.name, found.confidence) == ("orders.customer_id -> customers.id", 0.6)


async def test_declared_ones_are_kept_and_not_guessed_again(shop: Any) -> None:
    declared = Relationship(
        name="who ordered",
        from_table="orders",
        from_columns=("id", "customer_id"),
        to_table="customers",
        to_columns=("id", "name"),
        origin="declared",
    )
    assert await related(shop, (declared,)) == {"who ordered": 1.0, "orders.store -> stores.name": 0.92}


async def test_tables_that_are_declared_to_be_related_are_not_related_again(lite: Any) -> None:
    make(lite, "customers", "id INTEGER, name TEXT", [(n, f"name {n}") for n in range(1, 9)])
    make(lite, "orders", "id INTEGER, buyer INTEGER, customer_id INTEGER", [(n, n, n) for n in range(1, 9)])
    declared = Relationship(
        name="buyer",
        from_table="orders",
        from_columns=("buyer",),
        to_table="customers",
        to_columns=("id",),
        origin="declared",
    )
    assert list(await related(lite, (declared,))) == ["buyer"]


def test_names_of_relationships() -> None:
    assert relationship_name("a", ["x"], "b", ["y"]) == "a.x -> b.y"
    assert relationship_name("a", ["x", "z"], "b", ["y", "w"]) == "a.(x, z) -> b.(y, w)"


async def test_a_pair_that_cannot_be_compared_costs_only_itself(pg: Any) -> None:
    make(pg, "customers", "id INTEGER, name TEXT", [(n, f"name {n}") for n in range(1, 9)])
    make(pg, "orders", "id INTEGER, customer_id INTEGER", [(n, n % 8 + 1) for n in range(1, 31)])
    make(pg, "visits", "id INTEGER, customer_id TEXT", [(n, str(n % 8 + 1)) for n in range(1, 31)])
    tables = await profile(pg, "postgres", pg.tables())
    mistaken = [
        t.model_copy(update={"columns": tuple(c.model_copy(update={"type": "integer"}) for c in t.columns)})
        if t.name == "visits"
        else t
        for t in tables
    ]
    found = await relate(pg, "postgres", mistaken, ())
    assert [relationship.name for relationship in found] == ["orders.customer_id -> customers.id"]


async def test_codes_that_cannot_be_looked_up_are_left_alone(lite: Any) -> None:
    class Broken:
        async def rows(self, sql: str) -> list[tuple[Any, ...]]:
            raise SourceError("no such table")

    make(lite, "airports", "faa TEXT, name TEXT", [(code, f"Airport {code}") for code in ("EWR", "JFK", "LGA")])
    make(lite, "flights", "number INTEGER, origin TEXT", [(n, ("EWR", "JFK", "LGA")[n % 3]) for n in range(30)])
    tables = await profile(lite, "sqlite", lite.tables())
    assert await relate(Broken(), "sqlite", tables, ()) == ()


async def test_a_source_that_is_too_slow_is_asked_no_further(lite: Any) -> None:
    class Slow:
        asked = 0

        async def rows(self, sql: str) -> list[tuple[Any, ...]]:
            self.asked += 1
            raise LimitError("took longer than 30 s")

    make(lite, "customers", "id INTEGER, name TEXT", [(n, f"name {n}") for n in range(1, 9)])
    for number in range(40):
        make(lite, f"t{number}", "id INTEGER, customer_id INTEGER", [(1, 1)])
    tables = await profile(lite, "sqlite", lite.tables())
    slow, notices = Slow(), list[Warning]()
    assert await relate(slow, "sqlite", tables, (), notices=notices) == ()
    assert slow.asked == 3
    assert [("30 s" in notice.message) for notice in notices] == [True]


async def test_a_wide_schema_takes_few_statements(lite: Any) -> None:
    tables = []
    for number in range(400):
        columns = [Column(name="id", type="integer", unique=True, null_count=0)]
        columns += [Column(name=f"thing{n}_id", type="integer") for n in range(20)]
        tables.append(Table(name=f"things{number}", columns=tuple(columns), primary_key=("id",), row_count=5))
    asked: list[str] = []

    class Nothing:
        async def rows(self, sql: str) -> list[tuple[Any, ...]]:
            asked.append(sql)
            return []

    await relate(Nothing(), "duckdb", tables, ())
    assert sum(sql.count("LEFT JOIN") for sql in asked) == MOST_PROBES
    assert len(asked) == MOST_PROBES / 25


@given(st.lists(st.tuples(st.text(min_size=1), st.lists(st.text(min_size=1), min_size=1, unique=True)), max_size=4))
async def test_any_names_will_do(names: list[tuple[str, list[str]]]) -> None:
    class Included:
        async def rows(self, sql: str) -> list[tuple[Any, ...]]:
            return [(number, 5, 5) for number in range(sql.count("LEFT JOIN"))]

    tables = [
        Table(name=name, columns=tuple(Column(name=c, type="integer", unique=True) for c in columns), row_count=9)
        for name, columns in dict(names).items()
    ]
    found = await relate(Included(), "duckdb", tables, ())
    assert len({relationship.name for relationship in found}) == len(found)


async def test_large_tables_without_an_index(engine: Any) -> None:
    numbers = {
        "duckdb": "SELECT range AS n FROM range(30000)",
        "postgres": "SELECT n FROM generate_series(0, 29999) AS s(n)",
        "sqlite": "WITH RECURSIVE s(n) AS (SELECT 0 UNION ALL SELECT n + 1 FROM s WHERE n < 29999) SELECT n FROM s",
    }[engine.dialect]
    for table, column in (("customers", "id"), ("orders", "customer_id")):
        engine.run(f"CREATE TABLE {table} ({column} INTEGER)", f"INSERT INTO {table} {numbers}")
    assert await related(engine) == {"orders.customer_id -> customers.id": 1.0}


# Real databases: their declared keys are taken away, and are to be found again.


def declared_keys(connection: sqlite3.Connection, tables: Iterable[Table]) -> set[tuple[str, ...]]:
    keys: set[tuple[str, ...]] = set()
    for table in tables:
        for row in connection.execute(f'PRAGMA foreign_key_list("{table.name}")'):
            if row[4] is not None:
                keys.add((table.name.lower(), row[3].lower(), row[2].lower(), row[4].lower()))
    return keys


async def test_declared_keys_of_real_databases_are_found_again(
    shared_data: Path, sqlite_file: Callable[[Path], Any]
) -> None:
    hits = guesses = keys = 0
    for path in sorted((shared_data / "spider_train" / "database").glob("*/*.sqlite")):
        probe = sqlite_file(path)
        tables = await profile(probe, "sqlite", probe.tables())
        found = {
            (r.from_table.lower(), r.from_columns[0].lower(), r.to_table.lower(), r.to_columns[0].lower())
            for r in await relate(probe, "sqlite", tables, ())
        }
        declared = declared_keys(probe.connection, tables)
        either_way = declared | {(c, d, a, b) for a, b, c, d in declared}
        hits += len(found & either_way)
        guesses += len(found)
        keys += len(declared)
    print(f"precision {hits / guesses:.3f}, recall {hits / keys:.3f} of {keys}")
    assert hits / guesses >= 0.93
    assert hits / keys >= 0.89


async def test_chinook(shared_data: Path, sqlite_file: Callable[[Path], Any]) -> None:
    [path] = (shared_data / "chinook").rglob("*.sqlite")
    probe = sqlite_file(path)
    tables = await profile(probe, "sqlite", probe.tables())
    found = await relate(probe, "sqlite", tables, ())
    declared = declared_keys(probe.connection, tables)
    assert {
        (r.from_table.lower(), r.from_columns[0].lower(), r.to_table.lower(), r.to_columns[0].lower()) for r in found
    } == declared


async def test_geography(shared_data: Path, sqlite_file: Callable[[Path], Any]) -> None:
    """Nothing is declared in it, and `river.traverse` and `border_info.border` do not say that they are states."""
    found = await related(sqlite_file(shared_data / "geoquery" / "geography.sqlite"))
    borders_and_cities = ("border_info.state_name", "border_info.border", "city.state_name", "highlow.state_name")
    waters_and_mountains = ("lake.state_name", "mountain.state_name", "river.traverse")
    assert list(found) == [f"{column} -> state.state_name" for column in borders_and_cities + waters_and_mountains]


async def test_flights(shared_data: Path, duck: Any) -> None:
    for path in sorted((shared_data / "csv_demo" / "nycflights13").glob("*.csv")):
        name = path.stem.split("_")[0]
        duckdb.from_csv_auto(str(path), connection=duck.connection).create(name)
    duck.run("ALTER TABLE flights ALTER time_hour TYPE TIMESTAMP")
    found = await related(duck)
    assert {name: round(confidence, 1) for name, confidence in found.items()} == {
        "flights.carrier -> airlines.carrier": 0.9,
        "flights.tailnum -> planes.tailnum": 0.8,
        "flights.origin -> airports.faa": 0.5,
        "flights.dest -> airports.faa": 0.6,
    }

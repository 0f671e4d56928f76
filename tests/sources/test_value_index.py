import os
import sqlite3
import subprocess
import sys
from collections.abc import AsyncIterator, Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from answerable.core.catalog import Catalog, Column, Table, ValueHit, ValueName
from answerable.core.errors import LimitError, OperatorError, SourceError
from answerable.core.spelling import allowed_slips
from answerable.sources.sql.value_build import IndexLimits, file_name, piece
from answerable.sources.value_forms import PIECES, cuts, shared_pieces
from answerable.sources.value_index import _SHARING, ValueIndex

CITIES = (
    "Los Angeles",
    "Los Angeles International Airport",
    "São Paulo",
    "Zürich",
    "New York",
    "Berlin",
    "Baden-Baden",
    "Washington",
    "Washington D.C.",
    "Universities of California",
    "United States of America",
    "Room 101",
    "Room 102",
    "A+",
    "A-",
    "AA",
    "O'Hare",
    "東京",
    "Москва",
)


class Places:
    """Tables of one text column, and the catalog that describes them."""

    def __init__(self, engine: Any, cache: Path) -> None:
        self.engine = engine
        self.cache = cache
        self.opened: list[ValueIndex] = []

    def put(self, table: str, *values: str | None) -> None:
        self.engine.run(f"DROP TABLE IF EXISTS {table}", f"CREATE TABLE {table} (v TEXT)")
        for value in values:
            text = "NULL" if value is None else "'" + value.replace("'", "''") + "'"
            self.engine.run(f"INSERT INTO {table} VALUES ({text})")

    def catalog(self, *, versions: dict[str, str] | None = None, **column: Any) -> Catalog:
        fingerprints = versions or {}
        tables = tuple(
            table.model_copy(
                update={
                    "fingerprint": fingerprints.get(table.name, "1"),
                    "columns": tuple(c.model_copy(update=column) for c in table.columns),
                }
            )
            for table in self.engine.tables()
        )
        return Catalog(source="here", dialect=self.engine.dialect, tables=tables, fingerprint="all")

    async def open(self, catalog: Catalog | None = None, **limits: Any) -> ValueIndex:
        catalog = catalog or self.catalog()
        index = await ValueIndex.open(
            self.cache, catalog, self.engine, limits=IndexLimits(**limits) if limits else None
        )
        self.opened.append(index)
        return index

    def close(self) -> None:
        for index in self.opened:
            index.close()

    @property
    def file(self) -> Path:
        return self.cache / file_name(self.catalog())


@pytest.fixture
async def places(engine: Any, tmp_path: Path) -> AsyncIterator[Places]:
    made = Places(engine, tmp_path / "cache")
    yield made
    made.close()


@pytest.fixture
async def lite_places(lite: Any, tmp_path: Path) -> AsyncIterator[Places]:
    made = Places(lite, tmp_path / "cache")
    yield made
    made.close()


@pytest.fixture
async def cities(lite_places: Places) -> ValueIndex:
    lite_places.put("cities", *CITIES)
    return await lite_places.open()


def found(index: ValueIndex, phrase: str) -> list[tuple[str, float]]:
    return [(hit.value, hit.score) for hit in index.find(phrase)]


def best(index: ValueIndex, phrase: str) -> str | None:
    hits = index.find(phrase, limit=1)
    return hits[0].value if hits else None


# Finding


async def test_every_engine_indexes_the_same_values(places: Places) -> None:
    places.put("cities", *CITIES, *CITIES, None, "", "x" * 300)
    index = await places.open()
    assert index.find("BERLIN") == (ValueHit(table="cities", column="v", value="Berlin", score=1.0),)
    assert [index.find(city, limit=1)[0].value for city in CITIES] == list(CITIES)
    assert index.find("x" * 300) == ()
    assert index.notices == ()


@pytest.mark.parametrize(
    ("phrase", "value", "score"),
    [
        ("los  angeles", "Los Angeles", 1.0),
        ("SAO PAULO", "São Paulo", 1.0),
        ("zurich", "Zürich", 1.0),
        ("東京", "東京", 1.0),
        ("МОСКВА", "Москва", 1.0),
        ("a+", "A+", 1.0),
        ("A", "A+", 0.99),
        ("baden baden", "Baden-Baden", 0.99),
        ("ohare", "O'Hare", 0.99),
        ("washington dc", "Washington D.C.", 0.99),
        ("university of california", "Universities of California", 0.95),
        ("los angles", "Los Angeles", 0.89),
        ("los angeels", "Los Angeles", 0.8945),
        ("lso angeles", "Los Angeles", 0.8945),
        ("newyork", "New York", 0.8686),
        ("belrin", "Berlin", 0.8567),
        ("brlin", "Berlin", 0.84),
        ("wasingtom", "Washington", 0.8289),
        ("USA", "United States of America", 0.75),
        ("angeles international", "Los Angeles International Airport", 0.7818),
        ("washing", "Washington", 0.705),
    ],
)
async def test_what_people_type(cities: ValueIndex, phrase: str, value: str, score: float) -> None:
    hit = next(hit for hit in cities.find(phrase) if hit.value == value)
    assert hit.score == pytest.approx(score, abs=0.0001)
    assert cities.find(phrase)[0].score == hit.score


@pytest.mark.parametrize(
    "phrase",
    [
        "",
        " ",
        "?!",
        "usa",
        "Room 103",
        "room 110",
        "brln",
        "paris",
        "the",
        "of",
        "xyzzy",
        "+++",
        "b",
        "x" * 500,
        "💥",
        "\x00",
    ],
)
async def test_nothing_when_nothing_is_near(cities: ValueIndex, phrase: str) -> None:
    assert cities.find(phrase) == ()


@pytest.mark.parametrize("least", [0.6, 0.85, 0.95, 1.0])
@pytest.mark.parametrize("phrase", ["york", "New York", "munchen", "brelin", "SPD", "berlins", "st louis", "nowhere"])
async def test_only_what_fits_well_enough(cities: ValueIndex, phrase: str, least: float) -> None:
    all_hits = cities.find(phrase, limit=50)
    assert cities.find(phrase, limit=50, least=least) == tuple(hit for hit in all_hits if hit.score >= least)


async def test_a_name_within_a_longer_one(cities: ValueIndex) -> None:
    assert found(cities, "los angeles") == [("Los Angeles", 1.0), ("Los Angeles International Airport", 0.8167)]
    assert found(cities, "airport angeles") == [("Los Angeles International Airport", 0.6727)]


async def test_a_misspelling_is_not_thought_of_when_the_word_exists(lite_places: Places) -> None:
    lite_places.put("names", "Marta", "Maria", "Mario")
    index = await lite_places.open()
    assert found(index, "maria") == [("Maria", 1.0)]
    assert found(index, "marka") == [("Maria", 0.84), ("Marta", 0.84)]


async def test_results_are_limited_and_always_in_the_same_order(lite_places: Places) -> None:
    for table in ("b", "a", "c"):
        lite_places.put(table, "Same", "same", "Same thing")
    index = await lite_places.open()
    hits = index.find("same", limit=7)
    assert [(hit.table, hit.value) for hit in hits] == [
        ("b", "Same"),
        ("b", "same"),
        ("a", "Same"),
        ("a", "same"),
        ("c", "Same"),
        ("c", "same"),
        ("b", "Same thing"),
    ]
    assert index.find("same", limit=2) == hits[:2]


async def test_names_given_to_values(lite_places: Places) -> None:
    lite_places.put("orders", "A", "C", "Live music")
    names = (ValueName(value="A", synonyms=("active", "Live")), ValueName(value="C", synonyms=("closed",)))
    index = await lite_places.open(lite_places.catalog(value_names=names))
    assert found(index, "ACTIVE") == [("A", 1.0)]
    assert found(index, "live") == [("A", 1.0), ("Live music", 0.82)]
    assert found(index, "closed") == [("C", 1.0)]


async def test_many_values_with_a_common_word(lite_places: Places) -> None:
    lite_places.put(
        "firms", *(f"Company {chr(97 + n % 26)}{chr(97 + n // 26)}" for n in range(500)), "Company of Wolves"
    )
    index = await lite_places.open()
    assert best(index, "company of wolfs") == "Company of Wolves"
    assert len(index.find("company", limit=50)) == 50
    assert best(index, "wolves") == "Company of Wolves"


names = st.text(st.characters(categories=("L", "N", "P", "S", "Zs"), codec="utf-8"), min_size=1, max_size=40)


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], max_examples=25, deadline=None)
@given(values=st.lists(names, min_size=1, max_size=20), data=st.data())
async def test_a_value_is_found_by_itself(values: list[str], data: st.DataObject, tmp_path: Path) -> None:
    connection = sqlite3.connect(":memory:", check_same_thread=False)
    connection.execute("CREATE TABLE t (v TEXT)")
    connection.executemany("INSERT INTO t VALUES (?)", [(value,) for value in values])

    class Probe:
        async def rows(self, sql: str) -> list[tuple[Any, ...]]:
            return connection.execute(sql).fetchall()

    table = Table(name="t", columns=(Column(name="v", type="text"),))
    index = await ValueIndex.open(tmp_path, Catalog(source="s", dialect="sqlite", tables=(table,)), Probe())
    value = data.draw(st.sampled_from(values))
    for phrase in (value, value.upper(), value.lower(), f" {value} "):
        hits = index.find(phrase, limit=100)
        assert not value.strip() or any(hit.value == value and hit.score >= 0.99 for hit in hits)
    index.close()
    connection.close()


letters = st.text("abcdeghilmnorstu", min_size=4, max_size=20)


@given(word=letters, place=st.integers(0, 100), letter=st.sampled_from("aenrstxz"), kind=st.integers(0, 3))
def test_one_slip_always_leaves_a_piece(word: str, place: int, letter: str, kind: int) -> None:
    """What makes misspellings findable at all: phrase and value share a piece at a place where it is looked for."""
    at = place % (len(word) - 1)
    slipped = (
        word[:at] + word[at + 1 :],
        word[:at] + letter + word[at:],
        word[:at] + letter + word[at + 1 :],
        word[:at] + word[at + 1] + word[at] + word[at + 2 :],
    )[kind]
    if not allowed_slips(len(slipped)):
        return
    pieces = [(len(word), word[start:end]) for start, end in pairwise(cuts(len(word)))]
    assert any(piece in shared for piece, shared in zip(pieces, shared_pieces(slipped), strict=True))


@given(st.text(max_size=60))
def test_pieces_are_cut_by_sql_as_by_us(normal: str) -> None:
    expected = tuple(normal[start:end] for start, end in pairwise(cuts(len(normal))))
    with closing(sqlite3.connect(":memory:")) as connection:
        query = f"SELECT {', '.join(map(piece, range(PIECES)))} FROM (SELECT ? AS normal)"
        assert "\x00" in normal or connection.execute(query, (normal,)).fetchone() == expected


# Building


async def test_a_small_schema_takes_one_statement(lite_places: Places) -> None:
    for number in range(40):
        lite_places.put(f"t{number}", "one", "two")
    await lite_places.open(lite_places.catalog(distinct_count=2))
    assert len(lite_places.engine.statements) == 1


async def test_pages(places: Places) -> None:
    values = [f"value {chr(0x4E00 + n)} {n}" for n in range(25)]
    places.put("many", *values)
    index = await places.open(page=10)
    assert len(places.engine.statements) == 3
    assert all(best(index, value) == value for value in values)


@pytest.mark.parametrize(
    ("limits", "notice"),
    [
        ({"values_a_column": 3}, "it has more than 3 distinct values"),
        ({"values_a_column": 3, "page": 2}, "it has more than 3 distinct values"),
        ({"values": 5, "page": 2}, "the index is full with 5 values"),
        ({"longest_average": 4}, "its values are long texts"),
    ],
)
async def test_what_is_left_out_is_told(lite_places: Places, limits: dict[str, Any], notice: str) -> None:
    lite_places.put("few", "abc", "abd")
    lite_places.put("many", "value a", "value b", "value c", "value d")
    index = await lite_places.open(**limits)
    assert [(n.subject, n.message) for n in index.notices] == [("many.v", notice)]
    assert index.find("value a") == ()
    assert best(index, "abc") == "abc"
    again = await lite_places.open(**limits)
    assert again.notices == index.notices


async def test_dates_and_empty_columns_are_not_read(lite_places: Places) -> None:
    lite_places.put("t", "2024-01-02")
    assert (await lite_places.open(lite_places.catalog(examples=("2024-01-02", "2024-01-03 10:00")))).find("2024") == ()
    assert (await lite_places.open(lite_places.catalog(distinct_count=0))).find("2024") == ()
    assert lite_places.engine.statements == []


async def test_only_text_is_indexed(lite: Any, tmp_path: Path) -> None:
    lite.run("CREATE TABLE t (a TEXT, b INTEGER, c)", "INSERT INTO t VALUES ('one', 2, 3), ('two', 3, 'four')")
    catalog = Catalog(source="s", dialect="sqlite", tables=lite.tables())
    index = await ValueIndex.open(tmp_path, catalog, lite)
    assert [hit.column for word in ("one", "2", "3", "four") for hit in index.find(word)] == ["a", "c"]
    index.close()


async def test_a_column_that_cannot_be_read_costs_only_itself(lite_places: Places) -> None:
    lite_places.put("good", "Berlin")
    catalog = lite_places.catalog()
    gone = Table(name="gone", columns=(Column(name="v", type="text"),))
    index = await lite_places.open(catalog.model_copy(update={"tables": (*catalog.tables, gone)}))
    assert best(index, "berlin") == "Berlin"
    assert [notice.subject for notice in index.notices] == ["gone.v"]
    assert "no such table" in index.notices[0].message


async def test_only_changed_tables_are_read_again(lite_places: Places) -> None:
    lite_places.put("cities", "Berlin", "Zürich")
    lite_places.put("people", "Ann", "Berlin")
    await lite_places.open()
    lite_places.put("cities", "Madrid", "Ann")
    lite_places.engine.statements.clear()
    index = await lite_places.open(lite_places.catalog(versions={"cities": "2"}))
    assert [("cities" in s, "people" in s) for s in lite_places.engine.statements] == [(True, False)]
    assert [(h.table, h.value) for h in index.find("berlin")] == [("people", "Berlin")]
    assert [(h.table, h.value) for h in index.find("berlim")] == [("people", "Berlin")]
    assert [(h.table, h.value) for h in index.find("madird")] == [("cities", "Madrid")]
    assert {h.table for h in index.find("ann")} == {"cities", "people"}
    assert index.find("zürich") == ()
    lite_places.engine.statements.clear()
    await lite_places.open(lite_places.catalog(versions={"cities": "2"}))
    assert lite_places.engine.statements == []


async def test_a_removed_table_and_a_hidden_column_are_forgotten(lite_places: Places) -> None:
    lite_places.put("cities", "Berlin")
    lite_places.put("people", "Ann")
    await lite_places.open()
    catalog = lite_places.catalog()
    index = await lite_places.open(catalog.model_copy(update={"tables": catalog.tables[:1]}))
    assert index.find("ann") == ()
    hidden = catalog.tables[0].model_copy(update={"columns": ()})
    index = await lite_places.open(catalog.model_copy(update={"tables": (hidden, catalog.tables[1])}))
    assert (index.find("berlin"), best(index, "ann")) == ((), "Ann")


async def test_without_a_fingerprint_it_is_read_each_time(lite_places: Places) -> None:
    lite_places.put("cities", "Berlin")
    catalog = lite_places.catalog(versions={"cities": ""}).model_copy(update={"fingerprint": ""})
    await lite_places.open(catalog)
    await lite_places.open(catalog)
    assert len(lite_places.engine.statements) == 2


async def test_many_changes(lite_places: Places) -> None:
    lite_places.put("stays", "Berlin", "Hamburg", "San Remo di Sopra")
    for version in range(8):
        lite_places.put("changes", *(f"Madrid {letter} {version}" for letter in "xyz"), "Berlin")
        index = await lite_places.open(lite_places.catalog(versions={"changes": str(version)}))
        assert [hit.table for hit in index.find("berlim")] == ["stays", "changes"]
        assert [hit.value for hit in index.find("madrid")] == [f"Madrid {letter} {version}" for letter in "xyz"]
        assert (best(index, "remo sopra"), best(index, "hamburk")) == ("San Remo di Sopra", "Hamburg")


async def test_searches_use_the_indexes(lite_places: Places) -> None:
    lite_places.put("cities", *CITIES)
    await lite_places.open()
    with closing(sqlite3.connect(lite_places.file)) as connection:
        for number, query in enumerate(_SHARING):
            steps = [row[3] for row in connection.execute("EXPLAIN QUERY PLAN " + query, ('[[5, "ab"]]', 9))]
            assert f"USING INDEX by_piece_{number}" in steps[-1]


# What can go wrong


@pytest.mark.parametrize(
    "damage",
    [
        lambda path: path.write_bytes(b""),
        lambda path: path.write_bytes(b"not a database at all" * 500),
        lambda path: os.truncate(path, path.stat().st_size // 2),
        lambda path: path.write_bytes(path.read_bytes()[:4096] + os.urandom(path.stat().st_size - 4096)),
        lambda path: _in_the_middle(path),
        lambda path: _other_format(path),
    ],
    ids=["empty", "no database", "cut off", "scrambled", "one page", "other format"],
)
async def test_a_file_that_cannot_be_used_is_built_again(lite_places: Places, damage: Callable[[Path], Any]) -> None:
    lite_places.put("cities", *CITIES, *(f"City number {n}" for n in range(400)))
    (await lite_places.open()).close()
    damage(lite_places.file)
    lite_places.engine.statements.clear()
    assert best(await lite_places.open(), "berlin") == "Berlin"
    assert len(lite_places.engine.statements) == 1


def _in_the_middle(path: Path) -> None:
    content = bytearray(path.read_bytes())
    with closing(sqlite3.connect(path)) as connection:
        [(root,)] = connection.execute("SELECT rootpage FROM sqlite_master WHERE name = 'entries'")
    content[(root - 1) * 4096 : root * 4096] = b"\xff" * 4096
    path.write_bytes(content)


def _other_format(path: Path) -> None:
    connection = sqlite3.connect(path)
    connection.execute("UPDATE about SET format = '0'")
    connection.commit()
    connection.close()


async def test_damage_that_shows_only_later_is_said_and_repaired(lite_places: Places) -> None:
    lite_places.put("cities", *CITIES)
    index = await lite_places.open()
    content = lite_places.file.read_bytes()
    with lite_places.file.open("r+b") as file:
        file.write(content[:100] + b"\xff" * (len(content) - 100))
    with pytest.raises(OperatorError) as told:
        _ = [index.find(word) for word in ("hamburg", "los angles", "xyzzy")]
    assert told.value.stable_code == "value_index_damaged"
    assert not lite_places.file.exists()
    assert best(await lite_places.open(), "berlin") == "Berlin"


async def test_a_failed_build_leaves_the_old_index_and_no_draft(lite_places: Places) -> None:
    lite_places.put("cities", "Berlin")
    await lite_places.open()

    class Broken:
        async def rows(self, sql: str) -> list[tuple[Any, ...]]:
            raise MemoryError

    with pytest.raises(MemoryError):
        await ValueIndex.open(lite_places.cache, lite_places.catalog(versions={"cities": "2"}), Broken())
    assert [path.name for path in lite_places.cache.iterdir()] == [lite_places.file.name]
    assert best(await lite_places.open(), "berlin") == "Berlin"


@pytest.mark.parametrize("phrase", ["\ud800", "berlin\udfff", "\ud83d berlin"])
async def test_damaged_text_is_neither_stored_nor_a_failure(tmp_path: Path, phrase: str) -> None:
    class Damaged:
        async def rows(self, sql: str) -> list[tuple[Any, ...]]:
            return [("Berlin",), (phrase,), ("Bern",)]

    table = Table(name="t", columns=(Column(name="v", type="text"),))
    index = await ValueIndex.open(tmp_path, Catalog(source="s", dialect="sqlite", tables=(table,)), Damaged())
    assert [hit.value for hit in index.find(phrase)] in ([], ["Berlin"])
    assert (best(index, "berlin"), best(index, "bern")) == ("Berlin", "Bern")
    index.close()


async def test_a_cache_that_cannot_be_written_to(lite_places: Places) -> None:
    lite_places.put("cities", "Berlin")
    lite_places.cache.write_text("a file, not a folder")
    with pytest.raises(OperatorError, match="cannot be made") as told:
        await lite_places.open()
    assert told.value.stable_code == "value_index_impossible"


FULL_DISK = """
import asyncio, resource, signal, sys
from pathlib import Path
from answerable.core.catalog import Catalog, Column, Table
from answerable.core.errors import OperatorError
from answerable.sources.value_index import ValueIndex

signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
resource.setrlimit(resource.RLIMIT_FSIZE, (60_000, 60_000))

class Probe:
    async def rows(self, sql):
        return [(f"value {n}",) for n in range(20_000)]

table = Table(name="t", columns=(Column(name="v", type="text"),), fingerprint="1")
try:
    asyncio.run(ValueIndex.open(Path(sys.argv[1]), Catalog(source="s", dialect="sqlite", tables=(table,)), Probe()))
except OperatorError as error:
    print(error.stable_code)
"""


def test_a_full_disk_is_told_and_leaves_nothing_behind(tmp_path: Path) -> None:
    command = [sys.executable, "-c", FULL_DISK, str(tmp_path / "cache")]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    assert done.stdout == "value_index_impossible\n"
    assert list((tmp_path / "cache").iterdir()) == []


@pytest.mark.parametrize("error", [SourceError("the disk is gone"), LimitError("took longer than 30 s")])
async def test_a_failure_while_a_page_is_being_filed(lite_places: Places, error: Exception) -> None:
    lite_places.put("many", *(f"value {n}" for n in range(30)))

    class Failing:
        asked = 0

        async def rows(self, sql: str) -> list[tuple[Any, ...]]:
            self.asked += 1
            if self.asked == 3:
                raise error
            rows: list[tuple[Any, ...]] = await lite_places.engine.rows(sql)
            return rows

    index = await ValueIndex.open(lite_places.cache, lite_places.catalog(), Failing(), limits=IndexLimits(page=10))
    lite_places.opened.append(index)
    assert index.find("value 1") == ()
    assert str(error) in index.notices[0].message


async def test_abandoned_drafts_are_removed(lite_places: Places) -> None:
    lite_places.put("cities", "Berlin")
    lite_places.cache.mkdir()
    old, fresh = (lite_places.cache / f"{lite_places.file.name}.{name}.new" for name in ("old", "fresh"))
    for draft in (old, fresh):
        draft.write_bytes(b"half")
    os.utime(old, (0, 0))
    await lite_places.open()
    assert (old.exists(), fresh.exists()) == (False, True)


async def test_readers_keep_the_file_they_opened(lite_places: Places) -> None:
    lite_places.put("cities", "Berlin")
    before = await lite_places.open()
    lite_places.put("cities", "Madrid")
    after = await lite_places.open(lite_places.catalog(versions={"cities": "2"}))
    assert (best(before, "berlin"), best(before, "madrid")) == ("Berlin", None)
    assert (best(after, "berlin"), best(after, "madrid")) == (None, "Madrid")


async def test_searches_from_many_threads(cities: ValueIndex) -> None:
    phrases = [*CITIES, "los angles", "belrin"] * 20
    with ThreadPoolExecutor(8) as pool:
        answers = list(pool.map(lambda phrase: cities.find(phrase), phrases))
    assert answers == [cities.find(phrase) for phrase in phrases]


BUILDER = """
import asyncio, sqlite3, sys
from pathlib import Path
from answerable.core.catalog import Catalog, Column, Table
from answerable.sources.value_index import ValueIndex

class Probe:
    async def rows(self, sql):
        connection = sqlite3.connect(sys.argv[1])
        return connection.execute(sql).fetchall()

table = Table(name="t", columns=(Column(name="v", type="text"),), fingerprint="1")
index = asyncio.run(ValueIndex.open(Path(sys.argv[2]), Catalog(source="s", dialect="sqlite", tables=(table,)), Probe()))
print(index.find("value number two thousnd")[0].value)
"""


def test_processes_that_build_at_the_same_time(tmp_path: Path) -> None:
    source = tmp_path / "source.sqlite"
    connection = sqlite3.connect(source)
    connection.execute("CREATE TABLE t (v TEXT)")
    connection.executemany("INSERT INTO t VALUES (?)", [(f"value {n}",) for n in range(5_000)])
    connection.execute("INSERT INTO t VALUES ('value number two thousand')")
    connection.commit()
    connection.close()
    command = [sys.executable, "-c", BUILDER, str(source), str(tmp_path / "cache")]
    builders = [subprocess.Popen(command, stdout=subprocess.PIPE, text=True) for _ in range(3)]
    assert [builder.communicate()[0] for builder in builders] == ["value number two thousand\n"] * 3
    assert len(list((tmp_path / "cache").iterdir())) == 1


# Real databases


async def test_values_of_real_databases_are_found_by_themselves(
    shared_data: Path, sqlite_file: Callable[[Path], Any], tmp_path: Path
) -> None:
    """As they stand, in capitals, and with two letters swapped."""
    swapped = near = 0
    for path in sorted((shared_data / "spider_train" / "database").glob("*/*.sqlite")):
        probe = sqlite_file(path)
        catalog = Catalog(source=path.stem, dialect="sqlite", tables=probe.tables())
        with closing(await ValueIndex.open(tmp_path, catalog, probe)) as index:
            with closing(sqlite3.connect(tmp_path / file_name(catalog))) as connection:
                values = [row[0] for row in connection.execute("SELECT value FROM entries WHERE id % 7 = 0")]
            for value in values:
                assert any(hit.value == value for hit in index.find(value.upper(), limit=100)), (path.stem, value)
            for value in (value for value in values if len(value) >= 8 and value.isalpha()):
                slipped = value[:3] + value[4] + value[3] + value[5:]
                swapped += 1
                near += value in (hit.value for hit in index.find(slipped))
    print(f"{near} of {swapped} misspelt values were found")
    assert near / swapped > 0.97


async def test_digits_stay_text_beside_columns_of_numbers(lite: Any, tmp_path: Path) -> None:
    lite.run("CREATE TABLE b (y INTEGER, z NUMERIC)", "INSERT INTO b VALUES ('n/a', 'unknown')")
    lite.run("CREATE TABLE a (x TEXT, w)", "INSERT INTO a VALUES ('00501', '1.50')")
    columns = {"b": ("y", "z"), "a": ("x", "w")}
    tables = [
        Table(name=name, columns=tuple(Column(name=c, type="text", distinct_count=1) for c in names))
        for name, names in columns.items()
    ]
    index = await ValueIndex.open(tmp_path, Catalog(source="s", dialect="sqlite", tables=tuple(tables)), lite)
    assert len(lite.statements) == 1
    assert [best(index, phrase) for phrase in ("00501", "1.50", "501")] == ["00501", "1.50", None]
    index.close()


CANCELLED_BUILDS = """
import asyncio, sys
from pathlib import Path
from answerable.core.catalog import Catalog, Column, Table
from answerable.sources.value_index import ValueIndex

class Town:
    async def rows(self, query):
        return [(f"Town number {number}",) for number in range(40_000)]

async def main():
    columns = (Column(name="name", type="text"),)
    catalog = Catalog(source="towns", dialect="duckdb", tables=(Table(name="towns", columns=columns),))
    for delay in range(0, 300, 15):
        building = asyncio.create_task(ValueIndex.open(Path(sys.argv[1]), catalog, Town()))
        await asyncio.sleep(delay / 1000)
        building.cancel()
        await asyncio.wait((building,))

asyncio.run(main())
"""


def test_building_can_be_cancelled_at_any_moment(tmp_path: Path) -> None:
    """A connection that is closed while its thread still writes ends the process, so this runs in one of its own."""
    child = subprocess.run([sys.executable, "-c", CANCELLED_BUILDS, str(tmp_path)], capture_output=True, timeout=120)
    assert (child.returncode, child.stderr.decode()) == (0, "")

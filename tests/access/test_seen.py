"""What is made from the data besides answers: catalogs, values, previews, statistics. The same in both worlds."""

import pytest
from access_world import ANA, BO, Worlds

from answerable.core.context import person
from answerable.core.errors import RefusedError
from answerable.query.sql.operator import operator_query
from answerable.sources.base import Browsable, Limits, Peekable

pytestmark = pytest.mark.asyncio(loop_scope="module")
HINTS = (
    "Hid0x10",
    "Hid1x10",
    "Hidx",
    "Codename0-1",
    "codenam",
    "hidden note",
    "aa@x.no",
    "secret.org",
    "East",
    "North",
    "K1",
)


async def test_catalogs_tell_nothing_of_what_is_hidden(worlds: Worlds) -> None:
    first, second = [await (await world.source()).describe() for world in worlds]
    assert [t.model_copy(update={"fingerprint": ""}) for t in first.tables] == [
        t.model_copy(update={"fingerprint": ""}) for t in second.tables
    ]
    assert (first.relationships, first.notes, first.hidden) == (second.relationships, second.notes, second.hidden)
    assert {table.name for table in first.tables} == {"orders", "regions", "staff"}
    assert "salary" not in first.model_dump_json()
    assert "plans" not in first.model_dump_json().replace('"name":"plans","type":"text"', "")
    assert {table.name: table.row_count for table in first.tables} == {"orders": 4, "regions": 3, "staff": 3}


async def test_values_and_their_misspellings_tell_nothing(worlds: Worlds) -> None:
    first, second = [await (await world.source()).values() for world in worlds]
    for phrase in HINTS:
        assert first.find(phrase) == second.find(phrase), phrase
    assert not [hit for hit in first.find("Hid0x10") if hit.score > 0.8]


async def test_previews_and_statistics_tell_nothing(worlds: Worlds) -> None:
    seen = []
    for world in worlds:
        source = await world.source()
        assert isinstance(source, Browsable)
        catalog = await source.describe()
        tables = [(await source.first_rows(table, 0, 50), await source.statistics(table)) for table in catalog.tables]
        seen.append((tables, await source.relationship_checks(catalog)))
    assert seen[0] == seen[1]


async def test_gold_statements_and_tried_readings_are_rewritten_too(worlds: Worlds, kind: str) -> None:
    dialect = "postgres" if kind == "postgres" else kind
    for statement in ("SELECT name FROM staff", "SELECT 1", "SELECT count(*) FROM orders"):
        found = []
        for world in worlds:
            source = await world.source()
            assert isinstance(source, Peekable)
            found.append(await source.peek([operator_query(statement, dialect)], Limits(seconds=10)))
        assert found[0] == found[1]
    for world in worlds:
        with pytest.raises(RefusedError, match="You may not see the table 'plans', by rule 'no-plans'"):
            await world.executed(await world.source(), operator_query("SELECT * FROM plans", dialect))


async def test_each_person_sees_their_own_part(worlds: Worlds) -> None:
    world = worlds[0]
    assert await world.rows("SELECT DISTINCT region FROM staff", ANA) == [("West",)]
    assert await world.rows("SELECT DISTINCT region FROM staff", BO) == [("East",), ("North",)]
    assert await world.rows("SELECT count(*) FROM staff", person("nobody")) == [(0,)]
    with pytest.raises(RefusedError, match="the source 'shop', as no rule allows it"):
        await world.source(person("idle"))


async def test_none_and_not_visible_do_not_look_alike(worlds: Worlds) -> None:
    world = worlds[0]
    assert (await world.outcome("SELECT * FROM plans"))[0] == "access_denied"
    assert (await world.outcome("SELECT * FROM planets"))[0] == "sql_table_unknown"
    assert (await world.outcome("SELECT salary FROM staff"))[0] == "access_denied"
    assert (await world.outcome("SELECT celery FROM staff"))[0] == "sql_column_unknown"
    assert await world.outcome("SELECT name FROM staff WHERE region = 'Mars'") == ("rows", [])

"""Cypher under rules: graphs that differ only in what is hidden, and one without it, give the same to each attempt."""

from asyncio import gather
from collections.abc import AsyncIterator

import pytest
import pytest_asyncio
from access_graph import ATTEMPTS, GraphWorld, made
from access_world import ANA, BO, BOSS

from answerable.core.context import person
from answerable.sources.base import Browsable

pytestmark = pytest.mark.asyncio(loop_scope="module")


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def graphs(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[list[GraphWorld]]:
    worlds = [made(tmp_path_factory.mktemp(f"graph{number}"), number) for number in range(3)]
    yield worlds
    for world in worlds:
        await world.registry.close()


async def test_cypher_tells_nothing_of_what_is_hidden(graphs: list[GraphWorld]) -> None:
    codes = []
    for cypher in ATTEMPTS:
        first, second, only_seen = await gather(*(world.outcome(cypher) for world in graphs))
        assert first == second == only_seen, cypher
        assert "the same in both worlds" not in str(first), cypher
        codes.append(first[0])
    assert len(ATTEMPTS) > 120
    assert codes.count("rows") > 90, "most of them are answered, and not refused"


async def test_the_attempts_would_tell_if_there_were_no_rules(graphs: list[GraphWorld]) -> None:
    told = 0
    for cypher in ATTEMPTS[::3]:
        first, second = await gather(*(world.outcome(cypher, BOSS) for world in graphs[:2]))
        told += first != second
    assert told > 30


async def test_what_is_refused_names_the_rule(graphs: list[GraphWorld]) -> None:
    code, (message, _hint) = await graphs[0].outcome(
        "MATCH p = (u:User)-[:Follows*1..2]->(v:User) RETURN properties(rels(p), 'since')"
    )
    assert code == "access_cypher_refused"
    assert "'region'" in message


async def test_catalogs_values_and_previews_of_a_graph_tell_nothing(graphs: list[GraphWorld]) -> None:
    seen = []
    for world in graphs:
        source = await world.source()
        assert isinstance(source, Browsable)
        catalog = await source.describe()
        values = await source.values()
        seen.append(
            (
                [table.model_copy(update={"fingerprint": ""}) for table in catalog.tables],
                catalog.notes,
                [await source.statistics(table) for table in catalog.tables],
                [sorted(await source.first_rows(table, 0, 50), key=repr) for table in catalog.tables],
                [values.find(text) for text in ("Hid0x1", "Hid1x1", "Kid", "secret.org", "East", "B-Ida", "Plan00")],
            )
        )
    assert seen[0] == seen[1] == seen[2]
    assert {table.name: table.row_count for table in seen[0][0]} == {"City": 3, "Follows": 4, "LivesIn": 3, "User": 4}
    assert "Hid" not in repr(seen[0])


async def test_each_person_sees_their_own_part_of_a_graph(graphs: list[GraphWorld]) -> None:
    regions = "MATCH (u:User) RETURN DISTINCT u.region"
    assert await graphs[0].rows(regions, ANA) == [("West",)]
    assert await graphs[0].rows(regions, BOSS) == [("East",), ("West",)]
    assert await graphs[0].rows("MATCH (u:User) RETURN count(*)", person("nobody")) == [(0,)]
    assert await graphs[0].rows("MATCH (u:User) WHERE u.region = 'West' RETURN count(*)", BO) == [(0,)]
    assert (await graphs[0].rows("MATCH (u:User {name: 'Ida'}) RETURN u.email, u.age")) == [("a***", 31)]

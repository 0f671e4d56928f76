"""Who may run which stored graph, and use which tool: by rules, and where none speaks, by permissions."""

from collections.abc import AsyncIterator
from pathlib import Path

import pytest
import pytest_asyncio

from answerable.app import open_service
from answerable.core.context import LOCAL, Principal, person
from answerable.core.errors import RefusedError
from answerable.service import Service
from answerable.settings import Settings

pytestmark = pytest.mark.asyncio(loop_scope="module")

POLICY = """
users:
  boss: {roles: [manager]}
  ana: {roles: [seller]}
  eve: {roles: [seller, kept]}
roles:
  manager: {actions: [ask, sql, cypher, python, administer]}
  seller: {actions: [ask]}
  kept: {}
rules:
  - {name: all-see, for: everyone, source: demo, allow: true}
  - {name: weekly, for: seller, graphs: [weekly, outer, looking, paused], allow: true}
  - {name: kept-out, for: kept, graphs: "*", deny: true}
  - {name: no-secret, for: [seller, manager], graphs: secret, deny: true, reason: For the board.}
  - {name: no-statistics, for: seller, tools: [column_statistics], deny: true}
"""
COUNT = """
name: {name}
nodes:
  rows: {{kind: sql, source: demo, sql: SELECT count(*) AS n FROM stores}}
"""
OUTER = """
name: outer
nodes:
  inner: {kind: subgraph, graph: secret}
"""
LOOKING = """
name: looking
nodes:
  look: {kind: tool, tool: column_statistics, source: demo}
"""
PAUSED = """
name: paused
nodes:
  go: {kind: wait, event: go}
  rows: {kind: sql, source: demo, sql: SELECT count(*) AS n FROM stores, after: [go]}
"""
BOSS, ANA, EVE = person("boss"), person("ana"), person("eve")


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def service(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Service]:
    home: Path = tmp_path_factory.mktemp("home")
    async with open_service(Settings(home=home), any_location=False) as opened:
        for text in (*(COUNT.format(name=name) for name in ("weekly", "other", "secret")), OUTER, LOOKING, PAUSED):
            await opened.graphs.save(text, LOCAL)
        (home / "access.yaml").write_text(POLICY)
        yield opened


async def test_people_see_the_graphs_that_they_may_run(service: Service) -> None:
    seen = {who.user: [each.name for each in await service.graphs.list(who)] for who in (BOSS, ANA, EVE)}
    assert seen == {
        "boss": ["looking", "other", "outer", "paused", "weekly"],
        "ana": ["looking", "outer", "paused", "weekly"],
        "eve": [],
    }


@pytest.mark.parametrize(
    ("who", "name", "told"),
    [
        (ANA, "other", "as no rule allows it"),
        (ANA, "secret", "by rule 'no-secret'. For the board."),
        (BOSS, "secret", "by rule 'no-secret'"),
        (EVE, "weekly", "by rule 'kept-out'"),
        (ANA, "outer", "the graph 'secret', by rule 'no-secret'"),
        (BOSS, "outer", "the graph 'secret', by rule 'no-secret'"),
    ],
)
async def test_a_graph_that_is_not_allowed_is_not_run(service: Service, who: Principal, name: str, told: str) -> None:
    with pytest.raises(RefusedError) as caught:
        await service.graphs.begin_stored(name, {}, who)
    assert told in str(caught.value)
    assert caught.value.stable_code == "access_denied"


async def test_a_seller_runs_what_is_allowed_and_writes_nothing(service: Service) -> None:
    run = await service.graphs.begin_stored("weekly", {}, ANA)
    assert (await service.graphs.wait(run, ANA)).status == "done"
    again = await service.questions.retry(run, ANA)
    assert (await service.graphs.wait(again, ANA)).status == "done"
    for writing in (
        service.graphs.begin(COUNT.format(name="mine"), {}, ANA),
        service.graphs.save(COUNT.format(name="weekly"), ANA),
        service.graphs.validate(COUNT.format(name="weekly"), ANA),
        service.graphs.rollback("weekly", 1, ANA),
        service.graphs.delete("weekly", ANA),
    ):
        with pytest.raises(RefusedError, match="needs the permission `sql`"):
            await writing
    for looking in (
        service.graphs.show("secret", ANA),
        service.graphs.versions("secret", ANA),
        service.graphs.diff("secret", ANA),
        service.graphs.runs("secret", ANA),
        service.graphs.figures("secret", ANA),
    ):
        with pytest.raises(RefusedError, match="the graph 'secret', by rule 'no-secret'"):
            await looking


async def test_a_run_is_not_begun_once_more_when_its_graph_is_denied_by_then(service: Service) -> None:
    run = await service.graphs.begin_stored("weekly", {}, ANA)
    assert (await service.graphs.wait(run, ANA)).status == "done"
    file = service._registry.access(ANA.tenant).path  # the rules change while the server runs
    before = file.read_text()
    file.write_text(before.replace("graphs: [weekly,", "graphs: ["))
    try:
        for again in (service.questions.retry(run, ANA), service.graphs.fork(run, ANA)):
            with pytest.raises(RefusedError, match="the graph 'weekly', as no rule allows it"):
                await again
    finally:
        file.write_text(before)


async def test_a_denied_tool_is_not_used(service: Service) -> None:
    run = await service.graphs.begin_stored("looking", {}, BOSS)
    assert (await service.graphs.wait(run, BOSS)).status == "done"
    run = await service.graphs.begin_stored("looking", {}, ANA)
    ended = await service.graphs.wait(run, ANA)
    assert ended.status == "refused"
    assert "You may not use the tool 'column_statistics', by rule 'no-statistics'." in ended.model_dump_json()


async def test_who_is_deleted_in_the_middle_of_a_run_gets_nothing_more_by_it(service: Service) -> None:
    run = await service.graphs.begin_stored("paused", {}, ANA)
    await service.graphs.wait(run, ANA)
    file = service._registry.access(ANA.tenant).path  # the rules change while the run waits
    before = file.read_text()
    file.write_text(before.replace("  ana: {roles: [seller]}\n", ""))
    try:
        assert await service.graphs.signal("go", None, LOCAL) == [run]
        ended = await service.graphs.wait(run, LOCAL)
        assert ended.status == "refused"
        assert "'ana' is not among the users of this installation." in ended.model_dump_json()
        assert '"n"' not in ended.model_dump_json()
        with pytest.raises(RefusedError, match="'ana' is not among the users"):
            await service.graphs.begin_stored("paused", {}, ANA)
    finally:
        file.write_text(before)
    assert (await service.runs.get(run, ANA)).status == "refused"

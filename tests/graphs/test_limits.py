"""How many runs of a graph and of a tenant work at the same time, which comes first, and breakers that are shared."""

import asyncio
from pathlib import Path
from typing import Any

import pytest
from graph_text import graph_text

from answerable.app import open_service
from answerable.core.context import LOCAL, Principal
from answerable.core.ids import RunId, TenantId, UserId
from answerable.service import Service
from answerable.service.process_role import ProcessRole
from answerable.settings import Settings

SLOW = graph_text("slow: {kind: wait, event: go}\nhold: {kind: wait, seconds: 60}", "at_once: 2")


async def owners(service: Service, runs: list[RunId], who: Principal = LOCAL) -> int:
    return sum([(await service.runs.get(run, who)).owner is not None for run in runs])


async def test_no_more_runs_of_a_graph_work_than_it_says(settings: Settings) -> None:
    async with (
        open_service(settings, any_location=True) as one,
        open_service(settings, any_location=True, role=ProcessRole(carried_at_once=5)) as two,
    ):
        runs = [await one.graphs.begin(SLOW, {}, LOCAL) for _ in range(4)]
        other = await one.graphs.begin(SLOW.replace("tried", "other"), {}, LOCAL)
        assert await owners(one, runs) == 2
        assert await owners(one, [other]) == 1
        await two.runs.cancel(runs[3], LOCAL)
        assert (await one.runs.get(runs[3], LOCAL)).status == "cancelled", "it needs no room to end"
        assert await two.runs.carrier.adopt() == 0
        await one.runs.cancel(runs[0], LOCAL)
        assert await two.runs.carrier.adopt() == 1
        assert await two.runs.carrier.adopt() == 0
        for run in runs:
            await asyncio.gather(*(each.runs.carrier.adopt() for each in (one, two)))
            await one.runs.cancel(run, LOCAL)
        assert {(await one.runs.get(run, LOCAL)).status for run in runs} == {"cancelled"}
        await one.runs.cancel(other, LOCAL)


async def test_a_run_that_waits_for_a_person_leaves_its_place(service: Service) -> None:
    text = graph_text("ok: {kind: approval, prompt: x}", "at_once: 1")
    runs = [await service.graphs.begin(text, {}, LOCAL) for _ in range(3)]
    async with asyncio.timeout(30):
        assert [(await service.graphs.wait(run, LOCAL)).status for run in runs] == ["waiting"] * 3


async def test_a_tenant_has_its_own_limit(settings: Settings) -> None:
    limited = settings.model_copy(update={"graph_runs_per_tenant": 1})
    elsewhere = Principal(TenantId("other"), UserId("eve"))
    text = SLOW.replace("at_once: 2\n", "")
    async with open_service(limited, any_location=True) as service:
        mine = [await service.graphs.begin(text.replace("tried", f"g{n}"), {}, LOCAL) for n in range(3)]
        theirs = [await service.graphs.begin(text, {}, elsewhere)]
        assert (await owners(service, mine), await owners(service, theirs, elsewhere)) == (1, 1)
        for run in reversed(mine):
            await service.runs.cancel(run, LOCAL)
        assert {(await service.runs.get(run, LOCAL)).status for run in mine} == {"cancelled"}
        await service.runs.cancel(theirs[0], elsewhere)


async def test_the_highest_priority_comes_first(settings: Settings) -> None:
    async with open_service(settings, any_location=True, role=ProcessRole(leaves_runs=True)) as server:
        texts = [graph_text("hold: {kind: wait, seconds: 60}", f"priority: {n}") for n in (0, 5, -3, 5)]
        runs = [await server.graphs.begin(text, {}, LOCAL) for text in texts]
        async with open_service(settings, any_location=True, role=ProcessRole(carried_at_once=2)) as worker:
            await worker.runs.carrier.adopt()
            taken = [run for run in runs if (await server.runs.get(run, LOCAL)).owner is not None]
            assert taken == [runs[1], runs[3]]
            for run in taken:
                await worker.runs.cancel(run, LOCAL)


@pytest.mark.parametrize("field", ["at_once: 0", "priority: 101", "at_once: many"])
async def test_a_limit_that_is_none_is_a_mistake(service: Service, field: str) -> None:
    with pytest.raises(Exception, match=field.partition(":")[0]):
        await service.graphs.validate(graph_text("x: {kind: transform, value: 1}", field), LOCAL)


async def test_a_breaker_that_opens_is_open_for_other_processes(tmp_path: Path, orders: Path) -> None:
    api = {"url": "http://127.0.0.1:9", "paths": ["/x"], "methods": ["GET"]}
    settings = Settings(home=tmp_path / "home", source=str(orders), apis={"gone": api}, breaker_failures=2)
    text = graph_text("x: {kind: api, api: gone, path: /x, retry: {attempts: 1}}")

    async def code(service: Service) -> Any:
        run = await service.graphs.wait(await service.graphs.begin(text, {}, LOCAL), LOCAL)
        return run.error["code"]

    async with open_service(settings, any_location=True) as one, open_service(settings, any_location=True) as two:
        assert [await code(one), await code(one), await code(one)] == ["api_unreachable"] * 2 + ["breaker_open"]
        assert await code(two) == "breaker_open"
    async with open_service(settings, any_location=True) as later:
        assert await code(later) == "breaker_open"

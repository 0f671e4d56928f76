"""Servers that leave runs to workers: both share one store, and each run is carried out once."""

import asyncio
from collections.abc import AsyncIterator
from datetime import timedelta
from typing import Any

import pytest
from graph_text import graph_text
from shifted_clock import ShiftedClock

from answerable.app import open_service
from answerable.core.context import LOCAL
from answerable.core.ids import RunId
from answerable.service import Service
from answerable.service.process_role import ProcessRole
from answerable.settings import Settings

TEXT = graph_text("said: {kind: transform, template: 'n is {{ input.n }}'}")


@pytest.fixture
async def server(settings: Settings) -> AsyncIterator[Service]:
    async with open_service(settings, any_location=True, role=ProcessRole(leaves_runs=True)) as opened:
        opened.runs.carrier.keep_adopting()
        yield opened


async def ended(server: Service, runs: list[RunId]) -> list[Any]:
    async with asyncio.timeout(30):
        return [await server.graphs.wait(run, LOCAL) for run in runs]


async def test_a_server_stores_runs_and_workers_carry_them_out(server: Service, settings: Settings) -> None:
    runs = [await server.graphs.begin(TEXT, {"n": n}, LOCAL) for n in range(6)]
    record = await server.runs.get(runs[0], LOCAL)
    assert (record.status, record.owner, server.runs.carrier.running()) == ("running", None, 0)
    async with (
        open_service(settings, any_location=True, role=ProcessRole(carried_at_once=2)) as one,
        open_service(settings, any_location=True, role=ProcessRole(carried_at_once=2)) as two,
    ):
        for worker in (one, two):
            worker.runs.carrier.keep_adopting()
        found = await ended(server, runs)
    assert [each.output for each in found] == [f"n is {n}" for n in range(6)]
    assert [(await server.runs.get(run, LOCAL)).deaths for run in runs] == [0] * 6


async def test_a_worker_takes_no_more_than_it_may(server: Service, settings: Settings) -> None:
    slow = graph_text("slow: {kind: wait, seconds: 60}")
    runs = [await server.graphs.begin(slow, {}, LOCAL) for _ in range(5)]
    async with open_service(settings, any_location=True, role=ProcessRole(carried_at_once=2)) as worker:
        assert await worker.runs.carrier.adopt() == 2
        assert await worker.runs.carrier.adopt() == 0
        owners = [(await server.runs.get(run, LOCAL)).owner for run in runs]
        assert sum(owner is not None for owner in owners) == 2
        worker.runs.carrier.keep_adopting()
        await asyncio.gather(*(server.runs.cancel(run, LOCAL) for run in runs))
        assert {each.status for each in await ended(server, runs)} == {"cancelled"}


async def test_a_run_that_waits_for_a_worker_is_cancelled_at_once(server: Service, settings: Settings) -> None:
    slow = graph_text("slow: {kind: wait, seconds: 60}")
    runs = [await server.graphs.begin(slow, {}, LOCAL) for _ in range(3)]
    async with open_service(settings, any_location=True, role=ProcessRole(carried_at_once=1)) as worker:
        assert await worker.runs.carrier.adopt() == 1
        queued = [run for run in runs if (await server.runs.get(run, LOCAL)).owner is None]
        # At the server, which leaves runs to workers, and at the worker, which has no room.
        await server.runs.cancel(queued[0], LOCAL, "changed my mind")
        await worker.runs.cancel(queued[1], LOCAL)
        records = [await server.runs.get(run, LOCAL) for run in runs]
        assert sorted(record.status for record in records) == ["cancelled", "cancelled", "running"]
        assert (server.runs.carrier.running(), worker.runs.carrier.running()) == (0, 1)
        types = [event.type for event in await server.runs.journal(queued[0], LOCAL)]
        assert types == ["run.started", "run.resumed", "run.cancelled"]
        assert (await server.runs.answer(queued[0], LOCAL)).text != ""
        [still] = [record.run for record in records if record.status == "running"]
        await worker.runs.cancel(still, LOCAL)


async def test_a_decision_at_the_server_lets_a_worker_go_on(server: Service, settings: Settings) -> None:
    run = await server.graphs.begin(graph_text("ok: {kind: approval, prompt: x, show: 1}"), {}, LOCAL)
    async with open_service(settings, any_location=True, role=ProcessRole(carried_at_once=2)) as worker:
        worker.runs.carrier.keep_adopting()
        [waiting] = await ended(server, [run])
        assert waiting.status == "waiting"
        await server.runs.decide(run, "ok", LOCAL, verdict="edit", data=2)
        async with asyncio.timeout(30):
            while (await server.runs.get(run, LOCAL)).status in ("running", "waiting"):  # noqa: ASYNC110
                await asyncio.sleep(0.02)
        assert (await server.graphs.get_run(run, LOCAL)).output["data"] == 2


async def test_long_waits_take_no_place_at_a_worker(settings: Settings) -> None:
    clock, role = ShiftedClock(), ProcessRole(patient=True, carried_at_once=1)
    waits = graph_text("later: {kind: wait, seconds: 7200}\nsaid: {kind: transform, after: [later], template: done}")
    async with open_service(settings, any_location=True, role=role, clock=clock) as worker:
        worker.runs.carrier.keep_adopting()
        runs = [await worker.graphs.begin(waits, {}, LOCAL) for _ in range(3)]
        [quick] = await ended(worker, [await worker.graphs.begin(TEXT, {"n": 1}, LOCAL)])
        assert quick.output == "n is 1"
        async with asyncio.timeout(30):
            while worker.runs.carrier.running():  # noqa: ASYNC110 - until all of them have left
                await asyncio.sleep(0.02)
        found = await worker.graphs.get_run(runs[0], LOCAL)
        assert (found.status, found.nodes["later"].status) == ("waiting", "waiting")
        clock.ahead = timedelta(seconds=7201)
        async with asyncio.timeout(30):
            while {(await worker.runs.get(run, LOCAL)).status for run in runs} != {"done"}:  # noqa: ASYNC110
                await asyncio.sleep(0.05)
        assert [each.output for each in await ended(worker, runs)] == ["done"] * 3

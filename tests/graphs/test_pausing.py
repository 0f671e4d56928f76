"""Runs that are paused and resumed, by any process, also through a restart."""

import asyncio
import json
from typing import Any

import pytest
from graph_text import graph_text

from answerable.app import open_service
from answerable.core.context import LOCAL
from answerable.core.errors import UserError
from answerable.core.events import RunPaused, StepFinished, StepOutput, StepStarted
from answerable.core.ids import RunId
from answerable.service import Service
from answerable.service.process_role import ProcessRole
from answerable.settings import Settings

ITEMS = """
each: {kind: map, over: [0, 1, 2, 3], concurrency: 1, body: {nodes: {pass: {kind: wait, seconds: 0.15}}}}
last: {kind: transform, template: "{{ each.3.until }}"}
"""


async def until(service: Service, run: RunId, kind: type[Any], node: str) -> None:
    async with asyncio.timeout(30):
        while not any(  # noqa: ASYNC110 - the journal is looked at, as another process would
            isinstance(each, kind) and each.node == node for each in await service.runs.journal(run, LOCAL)
        ):
            await asyncio.sleep(0.01)


async def status(service: Service, run: RunId, wanted: str) -> None:
    async with asyncio.timeout(30):
        while (await service.runs.get(run, LOCAL)).status != wanted:  # noqa: ASYNC110
            await asyncio.sleep(0.01)


async def test_a_paused_run_starts_nothing_and_goes_on_in_another_process(settings: Settings) -> None:
    async with open_service(settings, any_location=True) as service:
        run = await service.graphs.begin(graph_text(ITEMS), {}, LOCAL)
        await until(service, run, StepFinished, "each/0")
        await service.runs.pause(run, LOCAL)
        assert (await service.graphs.wait(run, LOCAL)).status == "paused"
        await service.runs.pause(run, LOCAL)  # once more changes nothing
        [paused] = [each for each in await service.runs.journal(run, LOCAL) if isinstance(each, RunPaused)]
        assert paused.by == "local"
    async with open_service(settings, any_location=True) as service:
        assert await service.runs.carrier.resume_unfinished() == 0
        assert (await service.runs.get(run, LOCAL)).status == "paused"
        await service.runs.resume(run, LOCAL)
        found = await service.graphs.wait(run, LOCAL)
        events = await service.runs.journal(run, LOCAL)
    assert found.status == "done"
    ended = [each.node for each in events if isinstance(each, StepFinished)]
    assert sorted(ended) == sorted(set(ended))
    # The item that was under way waited for the rest of its time only.
    moments = [each for each in events if isinstance(each, StepOutput) and each.channel == "wait_until"]
    assert len(moments) == len({each.node for each in moments}) == 4


async def test_a_step_that_is_under_way_ends_before_the_run_pauses(run_graph: Any, service: Service) -> None:
    text = graph_text("slow: {kind: python, code: 'result = 1'}\nlast: {kind: transform, after: [slow], value: 2}")
    run = await service.graphs.begin(text, {}, LOCAL)
    await until(service, run, StepStarted, "slow")
    await service.runs.pause(run, LOCAL)
    await status(service, run, "paused")
    nodes = (await service.graphs.get_run(run, LOCAL)).nodes
    assert (nodes["slow"].status, nodes["last"].status) == ("done", "not_started")
    await service.runs.resume(run, LOCAL)
    assert (await service.graphs.wait(run, LOCAL)).output == 2


async def test_a_decision_about_a_paused_run_counts_when_it_is_resumed(run_graph: Any, service: Service) -> None:
    run = (await run_graph("ok: {kind: approval, prompt: Go?}")).run_id
    await service.runs.pause(run, LOCAL)
    assert (await service.runs.get(run, LOCAL)).status == "paused"
    await service.runs.decide(run, "ok", LOCAL, verdict="approve")
    assert (await service.runs.get(run, LOCAL)).status == "paused"
    await service.runs.resume(run, LOCAL)
    assert (await service.graphs.wait(run, LOCAL)).status == "done"
    for verb in (service.runs.pause, service.runs.resume):
        with pytest.raises(UserError, match=r"has ended \(done\)"):
            await verb(run, LOCAL)


async def test_a_paused_run_can_be_cancelled_and_its_graph_is_not_deleted(service: Service) -> None:
    await service.graphs.save("name: held\nnodes:\n  ok: {kind: approval, prompt: Go?}\n", LOCAL)
    run = await service.graphs.begin_stored("held", {}, LOCAL)
    await service.graphs.wait(run, LOCAL)
    await service.runs.pause(run, LOCAL)
    with pytest.raises(UserError, match="runs"):
        await service.graphs.delete("held", LOCAL)
    await service.runs.cancel(run, LOCAL)
    assert (await service.runs.get(run, LOCAL)).status == "cancelled"


async def test_a_server_pauses_and_resumes_what_a_worker_carries_out(settings: Settings) -> None:
    async with (
        open_service(settings, any_location=True, role=ProcessRole(leaves_runs=True)) as server,
        open_service(settings, any_location=True, role=ProcessRole(carried_at_once=2)) as worker,
    ):
        worker.runs.carrier.keep_adopting()
        run = await server.graphs.begin(graph_text("slow: {kind: wait, seconds: 60}"), {}, LOCAL)
        await until(server, run, StepOutput, "slow")
        await server.runs.pause(run, LOCAL)
        await status(server, run, "paused")
        await server.runs.resume(run, LOCAL)
        await status(server, run, "running")
        await server.runs.cancel(run, LOCAL)
        assert (await server.runs.get(run, LOCAL)).status == "cancelled"


def test_the_command_line_pauses_and_resumes(answerable: Any, tmp_path: Any) -> None:
    (tmp_path / "ok.graph.yaml").write_text("name: ok\nnodes:\n  ok: {kind: approval, prompt: Go?}\n")
    run = json.loads(answerable("graph", "run", "ok.graph.yaml", "--json").out)["run_id"]
    assert answerable("runs", "pause", run).out.strip() == f"{run}: paused"
    assert answerable("runs", "resume", run).out.strip() == f"{run}: waiting"

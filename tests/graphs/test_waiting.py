"""Runs that wait: for several people at once, for a deadline, for an event; and what a run may use in all."""

import asyncio
from typing import Any

import pytest
from graph_text import graph_text

from answerable.app import open_service
from answerable.core.context import LOCAL
from answerable.core.errors import LimitError, UserError
from answerable.core.events import (
    ApprovalDecided,
    ApprovalRequested,
    Event,
    RunResumed,
    RunStarted,
    StepFinished,
    StepOutput,
)
from answerable.core.ids import NodeId, RunId
from answerable.engine.budget import RunBudget, active_seconds
from answerable.service import Service
from answerable.settings import Settings


async def test_several_approvals_are_decided_one_by_one_also_after_a_restart(settings: Settings) -> None:
    text = graph_text(
        """
        legal: {kind: approval, prompt: "Legal?", show: 1}
        each: {kind: map, over: [a, b], body: {nodes: {ok: {kind: approval, prompt: "{{ input.item }}?"}}}}
        sent: {kind: transform, value: ["{{ legal.data }}", "{{ each.0.decision }}", "{{ each.1.data }}"]}
        """
    )
    async with open_service(settings, any_location=True) as service:
        run = await service.graphs.begin(text, {}, LOCAL)
        assert (await service.graphs.wait(run, LOCAL)).status == "waiting"
        await service.runs.decide(run, "each/1", LOCAL, verdict="respond", data="later")
        await service.graphs.wait(run, LOCAL)
    async with open_service(settings, any_location=True) as service:
        assert (await service.graphs.wait(run, LOCAL)).status == "waiting"
        await service.runs.decide(run, "legal", LOCAL, verdict="edit", data=2)
        await service.runs.decide(run, "each/0", LOCAL, verdict="approve")
        found = await service.graphs.wait(run, LOCAL)
    assert (found.status, found.output) == ("done", [2, "approve", "later"])


async def _woken(service: Service, run: RunId) -> Any:
    """What a server does once a second. On a slow machine the time has come before the run waits, and it goes on by
    itself."""
    while not await service.runs.carrier.adopt() and (await service.runs.get(run, LOCAL)).status == "waiting":  # noqa: ASYNC110
        await asyncio.sleep(0.02)
    return await service.graphs.wait(run, LOCAL)


@pytest.mark.parametrize(("default", "status"), [("approve", "done"), ("reject", "refused")])
async def test_after_the_deadline_the_default_counts(
    run_graph: Any, service: Service, default: str, status: str
) -> None:
    ok = f"{{kind: approval, prompt: x, deadline: 0.05, default: {default}}}"
    waiting = await run_graph(f"inner: {{kind: subgraph, body: {{nodes: {{ok: {ok}}}}}}}")
    found = await _woken(service, waiting.run_id)
    assert found.status == status
    if status == "done":
        assert found.output["output"]["by"] == "deadline"


async def test_an_event_lets_the_runs_go_on_that_wait_for_it(run_graph: Any, service: Service) -> None:
    nodes = """
    paid: {kind: wait, event: "paid-{{ input.order }}"}
    text: {kind: transform, template: "{{ paid.data.amount }} by {{ paid.by }}"}
    """
    first, second = [await run_graph(nodes, order=order) for order in (1, 2)]
    assert first.status == second.status == "waiting"
    assert await service.graphs.signal("paid-3", None, LOCAL) == []
    assert await service.graphs.signal("paid-1", {"amount": 5}, LOCAL) == [first.run_id]
    assert await service.graphs.signal("paid-1", {"amount": 6}, LOCAL) == []  # it reaches a run once
    assert (await service.graphs.wait(first.run_id, LOCAL)).output == f"5 by {LOCAL.user}"
    assert (await service.graphs.get_run(second.run_id, LOCAL)).status == "waiting"


@pytest.mark.parametrize(("missed", "status", "code"), [("fail", "failed", "event_missed"), ("continue", "done", None)])
async def test_an_event_that_does_not_come_in_time(
    run_graph: Any, service: Service, missed: str, status: str, code: str | None
) -> None:
    waiting = await run_graph(f"news: {{kind: wait, event: news, within: 0.05, missed: {missed}}}")
    found = await _woken(service, waiting.run_id)
    assert (found.status, found.error and found.error["code"]) == (status, code)


async def test_a_run_stops_when_its_time_is_spent(run_graph: Any) -> None:
    found = await run_graph(
        """
        slow: {kind: wait, seconds: 0.05}
        rest: {kind: subgraph, after: [slow], body: {nodes: {x: {kind: transform, template: never}}}}
        """,
        head="budget: {seconds: 0.01}",
    )
    assert (found.status, found.error["code"]) == ("failed", "run_budget_spent")
    assert found.nodes["rest"].status in ("failed", "skipped")  # on a slow machine the time is spent before


@pytest.mark.parametrize(
    ("budget", "spent"),
    [
        ({"model_calls": 3}, False),
        ({"model_calls": 2}, True),
        ({"tokens": 30}, True),
        ({"tokens": 31}, False),
        ({"cost": 0.5}, True),
        ({"cost": 0.51, "seconds": 8}, False),
        ({"seconds": 7}, True),
    ],
)
def test_what_a_budget_counts(budget: dict[str, Any], spent: bool) -> None:
    calls = [{"input_tokens": 10, "output_tokens": 5, "cost": cost} for cost in (0.5, None)]
    outputs = [StepOutput(RunId("r"), 1, 0.0, NodeId("a"), "model_call", call) for call in calls]
    outputs.append(StepOutput(RunId("r"), 1, 0.0, NodeId("a"), "code", "x"))
    if spent:
        with pytest.raises(LimitError, match="The budget of the run is spent"):
            RunBudget(**budget).check_call(outputs, 7.0)
    else:
        RunBudget(**budget).check_call(outputs, 7.0)


def test_waiting_for_people_and_processes_is_free() -> None:
    run, node = RunId("r"), NodeId("a")
    events: list[Event] = [
        RunStarted(run, 1, 10.0, {}),
        ApprovalRequested(run, 2, 11.0, node, "?"),
        ApprovalDecided(run, 3, 500.0, node, True, "ann"),
        RunResumed(run, 4, 600.0),
        StepFinished(run, 5, 602.0, node, None),
    ]
    assert active_seconds(events) == 3.0


async def test_a_run_says_what_it_waits_for_also_inside_of_nodes(run_graph: Any, service: Service) -> None:
    inner = "{nodes: {a: {kind: transform, value: 1}, ok: {kind: approval, prompt: 'Is {{ a }} fine?', deadline: 90}}}"
    nodes = f"inner: {{kind: subgraph, body: {inner}}}\npaid: {{kind: wait, event: paid}}"
    found = await run_graph(nodes)
    assert [(each.node, each.prompt, each.show) for each in found.waits] == [
        ("paid", "Waits for the event `paid`.", {"event": "paid"}),
        ("inner/ok", "Is 1 fine?", None),
    ]
    assert [each.until is not None for each in found.waits] == [False, True]
    assert {id: each.status for id, each in found.nodes.items()} == {"inner": "waiting", "paid": "waiting"}
    with pytest.raises(UserError, match="waits for `paid`, `inner/ok`") as caught:
        await service.runs.answer(RunId(found.run_id), LOCAL)
    assert caught.value.stable_code == "run_waiting"


def test_the_command_line_decides_one_after_the_other(answerable: Any, tmp_path: Any) -> None:
    nodes = "legal: {kind: approval, prompt: Legal?}\nmoney: {kind: approval, prompt: Money?}"
    (tmp_path / "two.graph.yaml").write_text(graph_text(nodes))
    begun = answerable("graph", "run", "two.graph.yaml")
    run = begun.err.partition(":")[0]
    assert (begun.code, begun.err.splitlines()[-2:]) == (
        3,
        [f"Go on with: answerable runs approve {run} {node}" for node in ("legal", "money")],
    )
    shown = answerable("runs", "show", run)
    assert (shown.code, shown.out.splitlines()) == (0, [f"{run}: waiting", "legal: Legal?", "money: Money?"])
    first = answerable("runs", "approve", run, "legal")
    assert (first.code, first.out.splitlines()) == (3, [f"{run}: waiting", "money: Money?"])
    assert answerable("runs", "approve", run, "money").code == 0


def test_a_map_of_many_items_writes_one_line(answerable: Any, tmp_path: Any) -> None:
    body = "{nodes: {x: {kind: transform, value: 1}, y: {kind: transform, value: '{{ x }}'}}}"
    over = list(range(30))
    (tmp_path / "m.graph.yaml").write_text(graph_text(f"all: {{kind: map, over: {over}, body: {body}}}"))
    ran = answerable("graph", "run", "m.graph.yaml")
    assert [line.split()[:2] for line in ran.err.splitlines()[1:-1]] == [["done", "all"]]


async def test_an_event_reaches_more_runs_than_one_listing_holds(
    run_graph: Any, service: Service, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("answerable.service.graphs.RUNS_PER_READ", 2)
    nodes = "paid: {kind: wait, event: 'paid'}"
    waiting = {(await run_graph(nodes)).run_id for _ in range(5)}
    assert len(await service.graphs.runs("tried", LOCAL)) == 5
    assert set(await service.graphs.signal("paid", None, LOCAL)) == waiting

import asyncio
from collections.abc import Callable
from typing import Any

import pytest

from answerable.core.context import RunContext
from answerable.core.errors import GraphError, SourceError, TransientError
from answerable.core.events import Event, PlanReady, StepFailed, StepFinished, StepStarted
from answerable.engine.graph import Graph
from answerable.engine.outcome import outcome_of
from answerable.engine.run import Engine, Outcome
from answerable.engine.steps.base import Step
from answerable.engine.steps.subgraph import SubgraphStep

INNER = {"nodes": [{"id": "x", "kind": "f"}, {"id": "y", "kind": "f", "after": ["x"], "config": {"n": 1}}]}
Run = Callable[..., Any]


async def named(step: Step) -> Any:
    if step.node.config == "fail":
        raise SourceError("down")
    return [step.node.id, *step.inputs.values()]


@pytest.fixture
def run(context: RunContext, kind: Any) -> Run:
    async def run(document: Any, function: Callable[[Step], Any] = named) -> tuple[Outcome, list[Event]]:
        events: list[Event] = []
        engine = Engine({"f": kind(function), "subgraph": SubgraphStep()})
        outcome = await engine.run(Graph.parse(document), context, listeners=[events.append])
        return outcome, events

    return run


def inside(graph: Any, **config: Any) -> Any:
    nodes = [
        {"id": "sub", "kind": "subgraph", "config": {"graph": graph, **config}},
        {"id": "end", "kind": "f", "after": ["sub"]},
    ]
    return {"nodes": nodes, "output": "sub"}


async def test_a_graph_in_the_config_runs_inside_the_step(run: Run) -> None:
    outcome, events = await run(inside(INNER))
    assert outcome.output == {
        "status": "done",
        "output": ["y", ["x"]],
        "outputs": {"x": ["x"], "y": ["y", ["x"]]},
        "errors": {},
    }
    finished = [event.node for event in events if isinstance(event, StepFinished)]
    assert finished == ["sub/x", "sub/y", "sub", "end"]


async def test_the_plan_is_told_before_its_first_step(run: Run) -> None:
    _, events = await run(inside(INNER))
    types = [event.type for event in events]
    assert types[1:4] == ["step.started", "plan.ready", "step.started"]
    [plan] = [event for event in events if isinstance(event, PlanReady)]
    assert plan.plan == {
        "step": "sub",
        "nodes": [
            {"id": "sub/x", "kind": "f", "after": [], "config": None},
            {"id": "sub/y", "kind": "f", "after": ["sub/x"], "config": {"n": 1}},
        ],
    }


async def test_a_graph_made_by_an_earlier_step_runs(run: Run) -> None:
    async def understand(step: Step) -> Any:
        if step.node.id == "understand":
            return {"graph": INNER, "sentence": "All of x."}
        return await named(step)

    nodes = [
        {"id": "understand", "kind": "f"},
        {"id": "execute", "kind": "subgraph", "config": {"from": "understand"}, "after": ["understand"]},
    ]
    outcome, events = await run({"nodes": nodes}, understand)
    assert outcome.output["output"] == ["y", ["x"]]
    [plan] = [event for event in events if isinstance(event, PlanReady)]
    assert plan.sentence == "All of x."


@pytest.mark.parametrize(
    ("config", "message"),
    [
        ({}, "Node `sub`: it needs `graph`, or `from` with a node it comes after."),
        ({"from": "other"}, "Node `sub`: it needs `graph`, or `from` with a node it comes after."),
        ({"from": "a"}, "Node `sub`: the output of `a` has no `graph`."),
        ({"graph": {"nodes": []}}, "The graph has no nodes."),
        ({"graph": {"nodes": [{"id": "x", "kind": "zzz"}]}}, "Node `x`: there is no step kind `zzz`."),
        ("x", "Node `sub`: `config`: Input should be a valid dictionary or instance of SubgraphConfig."),
        ({"grahp": 1}, "Node `sub`: `config.grahp`: Extra inputs are not permitted."),
    ],
)
async def test_a_bad_graph_inside_fails_the_step_with_the_reason(run: Run, config: Any, message: str) -> None:
    nodes = [{"id": "a", "kind": "f"}, {"id": "sub", "kind": "subgraph", "config": config, "after": ["a"]}]
    outcome, _ = await run({"nodes": nodes})
    assert isinstance(outcome.error, GraphError)
    assert outcome.error.message == message


async def test_a_critical_failure_inside_is_the_steps_failure(run: Run) -> None:
    inner = {"nodes": [{"id": "x", "kind": "f", "config": "fail"}]}
    outcome, events = await run(inside(inner))
    assert (outcome.status, outcome.failed) == ("failed", "sub")
    assert isinstance(outcome.error, SourceError)
    assert [(e.node, e.code) for e in events if isinstance(e, StepFailed)] == [
        ("sub/x", "source_failed"),
        ("sub", "source_failed"),
    ]


async def test_or_it_is_reported_if_the_config_says_so(run: Run) -> None:
    inner = {"nodes": [{"id": "x", "kind": "f", "config": "fail"}, {"id": "y", "kind": "f"}]}
    outcome, events = await run(inside(inner, on_failure="report"))
    assert outcome.status == "partial"
    assert outcome_of(events) == outcome
    assert outcome.output == {
        "status": "failed",
        "output": None,
        "outputs": {"y": ["y"]},
        "errors": {"x": {"kind": "SourceError", "code": "source_failed", "message": "down", "hint": None}},
    }


async def test_a_partial_success_inside_makes_the_whole_run_partial(run: Run) -> None:
    inner = {
        "nodes": [
            {"id": "x", "kind": "f", "config": "fail", "critical": False},
            {"id": "y", "kind": "f", "after": ["x"]},
        ]
    }
    outcome, _ = await run(inside(inner))
    assert outcome.status == "partial"
    assert outcome.output["status"] == "partial"
    assert outcome.output["output"] == ["y", None]


async def test_graphs_lie_in_each_other_up_to_a_depth(run: Run) -> None:
    def nested(depth: int) -> Any:
        graph: Any = {"nodes": [{"id": "leaf", "kind": "f"}]}
        for _ in range(depth):
            graph = {"nodes": [{"id": "s", "kind": "subgraph", "config": {"graph": graph}}]}
        return graph

    outcome, events = await run(nested(8))
    assert outcome.status == "done"
    assert max((e.node for e in events if isinstance(e, StepStarted)), key=len) == "s/" * 8 + "leaf"
    outcome, _ = await run(nested(9))
    assert outcome.error.stable_code == "subgraph_depth"


async def test_each_attempt_of_a_subgraph_has_nodes_of_its_own(run: Run) -> None:
    calls: list[str] = []

    async def busy_at_first(step: Step) -> Any:
        calls.append(step.id)
        if step.id == "sub/y":
            raise TransientError("busy")
        return await named(step)

    document = inside(INNER)
    document["nodes"][0]["retry"] = {"attempts": 2, "base_delay": 0}
    outcome, _ = await run(document, busy_at_first)
    assert outcome.status == "done"
    assert calls == ["sub/x", "sub/y", "sub#2/x", "sub#2/y", "end"]


async def test_cancel_reaches_into_a_subgraph(context: RunContext, kind: Any) -> None:
    begun, ended = asyncio.Event(), asyncio.Event()

    async def long(step: Step) -> None:
        begun.set()
        try:
            await asyncio.Event().wait()
        finally:
            ended.set()

    engine = Engine({"f": kind(long), "subgraph": SubgraphStep()})
    handle = engine.start(Graph.parse(inside(INNER)), context)
    await begun.wait()
    handle.cancel("enough")
    assert (await handle).status == "cancelled"
    assert ended.is_set()


async def test_strategies_and_events_work_inside(run: Run) -> None:
    async def talk(step: Step) -> Any:
        if step.node.id == "x":
            step.output("found", 7)
        return step.event

    inner = {
        "nodes": [
            {"id": "x", "kind": "f"},
            {"id": "y", "kind": "f", "on": "found"},
            {"id": "z", "kind": "f", "on": "lost"},
        ],
        "strategy": "events",
    }
    outcome, _ = await run(inside(inner), talk)
    assert outcome.output["outputs"] == {"x": None, "y": 7}

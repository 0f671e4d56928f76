"""The rules of the frontier, against a second, plainer statement of them, on random graphs."""

import random
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from answerable.core.errors import SourceError, UserError
from answerable.core.ids import NodeId
from answerable.engine.frontier import Frontier, Missing
from answerable.engine.graph import Condition, Graph, Node

STRATEGIES = ("sequential", "levels", "eager", "events")
GraphOf = Callable[..., Graph]


@dataclass(frozen=True)
class End:
    outputs: Mapping[NodeId, Any]
    failed: frozenset[NodeId]
    skipped: Mapping[NodeId, str]
    started: tuple[NodeId, ...]


def drive(graph: Graph, fates: Mapping[str, Any], choose: random.Random) -> End:
    """Plays the loop: ends running nodes in a random order, each as its fate says (a value, or "fail")."""
    frontier, running, started = Frontier(graph), [], []
    while True:
        for node in frontier.take():
            assert all(p in frontier.outputs or p in frontier.errors or p in frontier.skipped for p in node.after)
            running.append(node.id)
            started.append(node.id)
            check_strategy(graph, frontier, running)
        if not running:
            break
        node_id = running.pop(choose.randrange(len(running)))
        if fates[node_id] == "fail":
            frontier.fail(node_id, SourceError("down"))
        else:
            frontier.finish(node_id, fates[node_id])
    assert frontier.ended
    assert len(set(started)) == len(started)
    return End(frontier.outputs, frozenset(frontier.errors), frontier.skipped, tuple(started))


def check_strategy(graph: Graph, frontier: Frontier, running: list[NodeId]) -> None:
    if graph.strategy == "sequential":
        assert len(running) == 1
    if graph.concurrency:
        assert len(running) <= graph.concurrency
    if graph.strategy == "levels":
        assert len({graph.levels[node] for node in running}) == 1


def expected(graph: Graph, fates: Mapping[str, Any]) -> Mapping[str, str]:
    """How each node ends: `done`, `failed`, `blocked` or `untaken`, from the rules as the module states them."""
    ends: dict[str, str] = {}
    stopped = False
    for id in sorted(graph.order, key=lambda node: graph.levels[node]):
        node = graph.by_id[id]
        if node.after and graph.early_stop and not stopped:
            first = [n.id for n in graph.nodes if not n.after]
            stopped = any(ends[n] == "failed" and graph.by_id[n].critical for n in first)
            stopped = stopped or not any(ends[n] == "done" and fates[n] for n in first)
        parents = [(ends[p], graph.by_id[p].critical) for p in node.after]
        unmet = any(ends[c.input] != "done" or not fates[c.input] for c in node.when)
        failed = any(end == "blocked" or (end == "failed" and critical) for end, critical in parents)
        if failed or (stopped and node.after):
            ends[id] = "blocked"
        elif unmet or (parents and all(end == "untaken" for end, _ in parents)):
            ends[id] = "untaken"
        else:
            ends[id] = "failed" if fates[id] == "fail" else "done"
    return ends


@st.composite
def graphs(draw: st.DrawFn) -> tuple[dict[str, Any], dict[str, Any]]:
    ids = draw(st.permutations([f"n{i}" for i in range(draw(st.integers(1, 10)))]))
    nodes = []
    for position, id in enumerate(ids):
        after = draw(st.lists(st.sampled_from(ids[:position]), unique=True, max_size=4)) if position else []
        when = [Condition(input=draw(st.sampled_from(after)))] if after and draw(st.integers(0, 4)) == 0 else []
        nodes.append(Node(id=id, kind="f", after=tuple(after), when=tuple(when), critical=draw(st.booleans())))
    fates = {id: draw(st.sampled_from([1, 1, 1, 0, "fail"])) for id in ids}
    return {"nodes": tuple(draw(st.permutations(nodes))), "early_stop": draw(st.booleans())}, fates


@settings(max_examples=300, deadline=None)
@given(case=graphs(), seed=st.integers(0, 1000), concurrency=st.none() | st.integers(1, 3))
def test_all_strategies_and_all_orders_come_to_the_same_end(case: Any, seed: int, concurrency: int | None) -> None:
    options, fates = case
    ends = []
    for strategy in STRATEGIES:
        graph = Graph(**options, strategy=strategy, concurrency=concurrency)
        ends.append(drive(graph, fates, random.Random(seed)))
    oracle = expected(graph, fates)
    assert set(ends[0].outputs) == {id for id, end in oracle.items() if end == "done"}
    assert ends[0].failed == {id for id, end in oracle.items() if end == "failed"}
    assert set(ends[0].skipped) == {id for id, end in oracle.items() if end in ("blocked", "untaken")}
    for end in ends[1:]:
        assert (end.outputs, end.failed, end.skipped) == (ends[0].outputs, ends[0].failed, ends[0].skipped)
        assert set(end.started) == set(ends[0].started)


@settings(max_examples=100, deadline=None)
@given(case=graphs())
def test_sequential_is_the_topological_order(case: Any) -> None:
    options, _ = case
    graph = Graph(nodes=tuple(n.model_copy(update={"when": ()}) for n in options["nodes"]), strategy="sequential")
    assert list(drive(graph, {n.id: 1 for n in graph.nodes}, random.Random(0)).started) == graph.order


def end_all(frontier: Frontier, **fates: Any) -> None:
    while nodes := frontier.take():
        for node in nodes:
            if fates.get(node.id) == "fail":
                frontier.fail(node.id, SourceError("down"))
            else:
                frontier.finish(node.id, fates.get(node.id, 1))


def test_eager_starts_a_node_the_moment_its_inputs_are_there(graph_of: GraphOf) -> None:
    frontier = Frontier(graph_of({"slow": "", "fast": "", "next": "fast", "end": "slow next"}))
    assert [n.id for n in frontier.take()] == ["slow", "fast"]
    frontier.finish(NodeId("fast"), 1)
    assert [n.id for n in frontier.take()] == ["next"]
    frontier.finish(NodeId("next"), 2)
    assert frontier.take() == []
    frontier.finish(NodeId("slow"), 3)
    [end] = frontier.take()
    assert frontier.inputs(end) == {"slow": 3, "next": 2}


def test_levels_waits_for_the_whole_level(graph_of: GraphOf) -> None:
    frontier = Frontier(graph_of({"slow": "", "fast": "", "next": "fast"}, strategy="levels"))
    frontier.take()
    frontier.finish(NodeId("fast"), 1)
    assert frontier.take() == []
    frontier.finish(NodeId("slow"), 1)
    assert [n.id for n in frontier.take()] == ["next"]


def test_a_critical_failure_skips_what_depends_on_it_and_nothing_else(graph_of: GraphOf) -> None:
    frontier = Frontier(graph_of({"a": "", "b": "a", "c": "b", "x": "", "y": "x", "z": "c y"}))
    end_all(frontier, a="fail")
    assert frontier.skipped == {"b": "`a` failed", "c": "`b` was skipped", "z": "`c` was skipped"}
    assert set(frontier.outputs) == {"x", "y"}
    assert frontier.take_skipped() == list(frontier.skipped.items())
    assert frontier.take_skipped() == []


def test_a_failure_that_is_not_critical_hands_on_null(graph_of: GraphOf) -> None:
    frontier = Frontier(graph_of({"a": "", "b": "a"}, nodes={"a": {"critical": False}}))
    frontier.take()
    frontier.fail(NodeId("a"), SourceError("down"))
    [b] = frontier.take()
    assert frontier.inputs(b) == {"a": None}
    assert frontier.partial


def test_the_branch_not_taken_hands_on_null_to_the_join(graph_of: GraphOf) -> None:
    when = {
        "yes": {"when": [{"input": "test", "op": "=", "value": 1}]},
        "no": {"when": [{"input": "test", "op": "!=", "value": 1}]},
    }
    frontier = Frontier(
        graph_of({"test": "", "yes": "test", "no": "test", "after_no": "no", "join": "yes after_no"}, nodes=when)
    )
    end_all(frontier)
    assert frontier.skipped == {"no": "`test != 1` does not hold", "after_no": "no step before it was taken"}
    assert frontier.outputs[NodeId("join")] == 1


def test_a_failure_skips_a_chain_of_any_length(graph_of: GraphOf) -> None:
    chain = {"n0": ""} | {f"n{i}": f"n{i - 1}" for i in range(1, 3000)}
    frontier = Frontier(graph_of(chain))
    end_all(frontier, n0="fail")
    assert len(frontier.skipped) == 2999
    assert frontier.ended


@pytest.mark.parametrize("strategy", STRATEGIES)
@pytest.mark.parametrize(
    ("fates", "reason"),
    [
        ({"a": "fail"}, "stopped early: `a` failed"),
        ({"a": 0, "b": []}, "stopped early: the first step found nothing"),
        ({"a": 0, "b": 1}, None),
        ({"a": 1, "b": 1}, None),
    ],
)
def test_early_stop(graph_of: GraphOf, strategy: str, fates: dict[str, Any], reason: str | None) -> None:
    graph = graph_of({"a": "", "b": "", "c": "b", "d": "c"}, strategy=strategy, early_stop=True)
    frontier = Frontier(graph)
    end_all(frontier, **fates)
    assert frontier.ended
    assert frontier.skipped == ({"c": reason, "d": reason} if reason else {})


def test_early_stop_does_not_stop_for_a_first_step_that_is_not_critical(graph_of: GraphOf) -> None:
    graph = graph_of({"a": "", "b": "", "c": "a b"}, nodes={"a": {"critical": False}}, early_stop=True)
    frontier = Frontier(graph)
    end_all(frontier, a="fail")
    assert set(frontier.outputs) == {"b", "c"}


def events_graph(graph_of: GraphOf, after: Mapping[str, str], on: Mapping[str, str], **nodes: Any) -> Frontier:
    fields = {id: {"on": name} for id, name in on.items()}
    for id, more in nodes.items():
        fields[id] = {**fields.get(id, {}), **more}
    return Frontier(graph_of(after, nodes=fields, strategy="events"))


def test_a_node_fires_on_a_signal_while_its_sender_runs(graph_of: GraphOf) -> None:
    frontier = events_graph(graph_of, {"a": "", "b": ""}, {"b": "found"})
    assert [n.id for n in frontier.take()] == ["a"]
    frontier.signal("other", 1)
    assert frontier.take() == []
    frontier.signal("found", {"rows": 2})
    frontier.signal("found", {"rows": 9})
    assert [n.id for n in frontier.take()] == ["b"]
    assert frontier.happened == {"found": {"rows": 2}}


def test_a_node_with_parents_and_an_event_waits_for_both(graph_of: GraphOf) -> None:
    frontier = events_graph(graph_of, {"a": "", "b": "a"}, {"b": "go"})
    frontier.take()
    frontier.signal("go", None)
    assert frontier.take() == []
    frontier.finish(NodeId("a"), 1)
    assert [n.id for n in frontier.take()] == ["b"]


def test_the_end_of_a_node_is_an_event(graph_of: GraphOf) -> None:
    after = {"a": "", "repair": "", "cheer": "", "mourn": ""}
    on = {"repair": "a.failed", "cheer": "a.finished", "mourn": "cheer.skipped"}
    frontier = events_graph(graph_of, after, on, a={"critical": False})
    end_all(frontier, a="fail")
    assert set(frontier.outputs) == {"repair", "mourn"}
    assert frontier.skipped == {"cheer": "`a.finished` never happened"}
    assert frontier.happened["a.failed"] == "source_failed"


def test_events_that_wait_for_each_other_end_as_skipped(graph_of: GraphOf) -> None:
    frontier = events_graph(graph_of, {"a": "", "b": "", "c": "b"}, {"a": "b.finished", "b": "a.finished"})
    end_all(frontier)
    assert frontier.ended
    assert list(frontier.skipped) == ["a", "b", "c"]
    assert frontier.skipped[NodeId("c")] == "no step before it was taken"


def test_a_node_that_waits_for_a_person_holds_back_only_what_depends_on_it(graph_of: GraphOf) -> None:
    frontier = events_graph(graph_of, {"pay": "", "report": "pay", "other": "", "late": ""}, {"late": "news"})
    for node in frontier.take():
        if node.id == "pay":
            frontier.hold(node.id)
        else:
            frontier.finish(node.id, 1)
    assert frontier.take() == []
    assert frontier.ended
    assert set(frontier.outputs) == {"other"}
    assert frontier.skipped == {}


def test_an_early_stop_ends_the_waiting_for_events_too(graph_of: GraphOf) -> None:
    nodes = {"b": {"on": "news"}, "c": {"on": "b.skipped"}}
    graph = graph_of({"a": "", "b": "a", "c": "a"}, nodes=nodes, strategy="events", early_stop=True)
    frontier = Frontier(graph)
    end_all(frontier, a=0)
    assert frontier.ended
    assert set(frontier.skipped.values()) == {"stopped early: the first step found nothing"}
    assert len(frontier.take_skipped()) == 2


def test_nobody_stops_waiting_while_those_before_may_still_cause_the_event(graph_of: GraphOf) -> None:
    after = {"late": "start unlucky", "start": "", "unlucky": "", "helper": ""}
    frontier = events_graph(graph_of, after, {"late": "help", "unlucky": "luck", "helper": "unlucky.skipped"})
    frontier.take()
    frontier.finish(NodeId("start"), 1)
    assert [node.id for node in frontier.take()] == ["helper"]
    frontier.signal("help", None)
    assert [node.id for node in frontier.take()] == ["late"]


def test_a_final_node_runs_after_an_early_stop_with_what_there_is(graph_of: GraphOf) -> None:
    after = {"a": "", "b": "a", "c": "b", "end": "a b c"}
    frontier = Frontier(graph_of(after, nodes={"end": {"final": True}}, early_stop=True))
    frontier.take()
    frontier.finish(NodeId("a"), [])
    [end] = frontier.take()
    assert end.id == "end"
    assert frontier.inputs(end) == {"a": [], "b": None, "c": None}
    reason = "stopped early: the first step found nothing"
    assert frontier.missing(end) == {id: Missing("f", False, reason) for id in ("b", "c")}
    frontier.finish(end.id, "nothing")
    assert frontier.ended


def test_a_final_node_right_after_an_empty_first_step_runs(graph_of: GraphOf) -> None:
    frontier = Frontier(graph_of({"a": "", "end": "a"}, nodes={"end": {"final": True}}, early_stop=True))
    frontier.take()
    frontier.finish(NodeId("a"), None)
    assert [node.id for node in frontier.take()] == ["end"]


def test_a_final_node_does_not_run_after_a_failure(graph_of: GraphOf) -> None:
    frontier = Frontier(graph_of({"a": "", "end": "a"}, nodes={"end": {"final": True}}, early_stop=True))
    frontier.take()
    frontier.fail(NodeId("a"), UserError("no"))
    assert not frontier.take()
    assert frontier.skipped == {"end": "stopped early: `a` failed"}

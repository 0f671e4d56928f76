"""The features that the conformance kit of the CNCF Serverless Workflow names, each as a graph of ours."""

import asyncio
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from api_server import Answer, ApiServer
from graph_text import graph_text

from answerable.core.context import LOCAL
from answerable.core.events import StepFinished
from answerable.core.ids import RunId
from answerable.service import Service
from answerable.settings import Settings


async def order(service: Service, run: str) -> list[str]:
    events = await service.runs.journal(RunId(run), LOCAL)
    return [each.node for each in events if isinstance(each, StepFinished) and each.node not in ("input", "answer")]


async def test_do_runs_nodes_one_after_the_other(run_graph: Any, service: Service) -> None:
    nodes = "a: {kind: transform, value: 1}\nb: {kind: transform, value: 2}\nc: {kind: transform, value: 3}"
    found = await run_graph(nodes, head="strategy: sequential")
    assert await order(service, found.run_id) == ["a", "b", "c"]


async def test_fork_runs_branches_beside_each_other_and_joins_them(run_graph: Any, service: Service) -> None:
    nodes = """
        slow: {kind: wait, seconds: 0.1}
        quick: {kind: transform, value: 2}
        after_quick: {kind: transform, value: "{{ quick }}"}
        both: {kind: join, after: [slow, after_quick]}
    """
    found = await run_graph(nodes)
    assert await order(service, found.run_id) == ["quick", "after_quick", "slow", "both"]
    assert set(found.output) == {"slow", "after_quick"}


async def test_for_goes_over_each_item_with_its_index(run_graph: Any) -> None:
    body = "{nodes: {x: {kind: transform, value: ['{{ input.index }}', '{{ input.item }}']}}}"
    assert (await run_graph(f"all: {{kind: map, over: [red, green], body: {body}}}")).output == [
        [0, "red"],
        [1, "green"],
    ]


@pytest.mark.parametrize(("n", "expected"), [(1, "low"), (50, "high"), (7, "other")])
async def test_switch_takes_the_first_case_that_holds_or_the_default(run_graph: Any, n: int, expected: str) -> None:
    nodes = "way: {kind: router, routes: {low: input.n < 5, high: input.n > 20}, default: other}"
    assert (await run_graph(nodes, n=n)).output == expected


async def test_a_switch_without_a_case_that_holds_raises(run_graph: Any) -> None:
    assert (await run_graph("way: {kind: router, routes: {low: input.n < 5}}", n=9)).error["code"] == "route_missing"


async def test_try_catches_an_error_by_a_node_that_waits_for_it(run_graph: Any) -> None:
    nodes = """
        risky: {kind: transform, expression: "1 / 0", critical: false}
        caught: {kind: transform, on: risky.failed, template: caught}
        finally: {kind: join, mode: first, after: [caught]}
    """
    found = await run_graph(nodes, head="strategy: events")
    assert (found.status, found.nodes["finally"].output) == ("partial", "caught")
    assert (await run_graph("risky: {kind: transform, expression: '1 / 0', fallback: 5}")).output == 5


async def test_raise_fails_the_run_with_its_own_words(run_graph: Any) -> None:
    nodes = """
        stop: {kind: raise, when: input.n > 3, message: "{{ input.n }} is too many"}
        go: {kind: transform, value: fine}
    """
    failed = await run_graph(nodes, n=4)
    assert (failed.status, failed.error["code"]) == ("failed", "graph_raised")
    assert failed.error["message"] == "4 is too many"
    assert (await run_graph(nodes, n=2)).nodes["go"].output == "fine"


async def test_set_makes_a_value_of_others(run_graph: Any) -> None:
    nodes = "shape: {kind: transform, value: {name: '{{ input.name }}', sides: [1, '{{ input.n }}']}}"
    assert (await run_graph(nodes, name="box", n=4)).output == {"name": "box", "sides": [1, 4]}


async def test_wait_lets_time_pass_before_the_next(run_graph: Any, service: Service) -> None:
    found = await run_graph("pause: {kind: wait, seconds: 0.05}\nlast: {kind: transform, after: [pause], value: 1}")
    assert await order(service, found.run_id) == ["pause", "last"]


async def test_emit_lets_another_run_go_on_that_listens(run_graph: Any, service: Service) -> None:
    listening = await run_graph("paid: {kind: wait, event: 'paid-{{ input.n }}'}", n=7)
    other = await run_graph("paid: {kind: wait, event: 'paid-{{ input.n }}'}", n=8)
    assert listening.status == other.status == "waiting"
    nodes = "told: {kind: emit, event: 'paid-{{ input.n }}', data: {amount: '{{ input.amount }}'}}"
    emitted = await run_graph(nodes, n=7, amount=5)
    assert (emitted.status, emitted.output) == ("done", {"event": "paid-7", "runs": [listening.run_id]})
    async with asyncio.timeout(30):
        found = await service.graphs.wait(RunId(listening.run_id), LOCAL)
    assert (found.status, found.output["data"]) == ("done", {"amount": 5})
    assert (await service.graphs.get_run(RunId(other.run_id), LOCAL)).status == "waiting"


async def test_call_runs_another_graph_by_name(service: Service) -> None:
    await service.graphs.save("name: twice\nnodes:\n  x: {kind: transform, expression: \"input['n'] * 2\"}\n", LOCAL)
    text = graph_text(
        "called: {kind: subgraph, graph: twice, input: {n: 21}}\nout: {kind: transform, value: '{{ called.output }}'}"
    )
    run = await service.graphs.begin(text, {}, LOCAL)
    assert (await service.graphs.wait(run, LOCAL)).output == 42


async def test_flow_ends_early_when_nothing_is_left_to_do(run_graph: Any) -> None:
    nodes = """
        check: {kind: router, routes: {end: input.n = 0}, default: go}
        work: {kind: transform, when: check = go, value: worked}
        more: {kind: transform, template: "{{ work }} more"}
    """
    found = await run_graph(nodes, n=0)
    assert (found.status, found.nodes["work"].status, found.nodes["more"].status) == ("done", "skipped", "skipped")


async def test_branch_goes_on_where_its_parents_were_taken(run_graph: Any) -> None:
    nodes = """
        way: {kind: router, routes: {a: input.way = a}, default: b}
        a: {kind: transform, when: way = a, value: A}
        b: {kind: transform, when: way = b, value: B}
        after_a: {kind: transform, template: "after {{ a }}"}
        after_b: {kind: transform, template: "after {{ b }}"}
        end: {kind: join, mode: first, after: [after_a, after_b]}
    """
    for way, expected in (("a", "after A"), ("c", "after B")):
        assert (await run_graph(nodes, way=way)).output == expected


@pytest.fixture
def pets() -> Iterator[ApiServer]:
    server = ApiServer()
    server.route = lambda asked: (
        Answer({"id": 1, "name": "Rex"}) if asked.path == "/pets/1" else Answer({"error": "gone"}, 404)
    )
    yield server
    server.close()


@pytest.fixture
def settings(tmp_path: Path, orders: Path, pets: ApiServer) -> Settings:
    return Settings(
        home=tmp_path / "home", source=str(orders), apis={"pets": {"url": pets.url, "paths": ["/pets/{id}"]}}
    )


async def test_call_asks_an_http_service_with_values_of_the_input(run_graph: Any) -> None:
    nodes = """
        pet: {kind: api, api: pets, path: "/pets/{{ input.id }}"}
        shaped: {kind: transform, value: {called: "{{ pet.data.name }}"}}
    """
    assert (await run_graph(nodes, id=1)).output == {"called": "Rex"}


async def test_try_catches_an_error_of_a_call_and_an_uncaught_one_faults_the_run(run_graph: Any) -> None:
    nodes = """
        pet: {kind: api, api: pets, path: "/pets/{{ input.id }}", critical: CRITICAL}
        caught: {kind: transform, on: pet.failed, template: "no pet {{ input.id }}"}
        out: {kind: join, mode: first, after: [caught]}
    """
    caught = await run_graph(nodes.replace("CRITICAL", "false"), head="strategy: events", id=9)
    assert (caught.status, caught.nodes["out"].output) == ("partial", "no pet 9")
    faulted = await run_graph(nodes.replace("CRITICAL", "true"), head="strategy: events", id=9)
    assert (faulted.status, faulted.error["node"]) == ("failed", "pet")


@pytest.mark.parametrize("strategy", ["eager", "levels", "sequential", "events"])
async def test_a_composite_comes_to_the_same_end_with_every_strategy(run_graph: Any, strategy: str) -> None:
    nodes = """
        way: {kind: router, routes: {many: input.n > 1}, default: one}
        each: {kind: map, when: way = many, over: [1, 2, 3], body: BODY}
        one: {kind: transform, when: way = one, value: [0]}
        found: {kind: join, mode: first, after: [each, one]}
        out: {kind: transform, expression: "sum(found)"}
    """
    nodes = nodes.replace("BODY", "{nodes: {x: {kind: transform, value: '{{ input.item }}'}}}")
    assert (await run_graph(nodes, head=f"strategy: {strategy}", n=2)).output == 6

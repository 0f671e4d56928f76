"""What people get wrong about graphs: each is a clear error, and nothing is half done."""

import asyncio
from typing import Any

import pytest
from graph_text import graph_text

from answerable.core.context import LOCAL, Principal
from answerable.core.errors import AnswerableError, GraphError, UserError
from answerable.core.ids import UserId
from answerable.graphs.schedules import GraphSchedule
from answerable.service import Service

OTHER = Principal(LOCAL.tenant, UserId("bo"))


@pytest.mark.parametrize(
    ("nodes", "message"),
    [
        ("a: {kind: transform, value: '{{ b }}'}\nb: {kind: transform, value: '{{ a }}'}", "it waits for itself"),
        ("a: {kind: sqll, sql: x}", "there is no kind of node `sqll`"),
        ("a: {kind: transform, value: 1}\na: {kind: transform, value: 2}", "a"),
        ("a: {kind: transform, value: 5}\nm: {kind: map, over: '{{ a }}', body: {nodes: {x: {kind: join}}}}", "a list"),
        ("a: {kind: transform, template: '{{ __import__ }}{% for x in y %}'}", "there is no node `__import__`"),
        ("a: {kind: transform, expression: '().__class__'}", "cannot reach `__class__`"),
        ("a: {kind: transform, expression: 'open(1)'}", "cannot use `open`"),
        ("a: {kind: transform, expression: 'list(map(str, [1]))'}", "cannot use `map`"),
        ("a: {kind: subgraph, graph: 'x@0'}", "graph"),
    ],
)
async def test_a_wrong_graph_is_neither_stored_nor_run(service: Service, nodes: str, message: str) -> None:
    text = graph_text(nodes)
    for verb in (service.graphs.save(text, LOCAL), service.graphs.begin(text, {}, LOCAL)):
        with pytest.raises(GraphError) as caught:
            await verb
        assert message in caught.value.message
        assert caught.value.details["line"] >= 3
    assert await service.graphs.list(LOCAL) == []
    assert await service.runs.list(LOCAL) == []


async def test_ten_thousand_nodes_are_refused_at_once(service: Service) -> None:
    nodes = "\n".join(f"n{number}: {{kind: transform, value: 1}}" for number in range(10_000))
    with pytest.raises(GraphError, match="2,000 nodes at most"):
        await service.graphs.validate(graph_text(nodes), LOCAL)


@pytest.mark.parametrize("cron", ["0 0 31 2 *", "61 * * * *", "often", "* * * * * *"])
async def test_a_schedule_that_cannot_be_met_is_not_stored(service: Service, cron: str) -> None:
    await service.graphs.save(graph_text("a: {kind: transform, value: 1}"), LOCAL)
    with pytest.raises(UserError) as caught:
        await service.schedules.add("daily", GraphSchedule(graph="tried", cron=cron), LOCAL)
    assert caught.value.stable_code in ("schedule_never", "schedule_invalid")
    assert await service.schedules.list(LOCAL) == []


async def test_of_two_people_who_decide_at_once_one_counts(run_graph: Any, service: Service) -> None:
    run = (await run_graph("ok: {kind: approval, prompt: x}")).run_id
    both = await asyncio.gather(
        service.runs.decide(run, "ok", LOCAL, verdict="approve"),
        service.runs.decide(run, "ok", OTHER, verdict="reject"),
        return_exceptions=True,
    )
    [late] = [each for each in both if each is not None]
    assert isinstance(late, UserError)
    assert late.stable_code == "approval_decided"


async def test_a_graph_with_an_agent_that_is_gone_starts_nothing(run_graph: Any, service: Service) -> None:
    with pytest.raises(GraphError, match="there is no agent 'nobody'") as caught:
        await run_graph("a: {kind: agent, agent: nobody, inputs: {}}")
    assert (caught.value.details["line"], caught.value.details["field"]) == (4, "nodes.a.agent")
    assert await service.runs.list(LOCAL) == []


async def test_a_version_from_the_future_is_an_error_everywhere(service: Service) -> None:
    await service.graphs.save(graph_text("a: {kind: transform, value: 1}"), LOCAL)
    for verb in (
        service.graphs.begin_stored("tried", {}, LOCAL, version=9),
        service.graphs.show("tried", LOCAL, version=9),
        service.graphs.rollback("tried", 9, LOCAL),
        service.graphs.diff("tried", LOCAL, after=9),
        service.schedules.add("s", GraphSchedule(graph="tried", version=9, cron="@daily"), LOCAL),
    ):
        with pytest.raises(AnswerableError) as caught:
            await verb
        assert caught.value.stable_code == "graph_version_not_found"

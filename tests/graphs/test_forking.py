"""A run once more from one of its nodes: what has ended is taken over, what failed or was changed runs again."""

from collections.abc import Sequence
from typing import Any

import pytest

from answerable.core.context import LOCAL
from answerable.core.errors import UserError
from answerable.core.events import StepStarted
from answerable.core.ids import RunId
from answerable.service import Service

NODES = """
first: {kind: transform, value: "{{ input.n }}"}
part: {kind: transform, expression: "12 / (input['by'] * first)"}
beside: {kind: transform, template: "beside {{ first }}"}
text: {kind: transform, template: "{{ part }} {{ beside }}"}
"""
HEAD = "input: {type: object, properties: {n: {type: number}, by: {type: number}}}"


async def ran_again(service: Service, run: str) -> Sequence[str]:
    """The nodes that ran in a new run. Those that only give what was taken over have another kind."""
    nodes = (await service.graphs.get_run(RunId(run), LOCAL)).nodes
    events = await service.runs.journal(RunId(run), LOCAL)
    started = {each.node for each in events if isinstance(each, StepStarted)}
    return [id for id, node in nodes.items() if id in started and node.kind != "given"]


async def test_a_failed_run_begins_with_what_failed(run_graph: Any, service: Service) -> None:
    failed = await run_graph(NODES, head=HEAD, n=2, by=0)
    assert (failed.status, failed.error["node"]) == ("failed", "part")
    new = await service.graphs.fork(failed.run_id, LOCAL, input={"by": 3})
    found = await service.graphs.wait(new, LOCAL)
    assert (found.status, found.output) == ("done", "2.0 beside 2")
    assert await ran_again(service, new) == ["part", "text"]


async def test_a_run_goes_on_with_another_output_of_a_node(run_graph: Any, service: Service) -> None:
    done = await run_graph(NODES, head=HEAD, n=2, by=3)
    new = await service.graphs.fork(done.run_id, LOCAL, outputs={"part": 7})
    assert (await service.graphs.wait(new, LOCAL)).output == "7 beside 2"
    assert await ran_again(service, new) == ["text"]
    again = await service.graphs.fork(done.run_id, LOCAL, node="first", input={"n": 4})
    assert (await service.graphs.wait(again, LOCAL)).output == "1.0 beside 4"
    assert await ran_again(service, again) == ["first", "part", "beside", "text"]


async def test_what_cannot_be_begun_with_is_an_error(run_graph: Any, service: Service) -> None:
    done = await run_graph(NODES, head=HEAD, n=2, by=3)
    for how, code in (
        ({}, "nothing_failed"),
        ({"node": "frist"}, "node_unknown"),
        ({"node": "input"}, "node_unknown"),
        ({"outputs": {"answer": 1}}, "node_unknown"),
        ({"node": "part", "input": {"n": "two"}}, "graph_input_invalid"),
    ):
        with pytest.raises(UserError) as caught:
            await service.graphs.fork(done.run_id, LOCAL, **how)
        assert caught.value.stable_code == code
    assert len(await service.runs.list(LOCAL)) == 1

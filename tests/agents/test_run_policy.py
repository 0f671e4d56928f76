"""Every step of a question has its guards: which, by kind."""

from typing import Any

import pytest
from step_kinds import step_kinds

from answerable.agents.graphs import direct_graph, question_graph
from answerable.agents.run_policy import RunPolicy
from answerable.core.ids import NodeId
from answerable.engine.graph import Graph, Node, Retry
from answerable.engine.steps.understand import Question

POLICY = RunPolicy(step_kinds(), attempts=4, seconds=90)


def guarded(kind: str, **fields: Any) -> Node:
    graph = Graph(nodes=(Node(id=NodeId("a"), kind=kind, **fields),))
    return POLICY.applied(graph).nodes[0]


@pytest.mark.parametrize("kind", ["understand", "sql", "combine", "python", "write_sql", "react", "present", "format"])
def test_every_step_is_limited_and_tried_again(kind: str) -> None:
    node = guarded(kind)
    assert (node.timeout, node.retry) == (90, Retry(attempts=4, timeouts=False))


def test_a_subgraph_takes_as_long_as_its_steps() -> None:
    node = guarded("subgraph", config={"graph": {}})
    assert (node.timeout, node.retry, node.breaker) == (None, Retry(), None)


@pytest.mark.parametrize(
    ("kind", "config", "breaker"),
    [
        ("sql", {"source": "shop", "sql": "SELECT 1"}, "shop"),
        ("write_sql", {"source": "shop", "task": "t"}, "shop"),
        ("understand", {"source": "shop", "text": "how many?"}, "shop"),
        ("understand", {"source": "shop", "sources": ["shop", "crm"], "text": "how many?"}, None),
        ("write_python", {"source": "shop", "task": "t"}, None),
        ("format", {"source": "shop", "question": "q"}, "shop"),
        ("combine", {"sql": "SELECT 1"}, None),
        ("present", {"question": "q"}, None),
    ],
)
def test_a_step_that_asks_one_source_shares_its_breaker(kind: str, config: dict[str, Any], breaker: str | None) -> None:
    assert guarded(kind, config=config).breaker == breaker


def test_advice_has_a_fallback_and_nothing_else_does() -> None:
    assert guarded("format").fallback == {"findings": ["The model could not check this answer and put it into words."]}
    assert guarded("sql").fallback is None


def test_what_a_node_says_itself_holds() -> None:
    node = guarded("sql", retry=Retry(attempts=2), timeout=5, breaker="mine", config={"source": "shop"})
    assert (node.retry.attempts, node.timeout, node.breaker) == (2, 5, "mine")


def test_only_a_plan_of_several_steps_stops_early() -> None:
    steps = [{"id": "a", "tool": "sql", "code": "SELECT 1"}, {"id": "b", "tool": "sql", "code": "SELECT 1"}]
    assert direct_graph("plan", {"steps": steps}, ("demo",)).early_stop
    assert not direct_graph("plan", {"steps": steps[:1]}, ("demo",)).early_stop
    assert not direct_graph("sql", "SELECT 1", ("demo",)).early_stop
    assert not question_graph(Question(text="how many?", source="demo")).early_stop

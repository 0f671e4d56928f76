from typing import Any

import pytest
from pydantic import ValidationError

from answerable.core.errors import GraphError
from answerable.engine.graph import Condition, Graph, Node, Retry


def node(id: str, *after: str, **fields: Any) -> Node:
    return Node(id=id, kind="f", after=after, **fields)


def test_order_and_levels_follow_the_dependencies() -> None:
    graph = Graph(nodes=(node("d", "b", "c"), node("b", "a"), node("c"), node("a")))
    assert graph.order == ["c", "a", "b", "d"]
    assert graph.levels == {"c": 0, "a": 0, "b": 1, "d": 2}
    assert graph.last == ["d"]


@pytest.mark.parametrize(
    ("nodes", "options", "message"),
    [
        ((), {}, "The graph has no nodes."),
        ((node("a"), node("a")), {}, "Node `a`: the id is used twice."),
        ((node("a", "b"),), {}, "Node `a`: it comes after `b`, but there is no such node."),
        ((node("a", "a"),), {}, "Node `a`: it waits for itself (a → a)."),
        (
            (node("z"), node("a", "c"), node("b", "a"), node("c", "b")),
            {},
            "Node `a`: it waits for itself (a → b → c → a).",
        ),
        ((node("t", "b"), node("a", "b"), node("b", "a")), {}, "Node `b`: it waits for itself (b → a → b)."),
        ((node("a"), node("b", "a", "a")), {}, "Node `b`: it names `a` twice in `after`."),
        ((node("a"),), {"output": "x"}, "Node `x`: it is named as the output, but there is no such node."),
        (
            (node("a"), node("b", when=(Condition(input="a"),))),
            {},
            "Node `b`: its condition is about `a`, which is not in its `after`.",
        ),
        ((node("a", on="go"),), {}, "Node `a`: it waits for the event `go`, which needs the strategy `events`."),
        ((node("a", idempotent=True),), {}, "Node `a`: `idempotent` says something only about an effect"),
    ],
)
def test_a_bad_graph_is_refused_with_node_and_reason(
    nodes: tuple[Node, ...], options: dict[str, Any], message: str
) -> None:
    with pytest.raises(GraphError) as caught:
        Graph(nodes=nodes, **options)
    assert str(caught.value).startswith(message)


@pytest.mark.parametrize("id", ["", "a/b", "a b", "a#2", "x" * 65, "a\n"])
def test_a_bad_id_is_refused(id: str) -> None:
    with pytest.raises(GraphError, match="an id is 1 to 64 letters"):
        node(id)


@pytest.mark.parametrize(
    ("document", "message"),
    [
        (
            {"nodes": [{"id": "a", "kind": "f", "retry": {"attempts": 0}}]},
            "Node `a`: `retry.attempts`: Input should be",
        ),
        ({"nodes": [{"id": "a", "kind": "f", "then": "b"}]}, "Node `a`: `then`: Extra inputs are not permitted."),
        ({"nodes": [{"id": "a"}]}, "Node `a`: `kind`: Field required."),
        ({"nodes": [{"kind": "f"}]}, "Node `number 1`: `id`: Field required."),
        ({"nodes": [{"id": "a", "kind": "f"}], "strategy": "fast"}, "The graph: `strategy`: Input should be"),
        ({"nodes": "a"}, "The graph: `nodes`: Input should be a valid tuple."),
        ("a", "The graph: Input should be a valid dictionary"),
        (None, "The graph: Input should be a valid dictionary"),
    ],
)
def test_a_written_graph_that_is_wrong_says_where(document: Any, message: str) -> None:
    with pytest.raises(GraphError) as caught:
        Graph.parse(document)
    assert str(caught.value).startswith(message)


def test_a_graph_survives_json_and_leaves_out_defaults() -> None:
    graph = Graph(
        nodes=(
            node("a", config={"x": [1, None]}, retry=Retry(attempts=3), timeout=2.5, breaker="api"),
            node("b", "a", when=(Condition(input="a", path=("x", 0), op=">", value=0),), on="a.finished", fallback=0),
            node("c", "b", effect=True, idempotent=True, critical=False),
        ),
        strategy="events",
        early_stop=True,
        concurrency=2,
        output="b",
    )
    assert Graph.parse(graph.document) == graph
    assert graph.document["nodes"][2] == {
        "id": "c", "kind": "f", "after": ["b"], "effect": True, "idempotent": True, "critical": False,
    }  # fmt: skip


def test_a_graph_cannot_be_changed() -> None:
    graph = Graph(nodes=(node("a"),))
    with pytest.raises(ValidationError, match="frozen"):
        graph.early_stop = True  # type: ignore[misc]


def test_a_long_chain_and_a_long_circle_need_no_recursion() -> None:
    nodes = [node("n0"), *(node(f"n{i}", f"n{i - 1}") for i in range(1, 5000))]
    assert len(Graph(nodes=tuple(nodes)).order) == 5000
    nodes[0] = node("n0", "n4999")
    with pytest.raises(GraphError, match="Node `n0`: it waits for itself"):
        Graph(nodes=tuple(nodes))

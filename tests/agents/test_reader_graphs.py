import pytest

from answerable.agents.reader_graphs import reading_graph
from answerable.engine.steps.understand import Question
from answerable.query.plan import QueryPlan
from answerable.reader.reading import Reading


@pytest.mark.parametrize(
    ("confidence", "level"),
    [(1.0, "high"), (0.85, "high"), (0.84, "medium"), (0.6, "medium"), (0.59, "low"), (0.0, "low")],
)
def test_an_answer_says_how_sure_the_reader_is(confidence: float, level: str) -> None:
    reading = Reading(plan=QueryPlan(entity="orders"), sentence="all orders", confidence=confidence)
    graph = reading_graph(Question(text="orders?", source="shop"), reading).graph
    assert [node.config["confidence"] for node in graph.nodes if node.kind == "present"] == [level]

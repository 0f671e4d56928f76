"""Trees as plain lists add up the leaves that a vector reaches."""

from answerable.reader.trees import Trees

TREES = Trees(
    roots=[0, 3],
    feature=[0, -1, -1, 1, -1, -1],
    threshold=[0.5, -1.0, 2.0, 3.0, 0.25, -0.25],
    right=[2, -1, -1, 5, -1, -1],
)


def test_score() -> None:
    assert TREES.scores([[0.0, 0.0], [1.0, 0.0], [1.0, 9.0]]) == [-0.75, 2.25, 1.75]


def test_probability_lies_between() -> None:
    low, high = TREES.probabilities([[0.0, 0.0], [1.0, 0.0]])
    assert 0.3 < low < 0.5 < high < 1.0

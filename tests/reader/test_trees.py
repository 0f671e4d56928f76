"""Trees as plain lists add up the leaves that a vector reaches."""

from answerable.reader.fitted.trees import Trees

MANY = 60
DOWN_OR_UP = Trees(
    roots=range(0, 3 * MANY, 3),
    feature=[0, -1, -1] * MANY,
    threshold=[0.5, -1.0, 1.0] * MANY,
    right=[number + 2 if number % 3 == 0 else -1 for number in range(3 * MANY)],
)
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


def test_what_has_no_prospects_is_left_where_it_stands() -> None:
    lost, leading = DOWN_OR_UP.scores([[0.0], [1.0]], least=lambda scores: max(scores) - 2.0)
    assert leading == MANY
    assert -MANY < lost < 0


def test_the_unlikely_stay_unlikely() -> None:
    low, high = DOWN_OR_UP.probabilities([[0.0], [1.0]])
    assert low < 0.004
    assert high > 0.99

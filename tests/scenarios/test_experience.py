"""A question whose answer was saved as right is an example: the same question with another value is read like it."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from answerable.core.ids import EvalId
from answerable.library import Answerable, Result

ASKED = "takings in North"


@pytest.fixture
def taught(tmp_path: Path, sales: Path) -> Iterator[Answerable]:
    with Answerable(sales, home=tmp_path / "home") as data:
        asked = data.ask(ASKED)
        amount = next(choice.id for choice in asked.choices if "amount" in choice.label)
        right = data.ask(ASKED, choice=amount)
        data.evals.add_case("right", right.answer.run_id)
        yield data


def ask(data: Answerable, question: str) -> Result:
    data.forget()
    return data.ask(question)


def amounts(result: Result) -> list[float]:
    return sorted(row[-1] for row in result.answer.rows)


@pytest.mark.parametrize("question", ["takings in South", "Takings in the South?", "in South, takings please"])
def test_the_same_question_with_another_value(taught: Answerable, question: str) -> None:
    result = ask(taught, question)
    assert result.kind == "value", result.text
    assert amounts(result) == [250.0]
    assert result.answer.provenance.confidence_reason == f"Read like the saved question “{ASKED}”."
    assert result.answer.provenance.confidence == "medium"


def test_the_same_question_once_more(taught: Answerable) -> None:
    assert amounts(ask(taught, ASKED)) == [210.0]


@pytest.mark.parametrize(
    "question", ["refunds in South", "takings without South", "takings in South and North", "South"]
)
def test_another_question_is_not_read_like_it(taught: Answerable, question: str) -> None:
    reason = ask(taught, question).answer.provenance.confidence_reason or ""
    assert "saved question" not in reason


def test_forgetting_is_one_verb(taught: Answerable) -> None:
    (case,) = taught.evals.suite("right").cases
    taught.evals.remove_case("right", case.id)
    assert ask(taught, "takings in South").kind == "clarify"


def test_measuring_goes_without_examples(taught: Answerable) -> None:
    """A golden case would be its own example."""
    measured = taught.evals.wait("right", EvalId(taught.evals.measure("right").eval_id))
    assert measured.status == "done"
    (case,) = taught.evals.suite("right").cases
    assert case.outcome not in ("right", None)

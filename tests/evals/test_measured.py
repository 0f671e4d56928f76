"""What is told of a measured model: results outlive an interruption, nothing is asked twice, costs add up."""

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from answerable.core.errors import LimitError, UserError
from answerable.evals.cases import Case
from answerable.evals.measured import measured
from answerable.evals.run import Attempt, evaluate
from answerable.evals.score import Scored, Spent, report
from answerable.evals.stored_results import StoredResults

SPENT = Spent(calls=2, input_tokens=100, output_tokens=10, cost_usd=0.5)


def case(name: str, **more: Any) -> Case:
    raw = {"id": name, "question": name, "source": "x", "gold_rows": [[1]], **more}
    return Case.model_validate_json(json.dumps(raw))


class Model:
    """Answers every question, until its budget is spent."""

    def __init__(self, budget: int = 100) -> None:
        self.budget = budget
        self.asked: list[str] = []
        self.tried = 0

    async def attempt(self, case: Case, *, force: bool, thread: str | None) -> Attempt:
        self.tried += 1
        if len(self.asked) == self.budget:
            raise LimitError("Spent.", code="budget_exhausted")
        self.asked.append(case.id)
        return Attempt("answered", rows=[[1]], spent=SPENT)

    async def execute(self, case: Case, sql: str) -> Sequence[Sequence[Any]]:
        raise AssertionError


async def test_a_spent_budget_ends_it_and_what_is_known_stays() -> None:
    cases = [case("a"), case("b", after="a"), case("c")]
    model, done = Model(budget=1), dict[str, Scored]()
    found = await evaluate(cases, model, concurrency=1, done=done, ending=("budget_exhausted",))
    assert [scored.id for scored in found.results] == ["a"]
    assert list(done) == ["a"]
    assert (model.asked, model.tried) == (["a"], 2)


async def test_what_is_done_is_not_asked_again_and_a_conversation_is_asked_as_a_whole() -> None:
    cases = [case("a"), case("b"), case("c", after="b")]
    model = Model()
    done = {name: Scored(id=name, outcome="wrong") for name in ("a", "b")}
    found = await evaluate(cases, model, done=done)
    assert model.asked == ["b", "c"]
    assert [scored.outcome for scored in found.results] == ["wrong", "correct", "correct"]


def scored(name: str, seconds: float, cost: float | None = 0.5) -> Scored:
    spent = SPENT.model_copy(update={"seconds": seconds, "cost_usd": cost})
    return Scored(id=name, outcome="correct", code="SELECT 1", spent=spent)


def test_the_report_adds_to_the_contract() -> None:
    told = measured(report([scored("a", 1), scored("b", 3)], 3.5), "lab:one", "plan", left=4).model_dump(mode="json")
    assert told.pop("results")[0] == {
        "id": "a",
        "outcome": "correct",
        "offered": False,
        "unanswerable": False,
        "code": "SELECT 1",
        "reason": None,
        "confidence": None,
        "seconds": 1.0,
        "calls": 2,
        "input_tokens": 100,
        "output_tokens": 10,
        "cost_usd": 0.5,
    }
    assert {name: told[name] for name in ("cases", "correct", "accuracy", "seconds")} == {
        "cases": 2,
        "correct": 2,
        "accuracy": 1.0,
        "seconds": 3.5,
    }
    more = ("model", "mode", "left", "calls", "input_tokens", "output_tokens", "cost_usd", "latency")
    assert [told[name] for name in more] == [
        "lab:one",
        "plan",
        4,
        4,
        200,
        20,
        1.0,
        {"mean": 2.0, "median": 2.0, "p95": 2.9},
    ]


def test_one_unknown_price_makes_the_cost_unknown() -> None:
    assert measured(report([scored("a", 1), scored("b", 1, None)], 1), "lab:one", "plan", left=0).cost_usd is None


def test_nothing_asked_is_no_latency() -> None:
    assert measured(report([], 0), "lab:one", "plan", left=2).latency.p95 == 0.0


def test_results_are_kept_line_by_line(tmp_path: Path) -> None:
    kept = StoredResults(tmp_path / "results.jsonl", "lab:one", "plan")
    assert kept.load() == {}
    kept.add(scored("a", 1))
    kept.add(scored("b", 2, None))
    assert kept.load() == {"a": scored("a", 1), "b": scored("b", 2, None)}


@pytest.mark.parametrize(
    ("line", "reason"),
    [("nonsense", "line 1: this is no result"), ("", "line 1"), (None, "a result of lab:two in the mode plan")],
)
def test_results_of_something_else_are_refused(tmp_path: Path, line: str | None, reason: str) -> None:
    path = tmp_path / "results.jsonl"
    if line is None:
        StoredResults(path, "lab:two", "plan").add(scored("a", 1))
    else:
        path.write_text(line + "\n")
    with pytest.raises(UserError, match=reason) as caught:
        StoredResults(path, "lab:one", "plan").load()
    assert caught.value.stable_code == "results_invalid"

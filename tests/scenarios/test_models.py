"""A user with a language model: what the reader cannot read is planned, written, checked, repaired and answered."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from scripted_model import Reply, Request, ScriptedModel

Run = Callable[..., Any]
PLAN = {
    "reasoning": "The regions whose orders vary the most in amount.",
    "steps": [{"id": "spread", "tool": "sql", "context": "Standard deviation of amount per region, largest first."}],
}
SQL = "SELECT region_id, stddev(amount) AS spread FROM orders GROUP BY region_id ORDER BY spread DESC, region_id"


@pytest.fixture
def model(scripted_model: ScriptedModel, monkeypatch: pytest.MonkeyPatch) -> ScriptedModel:
    monkeypatch.setenv("ANSWERABLE_MODEL", "compatible:scripted")
    monkeypatch.setenv("ANSWERABLE_MODEL_BASE_URL", scripted_model.base_url)
    monkeypatch.setenv("ANSWERABLE_MODEL_KEY", "key-of-the-test")
    return scripted_model


def answered(*writings: str) -> Callable[[Request], Reply]:
    """Plans first, then writes the queries in turn."""
    left = list(writings)

    def answer(request: Request) -> Reply:
        if "You plan how" in request.text:
            return Reply.object(PLAN)
        return Reply.object({"sql": left.pop(0), "reasoning": "as asked"})

    return answer


def test_a_question_beyond_the_reader_is_planned_and_written(
    answerable: Run, sales: Path, model: ScriptedModel
) -> None:
    model.script(answered(SQL))
    done = answerable("ask", "where do zigzags of amounts run wildest?", "--source", str(sales), "--json")
    assert done.code == 0, done.out + done.err
    assert done.json["provenance"]["mind"] == "model"
    assert [column["name"] for column in done.json["columns"]] == ["region_id", "spread"]
    assert done.json["usage"]["model_calls"] == 2
    assert "key-of-the-test" not in done.out


def test_a_query_that_fails_its_checks_goes_back_with_the_reason(
    answerable: Run, sales: Path, model: ScriptedModel
) -> None:
    model.script(answered("SELECT zone FROM orders", "DROP TABLE orders", SQL))
    done = answerable("ask", "where do zigzags of amounts run wildest?", "--source", str(sales), "--json")
    assert done.code == 0, done.out + done.err
    assert "zone" in model.requests[2].text
    assert done.json["steps"][-1]["code"].startswith("SELECT")


def test_after_two_repairs_the_step_fails_with_the_last_reason(
    answerable: Run, sales: Path, model: ScriptedModel
) -> None:
    model.script(answered(*["SELECT zone FROM orders"] * 3))
    done = answerable("ask", "where do zigzags of amounts run wildest?", "--source", str(sales), "--json")
    assert done.code == 1
    assert len(model.requests) == 4


def test_what_the_reader_is_sure_of_costs_nothing(answerable: Run, sales: Path, model: ScriptedModel) -> None:
    model.script(answered())
    done = answerable("ask", "total amount per region", "--source", str(sales), "--json")
    assert done.code == 0
    assert model.requests == []
    assert done.json["usage"]["model_calls"] == 0

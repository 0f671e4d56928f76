"""A model teaches the reader: names and questions are proposed, checked against the data, accepted, used and undone."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from scripted_model import Reply, ScriptedModel

from answerable import Answerable

Run = Callable[..., Any]
NO_NAMES = {"label": "", "synonyms": [], "unit": "", "values": []}
REPLY = {
    "tables": [
        {
            "table": "orders",
            "label": "",
            "synonyms": ["purchases", "regions"],
            "columns": [
                {"column": "amount", "label": "", "synonyms": ["takings"], "unit": "EUR", "values": []},
                {
                    "column": "product",
                    **NO_NAMES,
                    "values": [
                        {"value": "Tea", "names": ["chai"]},
                        {"value": "Cocoa", "names": ["hot chocolate"]},
                    ],
                },
                {"column": "nonsense", **NO_NAMES},
            ],
        },
        {"table": "nowhere", "label": "", "synonyms": [], "columns": []},
    ],
    "measures": [
        {"name": "basket", "table": "orders", "expression": "avg(amount)", "synonyms": ["ticket"], "unit": ""},
        {"name": "broken", "table": "orders", "expression": "sum(nope)", "synonyms": [], "unit": ""},
    ],
    "questions": [
        {
            "question": "Who bought the least?",
            "also": ["weakest area", "where do we sell too little of Tea"],
            "sql": "SELECT r.region FROM orders o JOIN regions r ON o.region_id = r.region_id "
            "WHERE product = 'Tea' GROUP BY r.region ORDER BY sum(amount) LIMIT 1",
        },
        {"question": "What is missing?", "also": [], "sql": "SELECT product FROM orders WHERE amount < 0"},
        {"question": "Drop it?", "also": [], "sql": "DROP TABLE orders"},
    ],
}


@pytest.fixture
def model(scripted_model: ScriptedModel, monkeypatch: pytest.MonkeyPatch) -> ScriptedModel:
    monkeypatch.setenv("ANSWERABLE_MODEL", "compatible:scripted")
    monkeypatch.setenv("ANSWERABLE_MODEL_BASE_URL", scripted_model.base_url)
    scripted_model.script(lambda _: Reply.object(REPLY))
    return scripted_model


def test_nothing_changes_until_it_is_accepted(
    answerable: Run, sales: Path, tmp_path: Path, model: ScriptedModel
) -> None:
    before = (sales / "semantic.yaml").read_text()
    review = tmp_path / "review.yaml"
    done = answerable("sources", "learn", str(sales), "--review", str(review), "--json")
    assert done.code == 0, done.out + done.err
    assert len(model.requests) == 1
    assert "Tea" in model.requests[0].text
    assert (sales / "semantic.yaml").read_text() == before
    assert "2026-01-10" in review.read_text()
    assert done.json["added"] == {
        "tables": 1,
        "columns": 1,
        "values": 1,
        "units": 1,
        "measures": 1,
        "questions": 1,
        "wordings": 3,
    }
    reasons = {each["what"]: each["reason"] for each in done.json["left_out"]}
    assert reasons["“regions” for orders"] == "it is a name of regions"
    assert reasons["column orders.nonsense"] == "there is no such column"
    assert reasons["table nowhere"] == "there is no such table"
    assert "no value 'Cocoa'" in reasons["hot chocolate for orders.product"]
    assert "nope" in reasons["measure broken"]
    assert reasons["question “What is missing?”"] == "its statement gives no rows"
    assert "question “Drop it?”" in reasons
    assert answerable("names", "write", str(sales), str(review)).code == 0


def test_what_was_learned_is_used_without_a_model_and_can_be_undone(
    answerable: Run, sales: Path, model: ScriptedModel, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert answerable("sources", "learn", str(sales), "--accept").code == 0
    asked = len(model.requests)
    with Answerable(sales, home=sales.parent / "home") as data:
        assert data.ask("total takings of chai").answer.rows == ((480.0,),)
        data.forget()
        least = data.ask("the weakest area?")
        assert least.answer.rows == (("East",),)
        assert least.answer.provenance.confidence == "medium"
        assert "Who bought the least?" in str(least.answer.provenance.understood)
        data.forget()
        other = data.ask("where do we sell too little of Coffee?")
        assert "'Coffee'" in str(other.sql)
        assert other.answer.provenance.confidence == "medium"
    assert len(model.requests) == asked
    [change] = answerable("names", "history", str(sales), "--json").json["changes"]
    assert change["note"] == "Learned from a model"
    assert answerable("names", "undo", str(sales), change["change_id"]).code == 0
    assert "takings" not in (sales / "semantic.yaml").read_text()


def test_a_question_that_comes_near_is_offered(sales: Path, tmp_path: Path) -> None:
    (sales / "semantic.yaml").write_text(
        "questions:\n- question: Which flavour disappoints customers most?\n  sql: SELECT 'Tea' AS product\n"
    )
    with Answerable(sales, home=tmp_path / "home") as data:
        asked = data.ask("which flavour disappoints the most?")
        assert asked.kind == "clarify"
        assert asked.choices[0].label == "Which flavour disappoints customers most?"
        assert data.ask("which flavour disappoints the most?", choice=1).answer.rows == (("Tea",),)


def test_negations_and_superlatives_are_no_small_words(sales: Path, tmp_path: Path) -> None:
    (sales / "semantic.yaml").write_text(
        "questions:\n- question: Which zorbs are wild?\n  sql: SELECT 'Tea' AS product\n"
    )
    with Answerable(sales, home=tmp_path / "home") as data:
        for question in ("which zorbs are not wild?", "which zorbs are least wild?", "who are wild zorbs?"):
            data.forget()
            assert data.ask(question).kind == "clarify", question


def test_the_token_limit_stops_further_calls(sales: Path, tmp_path: Path, model: ScriptedModel) -> None:
    for number in range(15):
        (sales / f"list{number}.csv").write_text(f"a{number},b{number}\n1,x\n2,y\n")
    with Answerable(sales, home=tmp_path / "home") as data:
        learned = data.learning.learn(str(sales), max_tokens=1_000)
    assert len(model.requests) == 1
    assert any("limit of 1,000 tokens" in each.reason for each in learned.left_out)

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

CHECK = {
    "question": "How much do the amounts of region 2 vary?",
    "sql": "SELECT stddev(amount) FROM orders WHERE region_id = 2",
    "of": "cell",
    "column": "spread",
}


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
        if "You put an answer into words" in request.text:
            words = {"text": "Region 2 varies most, by 999999.", "format": {"headers": {"spread": "Spread of amounts"}}}
            return Reply.object({**words, "checks": [CHECK]})
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
    assert done.json["usage"]["model_calls"] == len(model.requests)
    assert "999999" not in done.json["text"]
    assert done.json["provenance"]["format"]["columns"][1]["header"] == "Spread of amounts"
    assert done.json["provenance"]["confidence"] == "high"
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
    assert len(model.requests) == done.json["usage"]["model_calls"] == 4
    assert "zone" in done.json["text"]


def test_what_the_reader_is_sure_of_costs_nothing(answerable: Run, sales: Path, model: ScriptedModel) -> None:
    model.script(answered())
    done = answerable("ask", "total amount per region", "--source", str(sales), "--json")
    assert done.code == 0
    assert model.requests == []
    assert done.json["usage"]["model_calls"] == 0


def test_a_model_explores_with_tools_and_every_look_is_accounted_for(
    answerable: Run, sales: Path, model: ScriptedModel
) -> None:
    model.script(
        [
            Reply.tool_call("get_dataset_schema", {"dataset": "sales"}),
            Reply.tool_call("execute_sql", {"name": "bad", "sql": "SELECT nothing_such FROM orders"}),
            Reply.tool_call(
                "execute_sql", {"name": "totals", "sql": "SELECT region_id, sum(amount) AS t FROM orders GROUP BY 1"}
            ),
            Reply.tool_call("execute_python", {"name": "top", "code": "result = totals['T']", "inputs": ["totals"]}),
            Reply.tool_call(
                "execute_python", {"name": "top", "code": "result = totals.sort('t').tail(1)", "inputs": ["totals"]}
            ),
            Reply.object({"show": "top", "text": "Region 2 sold 250 in total, not 999."}),
        ]
    )
    done = answerable("ask", "why is it so?", "--mode", "react", "--source", str(sales), "--json")
    assert done.code == 0, done.out + done.err
    assert [step["id"] for step in done.json["steps"]] == ["totals", "top"]
    assert done.json["rows"] == [[2, 250.0]]
    assert "999" not in done.json["text"]
    assert 'table "orders"' in model.requests[1].last("tool")
    assert "nothing_such" in model.requests[2].last("tool")
    assert "`totals` has no column 'T'; it has 'region_id', 't' (line 1)." in model.requests[4].last("tool")
    assert str(sales) not in model.requests[0].text


def test_a_model_may_ask_the_user(answerable: Run, sales: Path, model: ScriptedModel) -> None:
    thread = ("--thread", "thr_000000000000000000000008", "--source", str(sales), "--json")
    asked = {"reasoning": "", "steps": [], "ask": ["Largest by amount", "Largest by quantity"]}
    model.script(lambda request: Reply.object(asked))
    done = answerable("ask", "which zigzag is the largest?", *thread)
    assert done.code == 3, done.out + done.err
    assert [choice["label"] for choice in done.json["choices"]] == asked["ask"]
    assert done.json["usage"]["model_calls"] == 1
    model.script(answered(SQL))
    chosen = answerable("ask", "which zigzag is the largest?", "--choice", "1", *thread)
    assert chosen.code == 0, chosen.out + chosen.err
    assert "Largest by amount" in model.requests[0].text


def test_what_a_model_offered_can_be_chosen_when_it_is_gone(answerable: Run, sales: Path, model: ScriptedModel) -> None:
    thread = ("--thread", "thr_000000000000000000000006", "--source", str(sales), "--json")
    offered = {"steps": [], "ask": ["total amount per region", "number of orders per region"]}
    model.script(lambda request: Reply.object(offered))
    assert answerable("ask", "which zigzag is the largest?", *thread).code == 3
    chosen = answerable("ask", "which zigzag?", "--choice", "1", *thread, env={"ANSWERABLE_MODEL": ""})
    assert chosen.code == 0, chosen.out + chosen.err
    assert sorted(row[-1] for row in chosen.json["rows"]) == [180.0, 210.0, 250.0]


def test_who_works_on_a_follow_up_hears_what_it_means(answerable: Run, sales: Path, model: ScriptedModel) -> None:
    thread = ("--thread", "thr_000000000000000000000007", "--source", str(sales), "--mode", "plan", "--json")
    model.script(answered(SQL))
    assert answerable("ask", "where do zigzags of amounts run wildest?", *thread).code == 0
    model.script(answered(SQL))
    done = answerable("ask", "and the zigzags of Tea?", *thread)
    assert done.code == 0, done.out + done.err
    planner, writer = model.requests[:2]
    assert "where do zigzags of amounts run wildest?" in planner.text
    assert f"and the zigzags of Tea? ({PLAN['reasoning']})" in writer.text


def test_no_value_of_the_data_goes_out_where_rows_are_not_shared(
    answerable: Run, sales: Path, model: ScriptedModel, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("ANSWERABLE_SHARE_ROWS", "false")
    model.script(answered(SQL))
    done = answerable("ask", "where do zigzags of amounts run wildest?", "--source", str(sales), "--json")
    assert done.code == 0, done.out + done.err
    sent = "".join(request.text for request in model.requests)
    assert "orders" in sent
    assert not [word for word in ("Tea", "Coffee", "North", "2025-08-15") if word in sent]


def test_without_a_model_the_modes_that_need_one_say_so(answerable: Run, sales: Path) -> None:
    done = answerable("ask", "why?", "--mode", "plan", "--source", str(sales), "--json")
    assert done.code == 1
    assert done.json["provenance"]["error"]["code"] == "model_missing"


def test_a_plan_is_shown_edited_and_run(answerable: Run, sales: Path, model: ScriptedModel, tmp_path: Path) -> None:
    model.script(answered(SQL))
    question = "where do zigzags of amounts run wildest?"
    shown = answerable("ask", question, "--plan-only", "--source", str(sales))
    assert shown.code == 0, shown.out + shown.err
    assert len(model.requests) == 1
    assert "tool: sql" in shown.out
    (tmp_path / "plan.yaml").write_text(shown.out.replace("largest first", "smallest first"))
    done = answerable("ask", "--plan", str(tmp_path / "plan.yaml"), "--json")
    assert done.code == 0, done.out + done.err
    assert "smallest first" in model.requests[-1].text
    assert done.json["columns"][1]["name"] == "spread"


def test_the_plan_of_the_reader_is_shown_and_run_without_a_model(answerable: Run, sales: Path, tmp_path: Path) -> None:
    shown = answerable("ask", "total amount per region", "--plan-only", "--source", str(sales))
    assert shown.code == 0, shown.out + shown.err
    (tmp_path / "plan.yaml").write_text(shown.out)
    done = answerable("ask", "--plan", str(tmp_path / "plan.yaml"), "--json")
    assert done.code == 0, done.out + done.err
    assert sorted(row[-1] for row in done.json["rows"]) == [180.0, 210.0, 250.0]


def test_what_the_data_cannot_tell_is_an_answer(answerable: Run, sales: Path, model: ScriptedModel) -> None:
    model.script(lambda request: Reply.object({"steps": [], "cannot": "there is no weather in it."}))
    done = answerable("ask", "did zigzag rain fall?", "--source", str(sales), "--json")
    assert done.code == 0, done.out + done.err
    assert done.json["kind"] == "text"
    assert "no weather" in done.json["text"]


def test_a_program_that_fails_goes_back_with_its_error(
    answerable: Run, sales: Path, model: ScriptedModel, tmp_path: Path
) -> None:
    (tmp_path / "plan.yaml").write_text(
        "steps:\n"
        "  - {id: rows, tool: sql, code: SELECT region_id FROM orders}\n"
        "  - {id: counted, tool: python, after: [rows], context: How many rows there are.}\n"
    )
    programs = ["result = rows.hight", "import os", "result = rows.height"]
    model.script([Reply.object({"code": code}) for code in programs])
    done = answerable("ask", "--plan", str(tmp_path / "plan.yaml"), "--source", str(sales), "--json")
    assert done.code == 0, done.out + done.err
    assert done.json["rows"] == [[12]]
    assert "`DataFrame` has no `hight`; near it there is `height`" in model.requests[1].text
    assert "`os` cannot be imported" in model.requests[2].text

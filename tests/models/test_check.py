"""`answerable models check`, as a user runs it."""

from collections.abc import Callable
from typing import Any

import pytest
from scripted_model import Reply, Request, ScriptedModel

Run = Callable[..., Any]


@pytest.fixture
def check(answerable: Run) -> Run:
    return lambda *options: answerable("models", "check", *options)


@pytest.fixture
def configured(scripted_model: ScriptedModel, monkeypatch: pytest.MonkeyPatch) -> ScriptedModel:
    monkeypatch.setenv("ANSWERABLE_MODEL", "scripted")
    monkeypatch.setenv("ANSWERABLE_MODEL_BASE_URL", scripted_model.base_url)
    return scripted_model


def capable(request: Request) -> Reply:
    """Does what it is asked to, as a model would."""
    if request.messages[-1]["role"] == "tool":
        return Reply.text("marmalade")
    if "final_result" in request.tools:
        return Reply.tool_call("final_result", {"total": 42})
    if "todays_word" in request.tools:
        return Reply.tool_call("todays_word", {})
    return Reply.text("one two three four five", usage=(10, 5))


def test_a_model_that_can_all_of_it(check: Run, configured: ScriptedModel) -> None:
    configured.script(capable)
    done = check("--json")
    assert done.code == 0, done.err
    told = done.json
    assert told["roles"] == {"reasoning": ["scripted"], "coding": ["scripted"]}
    (model,) = told["models"]
    assert model["works"]
    assert {name: trial["ok"] for name, trial in model["checks"].items()} == {
        "text": True,
        "structured": True,
        "streaming": True,
        "tools": True,
    }
    assert (model["cost"], model["tokens"] > 0) == (0, True)


def test_a_model_without_tools_can_be_used(check: Run, configured: ScriptedModel) -> None:
    configured.script(lambda request: Reply.text("no") if "todays_word" in request.tools else capable(request))
    done = check()
    assert done.code == 0, done.out
    assert "scripted: works" in done.out
    assert "tools        failed" in done.out
    assert "not as it was asked to" in done.out


def test_a_wrong_key(check: Run, configured: ScriptedModel, monkeypatch: pytest.MonkeyPatch) -> None:
    configured.key = "right"
    monkeypatch.setenv("ANSWERABLE_MODEL_KEY", "sk-wrong-secret")
    done = check()
    assert done.code == 1
    assert "cannot be used" in done.out
    assert "[model_unauthorised]" in done.out
    assert len(configured.requests) == 1
    assert "sk-wrong-secret" not in done.out + done.err


def test_a_short_reply_may_come_in_one_piece(check: Run, configured: ScriptedModel) -> None:
    def reply(request: Request) -> Reply:
        if "todays_word" in request.tools and len(request.messages) < 3:
            return Reply.tool_call("todays_word", {})
        if "Add 20" in request.text:
            return Reply.object({"total": 42})
        return Reply.text("One.")

    configured.script(reply)
    done = check("--json")
    assert done.code == 0, done.out + done.err


def test_no_model_is_set(check: Run) -> None:
    done = check("--json")
    assert done.code == 1
    error = done.json["error"]
    assert error["code"] == "model_missing"
    assert "ANSWERABLE_MODEL" in error["hint"]


def test_a_missing_key_names_the_variable(check: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ANSWERABLE_MODEL", "openai:gpt-5.5")
    done = check()
    assert done.code == 1
    assert "OPENAI_API_KEY" in done.out

"""`answerable models check`, as a user runs it."""

import json
import subprocess
import sys
from pathlib import Path

import pytest
from scripted_model import Reply, Request, ScriptedModel

COMMAND = Path(sys.executable).with_name("answerable")


def check(*options: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run([COMMAND, "models", "check", *options], capture_output=True, text=True, timeout=60)


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


def test_a_model_that_can_all_of_it(configured: ScriptedModel) -> None:
    configured.script(capable)
    done = check("--json")
    assert done.returncode == 0, done.stderr
    told = json.loads(done.stdout)
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


def test_a_model_without_tools_can_be_used(configured: ScriptedModel) -> None:
    configured.script(lambda request: Reply.text("no") if "todays_word" in request.tools else capable(request))
    done = check()
    assert done.returncode == 0, done.stdout
    assert "scripted: works" in done.stdout
    assert "tools        failed" in done.stdout
    assert "not as it was asked to" in done.stdout


def test_a_wrong_key(configured: ScriptedModel, monkeypatch: pytest.MonkeyPatch) -> None:
    configured.key = "right"
    monkeypatch.setenv("ANSWERABLE_MODEL_KEY", "sk-wrong-secret")
    done = check()
    assert done.returncode == 1
    assert "cannot be used" in done.stdout
    assert "[model_unauthorised]" in done.stdout
    assert len(configured.requests) == 1
    assert "sk-wrong-secret" not in done.stdout + done.stderr


def test_no_model_is_set() -> None:
    done = check("--json")
    assert done.returncode == 1
    error = json.loads(done.stdout)["error"]
    assert error["code"] == "model_missing"
    assert "ANSWERABLE_MODEL" in error["hint"]


def test_a_missing_key_names_the_variable(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ANSWERABLE_MODEL", "openai:gpt-5.5")
    done = check()
    assert done.returncode == 1
    assert "OPENAI_API_KEY" in done.stdout

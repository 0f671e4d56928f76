"""A user measures a model: how often it is right, what it costs, and nothing that was paid for is lost."""

import json
import os
import signal
import subprocess
import sys
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from scripted_model import Reply, Request, ScriptedModel

COMMAND = Path(sys.executable).with_name("answerable")
CASES = [
    {"id": "right", "question": "how many orders?", "source": "sales", "gold_rows": [[12]]},
    {"id": "wrong", "question": "how many regions?", "source": "sales", "gold_rows": [[7]]},
    {"id": "unclear", "question": "which is best?", "source": "sales", "gold_rows": [[1]]},
]


def answered(request: Request) -> Reply:
    if "You plan how" in request.text and "which is best" in request.last("user"):
        return Reply.object({"steps": [], "ask": ["By amount?", "By number?"]})
    if "You plan how" in request.text:
        return Reply.object({"steps": [{"id": "counted", "tool": "sql", "context": "Count them."}]})
    if "You put an answer" in request.text:
        return Reply.object({})
    table = "orders" if "how many orders" in request.last("user") else "regions"
    return Reply.object({"sql": f"SELECT count(*) AS n FROM {table}"})


@pytest.fixture
def measure(
    sales: Path, tmp_path: Path, scripted_model: ScriptedModel, monkeypatch: pytest.MonkeyPatch
) -> tuple[str, ...]:
    """The command line of a measurement of the scripted model."""
    (tmp_path / "cases.jsonl").write_text("".join(json.dumps(case) + "\n" for case in CASES))
    monkeypatch.setenv("ANSWERABLE_MODEL_BASE_URL", scripted_model.base_url)
    scripted_model.script(answered)
    return ("eval", "cases.jsonl", "--model", "compatible:scripted", "--json")


def test_a_model_is_measured_and_results_are_kept(
    answerable: Callable[..., Any], measure: tuple[str, ...], scripted_model: ScriptedModel, tmp_path: Path
) -> None:
    done = answerable(*measure, "--results", "results.jsonl")
    assert done.code == 1, done.err
    found = done.json
    assert [result["outcome"] for result in found["results"]] == ["correct", "wrong", "asked"]
    assert (found["cases"], found["correct"], found["left"], found["model"]) == (3, 1, 0, "compatible:scripted")
    assert found["calls"] == len(scripted_model.requests) == sum(result["calls"] for result in found["results"])
    assert found["input_tokens"] > 0
    assert found["cost_usd"] == 0.0
    assert found["results"][0]["seconds"] > 0
    scripted_model.requests.clear()
    again = answerable(*measure, "--results", "results.jsonl")
    assert again.json["results"] == found["results"]
    assert scripted_model.requests == []


def test_a_budget_is_not_passed(
    answerable: Callable[..., Any], measure: tuple[str, ...], scripted_model: ScriptedModel
) -> None:
    done = answerable(*measure, "--max-tokens", "1000")
    assert done.code == 1, done.err
    assert (done.json["cases"], done.json["left"]) == (0, 3)
    assert scripted_model.requests == []


def test_an_interruption_loses_nothing(measure: tuple[str, ...], scripted_model: ScriptedModel, tmp_path: Path) -> None:
    asked = threading.Event()

    def slow(request: Request) -> Reply:
        if "how many regions" in request.last("user"):
            asked.set()
            return answered(request).slow(600)
        return answered(request)

    scripted_model.script(slow)
    process = subprocess.Popen(
        [str(COMMAND), *measure, "--concurrency", "1"],
        cwd=tmp_path,
        env=dict(os.environ),
        stdout=subprocess.PIPE,
        text=True,
        # A shell starts background jobs with the signal ignored, and the tests may be such a job.
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),
    )
    try:
        assert asked.wait(100)
        process.send_signal(signal.SIGINT)
        out, _ = process.communicate(timeout=100)
    finally:
        process.kill()
    found = json.loads(out)
    assert process.returncode == 1
    assert [result["id"] for result in found["results"]] == ["right"]
    assert found["left"] == 2


def test_a_limit_of_dollars_needs_a_price(answerable: Callable[..., Any], measure: tuple[str, ...]) -> None:
    env = {"ANSWERABLE_MODEL_BASE_URL": "https://models.invalid/v1"}
    done = answerable(*measure, "--max-cost", "1", env=env)
    assert done.code == 1
    assert done.json["error"]["code"] == "model_price_unknown"


def test_replies_are_recorded_and_measured_again_without_the_model(
    answerable: Callable[..., Any], measure: tuple[str, ...], scripted_model: ScriptedModel, tmp_path: Path
) -> None:
    first = answerable(*measure, "--record", "replies.jsonl").json
    assert "You plan how" not in (tmp_path / "replies.jsonl").read_text(), "a recording holds no prompts"
    scripted_model.requests.clear()
    again = answerable("eval", "cases.jsonl", "--recorded", "replies.jsonl", "--json").json
    assert scripted_model.requests == []
    assert [each["outcome"] for each in again["results"]] == [each["outcome"] for each in first["results"]]
    assert (again["model"], again["calls"]) == ("recorded", first["calls"])
    assert again["input_tokens"] > 1_000
    (tmp_path / "replies.jsonl").write_text("no recording")
    refused = answerable("eval", "cases.jsonl", "--recorded", "replies.jsonl")
    assert refused.code != 0
    assert "replies.jsonl: it is no recording." in refused.err


def test_the_bundled_recording_is_right_in_about_two_calls_a_question(answerable: Callable[..., Any]) -> None:
    found = answerable("eval", "demo", "--recorded", "demo", "--limit", "8", "--json").json
    assert found["correct"] == found["cases"] > 4
    assert found["calls"] <= 2.5 * found["cases"]
    assert found["input_tokens"] <= 4_500 * found["cases"], "with the definitions of tools"
    assert (found["sure"], found["sure_and_right"]) == (found["cases"], found["cases"])

"""What the settings view shows: models, use, budgets, sandboxes, versions; and no secret."""

import time
from datetime import UTC, datetime
from importlib.metadata import version
from pathlib import Path
from typing import Any

import httpx
from pydantic import SecretStr
from scripted_model import Reply
from starlette.testclient import TestClient

from answerable.gateway.app import create_app
from answerable.settings import Settings


def test_without_a_model(api: httpx.Client) -> None:
    found = api.get("/models").json()
    assert (found["configured"], [role["models"] for role in found["roles"]]) == (False, [[], []])
    missing = api.post("/models/check", json={"name": "openai:none"})
    assert (missing.status_code, missing.json()["code"]) == (404, "model_unknown")


def test_a_model_is_tried_and_its_key_never_told(scripted_model: Any, tmp_path: Path) -> None:
    scripted_model.script(lambda _request: Reply.text("hello"))
    settings = Settings(
        home=tmp_path / "home",
        model="scripted",
        model_base_url=scripted_model.base_url,
        model_key=SecretStr("hunter2"),
        models={"budget": {"user_day": {"tokens": 1000, "cost": 2.5}}},
    )
    with TestClient(create_app(settings), base_url="http://127.0.0.1") as client:
        models = client.get("/api/v1/models")
        [model] = models.json()["roles"][0]["models"]
        assert (model["name"], model["base_url"]) == ("scripted", scripted_model.base_url)
        checked = client.post("/api/v1/models/check", json={"name": "scripted"})
        assert checked.json()["checks"]["text"]["ok"]
        assert not checked.json()["checks"]["tools"]["ok"]
        used = client.get("/api/v1/usage")
        [budget] = used.json()["budgets"]
        assert (budget["name"], budget["tokens_limit"], budget["cost_limit_usd"]) == ("user", 1000, 2.5)
        assert budget["tokens_spent"] == 0
        assert budget["period"] == datetime.now(UTC).strftime("%Y-%m-%d")
        for reply in (models, checked, used, client.get("/api/v1/about")):
            assert "hunter2" not in reply.text


def test_use_is_told_for_every_day(api: httpx.Client) -> None:
    api.post("/chat", json={"message": "how many people?", "source": "small"})
    days = api.get("/usage", params={"days": 7}).json()["days"]
    assert len(days) == 7
    assert days == sorted(days, key=lambda day: day["day"])
    assert days[-1]["runs"] > 0
    assert days[-1]["day"] == datetime.now(UTC).strftime("%Y-%m-%d")


def test_it_reports_what_the_store_keeps_and_when_it_was_last_pruned(tmp_path: Path) -> None:
    settings = Settings(home=tmp_path / "home", keep_days=90)
    with TestClient(create_app(settings), base_url="http://127.0.0.1") as client:
        deadline = time.monotonic() + 20
        while not (found := client.get("/api/v1/retention").json())["pruned_at"]:  # a server prunes when it starts
            assert time.monotonic() < deadline
    assert (found["keep_days"], found["keep_runs"], found["keep_mb"]) == (90, None, None)
    assert (found["runs"], found["protected_runs"], found["artifact_bytes"]) == (0, 0, 0)
    assert found["database_bytes"] > 0
    assert found["last_pruned"] == {"runs": 0, "threads": 0, "artifacts": 0, "bytes": 0}


def test_sandboxes_and_versions_are_told(api: httpx.Client, server: Any) -> None:
    found = api.get("/doctor").json()
    assert [sandbox["backend"] for sandbox in found["sandboxes"] if sandbox["default"]] == ["kernel"]
    assert found["machine"]["processors"] > 0
    about = api.get("/about").json()
    assert (about["version"], about["home"]) == (version("answerable"), str(server.home))
    [used] = [sandbox for sandbox in found["sandboxes"] if sandbox["default"]]
    assert about["runs_as_written"] == ["sql", "cypher", *(["python"] if used["available"] else [])]


def test_step_kinds_are_told(api: httpx.Client) -> None:
    kinds = {kind["name"]: kind for kind in api.get("/step-kinds").json()["step_kinds"]}
    assert kinds["sql"] == {
        "name": "sql",
        "title": "Query",
        "label": "SQL",
        "produces": "rows",
        "rows_from": "source",
        "language": "sql",
        "is_wrapper": False,
        "data_source_type": "sql",
        "repeatable": True,
    }
    assert (kinds["present"]["title"], kinds["present"]["language"]) == ("Check and write", None)


def test_agents_over_http(api: httpx.Client) -> None:
    listed = {each["name"]: each for each in api.get("/agents").json()["agents"]}
    assert listed["plan"]["builtin"]
    assert api.get("/agents/plan").json()["inputs"]["question"]
    assert api.get("/agents/nobody").status_code == 404
    assert api.get("/agents/..%2Fplan").status_code == 404
    wrong = api.post("/agents/plan/runs", json={"inputs": {"nonsense": 1}})
    assert (wrong.status_code, wrong.json()["code"]) == (422, "agent_inputs")
    inputs = dict.fromkeys(api.get("/agents/preplan").json()["inputs"], "?")
    assert api.post("/agents/preplan/runs", json={"inputs": inputs}).json()["code"] == "model_missing"

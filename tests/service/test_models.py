"""Models that are set while Answerable runs: written to the settings file, used at once, keys never shown."""

import stat
from pathlib import Path
from typing import Any

import pytest
import yaml
from pydantic import SecretStr
from scripted_model import Reply, ScriptedModel
from starlette.testclient import TestClient

from answerable.core.errors import UserError
from answerable.gateway.app import create_app
from answerable.models.editing import NewModel, with_model, with_order
from answerable.models.names import KINDS
from answerable.settings import load_settings

KEY = "sk-hunter2"


def served(home: Path, **environment: str) -> TestClient:
    settings = load_settings({"ANSWERABLE_HOME": str(home), **environment})
    return TestClient(create_app(settings), base_url="http://127.0.0.1/api/v1/")


def test_a_model_is_tried_added_used_and_removed(scripted_model: ScriptedModel, tmp_path: Path) -> None:
    scripted_model.script(lambda _request: Reply.text("hello"))
    (file := tmp_path / "settings.yaml").write_text("# ours\nport: 9000  # as the proxy has it\n")
    new = {"provider": "compatible", "model": "scripted", "base_url": scripted_model.base_url, "key": KEY}
    with served(tmp_path) as api:
        tried = api.post("models/check-new", json=new)
        assert tried.json()["checks"]["text"]["ok"]
        assert file.read_text().count("\n") == 2  # a trial writes nothing
        added = api.post("models", json=new)
        [model] = added.json()["roles"][0]["models"]
        assert (model["name"], model["key"], model["local"]) == ("compatible:scripted", "settings", True)
        assert model["last_check"]["result"]["checks"]["text"]["ok"]
        assert api.post("models", json=new).json() == added.json()  # the same again changes nothing
        checked = api.post("models/check", json={"name": "compatible:scripted"})  # in force without a restart
        assert checked.json()["checks"]["text"]["ok"]
        seen = file.read_text()
        assert seen.startswith("# ours\nport: 9000  # as the proxy has it\n")
        assert stat.S_IMODE(file.stat().st_mode) == 0o600
        gone = api.put("models/order", json={"reasoning": [], "coding": []})
        assert not gone.json()["configured"]
        assert KEY not in file.read_text()
        back = api.put("models/order", json={"reasoning": ["compatible:scripted"], "coding": ["compatible:scripted"]})
        assert back.json()["roles"][0]["models"][0]["key"] == "settings"
        for reply in (tried, added, checked, gone, back, api.get("models")):
            assert KEY not in reply.text
    assert load_settings({"ANSWERABLE_HOME": str(tmp_path)}).models_config.named() == ("compatible:scripted",)
    assert yaml.safe_load(file.read_text())["models"]["providers"]["compatible"]["key"] == KEY


def test_budgets_and_sharing_are_written_and_hold(tmp_path: Path) -> None:
    with served(tmp_path) as api:
        api.put("models/budget", json={"user_day": {"cost": 2.5}})
        assert api.get("usage").json()["budgets"][0]["cost_limit_usd"] == 2.5
        api.put("models/sharing", json={"rows": False})
        assert (api.get("models").json()["share_rows"], api.get("about").json()["share_rows"]) == (False, False)
        wrong = api.put("models/budget", json={"user_day": {"cost": -1}})
        assert wrong.status_code == 422
    settings = load_settings({"ANSWERABLE_HOME": str(tmp_path)})
    assert (settings.share_rows, settings.models_config.budget.user_day.cost) == (False, 2.5)


def test_what_the_environment_sets_is_not_changed_here(tmp_path: Path) -> None:
    with served(tmp_path, ANSWERABLE_MODEL="ollama:qwen3", ANSWERABLE_SHARE_ROWS="false") as api:
        assert api.get("models").json()["fixed_by"] == ["ANSWERABLE_MODEL"]
        for refused in (
            api.post("models", json={"provider": "ollama", "model": "other"}),
            api.put("models/order", json={"reasoning": [], "coding": []}),
            api.put("models/sharing", json={"rows": True}),
        ):
            assert (refused.status_code, refused.json()["code"]) == (403, "settings_fixed")
    assert not (tmp_path / "settings.yaml").exists()


@pytest.mark.parametrize(
    ("new", "code"),
    [
        ({"provider": "openai", "model": "gpt-5.5"}, "model_key_missing"),
        ({"provider": "compatible", "model": "m"}, "model_name_invalid"),
        ({"provider": "compatible", "model": "m", "base_url": "ftp://there"}, "model_name_invalid"),
    ],
)
def test_a_model_that_lacks_something_is_not_added(new: Any, code: str, tmp_path: Path) -> None:
    with served(tmp_path) as api:
        refused = api.post("models", json=new)
        assert (refused.status_code, refused.json()["code"]) == (422, code)
        assert not api.get("models").json()["configured"]


def test_a_key_goes_to_no_other_address_than_its_own() -> None:
    openai = NewModel(provider="openai", model="gpt-5.5", key=SecretStr(KEY))
    values, _ = with_model({}, openai, {})
    elsewhere = NewModel(provider="openai", model="gpt-5.5", base_url="https://elsewhere.example/v1")
    with pytest.raises(UserError, match="for another address"):
        with_model(values, elsewhere, {})
    with pytest.raises(UserError, match="for another address"):
        with_model({}, elsewhere, {"OPENAI_API_KEY": KEY})


@pytest.mark.parametrize(
    ("provider", "values", "environment"),
    [
        *((name, {}, {variable: KEY}) for name, kind in KINDS.items() for variable in kind.key_variables),
        *((name, {"models": {"providers": {name: {"key": KEY}}}}, {}) for name in KINDS if name != "compatible"),
        ("openai", {"models": {"providers": {"openai": {"key_variable": "OURS"}}}}, {"OURS": KEY}),
        ("bedrock", {}, {}),
    ],
)
@pytest.mark.parametrize("key", [None, SecretStr(""), SecretStr(" \t")])
def test_an_address_of_a_caller_gets_no_key_of_the_operator(
    key: SecretStr | None, provider: Any, values: Any, environment: Any
) -> None:
    elsewhere = NewModel(provider=provider, model="m", base_url="http://127.0.0.1:1/v1", key=key)
    with pytest.raises(UserError, match="for another address"):
        with_model(values, elsewhere, environment)


def test_a_host_that_is_called_like_a_provider_does_not_get_its_key() -> None:
    first = {"models": {"providers": {"compatible": {"base_url": "http://127.0.0.1:1/v1"}}}}
    named_alike = NewModel(provider="compatible", model="m", base_url="http://openai/v1")
    with pytest.raises(UserError, match="for another address"):
        with_model(first, named_alike, {"OPENAI_API_KEY": KEY})


def test_the_short_settings_become_part_of_the_long_ones() -> None:
    short = {"model": "qwen3", "model_base_url": "http://127.0.0.1:1/v1", "model_key": KEY, "port": 9000}
    second = NewModel(provider="compatible", model="big", base_url="http://127.0.0.1:2/v1", used_for="coding")
    values, name = with_model(short, second, {})
    assert name == "127_0_0_1_2:big"
    assert values == {
        "port": 9000,
        "models": {
            "reasoning": ["qwen3"],
            "coding": [name, "qwen3"],
            "providers": {
                "compatible": {"base_url": "http://127.0.0.1:1/v1", "key": KEY},
                "127_0_0_1_2": {"base_url": "http://127.0.0.1:2/v1"},
            },
        },
    }
    left, gone = with_order(values, {"reasoning": ["qwen3"], "coding": ["qwen3"]}, {})
    assert [*gone] == ["127_0_0_1_2"]
    assert left["models"]["reasoning"] == ["qwen3"]
    assert "coding" not in left["models"]

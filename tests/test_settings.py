"""Settings: one list, three places, and a clear word about what is wrong."""

from pathlib import Path

import pytest

from answerable.core.errors import OperatorError
from answerable.settings import load_settings


def test_defaults_need_nothing(tmp_path: Path) -> None:
    settings = load_settings({"ANSWERABLE_HOME": str(tmp_path)})
    assert (settings.host, settings.port, settings.history_window) == ("127.0.0.1", 8321, 12)
    assert settings.store_url == f"sqlite:///{tmp_path / 'answerable.db'}"


def test_the_environment_wins_over_the_file_and_a_program_over_both(tmp_path: Path) -> None:
    (tmp_path / "settings.yaml").write_text("port: 1\nhost: 127.0.0.2\nsources: {sales: /data}\n")
    settings = load_settings({"ANSWERABLE_HOME": str(tmp_path), "ANSWERABLE_PORT": "2"}, port=3)
    assert (settings.port, settings.host, dict(settings.sources)) == (3, "127.0.0.2", {"sales": "/data"})


@pytest.mark.parametrize(
    ("file", "environment", "said"),
    [
        ("prot: 1", {}, "prot"),
        ("port: many", {}, "port"),
        ("- a list", {}, "name: value"),
        ("port: [", {}, "settings.yaml"),
        ("models: {reasonng: openai:gpt-5.5}", {}, "models.reasonng"),
        ("models: {budget: {run: {tokens: -1}}}", {}, r"models\.budget\.run\.tokens"),
        ("", {"ANSWERABLE_PROT": "1"}, "ANSWERABLE_PROT"),
        ("", {"ANSWERABLE_PORT": "70000"}, "port"),
    ],
)
def test_what_is_wrong_is_named(tmp_path: Path, file: str, environment: dict[str, str], said: str) -> None:
    (tmp_path / "settings.yaml").write_text(file)
    with pytest.raises(OperatorError, match=said) as caught:
        load_settings({"ANSWERABLE_HOME": str(tmp_path), **environment})
    assert caught.value.stable_code == "settings_invalid"


def test_one_variable_names_a_model(tmp_path: Path) -> None:
    settings = load_settings({"ANSWERABLE_HOME": str(tmp_path), "ANSWERABLE_MODEL": "openai:gpt-5.2, ollama:qwen3:8b"})
    config = settings.models_config
    assert config.chain("reasoning") == config.chain("coding") == ("openai:gpt-5.2", "ollama:qwen3:8b")


def test_an_address_and_a_key_belong_to_the_provider_of_the_model(tmp_path: Path) -> None:
    environment = {
        "ANSWERABLE_HOME": str(tmp_path),
        "ANSWERABLE_MODEL": "qwen3:8b",
        "ANSWERABLE_MODEL_CODING": "openai:gpt-5.2",
        "ANSWERABLE_MODEL_BASE_URL": "http://127.0.0.1:8080/v1",
        "ANSWERABLE_MODEL_KEY": "a-secret",
    }
    settings = load_settings(environment)
    config = settings.models_config
    assert (config.chain("reasoning"), config.chain("coding")) == (("qwen3:8b",), ("openai:gpt-5.2",))
    assert config.providers["compatible"].base_url == "http://127.0.0.1:8080/v1"
    assert "openai" not in config.providers
    assert "a-secret" not in repr(settings) + repr(config) + settings.model_dump_json()


def test_the_file_sets_roles_providers_and_budgets(tmp_path: Path) -> None:
    (tmp_path / "settings.yaml").write_text(
        "models:\n  reasoning: lab:big\n  coding: [lab:small, lab:big]\n"
        "  providers: {lab: {base_url: 'http://lab/v1', key: s3cret}}\n"
        "  budget: {run: {tokens: 50000}, user_day: {cost: 2.5}}\n"
    )
    settings = load_settings({"ANSWERABLE_HOME": str(tmp_path)})
    config = settings.models_config
    assert "s3cret" not in repr(settings) + repr(config) + settings.model_dump_json() + config.model_dump_json()
    assert config.named() == ("lab:big", "lab:small")
    assert (config.budget.run.tokens, config.budget.user_day.cost, config.budget.thread.tokens) == (50000, 2.5, None)

"""A name as users know it becomes a target, or a sentence that says what is missing."""

import sys
from typing import Any

import pytest

from answerable.core.context import RunContext
from answerable.core.errors import OperatorError
from answerable.models.config import ModelsConfig
from answerable.models.names import Target, target_of


def target(name: str, environment: dict[str, str] | None = None, **providers: Any) -> Target:
    return target_of(name, ModelsConfig.model_validate({"providers": providers}), environment or {})


@pytest.mark.parametrize(
    ("name", "environment", "provider", "model", "api", "base_url"),
    [
        ("openai:gpt-5.2", {"OPENAI_API_KEY": "k"}, "openai", "gpt-5.2", "responses", ""),
        (
            "openai:gpt-5.2",
            {"OPENAI_API_KEY": "k", "OPENAI_BASE_URL": "http://proxy/v1/"},
            "openai",
            "gpt-5.2",
            "chat",
            "http://proxy/v1",
        ),
        ("anthropic:claude-sonnet-4-5", {"ANTHROPIC_API_KEY": "k"}, "anthropic", "claude-sonnet-4-5", "anthropic", ""),
        ("google:gemini-3-pro-preview", {"GEMINI_API_KEY": "k"}, "google", "gemini-3-pro-preview", "google", ""),
        (
            "azure:my-deployment",
            {"AZURE_OPENAI_API_KEY": "k", "AZURE_OPENAI_ENDPOINT": "https://x.openai.azure.com"},
            "azure",
            "my-deployment",
            "chat",
            "https://x.openai.azure.com",
        ),
        ("bedrock:amazon.nova-pro-v1:0", {}, "bedrock", "amazon.nova-pro-v1:0", "bedrock", ""),
        ("ollama:qwen3:8b", {}, "ollama", "qwen3:8b", "chat", "http://127.0.0.1:11434/v1"),
    ],
)
def test_providers(name: str, environment: dict[str, str], provider: str, model: str, api: str, base_url: str) -> None:
    made = target(name, environment)
    assert (made.provider, made.model, made.api, made.base_url) == (provider, model, api, base_url)
    assert made.name == name


def test_any_server_that_speaks_the_protocol() -> None:
    made = target("qwen3:8b", compatible={"base_url": "http://gpu.example/v1"})
    assert (made.provider, made.model, made.api, made.key) == ("compatible", "qwen3:8b", "chat", None)


def test_a_provider_of_ones_own_has_a_key_in_a_variable_of_its_own() -> None:
    lab = {"base_url": "http://lab.example/v1", "key_variable": "LAB_KEY"}
    made = target("lab:big", {"LAB_KEY": "secret", "OPENAI_API_KEY": "another"}, lab=lab)
    assert made.key is not None
    assert made.key.get_secret_value() == "secret"
    assert "secret" not in repr(made)


def test_the_key_of_openai_is_not_sent_elsewhere() -> None:
    lab = {"base_url": "http://lab.example/v1"}
    assert target("lab:big", {"OPENAI_API_KEY": "k"}, lab=lab).key is None


@pytest.mark.parametrize(
    ("name", "providers", "code", "said", "hint"),
    [
        ("gpt-5.2", {}, "model_name_invalid", "'gpt-5.2' names no provider", "openai"),
        ("opnai:gpt-5.2", {}, "model_name_invalid", "'opnai:gpt-5.2' names no provider", "openai"),
        ("openai:gpt-5.2", {}, "model_key_missing", "openai:gpt-5.2 needs a key", "OPENAI_API_KEY"),
        ("anthropic:claude-sonnet-4-5", {}, "model_key_missing", "needs a key", "ANTHROPIC_API_KEY"),
        ("azure:x", {}, "model_name_invalid", "needs the address", "AZURE_OPENAI_ENDPOINT"),
        ("azure:x", {"azure": {"base_url": "https://x"}}, "model_key_missing", "needs a key", "AZURE_OPENAI_API_KEY"),
        ("lab:x", {"lab": {"base_url": "ftp://x"}}, "model_name_invalid", "not an http URL", "https"),
    ],
)
def test_what_is_missing(name: str, providers: dict[str, Any], code: str, said: str, hint: str) -> None:
    with pytest.raises(OperatorError, match=said) as caught:
        target(name, **providers)
    assert caught.value.stable_code == code
    assert hint in str(caught.value.hint)


@pytest.mark.parametrize(
    ("name", "variable", "extra"),
    [
        ("anthropic:claude-sonnet-4-5", "ANTHROPIC_API_KEY", "anthropic"),
        ("google:gemini-3-pro-preview", "GOOGLE_API_KEY", "google"),
        ("bedrock:amazon.nova-pro-v1:0", "AWS_REGION", "bedrock"),
    ],
)
async def test_a_provider_whose_package_is_not_installed(
    make: Any, context: RunContext, monkeypatch: pytest.MonkeyPatch, name: str, variable: str, extra: str
) -> None:
    package = {"anthropic": "anthropic", "google": "google.genai", "bedrock": "boto3"}[extra]
    monkeypatch.setitem(sys.modules, package, None)
    monkeypatch.delitem(sys.modules, f"pydantic_ai.models.{extra}", raising=False)
    monkeypatch.delitem(sys.modules, f"pydantic_ai.providers.{extra}", raising=False)
    with pytest.raises(OperatorError, match="not installed") as caught:
        make({variable: "us-east-1"}, reasoning=name).for_role("reasoning", context)
    assert caught.value.stable_code == "model_extra_missing"
    assert caught.value.hint == f"pip install 'answerable[{extra}]'"


@pytest.mark.parametrize("name", ["openai:gpt-5.2", "azure:gpt-5.2", "ollama:qwen3:8b"])
async def test_models_of_the_default_installation_are_made(make: Any, context: RunContext, name: str) -> None:
    keys = {"OPENAI_API_KEY": "k", "AZURE_OPENAI_API_KEY": "k", "AZURE_OPENAI_ENDPOINT": "https://x.azure.com"}
    models = make({**keys, "OPENAI_API_VERSION": "2025-04-01-preview"}, reasoning=name)
    assert models.for_role("reasoning", context).model_name == name.partition(":")[2]

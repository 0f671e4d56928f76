"""Every settings example of docs/agents.md is one that works."""

import re
from pathlib import Path

import pytest

from answerable.models.names import target_of
from answerable.settings import load_settings

PAGE = Path(__file__).parents[2] / "docs" / "agents.md"
YAML = re.findall(r"^```yaml\n(.*?)^```", PAGE.read_text(), re.MULTILINE | re.DOTALL)
EXAMPLES = [example for example in YAML if re.search(r"^models:", example, re.MULTILINE)]
KEYS = dict.fromkeys(("OPENAI_API_KEY", "ANTHROPIC_API_KEY", "GOOGLE_API_KEY", "AZURE_OPENAI_API_KEY", "LAB_KEY"), "k")


@pytest.mark.parametrize("example", EXAMPLES)
def test_settings_examples(example: str, tmp_path: Path) -> None:
    (tmp_path / "settings.yaml").write_text(example)
    config = load_settings({"ANSWERABLE_HOME": str(tmp_path)}).models_config
    assert config.named()
    for name in config.named():
        assert target_of(name, config, KEYS).name == name


def test_there_is_one_for_each_provider() -> None:
    for provider in ("openai", "anthropic", "google", "azure", "bedrock", "ollama", "lab"):
        assert any(f"{provider}:" in example for example in EXAMPLES), provider

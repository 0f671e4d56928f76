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
        ("", {"ANSWERABLE_PROT": "1"}, "ANSWERABLE_PROT"),
        ("", {"ANSWERABLE_PORT": "70000"}, "port"),
    ],
)
def test_what_is_wrong_is_named(tmp_path: Path, file: str, environment: dict[str, str], said: str) -> None:
    (tmp_path / "settings.yaml").write_text(file)
    with pytest.raises(OperatorError, match=said) as caught:
        load_settings({"ANSWERABLE_HOME": str(tmp_path), **environment})
    assert caught.value.stable_code == "settings_invalid"

"""A home that tests share, so that the demo data is read only once, and a model for all tests of a file."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from scripted_model import ScriptedModel


@pytest.fixture(scope="session")
def demo_home(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("demo_home")


@pytest.fixture(scope="module")
def scripted_model() -> Iterator[ScriptedModel]:
    server = ScriptedModel()
    yield server
    server.close()

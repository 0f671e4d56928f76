"""A home folder in which nothing can be written: every command says so in a sentence."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

Answerable = Callable[..., Any]


@pytest.mark.parametrize(
    "arguments",
    [
        ("ask", "how many orders?", "--source", "demo"),
        ("serve", "--port", "0"),
        ("doctor",),
        ("runs", "list"),
        ("threads", "list"),
        ("sources", "show", "demo"),
        ("demo", "--no-serve"),
    ],
    ids=" ".join,
)
def test_it_is_told(answerable: Answerable, read_only_disk: Path, arguments: tuple[str, ...]) -> None:
    done = answerable(*arguments, env={"ANSWERABLE_HOME": str(read_only_disk)})
    assert done.code == 1
    assert "read-only" in (done.out + done.err).lower()

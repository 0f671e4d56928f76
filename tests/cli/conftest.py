"""The command as users run it."""

import json
import os
import subprocess
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

COMMAND = Path(sys.executable).with_name("answerable")


@dataclass(frozen=True)
class Done:
    code: int
    out: str
    err: str

    @property
    def json(self) -> Any:
        return json.loads(self.out)


@pytest.fixture
def answerable(tmp_path: Path) -> Callable[..., Done]:
    """Runs the installed command in an empty folder."""

    def run(*arguments: str, given: str = "", env: dict[str, str] | None = None) -> Done:
        done = subprocess.run(
            [str(COMMAND), *arguments],
            cwd=tmp_path,
            env={**os.environ, **(env or {})},
            input=given,
            capture_output=True,
            text=True,
            timeout=100,
        )
        return Done(done.returncode, done.stdout, done.stderr)

    return run

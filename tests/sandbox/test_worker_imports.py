"""Processes of sandboxes start often, and load no more than they need."""

import subprocess
import sys

import pytest


@pytest.mark.parametrize("module", ["answerable.sandbox.monty.host", "answerable.sandbox.tables.worker"])
def test_a_worker_does_without_pydantic(module: str) -> None:
    code = f"import sys, {module}; print('pydantic' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=60)
    assert (done.stdout, done.stderr) == ("False\n", "")

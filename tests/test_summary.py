"""A test run ends with its summary: nothing that was loaded complains when the interpreter ends."""

import subprocess
import sys
from pathlib import Path

TEST = Path(__file__).parent / "reader" / "test_explain.py::test_plans_with_one_sentence_give_one_answer"
"""Uses Hypothesis, and DuckDB, which reports what outlives it."""


def test_the_last_line_is_the_summary() -> None:
    command = [sys.executable, "-m", "pytest", "-n", "0", str(TEST)]
    done = subprocess.run(command, cwd=Path(__file__).parents[1], capture_output=True, text=True, timeout=100)
    assert done.stdout.splitlines()[-1].startswith("1 passed in ")
    assert done.stderr == ""

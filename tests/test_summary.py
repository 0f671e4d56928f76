"""A test run ends with its summary: nothing that was loaded complains when the interpreter ends."""

import ast
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

TESTS = Path(__file__).parent
TEST = TESTS / "reader" / "test_explain.py::test_plans_with_one_sentence_give_one_answer"
"""Uses Hypothesis, and DuckDB, which reports what outlives it."""


HOLDS_ALL = """
import threading, time

def pytest_sessionfinish(session):
    threading.Thread(target=lambda: (session, time.sleep(60)), daemon=True).start()
"""
"""A plugin: a thread that lives to the end of the process leads to every test."""


def test_the_last_line_is_the_summary(tmp_path: Path) -> None:
    (tmp_path / "holds_all.py").write_text(HOLDS_ALL)
    command = [sys.executable, "-m", "pytest", "-n", "0", "-p", "holds_all", str(TEST)]
    environment = {**os.environ, "PYTHONPATH": str(tmp_path)}
    done = subprocess.run(command, cwd=TESTS.parent, env=environment, capture_output=True, text=True, timeout=100)
    assert done.stdout.splitlines()[-1].startswith("1 passed in ")
    assert done.stderr == ""


def test_no_annotation_holds_a_class_of_duckdb() -> None:
    """A thread that lives to the end of the process holds functions of tests, and they hold their annotations.

    DuckDB would report the class, and all that belongs to it, as leaked. As a text, the annotation holds nothing.
    """
    files = {path: path.read_text() for path in TESTS.rglob("*.py")}
    trees = {path: ast.parse(text) for path, text in files.items() if "duckdb" in text}
    assert [path.name for path, tree in trees.items() if any(map(_names_duckdb, _annotations(tree)))] == []


def _annotations(tree: ast.Module) -> Iterator[ast.expr]:
    for node in ast.walk(tree):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef) and node.returns is not None:
            yield node.returns
        elif isinstance(node, ast.arg | ast.AnnAssign) and node.annotation is not None:
            yield node.annotation


def _names_duckdb(annotation: ast.expr) -> bool:
    return any(isinstance(node, ast.Name) and node.id == "duckdb" for node in ast.walk(annotation))

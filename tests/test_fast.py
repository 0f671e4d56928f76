"""`make test-fast` leaves no seam out."""

import ast
import importlib.util
import re
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[1]


def fast() -> Any:
    spec = importlib.util.spec_from_file_location("fast", ROOT / "tests" / "fast.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_every_seam_that_can_be_added_to_has_a_scenario() -> None:
    table = (ROOT / "ARCHITECTURE.md").read_text().split("## To add")[1].split("\n## ")[0]
    named = re.findall(r"^\| ([a-z ]+) \|", table, re.MULTILINE)
    assert len(named) >= 8
    assert [seam for seam in named if seam not in fast().SEAMS] == []


def test_every_chosen_test_exists() -> None:
    assert [unit for unit in fast().UNITS if not (ROOT / unit).exists()] == []
    for scenario in fast().SEAMS.values():
        file, _, name = scenario.partition("::")
        tree = ast.parse((ROOT / file).read_text())
        assert name in [node.name for node in tree.body if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)]

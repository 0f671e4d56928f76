"""Every mutant fits the code: a row that no longer does would end `make mutants` before the rest is tried."""

import importlib
from pathlib import Path

import pytest


def test_every_mutant_stands_once_in_its_file_and_has_its_tests(monkeypatch: pytest.MonkeyPatch) -> None:
    root = Path(__file__).parents[1]
    monkeypatch.syspath_prepend(str(root / "scripts"))
    mutants = importlib.import_module("mutants")
    counts = {mutant.name: (mutants.PACKAGE / mutant.file).read_text().count(mutant.old) for mutant in mutants.MUTANTS}
    assert {name: count for name, count in counts.items() if count != 1} == {}
    tests = [path for mutant in mutants.MUTANTS for path in mutant.tests.split()]
    assert [path for path in tests if not (root / path.partition("::")[0]).exists()] == []

"""Unfinished files: whose they are can be told, so that only those of dead processes are removed."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from answerable.isolation.abandoned import is_abandoned, unfinished_name

NAMED = "from answerable.isolation.abandoned import unfinished_name; print(unfinished_name(), flush=True); input()"


@pytest.mark.parametrize("prefix", ["", "answerable-monty.", "values.db."])
def test_the_files_of_a_process_are_abandoned_when_it_dies(tmp_path: Path, prefix: str) -> None:
    process = subprocess.Popen([sys.executable, "-c", NAMED], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    assert process.stdout is not None
    path = tmp_path / (prefix + process.stdout.readline().strip())
    path.touch()
    os.utime(path, (0, 0))
    assert not is_abandoned(path)
    process.kill()
    process.communicate(timeout=20)
    assert is_abandoned(path)


def test_a_later_process_of_the_same_number_is_another(tmp_path: Path) -> None:
    place, pid, began, token = unfinished_name().split("-")
    path = tmp_path / f"{place}-{pid}-{int(began) - 1}-{token}"
    path.touch()
    assert is_abandoned(path)


@pytest.mark.parametrize("name", ["0123456789ab-7-7-aa", "a", "", "x-1", "..", "0123456789ab-²-1-a"])
def test_what_was_named_elsewhere_is_abandoned_after_a_day(tmp_path: Path, name: str) -> None:
    path = tmp_path / f"f.{name}"
    path.touch()
    assert not is_abandoned(path)
    os.utime(path, (0, 0))
    assert is_abandoned(path)
    path.unlink()
    assert not is_abandoned(path)

"""The short forms of `make faults`: real servers under load, harmed once, and what is left is whole."""

import json
import subprocess
import sys
from pathlib import Path

import pytest
from faults.__main__ import MODULES
from faults.stock import Stock

ROOT = Path(__file__).parents[2]
PAUSE_SECONDS = "0.4"
"""Enough requests are under way at any moment, and the servers do not take all of the machine."""


def faults(*arguments: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "faults", *arguments]
    return subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=230)


@pytest.mark.timeout(240)  # most of it waiting: a lease lapses after seven seconds, and a busy machine starts slowly
@pytest.mark.parametrize("name", MODULES)
def test_nothing_is_lost_doubled_stuck_or_orphaned(name: str) -> None:
    done = faults(name, "--rounds", "1", "--pause", PAUSE_SECONDS, "--json")
    assert done.stdout, done.stderr
    left = json.loads(done.stdout)[name]
    assert left.pop("requests") >= 8
    assert left == {"lost": [], "doubled": [], "stuck": [], "orphaned": []}
    assert done.returncode == 0


def test_an_unknown_name_is_wrong_usage() -> None:
    done = faults("nonsense")
    assert done.returncode == 2
    assert "there is no nonsense; choose from kill, outage" in done.stderr


@pytest.mark.parametrize("what", ["lost", "doubled", "stuck", "orphaned"])
def test_a_stock_with_anything_in_it_is_not_whole(what: str) -> None:
    assert Stock().whole
    assert not Stock(**{what: ["one"]}).whole  # type: ignore[arg-type]

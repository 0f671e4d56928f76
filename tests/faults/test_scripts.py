"""The short forms of `make faults`: real servers under load, harmed once, and what is left is whole."""

import json

import pytest
from faults.__main__ import MODULES, main
from faults.stock import Stock

PAUSE_SECONDS = "1"
"""Enough requests are under way at any moment, and the servers do not take all of the machine."""


@pytest.mark.timeout(240)  # most of it waiting: a lease lapses after seven seconds, and a busy machine starts slowly
@pytest.mark.parametrize("name", MODULES)
def test_nothing_is_lost_doubled_stuck_or_orphaned(name: str, capsys: pytest.CaptureFixture[str]) -> None:
    code = main([name, "--rounds", "1", "--pause", PAUSE_SECONDS, "--json"])
    left = json.loads(capsys.readouterr().out)[name]
    assert left.pop("requests") >= 5
    assert left == {"lost": [], "doubled": [], "stuck": [], "orphaned": []}
    assert code == 0


def test_an_unknown_name_is_wrong_usage(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as ended:
        main(["nonsense"])
    assert ended.value.code == 2
    assert "there is no nonsense; choose from kill, outage" in capsys.readouterr().err


@pytest.mark.parametrize("what", ["lost", "doubled", "stuck", "orphaned"])
def test_a_stock_with_anything_in_it_is_not_whole(what: str) -> None:
    assert Stock().whole
    assert not Stock(**{what: ["one"]}).whole  # type: ignore[arg-type]

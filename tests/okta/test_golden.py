"""The golden cases fit the data that comes with them."""

import sqlite3
from contextlib import closing
from pathlib import Path

from answerable.evals.cases import load_cases
from answerable.okta.golden import CASES, DATA, refreshed

FURTHER = Path(__file__).parent / "further.jsonl"
"""Questions that were written before the vocabulary: `answerable eval tests/okta/further.jsonl`."""


def test_the_rows_of_the_cases_are_those_of_their_statements() -> None:
    lines, further = CASES.read_text("utf-8").splitlines(), FURTHER.read_text("utf-8").splitlines()
    with closing(sqlite3.connect(f"{DATA.as_uri()}?mode=ro", uri=True)) as db:
        assert [refreshed(line, db) for line in (*lines, *further)] == [*lines, *further]
    assert len(load_cases("okta")) == len(lines) >= 30
    assert len(load_cases(FURTHER)) == len(further) == 20

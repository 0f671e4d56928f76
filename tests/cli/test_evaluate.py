"""`answerable eval` in a process of its own."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

Answerable = Callable[..., Any]


@pytest.mark.parametrize(
    ("source", "code", "reason"),
    [("text.duckdb", "file_mismatch", "as its name says"), ("empty.csv", "file_empty", "is empty")],
)
def test_a_case_over_a_source_that_cannot_be_read_says_why_it_failed(
    answerable: Answerable, tmp_path: Path, source: str, code: str, reason: str
) -> None:
    (tmp_path / "empty.csv").touch()
    (tmp_path / "text.duckdb").write_text("only text\n")
    case = {"id": "people", "question": "how many people?", "source": source, "gold_rows": [[1]]}
    (tmp_path / "cases.jsonl").write_text(json.dumps(case) + "\n")
    told = answerable("eval", "cases.jsonl")
    assert told.code == 1
    assert told.out.startswith("failed   people: ")
    assert reason in told.out
    [result] = answerable("eval", "cases.jsonl", "--json").json["results"]
    assert (result["outcome"], result["code"]) == ("failed", code)
    assert reason in result["reason"]

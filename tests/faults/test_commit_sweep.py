"""A process that is killed at any write leaves whole facts: a question with its run, an answer with the end of its run,
a name with its history. What was acknowledged is there, and nothing is there twice."""

import json
import subprocess
import sys
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

PROCESS = Path(__file__).parent / "commit_sweep_process.py"
ENDS = {"run.finished": "done", "run.failed": "failed"}


@pytest.mark.parametrize("kind", ["sqlite", "postgres"])
def test_killed_at_every_write(kind: str, tmp_path: Path, request: pytest.FixtureRequest) -> None:
    url = str(tmp_path / "a.db") if kind == "sqlite" else request.getfixturevalue("postgres_url")
    done = subprocess.run([sys.executable, PROCESS, url, tmp_path], capture_output=True, text=True, timeout=110)
    assert done.returncode == 0, done.stderr
    seen = json.loads(done.stdout)
    *killed, undisturbed = seen.values()
    assert len(killed) > 20
    assert undisturbed["history"][0][1] == undisturbed["text"]
    assert len(undisturbed["history"]) == 2
    assert Counter(undisturbed["runs"].values()) == Counter(["done", "failed"])
    for tenant, left in seen.items():
        check(left, f"killed at point {tenant[1:]}")
    assert any(left["runs"] and len(left["acknowledged"]) == 0 for left in killed), "runs of dead processes went on"


def check(left: Any, where: str) -> None:
    for run, types in left["events"].items():
        assert left["numbers"][run] == list(range(1, len(types) + 1)), where
        assert [ENDS[one] for one in types if one in ENDS] == [left["runs"][run]], f"{where}: one end, and its status"
    ends = sorted([run, types[-1]] for run, types in left["events"].items())
    assert sorted(left["notices"]) == ends, f"{where}: each end is announced"
    check_conversations(left, where)
    check_names(left, where)
    kept = {"run": left["runs"], "fork": {thread for thread, *_ in left["messages"]}}
    for fact in left["acknowledged"]:
        for kind, name in fact.items():
            assert name in kept.get(kind, left["text"]), f"{where}: {kind} {name} was acknowledged"


def check_conversations(left: Any, where: str) -> None:
    """Every thread holds whole turns: a question, then its answer. A fork holds both turns of its origin or is not."""
    threads: dict[str, list[Any]] = {}
    for thread, role, run in left["messages"]:
        assert run in left["runs"], f"{where}: a message without its run"
        threads.setdefault(thread, []).append((role, run))
    for turns in threads.values():
        runs = list(dict.fromkeys(run for _, run in turns))
        assert turns == [(role, run) for run in runs for role in ("user", "assistant")], where
    if len(threads) > 1:
        assert [len(turns) for turns in threads.values()] == [4, 4], where
    assert {run for turns in threads.values() for _, run in turns} == set(left["runs"]), f"{where}: a run unsaid"


def check_names(left: Any, where: str) -> None:
    """History leads from nothing to the text in force, so every change can be undone."""
    text = ""
    for before, after in reversed(left["history"]):
        assert before == text, where
        text = after
    assert text == left["text"], f"{where}: in force, and unknown to history"
    assert not left["history"] or left["undone"] == left["history"][0][0], where

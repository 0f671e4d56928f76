"""A run that is killed at any point is continued by the next process, and nothing that was recorded is done again."""

import json
import subprocess
import sys
import tempfile
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

PROCESS = Path(__file__).parent / "kill_sweep_process.py"
AFTER = {
    "a": [],
    "b": ["a"],
    "c": ["a"],
    "fails": ["a"],
    "send": ["c"],
    "pay": ["c"],
    "join": ["b", "c", "fails", "untaken", "sub", "send", "pay"],
    "end": ["join"],
    "sub/x": ["a"],
    "sub/y": ["a"],
    "sub/z": ["sub/x", "sub/y"],
}


@pytest.fixture
def folder() -> Iterator[Path]:
    """In memory where that can be had: what a killed process has written stays, and the disk need not be waited for."""
    memory = Path("/dev/shm")
    with tempfile.TemporaryDirectory(prefix="answerable-", dir=memory if memory.is_dir() else None) as name:
        yield Path(name)


@pytest.mark.parametrize("strategy", ["eager", "sequential", "levels", "events"])
def test_killed_at_every_point(folder: Path, strategy: str) -> None:
    done = subprocess.run([sys.executable, PROCESS, folder, strategy], capture_output=True, text=True, timeout=110)
    assert done.returncode == 0, done.stderr
    *killed, undisturbed = [json.loads(line) for line in done.stdout.splitlines()]
    assert len(killed) > 40
    expected = undisturbed["lives"][0]["ended"]
    check_undisturbed(undisturbed, expected)
    for seen in killed:
        check_killed(seen, expected)
    assert any(life["ended"] == "killed" for seen in killed for life in seen["lives"][1:])
    assert any(
        life["ended"] != "killed" and life["ended"]["status"] == "waiting" for s in killed for life in s["lives"]
    )


def check_undisturbed(seen: Any, expected: Any) -> None:
    assert expected["status"] == "partial"
    assert set(expected["output"]["inputs"]["join"]["inputs"]) >= {"b", "sub", "pay"}
    assert Counter(node for node, _, _ in seen["lives"][0]["done"]) == Counter({**dict.fromkeys(AFTER, 1), "b": 3})


def check_killed(seen: Any, expected: Any) -> None:
    where = f"killed at point {seen['point']}"
    lives = seen["lives"]
    assert lives[0]["ended"] == "killed", where
    assert lives[-1]["ended"] == expected, where
    for life in lives:
        check_life(life, where)
    executions = Counter((node, attempt) for life in lives for node, attempt, _ in life["done"])
    deaths = sum(life["ended"] == "killed" for life in lives)
    assert max(executions.values()) <= 1 + deaths, f"{where}: {executions}"
    assert {node for node, _ in executions} == set(AFTER), where
    assert {key for life in lives for node, _, key in life["done"] if node == "send"} == {"run_killed:send"}, where
    check_effect(lives, where)


def check_life(life: Any, where: str) -> None:
    """One process: it repeated nothing that was recorded, and went on only from what it had recorded."""
    done = [(node, attempt) for node, attempt, _ in life["done"]]
    before, after = life["before"], life["after"]
    assert not {node for node, _ in done} & set(before["finished"]), f"{where}: a recorded node was run again"
    assert not set(done) & {tuple(retried) for retried in before["retried"]}, (
        f"{where}: a recorded attempt was repeated"
    )
    assert len(set(done)) == len(done), where
    for node, _ in done:
        assert set(AFTER[node]) <= set(after["ended"]), f"{where}: {node} ran before what it depends on was stored"
    assert after["numbers"] == list(range(1, len(after["numbers"]) + 1)), where


def check_effect(lives: Any, where: str) -> None:
    """The payment whose target knows no key is made again only after a person said so."""
    made = [any(node == "pay" for node, _, _ in life["done"]) for life in lives]
    asked = [life["ended"] != "killed" and life["ended"]["status"] == "waiting" for life in lives]
    for position in range(1, len(lives)):
        if made[position] and any(made[:position]):
            assert any(asked[:position]), where

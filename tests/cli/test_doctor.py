"""`answerable doctor`: what this machine offers, and how to get what is missing."""

import contextlib
import json
import sqlite3
from collections.abc import Callable
from pathlib import Path
from typing import Any

Answerable = Callable[..., Any]


def test_every_backend_is_told_with_its_walls_or_a_remedy(answerable: Answerable, tmp_path: Path) -> None:
    done = answerable("doctor", "--json", env={"DOCKER_HOST": f"unix://{tmp_path}/none.sock"})
    found = {sandbox["backend"]: sandbox for sandbox in done.json["sandboxes"]}
    assert list(found) == ["monty", "kernel", "docker", "kubernetes", "microsandbox"]
    assert [name for name, sandbox in found.items() if sandbox["default"]] == ["kernel"]
    assert found["docker"]["available"] is False
    assert found["docker"]["remedy"]
    assert all(sandbox["walls"] for sandbox in found.values() if sandbox["available"])
    assert (done.code == 0) is done.json["ready"] is found["kernel"]["available"]
    assert {"python", "system", "landlock", "user_namespaces", "cgroups", "bubblewrap", "store", "free_disk_mb"} <= set(
        done.json["machine"]
    )


def test_a_default_that_cannot_run_is_an_exit_code(answerable: Answerable, tmp_path: Path) -> None:
    env = {"ANSWERABLE_SANDBOX": "docker", "DOCKER_HOST": f"unix://{tmp_path}/none.sock"}
    done = answerable("doctor", env=env)
    assert done.code == 1
    assert "(the default)" in done.out
    assert "to get it: Start Docker" in done.out


def test_the_password_of_the_store_is_not_shown(answerable: Answerable) -> None:
    done = answerable("doctor", "--json", env={"ANSWERABLE_STORE": "postgresql://me:secret@db.invalid/x"})
    assert "secret" not in done.out
    assert done.json["machine"]["store"] == "postgresql://me@db.invalid/x"
    assert done.json["store"]["error"] == "store_unavailable"


def test_it_tells_what_is_kept_and_when_it_was_last_pruned(answerable: Answerable) -> None:
    keep = {"ANSWERABLE_KEEP_DAYS": "90"}
    assert answerable("ask", "how many orders were there in 2024?", "--source", "demo").code == 0
    before = answerable("doctor", "--json", env=keep).json["store"]
    assert (before["runs"], before["keep_days"], before["keep_runs"], before["pruned_at"]) == (1, 90, None, None)
    assert before["database_bytes"] > 0
    assert answerable("runs", "prune", "--dry-run", env={"ANSWERABLE_KEEP_RUNS": "1"}).out.startswith("0 runs")
    pruned = answerable("runs", "prune", "--json", env=keep).json
    assert pruned == {"dry_run": False, "pruned": {"runs": 0, "threads": 0, "artifacts": 0, "bytes": 0}}
    assert answerable("doctor", "--json", env=keep).json["store"]["pruned_at"]


def test_sources_and_what_was_left_out_of_them_are_named(answerable: Answerable, tmp_path: Path, home: Path) -> None:
    with contextlib.closing(sqlite3.connect(tmp_path / "shop.sqlite")) as connection:
        connection.execute("CREATE TABLE own AS SELECT 1 AS a")
        connection.execute("CREATE VIEW broken AS SELECT x FROM gone")
        connection.commit()
    named = {"shop": str(tmp_path / "shop.sqlite"), "lost": str(tmp_path / "lost.sqlite")}
    (home / ".answerable").mkdir()
    (home / ".answerable" / "settings.yaml").write_text(json.dumps({"sources": named, "source": "shop"}))
    found = {source["name"]: source for source in answerable("doctor", "--json").json["sources"]}
    assert set(found) == {"demo", "shop", "lost"}
    assert (found["shop"]["tables"], found["shop"]["error"]) == (1, None)
    assert [note["subject"] for note in found["shop"]["notes"]] == ["broken"]
    assert found["lost"]["error"]["code"] == "source_missing"
    said = answerable("doctor").out
    assert "broken: is left out, because the database cannot read it: no such table: main.gone" in said
    assert "source lost: cannot be read:" in said

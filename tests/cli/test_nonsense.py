"""Commands that are given nonsense say in one sentence what is wrong, and exit with 2 (wrong usage) or 1 (failed).

The fixture `answerable` fails on every stack trace.
"""

import sqlite3
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

Answerable = Callable[..., Any]


@pytest.fixture
def orders(tmp_path: Path) -> Path:
    path = tmp_path / "orders.csv"
    path.write_text("id,region,amount\n1,North,10\n2,South,20\n")
    return path


@pytest.mark.parametrize(
    ("arguments", "code"),
    [
        (("sources", "remove", "nope"), "source_unknown"),
        (("sources", "add", ""), "source_unnamed"),
        (("sources", "add", "orders.csv", "--name", ""), "source_unnamed"),
        (("sources", "add", "orders.csv", "--copy", "--name", " "), "source_unnamed"),
        (("names", "history", "nope"), "source_missing"),
        (("names", "set", "orders.csv", "nope", "--label", "x"), "semantic_invalid"),
        (("threads", "show", "nope"), "thread_not_found"),
        (("threads", "fork", "nope", "nope"), "thread_not_found"),
        (("runs", "rows", "nope"), "run_not_found"),
        (("runs", "compare", "nope", "nope"), "run_not_found"),
        (("eval", "show", "nope"), "suite_unknown"),
        (("eval", "add", "", "nope"), "suite_name_invalid"),
        (("eval", "add", "a/b", "nope"), "suite_name_invalid"),
        (("eval", "add", "mine", "nope"), "run_not_found"),
    ],
)
def test_what_is_unknown_or_empty_is_told(
    answerable: Answerable, orders: Path, arguments: tuple[str, ...], code: str
) -> None:
    done = answerable(*arguments, "--json")
    assert (done.code, done.json["error"]["code"]) == (2, code)


@pytest.mark.parametrize(
    "arguments",
    [
        ("sources", "add", "orders.csv", "--replace"),
        ("names", "set", "orders.csv", "", "--label", "x"),
        ("names", "set", "orders.csv", ".amount", "--label", "x"),
        ("names", "set", "orders.csv", "orders", "--label", "x" * 3_000),
    ],
)
def test_wrong_arguments_are_wrong_usage(answerable: Answerable, orders: Path, arguments: tuple[str, ...]) -> None:
    done = answerable(*arguments)
    assert (done.code, done.err.count("Error: ")) == (2, 1)


def test_a_title_is_neither_empty_nor_a_book(answerable: Answerable, orders: Path) -> None:
    answerable("ask", "SQL: SELECT 1", "--source", str(orders))
    [thread] = answerable("threads", "list", "--json").json["threads"]
    for title in ("", "x" * 400):
        done = answerable("threads", "rename", thread["thread_id"], title, "--json")
        assert (done.code, done.json["error"]["code"]) == (2, "title_invalid")


def test_a_file_that_cannot_be_written_is_named(answerable: Answerable, orders: Path) -> None:
    run = answerable("ask", "SQL: SELECT id FROM orders", "--source", str(orders), "--json").json["run_id"]
    done = answerable("runs", "rows", run, "--output", "no/such/folder/rows.csv")
    assert (done.code, "no/such/folder/rows.csv cannot be written" in done.err) == (2, True)


def test_a_home_that_is_a_file_is_named(answerable: Answerable, orders: Path) -> None:
    done = answerable("threads", "list", env={"ANSWERABLE_HOME": str(orders)}, timeout=30)
    assert (done.code, "home_unwritable" in done.err) == (1, True)


def test_a_list_of_added_sources_that_is_not_json_is_told(answerable: Answerable, home: Path) -> None:
    (home / ".answerable").mkdir()
    (home / ".answerable" / "added-sources.json").write_text("[1, 2")
    done = answerable("sources", "list", "--json")
    assert (done.code, done.json["error"]["code"]) == (1, "added_sources_unreadable")


UNUSABLE = {
    "text.parquet": b"PAR1xx",
    "empty.csv": b"",
    "text.xlsx": b"not a workbook",
    "damaged.db": b"SQLite format 3\0" + b"\xff" * 200,
    "pixels.png": b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR",
}


@pytest.mark.parametrize("name", UNUSABLE)
@pytest.mark.parametrize("command", [("ask", "how many?", "--source"), ("sources", "show")])
def test_a_file_that_cannot_be_used_is_wrong_usage(
    answerable: Answerable, tmp_path: Path, name: str, command: tuple[str, ...]
) -> None:
    (tmp_path / name).write_bytes(UNUSABLE[name])
    done = answerable(*command, name)
    assert done.code == 2, done
    assert name in done.out + done.err


def test_what_is_wrong_comes_with_its_hint(answerable: Answerable, tmp_path: Path) -> None:
    (tmp_path / "empty.csv").touch()
    hint = answerable("ask", "how many?", "--source", "empty.csv", "--json").json["provenance"]["error"]["hint"]
    assert f"Hint: {hint}" in answerable("ask", "how many?", "--source", "empty.csv").out


def test_sql_in_a_pipe_is_whole(answerable: Answerable, orders: Path) -> None:
    value = "a value that is longer than a line of a terminal, which has eighty columns unless it says otherwise"
    done = answerable("ask", f"SQL: SELECT '{value}' AS v FROM orders LIMIT 1", "--source", "orders.csv")
    [line] = [line for line in done.out.splitlines() if line.startswith("  ") and value in line]
    assert line == line.rstrip()


@pytest.mark.parametrize("output", ["nowhere/x.csv", "orders.csv/x.csv", "folder"])
def test_an_output_that_cannot_be_written(answerable: Answerable, orders: Path, tmp_path: Path, output: str) -> None:
    (tmp_path / "folder").mkdir()
    done = answerable("ask", "how many orders?", "--source", "orders.csv", "--output", output)
    assert (done.code, done.err.count("Error: ")) == (2, 1)


HOMES = {"a file": "file", "below a file": "file/home", "of the system": "/proc/nowhere", "not to be made": "/sys/home"}


@pytest.mark.parametrize("home", HOMES.values(), ids=HOMES)
@pytest.mark.parametrize(
    "command",
    [
        ("ask", "how many orders?", "--source", "orders.csv"),
        ("serve", "--port", "0"),
        ("sources", "list"),
        ("runs", "list"),
        ("threads", "list"),
        ("eval", "list"),
        ("settings", "usage"),
        ("names", "show", "orders.csv"),
    ],
    ids=" ".join,
)
def test_a_home_that_cannot_be_used(
    answerable: Answerable, orders: Path, tmp_path: Path, home: str, command: tuple[str, ...]
) -> None:
    (tmp_path / "file").touch()
    done = answerable(*command, env={"ANSWERABLE_HOME": str(tmp_path / home)})
    assert done.code == 1, done
    assert "[home_unwritable]" in done.err
    assert "Hint: " in done.err


def test_a_command_announces_the_end_of_its_run(answerable: Answerable, orders: Path, home: Path) -> None:
    for question in ("how many orders?", "SQL: SELECT nonsense FROM orders"):
        answerable("ask", question, "--source", "orders.csv")
    with closing(sqlite3.connect(home / ".answerable" / "answerable.db")) as store:
        notices = store.execute("SELECT topic, delivered_at IS NOT NULL, owner FROM outbox ORDER BY made_at").fetchall()
    assert notices == [("run.finished", 1, None), ("run.failed", 1, None)]

"""Commands that are given nonsense say in one sentence what is wrong, and exit with 2 (wrong usage) or 1 (failed).

The fixture `answerable` fails on every stack trace.
"""

from collections.abc import Callable
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

"""`answerable threads`, `answerable runs`, `answerable eval` and `answerable settings`, as a person would use them."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

Answerable = Callable[..., Any]


@pytest.fixture
def orders(tmp_path: Path) -> Path:
    path = tmp_path / "orders.csv"
    path.write_text("id,region,amount\n1,North,10\n2,South,20\n3,North,7\n")
    return path


@pytest.fixture
def asked(answerable: Answerable, orders: Path) -> str:
    done = answerable("ask", "total amount per region", "--source", str(orders), "--json")
    run: str = done.json["run_id"]
    return run


def test_a_thread_is_found_named_shared_forked_deleted_and_restored(answerable: Answerable, asked: str) -> None:
    [thread] = answerable("threads", "list", "--json").json["threads"]
    name = thread["thread_id"]
    assert answerable("threads", "rename", name, "Regions", "--json").json["title"] == "Regions"
    assert answerable("threads", "pin", name, "--json").json["pinned"] is True
    assert answerable("threads", "pin", name, "--off", "--json").json["pinned"] is False
    assert [one["title"] for one in answerable("threads", "search", "REGIONS", "--json").json["threads"]] == ["Regions"]
    assert answerable("threads", "search", "nowhere", "--json").json == {"threads": []}
    assert answerable("threads", "share", name).out.startswith("/shared/")
    assert answerable("threads", "share", name, "--off", "--json").json["share_path"] is None
    shown = answerable("threads", "show", name, "--json").json
    assert [message["role"] for message in shown["messages"]] == ["user", "assistant"]
    assert shown["messages"][1]["answer"]["run_id"] == asked
    first = shown["messages"][0]["message_id"]
    forked = answerable("threads", "fork", name, first, "--json").json["thread_id"]
    assert len(answerable("threads", "show", forked, "--json").json["messages"]) == 1
    assert answerable("threads", "delete", name, "--json").json == {"deleted": name}
    gone = answerable("threads", "show", name, "--json")
    assert (gone.code, gone.json["error"]["code"]) == (2, "thread_not_found")
    assert answerable("threads", "restore", name).code == 0
    assert "Regions" in answerable("threads", "list").out


def test_a_run_is_read_retried_and_compared(answerable: Answerable, asked: str, orders: Path, tmp_path: Path) -> None:
    page = answerable("runs", "rows", asked, "--sort", "-region", "--json").json
    assert [row[0] for row in page["rows"]] == ["South", "North"]
    assert answerable("runs", "rows", asked, "--search", "nor", "--json").json["row_count"] == 1
    assert answerable("runs", "rows", asked, "--output", "rows.csv").code == 0
    assert len((tmp_path / "rows.csv").read_text().splitlines()) == 3
    assert answerable("runs", "freshness", asked).code == 0
    assert answerable("runs", "timeline", asked, "--json").json["steps"][0]["id"] == "understand"
    same = answerable("runs", "retry", asked, "--json").json["run_id"]
    assert answerable("runs", "compare", asked, same).code == 0
    orders.write_text(orders.read_text() + "4,South,1\n")
    assert answerable("runs", "freshness", asked, "--json").json["stale"] is True
    changed = answerable("runs", "retry", asked, "--json").json["run_id"]
    compared = answerable("runs", "compare", asked, changed, "--output", "changed.csv", "--json")
    assert (compared.code, compared.json["counts"]["changed"], compared.json["data_changed"]) == (1, 1, True)
    assert "21" in (tmp_path / "changed.csv").read_text()
    ended = answerable("runs", "cancel", asked, "--json").json
    assert ended == {"run_id": asked, "status": "done"}
    for verb in (("cancel",), ("retry",), ("rows",), ("freshness",), ("timeline",), ("approve",)):
        extra = ("step",) if verb == ("approve",) else ()
        unknown = answerable("runs", *verb, "run_" + "0" * 24, *extra, "--json")
        assert (unknown.code, unknown.json["error"]["code"]) == (2, "run_not_found"), verb


def test_a_good_answer_becomes_a_golden_case_that_is_measured(answerable: Answerable, asked: str, orders: Path) -> None:
    made = answerable("eval", "add", "mine", asked, "--id", "regions", "--json").json
    assert (made["id"], made["question"], made["outcome"]) == ("regions", "total amount per region", None)
    assert answerable("eval", "add", "mine", asked, "--id", "regions").code == 2
    assert "never measured" in answerable("eval", "list").out
    measured = answerable("eval", "run", "mine", "--json")
    assert (measured.code, measured.json["correct"], measured.json["status"]) == (0, 1, "done")
    orders.write_text("id,region,amount\n1,North,1\n")
    wrong = answerable("eval", "run", "mine")
    assert (wrong.code, "0 of 1 right" in wrong.out) == (1, True)
    case = answerable("eval", "show", "mine", "regions", "--json").json
    assert (case["outcome"], case["expected_rows"], case["got_rows"]) == (
        "wrong",
        [["North", 17], ["South", 20]],
        [["North", 1]],
    )
    assert answerable("eval", "show", "mine", "--json").json["cases"][0]["changed"] is True
    assert answerable("eval", "remove", "mine", "regions").code == 0
    assert answerable("eval", "show", "mine").code == 2
    bundled = answerable("eval", "add", "demo", asked, "--json")
    assert (bundled.code, bundled.json["error"]["code"]) == (4, "suite_bundled")


def test_eval_still_takes_cases_directly(answerable: Answerable) -> None:
    assert answerable("eval", "demo", "--limit", "1", "--json").json["cases"] == 1
    assert answerable("eval", "--limit", "1", "demo").out.startswith("1 of 1 right")
    assert "eval CASES" in answerable("eval", "--help").out


def test_settings_are_shown_without_secrets(answerable: Answerable) -> None:
    env = {"ANSWERABLE_MODEL_KEY": "s3cret", "ANSWERABLE_STORE": "postgresql://me:s3cret@db.invalid/x"}
    shown = answerable("settings", "show", "--json", env=env)
    assert shown.json["settings"]["store"] == "postgresql://me@db.invalid/x"
    assert shown.json["settings"]["model_key"] == "set"
    assert "s3cret" not in shown.out
    assert "port" in answerable("settings", "show").out
    usage = answerable("settings", "usage", "--days", "3", "--json").json
    assert len(usage["days"]) == 3

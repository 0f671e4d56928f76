"""The demo answers its golden questions, every one, and says so by the contract."""

from collections.abc import Callable
from typing import Any

Run = Callable[..., Any]
KEYS = (
    "cases answered correct accuracy given_or_offered coverage precision asked offered unanswerable declined failed "
    "seconds results"
)


def test_every_golden_question_is_answered_right(answerable: Run) -> None:
    done = answerable("eval", "demo", "--json")
    report = done.json
    assert set(report) == set(KEYS.split())
    assert [result["id"] for result in report["results"] if result["outcome"] != "correct"] == []
    assert (done.code, report["cases"], report["accuracy"], report["coverage"]) == (0, 120, 1.0, 1.0)
    assert set(report["results"][0]) == {"id", "outcome", "offered", "unanswerable", "code", "reason"}


def test_every_golden_question_about_okta_is_answered_right(answerable: Run) -> None:
    report = answerable("eval", "okta", "--json").json
    assert [result["id"] for result in report["results"] if result["outcome"] != "correct"] == []
    assert report["cases"] >= 43


def test_the_demo_of_okta_syncs_and_answers(answerable: Run) -> None:
    answers = answerable("demo", "okta", "--users", "14", "--json").json
    members, logged_in, factors, access, why, admins, changes = answers
    assert [answer["status"] for answer in answers] == ["done"] * 7
    names = {"name", "group", "application"}
    assert names <= {column["name"] for column in members["columns"]}
    assert "last_login" in {column["name"] for column in logged_in["columns"]}
    for answer in (members, factors, access, why, changes):
        assert answer["rows"], answer["text"]
    assert admins["provenance"]["data_source_type"] == "sql"
    # once more: what the last demo left is replaced
    assert answerable("demo", "okta", "--users", "14", "--json").code == 0


def test_the_demo_shows_question_plan_code_table_and_provenance(answerable: Run) -> None:
    done = answerable("demo", "--no-serve")
    assert done.code == 0
    for part in ("Understood:", "SELECT", "fingerprint", "Top 5 products by revenue", "North"):
        assert part in done.out


def test_how_a_question_was_read_can_be_seen(answerable: Run) -> None:
    done = answerable("eval", "demo", "--explain", "orders_2025")
    assert done.code == 0
    for stage in ("tokens:", "tables:", "columns:", "candidates:"):
        assert stage in done.out
    assert answerable("eval", "demo", "--explain", "nope").code == 2

"""Whatever is fed in, the user gets a sentence, an exit code and a hint; never a stack trace, never silence."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

Run = Callable[..., Any]


@pytest.mark.parametrize(
    ("question", "codes"),
    [
        ("", {2}),
        ("   ", {2}),
        ("x" * 100_000, {2}),
        ("how many " + "orders and " * 5_000, {2, 3}),
        ("combien de commandes par région ?", {0, 3}),
        ("北京有多少订单", {3}),
        ("'; DROP TABLE orders; --", {3}),
        ("asdf qwer zxcv", {3}),
        ("what is the weather in Berlin tomorrow?", {3}),
        ("??? !!!", {3}),
        ("SQL:", {2}),
        ("SQL: SELECT nope FROM orders", {2}),
        ("SQL: SELECT * FROM nowhere", {2}),
        ("SQL: SELECT 1; SELECT 2", {4}),
        ("SQL: SELECT * FROM read_csv('/etc/passwd')", {2, 4}),
        ("SQL: COPY orders TO '/tmp/x'", {4}),
        ("SQL: this is not sql", {2, 4}),
    ],
)
def test_odd_questions_end_well(answerable: Run, sales: Path, question: str, codes: set[int]) -> None:
    done = answerable("ask", question, "--source", str(sales), "--json")
    assert done.code in codes, done.out + done.err
    assert done.json["text"].strip()


def test_a_missing_source_is_named(answerable: Run) -> None:
    done = answerable("ask", "how many?", "--source", "./nowhere.csv")
    assert done.code in (1, 2)
    assert "nowhere.csv" in done.out + done.err


def test_an_unknown_setting_stops_the_start(answerable: Run) -> None:
    done = answerable("runs", "list", env={"ANSWERABLE_PROT": "1"})
    assert done.code == 1
    assert "ANSWERABLE_PROT" in done.err


def test_a_thread_that_is_none_is_wrong_usage(answerable: Run) -> None:
    assert answerable("ask", "how many orders?", "--thread", "x").code == 2


def test_a_run_that_does_not_exist_is_named(answerable: Run) -> None:
    done = answerable("runs", "show", "run_000000000000000000000000")
    assert done.code == 2
    assert "run_000000000000000000000000" in done.err

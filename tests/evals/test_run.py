"""Cases are put to an answerer and scored. The answerer here is a real one over SQLite with prepared readings."""

import asyncio
import json
import sqlite3
from collections.abc import AsyncIterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest

from answerable.core.errors import RefusedError, UserError
from answerable.evals.cases import Case
from answerable.evals.run import CONCURRENCY, Attempt, evaluate
from answerable.evals.score import Report, Scored, report

Readings = Mapping[str, Sequence[str]]


class Prepared:
    """Answers a question that has one reading, asks back with several, refuses the rest."""

    def __init__(self, database: Path, readings: Readings) -> None:
        self.database = database
        self.readings = readings
        self.executed: list[str] = []
        self.threads: dict[str, str | None] = {}
        self.running = self.most = 0

    async def attempt(self, case: Case, *, force: bool, thread: str | None) -> Attempt:
        self.running += 1
        self.most = max(self.most, self.running)
        await asyncio.sleep(0)
        self.running -= 1
        self.threads[case.id] = thread
        readings = self.readings.get(case.question)
        if readings is None:
            raise RefusedError("No.", code="not_understood")
        if len(readings) == 1 or force:
            rows = await self.execute(case, readings[0])
            return Attempt("answered", rows=rows, code=readings[0], thread=f"thread of {case.id}")
        return Attempt("asked", offered=self.offers(case, readings))

    async def offers(self, case: Case, readings: Sequence[str]) -> AsyncIterator[Any]:
        for sql in readings:
            yield await self.execute(case, sql)

    async def execute(self, case: Case, sql: str) -> Sequence[Sequence[Any]]:
        self.executed.append(sql)
        try:
            with sqlite3.connect(self.database) as connection:
                rows = connection.execute(sql).fetchall()
            connection.close()
        except sqlite3.Error as error:
            raise UserError(str(error)) from error
        return rows


@pytest.fixture
def database(tmp_path: Path) -> Path:
    path = tmp_path / "numbers.sqlite"
    connection = sqlite3.connect(path)
    connection.executescript("CREATE TABLE t (x INTEGER); INSERT INTO t VALUES (1), (2), (3);")
    connection.close()
    return path


def case(name: str, question: str, **more: Any) -> Case:
    gold = {} if "gold_sql" in more else {"gold_rows": [[3]]}
    raw = {"id": name, "question": question, "source": "numbers.sqlite", **gold, **more}
    return Case.model_validate_json(json.dumps(raw))


READINGS: Readings = {
    "how many": ["SELECT count(*) FROM t"],
    "the sum": ["SELECT max(x) FROM t", "SELECT sum(x) FROM t", "SELECT 1"],
    "the least": ["SELECT min(x) FROM t"],
    "no luck": ["SELECT 7", "SELECT 8"],
    "all": ["SELECT x FROM t ORDER BY x DESC"],
}


async def test_every_outcome_is_scored(database: Path) -> None:
    cases = [
        case("right", "how many"),
        case("wrong", "the least"),
        case("offered", "the sum", gold_rows=[[6]]),
        case("not offered", "no luck"),
        case("failed", "what?"),
    ]
    result = await evaluate(cases, Prepared(database, READINGS))
    assert [(scored.id, scored.outcome, scored.offered, scored.code) for scored in result.results] == [
        ("right", "correct", False, "SELECT count(*) FROM t"),
        ("wrong", "wrong", False, "SELECT min(x) FROM t"),
        ("offered", "asked", True, None),
        ("not offered", "asked", False, None),
        ("failed", "failed", False, "not_understood"),
    ]
    assert (result.cases, result.answered, result.correct, result.asked, result.offered, result.failed) == (
        5,
        2,
        1,
        2,
        1,
        1,
    )
    assert (result.accuracy, result.coverage, result.precision) == (0.2, 0.4, 0.5)


async def test_another_answer_that_is_as_good_is_right(database: Path) -> None:
    cases = [
        case("given", "how many", gold_rows=[[4]], accept_rows=[[[5]], [[3]]]),
        case("offered", "the sum", gold_rows=[[4]], accept_rows=[[[6]]]),
        case("none", "how many", gold_rows=[[4]], accept_rows=[[[5]]]),
    ]
    result = await evaluate(cases, Prepared(database, READINGS))
    assert [(scored.outcome, scored.offered) for scored in result.results] == [
        ("correct", False),
        ("asked", True),
        ("wrong", False),
    ]


async def test_what_the_data_cannot_answer_must_be_declined(database: Path) -> None:
    questions = {"answered": "how many", "asked back": "the sum", "refused": "what?", "answerable": "how many"}
    cases = [case(name, question, gold_sql=None) for name, question in questions.items() if name != "answerable"]
    result = await evaluate([*cases, case("answerable", "how many")], Prepared(database, READINGS))
    assert [scored.outcome for scored in result.results] == ["wrong", "declined", "declined", "correct"]
    assert (result.unanswerable, result.declined, result.accuracy, result.precision) == (3, 2, 1.0, 0.5)


async def test_a_loose_comparison_allows_other_columns(database: Path) -> None:
    readings = {"all": ["SELECT x * 10, x FROM t ORDER BY x"]}
    wanted = [case("a", "all", gold_rows=[[1], [2], [3]])]
    assert (await evaluate(wanted, Prepared(database, readings))).correct == 0
    assert (await evaluate(wanted, Prepared(database, readings), loose=True)).correct == 1


async def test_choices_are_computed_only_until_the_right_one_is_found(database: Path) -> None:
    answerer = Prepared(database, READINGS)
    await evaluate([case("a", "the sum", gold_rows=[[6]])], answerer)
    assert answerer.executed == ["SELECT max(x) FROM t", "SELECT sum(x) FROM t"]


async def test_force_answers_with_the_best_reading(database: Path) -> None:
    result = await evaluate([case("a", "the sum")], Prepared(database, READINGS), force=True)
    assert (result.correct, result.asked) == (1, 0)


async def test_gold_comes_from_the_statement_where_no_rows_are_given(database: Path) -> None:
    cases = [
        case("any order", "all", gold_sql="SELECT x FROM t ORDER BY x"),
        case("in order", "all", gold_sql="SELECT x FROM t ORDER BY x", ordered=True),
    ]
    result = await evaluate(cases, Prepared(database, READINGS))
    assert [scored.outcome for scored in result.results] == ["correct", "wrong"]


async def test_gold_rows_are_preferred_to_the_statement(database: Path) -> None:
    answerer = Prepared(database, READINGS)
    result = await evaluate([case("a", "how many", gold_rows=[[3]], gold_sql="SELECT broken")], answerer)
    assert result.correct == 1


async def test_a_broken_gold_statement_is_an_error_that_names_the_case(database: Path) -> None:
    with pytest.raises(UserError, match="'a' failed: no such column") as error:
        await evaluate([case("a", "all", gold_sql="SELECT y FROM t")], Prepared(database, READINGS))
    assert error.value.stable_code == "gold_failed"


async def test_a_follow_up_continues_the_conversation(database: Path) -> None:
    answerer = Prepared(database, READINGS)
    cases = [case("a", "how many"), case("b", "the least", after="a"), case("c", "all", after="b"), case("d", "all")]
    await evaluate(cases, answerer)
    assert answerer.threads == {"a": None, "b": "thread of a", "c": "thread of b", "d": None}


async def test_a_follow_up_without_its_first_question_is_refused(database: Path) -> None:
    with pytest.raises(UserError, match="'b' follows up on 'a'"):
        await evaluate([case("b", "all", after="a")], Prepared(database, READINGS))


async def test_progress_is_told_and_few_run_at_once(database: Path) -> None:
    told: list[tuple[int, int, str]] = []
    answerer = Prepared(database, READINGS)
    cases = [case(str(number), "how many") for number in range(9)]
    result = await evaluate(cases, answerer, progress=lambda done, all_, scored: told.append((done, all_, scored.id)))
    assert [done for done, _, _ in told] == list(range(1, 10))
    assert {all_ for _, all_, _ in told} == {9}
    assert [scored.id for scored in result.results] == [case.id for case in cases]
    assert answerer.most == CONCURRENCY


async def test_defects_are_not_counted_as_failures(database: Path) -> None:
    class Broken(Prepared):
        async def attempt(self, case: Case, *, force: bool, thread: str | None) -> Attempt:
            raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        await evaluate([case("a", "all")], Broken(database, READINGS))


def test_the_report_has_exactly_the_fields_of_the_contract() -> None:
    result = report([Scored(id="a", outcome="correct", code="SELECT 1")], 1.23456)
    assert json.loads(result.model_dump_json()) == {
        "cases": 1,
        "answered": 1,
        "correct": 1,
        "accuracy": 1.0,
        "given_or_offered": 1.0,
        "coverage": 1.0,
        "precision": 1.0,
        "asked": 0,
        "offered": 0,
        "unanswerable": 0,
        "declined": 0,
        "failed": 0,
        "seconds": 1.235,
        "results": [
            {
                "id": "a",
                "outcome": "correct",
                "offered": False,
                "unanswerable": False,
                "code": "SELECT 1",
                "reason": None,
            }
        ],
    }


def test_nothing_answered_is_no_precision() -> None:
    result: Report = report([Scored(id="a", outcome="asked", offered=True)], 0)
    assert (result.accuracy, result.precision, result.coverage, result.offered) == (0.0, 0.0, 0.0, 1)

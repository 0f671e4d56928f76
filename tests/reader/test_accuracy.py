"""How well the reader reads a fixed set of questions: a floor below which a change may not fall.

The questions in `accuracy/questions.jsonl` were written for this test, about three small databases of different fields,
some in words of the schema and some in people's own. They have nothing to do with the data that the weights were fitted
on. The figures are exact: reading is deterministic. When a change improves them, raise the floor with it.
"""

import json
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass
from datetime import date
from pathlib import Path
from typing import Any

import pytest
from tests.reader.small_databases import SmallDatabase, described

from answerable import demo
from answerable.agents.reader_graphs import SURE
from answerable.demo.golden import opened
from answerable.evals.cases import Case, load_cases
from answerable.evals.compare import holds_rows, same_rows
from answerable.query.plan import QueryPlan
from answerable.reader.reader import Reader
from answerable.reader.reading import Read, Unsure

FOLDER = Path(__file__).parent / "accuracy"
QUESTIONS = [json.loads(line) for line in (FOLDER / "questions.jsonl").read_text("utf-8").splitlines()]
NO_ANSWER = [case for case in QUESTIONS if case["sql"] is None]
TODAY = date(2024, 6, 1)


@dataclass(frozen=True)
class Floor:
    """Counts of questions."""

    right: int
    """Answered without asking back, with the right rows. They may show more, such as the number that was ranked by."""
    wrong: int
    """Answered without asking back, with other rows."""
    offered: int
    """Answered rightly, or asked back with the right reading among the choices."""
    best: int
    """The best reading gives the right rows, whether or not the reader is sure of it."""


FLOOR = Floor(right=86, wrong=1, offered=100, best=97)
OWN_WORDS_FLOOR = Floor(right=121, wrong=0, offered=121, best=0)


def _judge(database: SmallDatabase, case: dict[str, Any]) -> Counter[str]:
    """Which of the counts of a floor the question adds to."""
    wanted = database.rows(case["sql"])
    assert wanted is not None, case

    def is_right(sql: str | None) -> bool:
        rows = database.rows(sql or "")
        return rows is not None and holds_rows(rows, wanted, case["ordered"])

    reply, forced = database.read(case["question"]), database.read(case["question"], force=True)
    found: Counter[str] = Counter()
    found["best"] = isinstance(forced, Read) and is_right(forced.best.sql)
    if isinstance(reply, Read):
        right = is_right(reply.best.sql)
        found.update({"right": right, "wrong": not right, "offered": right})
        found["sure and wrong"] = reply.best.confidence >= SURE and not right
    elif isinstance(reply, Unsure):
        found["offered"] = any(is_right(reading.sql) for reading in reply.readings)
    return found


def test_the_questions_are_read_as_well_as_before(small_databases: dict[str, SmallDatabase]) -> None:
    counts: Counter[str] = Counter()
    for case in QUESTIONS:
        if case["sql"] is not None:
            counts.update(_judge(small_databases[case["database"]], case))
    assert counts["right"] >= FLOOR.right, counts
    assert counts["wrong"] <= FLOOR.wrong, counts
    assert counts["offered"] >= FLOOR.offered, counts
    assert counts["best"] >= FLOOR.best, counts
    assert counts["sure and wrong"] <= 1, counts  # of 46 that are called high


@pytest.mark.parametrize("case", NO_ANSWER, ids=lambda case: case["question"])
def test_what_the_data_cannot_answer_is_not_answered(
    small_databases: dict[str, SmallDatabase], case: dict[str, Any]
) -> None:
    assert not isinstance(small_databases[case["database"]].read(case["question"]), Read)


def test_the_demo_is_read_without_a_mistake(tmp_path: Path) -> None:
    catalog, values = described(str(demo.location()), tmp_path)
    plans: dict[str | None, QueryPlan] = {}
    with opened(demo.location()) as connection:
        for case in load_cases("demo"):
            reader = Reader(catalog, values, today=_always(case.today))
            reply = reader.read(case.question, previous=plans.get(case.after))
            assert isinstance(reply, Read), case.question
            rows = connection.execute(reply.best.sql or "").fetchall()
            assert same_rows(rows, case.gold_rows or (), case.ordered), case.question
            plans[case.id] = reply.best.plan


OWN_WORDS = Path(__file__).parents[1] / "fixtures" / "demo" / "own_words.jsonl"


def test_the_demo_is_read_in_peoples_own_words_as_well_as_before(tmp_path: Path) -> None:
    """A floor: when a change improves it, raise it."""
    catalog, values = described(str(demo.location()), tmp_path)
    counts: Counter[str] = Counter()
    with opened(demo.location()) as connection:

        def is_right(sql: str | None, case: Case) -> bool:
            return holds_rows(connection.execute(sql or "").fetchall(), case.gold_rows or (), case.ordered)

        reader = Reader(catalog, values, today=_always(date(2025, 12, 31)))
        for case in load_cases(OWN_WORDS):
            reply = reader.read(case.question)
            if isinstance(reply, Read):
                counts["right" if is_right(reply.best.sql, case) else "wrong"] += 1
            elif isinstance(reply, Unsure):
                counts["offered"] += any(is_right(reading.sql, case) for reading in reply.readings)
    assert counts["right"] >= OWN_WORDS_FLOOR.right, counts
    assert counts["wrong"] <= OWN_WORDS_FLOOR.wrong, counts
    assert counts["right"] + counts["offered"] >= OWN_WORDS_FLOOR.offered, counts


def _always(day: date | None) -> Callable[[], date]:
    return lambda: day or TODAY

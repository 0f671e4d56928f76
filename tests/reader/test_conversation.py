"""Short conversations, as people lead them: each question leans on the one before."""

import json
from typing import Any

import pytest
from tests.reader.small_databases import FOLDER, SmallDatabase

from answerable.query.plan import Aggregate, ColumnRef, Compare, Constant, InQuery, QueryPlan, SelectItem
from answerable.reader.reading import Read, Reply

LIBRARY = [
    (("How many members live in Leeds?", "list them"), [("Ana Petrov",), ("Chidi Eze",), ("Fay Lin",)]),
    (("How many members live in Leeds?", "who are they?"), [("Ana Petrov",), ("Chidi Eze",), ("Fay Lin",)]),
    (("How many members live in Leeds?", "and in York?"), [(2,)]),
    (("How many members live in Leeds?", "and in York?", "show them"), [("Bram de Wit",), ("Emil Sand",)]),
    (("names of the members in Hull", "how many are there?"), [(2,)]),
    (("names of the members in Hull", "how many are they"), [(2,)]),
    (("number of books per genre", "without Crime", "only the top 1"), [("Novel", 4)]),
    (("number of books per genre", "top 2", "the other way round"), None),
    (("number of books per genre", "top 2", "make it 3"), None),
    (("How many loans were there in March 2023?", "and the month before?"), [(2,)]),
    (("How many loans were there in March 2023?", "and the previous month?"), [(2,)]),
    (("How many loans were there in 2023?", "and the year before?"), [(0,)]),
    (("names of the members in Leeds", "those with an age over 30"), [("Ana Petrov",), ("Fay Lin",)]),
    (("names of the members in Leeds", "and York"), [("Bram de Wit",), ("Emil Sand",)]),
    (("number of books per genre", "top 1", "and the lowest"), [("Cooking", 1)]),
    (("name of the oldest member", "and the youngest"), [("Emil Sand",)]),
    (("name of the oldest member", "the youngest instead"), [("Emil Sand",)]),
    (("average price of the books in Crime", "and the pages"), [(pytest.approx(300.33, abs=0.01),)]),
    (("How many members live in Leeds?", "how many loans do they have"), [(9,)]),
    (("How many members live in York?", "list them", "and their age"), [("Bram de Wit", 52), ("Emil Sand", 19)]),
    (("number of members per city", "only Leeds", "list them"), [("Ana Petrov",), ("Chidi Eze",), ("Fay Lin",)]),
]


def talk(database: SmallDatabase, *turns: str) -> Reply:
    plan: QueryPlan | None = None
    reply: Reply | None = None
    for turn in turns:
        reply = database.reader.read(turn, previous=plan)
        assert isinstance(reply, Read), (turn, reply)
        plan = reply.best.plan
    assert reply is not None
    return reply


@pytest.mark.parametrize("mark", ["", "?"])
@pytest.mark.parametrize(("turns", "wanted"), LIBRARY, ids=[" / ".join(turns) for turns, _ in LIBRARY])
def test_a_follow_up_changes_what_it_says(
    small_databases: dict[str, SmallDatabase], turns: tuple[str, ...], wanted: list[Any] | None, mark: str
) -> None:
    library = small_databases["library"]
    turns = tuple(turn.rstrip("?") + mark for turn in turns)
    reply = talk(library, *turns)
    assert isinstance(reply, Read)
    rows = library.rows(reply.best.sql or "")
    assert rows is not None
    if wanted is not None:
        assert sorted(rows) == wanted
    else:
        counts = [row[-1] for row in rows]
        assert counts == sorted(counts, reverse="round" not in turns[-1])
        assert len(rows) == (3 if "3" in turns[-1] else 2)


@pytest.mark.parametrize(("said", "falling"), [("highest first", True), ("lowest first", False)])
def test_all_groups_are_put_in_order(small_databases: dict[str, SmallDatabase], said: str, falling: bool) -> None:
    library = small_databases["library"]
    reply = talk(library, "number of books per genre", said)
    assert isinstance(reply, Read)
    counts = [row[-1] for row in library.rows(reply.best.sql or "") or ()]
    assert counts == sorted(counts, reverse=falling)
    assert len(counts) == 6


def test_one_of_the_periods_is_picked(small_databases: dict[str, SmallDatabase]) -> None:
    reply = talk(small_databases["library"], "number of loans per month", "the highest month")
    assert isinstance(reply, Read)
    assert reply.best.sentence.endswith("for each month of loan date, only the one with the highest number of loans.")


def test_a_value_is_replaced_inside_a_sub_query(small_databases: dict[str, SmallDatabase]) -> None:
    """ "How many books are by Mirela Osk? And of Luis Ferro?"."""
    library = small_databases["library"]
    author = ColumnRef(table="author", column="author_id")
    named = Compare(left=ColumnRef(table="author", column="name"), op="=", right=Constant(value="Mirela Osk"))
    by_her = QueryPlan(entity="author", select=(SelectItem(expr=author),), where=named)
    previous = QueryPlan(
        entity="book",
        select=(SelectItem(expr=Aggregate(function="count")),),
        where=InQuery(left=ColumnRef(table="book", column="author_id"), plan=by_her),
    )
    for said in ("and of Luis Ferro?", "and Luis Ferro", "what about Luis Ferro?"):
        reply = library.reader.read(said, previous=previous)
        assert isinstance(reply, Read), said
        assert library.rows(reply.best.sql or "") == [(2,)]


def test_a_question_mark_changes_nothing(small_databases: dict[str, SmallDatabase]) -> None:
    questions = [json.loads(line) for line in (FOLDER / "questions.jsonl").read_text("utf-8").splitlines()]
    for case in questions[::3]:
        database, bare = small_databases[case["database"]], case["question"].rstrip("?. ")
        assert _outcome(database.read(bare)) == _outcome(database.read(bare + "?")), bare


def _outcome(reply: Reply) -> object:
    readings = [reply.best] if isinstance(reply, Read) else getattr(reply, "readings", ())
    return type(reply), [reading.sql for reading in readings]


@pytest.mark.parametrize(
    "said", ["list them", "who are they", "how many are there", "the other way round", "make it 5"]
)
def test_a_phrase_without_anything_to_lean_on_is_not_answered(
    small_databases: dict[str, SmallDatabase], said: str
) -> None:
    assert not isinstance(small_databases["library"].read(said), Read)

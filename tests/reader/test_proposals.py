"""The second way of reading: requests by their cues, proposals around tables, weighed by the words they explain."""

from datetime import date
from pathlib import Path

import pytest
from tests.reader.small_databases import described

from answerable.query.sql.to_sql import to_sql
from answerable.reader.everyday.request import request_of
from answerable.reader.everyday.weighing import everyday_plans
from answerable.reader.everyday.word_options import Element, word_options
from answerable.reader.grammar.dated_scene import DatedScene
from answerable.reader.linking.scene import link_question
from answerable.reader.linking.tokens import tokenize
from answerable.reader.reader import Reader
from answerable.reader.time.date_phrases import find_dates

STAYS = """guest,room,nights,rate,children,arrived,weather
Ann Lee,Attic,2,80,0,2024-05-03,sun
Bo Dahl,Attic,1,90,2,2024-05-09,rain
Cy Marsh,Garden,5,60,1,2024-06-11,fog
Di Novak,Garden,3,75,0,2025-06-20,sun
Ed Park,Tower,7,120,3,2025-07-02,rain
Flo Quinn,Tower,2,110,0,2025-07-09,sun
"""


@pytest.fixture(scope="module")
def reader(tmp_path_factory: pytest.TempPathFactory) -> Reader:
    folder: Path = tmp_path_factory.mktemp("stays")
    (folder / "stays.csv").write_text(STAYS, "utf-8")
    catalog, values = described(str(folder / "stays.csv"), folder / "cache")
    return Reader(catalog, values, today=lambda: date(2026, 1, 1))


def linked(reader: Reader, question: str) -> DatedScene:
    scene = link_question(tokenize(question), reader.schema, reader.values, guessing=True)
    return DatedScene(scene, find_dates(scene.question.text, date(2026, 1, 1)))


def best(reader: Reader, question: str) -> str:
    plans = everyday_plans(linked(reader, question))
    return " ".join(to_sql(plans[0].plan, reader.catalog).split())


@pytest.mark.parametrize(
    ("question", "parts"),
    [
        ("how many stays had kids", ("COUNT(*)", "children > 0")),
        ("sunny stays", ("weather = 'sun'",)),
        ("what share of stays were in the tower?", ("100 *", "room = 'Tower'")),
        ("priciest room on average", ("AVG(rate)", "DESC", "LIMIT 1")),
        ("stays per month", ("COUNT(*)", "GROUP BY")),
        ("rooms with a rate under 70", ("rate < 70",)),
        ("attic vs tower, average rate", ("room IN ('Attic', 'Tower')", "AVG(rate)", "GROUP BY room")),
        ("whats the priciest day ever", ("arrived", "ORDER BY rate DESC", "LIMIT 1")),
        ("which month is the priciest", ("GROUP BY month", "rate", "LIMIT 1")),
        ("stays in 2025 not in the tower", ("<> 'Tower'", "2025-01-01")),
    ],
)
def test_the_likeliest_proposal(reader: Reader, question: str, parts: tuple[str, ...]) -> None:
    sql = best(reader, question)
    assert all(part in sql for part in parts), sql


@pytest.mark.parametrize(
    ("question", "asked"),
    [
        ("how many guests", "count"),
        ("average rate by room", "avg"),
        ("what % stayed alone", "share"),
        ("how much do they usually pay", "avg"),
        ("guests of 2024", "rows"),
        ("gap between the highest and lowest rate", "gap"),
    ],
)
def test_what_is_asked_for(reader: Reader, question: str, asked: str) -> None:
    scene = linked(reader, question)
    assert request_of(scene, word_options(scene)).asked == asked


def test_a_number_beside_a_superlative_is_how_many_and_no_condition(reader: Reader) -> None:
    scene = linked(reader, "the 3 longest stays over 2 nights")
    request = request_of(scene, word_options(scene))
    assert request.ranking is not None
    assert request.ranking.limit == 3
    assert [(test.operator, test.low) for test in request.numbers] == [(">", 2.0)]


def test_a_word_is_near_to_a_value_that_it_is_derived_from(reader: Reader) -> None:
    options = word_options(linked(reader, "foggy days"))
    column = reader.schema.column_of("stays", "weather")
    assert column is not None
    assert options.chance(0, Element("value", column, "fog")) > 0.5


def test_words_that_have_no_part_are_counted(reader: Reader) -> None:
    assert everyday_plans(linked(reader, "rate of zeppelins by room"))[0].left_over == 1
    assert everyday_plans(linked(reader, "rate by room"))[0].left_over == 0


@pytest.mark.parametrize("question", ["", "?", "who", "of the and", "who are they"])
def test_nothing_said_is_nothing_proposed(reader: Reader, question: str) -> None:
    assert everyday_plans(linked(reader, question)) == []

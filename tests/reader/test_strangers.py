"""Short questions in people's own words about files of strangers: what is answered at once, and what is asked."""

from collections.abc import Callable, Sequence
from datetime import date
from pathlib import Path

import duckdb
import pytest
from tests.reader.small_databases import described

from answerable.agents.reader_graphs import SURE
from answerable.query.checked import CheckedQuery
from answerable.reader.linking.everyday_words import nations_of
from answerable.reader.ranking.dry_run import Rows
from answerable.reader.reader import Reader
from answerable.reader.reading import Read, Reply, Unsure

STREETS = ("Quay", "Quay", "Elm St", "Mill Road", "High Street")
OFFENCES = (("Expired meter", 35), ("No permit", 60), ("Double parked", 75), ("Expired meter", 35))
FINES = [
    f"{1000 + n},2025-{1 + n % 8:02}-{1 + n % 27:02},{STREETS[n % 5]},{OFFENCES[n % 4][0]},{OFFENCES[n % 4][1]},"
    f"{('paid', 'unpaid', 'paid')[n % 3]},{('Ford', 'Fiat', 'Tesla')[n * 7 % 3]},{n % 11 * 0.3:.1f},W{n % 6:02}"
    for n in range(120)
]
HEAD = "notice_no,issued,street,offence,amount,status,make,load,warden"

Ask = Callable[[str], Reply]


@pytest.fixture(scope="module")
def reader(tmp_path_factory: pytest.TempPathFactory) -> Reader:
    folder: Path = tmp_path_factory.mktemp("fines")
    (folder / "fines.csv").write_text("\n".join((HEAD, *FINES)) + "\n", "utf-8")
    catalog, values = described(str(folder / "fines.csv"), folder / "cache")
    return Reader(catalog, values, today=lambda: date(2026, 1, 1))


@pytest.fixture(scope="module")
def ask(reader: Reader, tmp_path_factory: pytest.TempPathFactory) -> Ask:
    """Asks with a dry run."""
    path = tmp_path_factory.mktemp("rows") / "fines.csv"
    path.write_text("\n".join((HEAD, *FINES)) + "\n", "utf-8")
    connection = duckdb.connect(config={"threads": 1})
    connection.read_csv(str(path)).create_view("fines")

    def run(queries: Sequence[CheckedQuery]) -> list[Rows | None]:
        return [connection.execute(query.text).fetchall() for query in queries]

    return lambda question: reader.read(question, run=run)


@pytest.mark.parametrize(
    ("question", "sentence"),
    [
        ("which street has the most tickets", "Count the fines, for each street, only the one with the highest"),
        ("how many tickets per warden", "Count the fines, for each warden"),
        ("Tesla vs Fiat", "Count the fines whose make is 'Tesla' or 'Fiat', for each make"),
    ],
)
def test_the_rows_of_the_only_table_are_what_is_counted(ask: Ask, question: str, sentence: str) -> None:
    """Nothing is called "tickets" here: the answer is given, and never called sure."""
    reply = ask(question)
    assert isinstance(reply, Read), reply
    assert reply.best.sentence.startswith(sentence)
    assert reply.best.confidence < SURE


def test_a_total_or_an_average_that_nobody_named_is_asked_for(ask: Ask) -> None:
    reply = ask("load by street")
    assert isinstance(reply, Unsure), reply
    assert any("average load" in reading.sentence for reading in reply.readings)


def test_each_asks_for_groups(ask: Ask) -> None:
    reply = ask("highest fine of each street")
    readings = reply.readings if isinstance(reply, Unsure) else (reply.best,) if isinstance(reply, Read) else ()
    assert readings
    assert all(reading.plan.group_by for reading in readings)


def test_words_that_compare_are_not_to_blame(ask: Ask) -> None:
    reply = ask("load of Tesla vs Fiat")
    assert isinstance(reply, Unsure), reply
    assert "vs" not in reply.question


def test_things_that_have_many_rows_are_counted_once(reader: Reader) -> None:
    pool = reader.pool("wardens of each street", lambda queries: [None] * len(queries))
    sentences = [one.reading.sentence for one in pool.proposals]
    assert any("number of different wardens" in sentence for sentence in sentences), sentences


@pytest.mark.parametrize("word", ["norwegian", "norwegians"])
def test_people_of_a_nation(word: str) -> None:
    assert nations_of(word) == ("Norway",)

"""Words that ask for people, for both ends of a scale or in another unit, about data whose values and names could
mislead."""

import sqlite3
from collections.abc import Sequence
from datetime import date
from pathlib import Path

import duckdb
import pytest
from tests.reader.small_databases import described

from answerable.query.checked import CheckedQuery
from answerable.reader.ranking.dry_run import Rows
from answerable.reader.reader import Reader
from answerable.reader.reading import Read, Reading, Reply, Unsure

HEAD = "application_no,person_id,department,stage,applied_on,years"
STAGES = ("rejected", "hired", "interview", "rejected", "new")
ROWS = [
    f"{500 + n},{90 + n * n % 17},{('Finance', 'People', 'IT', 'Care')[n % 4]},{STAGES[n % 5]},"
    f"2025-0{1 + n % 9}-{10 + n % 18},{n * 7 % 23}"
    for n in range(90)
]


@pytest.fixture(scope="module")
def replies(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Reply]:
    path = tmp_path_factory.mktemp("applications") / "applications.csv"
    path.write_text("\n".join((HEAD, *ROWS)) + "\n", "utf-8")
    catalog, values = described(str(path), path.parent / "cache")
    reader = Reader(catalog, values, today=lambda: date(2026, 1, 1))
    connection = duckdb.connect(config={"threads": 1})
    connection.read_csv(str(path)).create_view("applications")

    def run(queries: Sequence[CheckedQuery]) -> list[Rows | None]:
        return [connection.execute(query.text).fetchall() for query in queries]

    questions = (
        "how many people did we hire",
        "how many people in the People department",
        "who applied most often",
        "highest and lowest years per department",
        "are you a robot",
    )
    return {question: reader.read(question, run=run) for question in questions}


def readings(reply: Reply) -> tuple[Reading, ...]:
    match reply:
        case Read():
            return (reply.best, *reply.others)
        case Unsure():
            return reply.readings
    return ()


def test_people_are_not_the_department_that_is_called_people(replies: dict[str, Reply]) -> None:
    first = readings(replies["how many people did we hire"])[0].sentence
    assert "'hired'" in first
    assert "'People'" not in first


def test_a_value_that_is_written_with_a_capital_is_found(replies: dict[str, Reply]) -> None:
    assert "'People'" in readings(replies["how many people in the People department"])[0].sentence


def test_who_is_never_answered_with_a_date(replies: dict[str, Reply]) -> None:
    reply = replies["who applied most often"]
    assert not isinstance(reply, Read) or "applied on" not in reply.best.sentence


def test_one_end_of_a_scale_is_no_answer_to_both(replies: dict[str, Reply]) -> None:
    reply = replies["highest and lowest years per department"]
    assert not isinstance(reply, Read) or ("highest" in reply.best.sentence and "lowest" in reply.best.sentence)


def test_what_has_nothing_to_do_with_the_data_gets_no_choices(replies: dict[str, Reply]) -> None:
    assert readings(replies["are you a robot"]) == ()


RECORDS = """
CREATE TABLE artist (artist_id INTEGER PRIMARY KEY, name TEXT);
CREATE TABLE album (album_id INTEGER PRIMARY KEY, title TEXT, artist_id INTEGER REFERENCES artist (artist_id));
CREATE TABLE track (track_id INTEGER PRIMARY KEY, name TEXT UNIQUE, milliseconds INTEGER, style TEXT,
    album_id INTEGER REFERENCES album (album_id));
INSERT INTO artist VALUES (1, 'Gravel Choir'), (2, 'Nine Lamps'), (3, 'Odd Wood');
INSERT INTO album VALUES (1, 'Gravel Choir', 1), (2, 'Late Ferry', 1), (3, 'Tin Sea', 1), (4, 'Moth', 2);
"""


@pytest.fixture(scope="module")
def records(tmp_path_factory: pytest.TempPathFactory) -> dict[str, tuple[Reading, ...]]:
    """An album that is called like its artist, and lengths in milliseconds."""
    path: Path = tmp_path_factory.mktemp("records") / "records.sqlite"
    connection = sqlite3.connect(path)
    connection.executescript(RECORDS)
    tracks = [(n, f"Song {n}", n * 40_000, ("rock", "jazz", "folk")[n % 3], 1 + n % 4) for n in range(1, 25)]
    connection.executemany(
        "INSERT INTO track VALUES (?, ?, ?, ?, ?)", [*tracks, (25, "Minute Waltz", 90_000, "folk", 1)]
    )
    connection.commit()
    catalog, values = described(str(path), path.parent / "cache")
    reader = Reader(catalog, values, today=lambda: date(2026, 1, 1))

    def run(queries: Sequence[CheckedQuery]) -> list[Rows | None]:
        return [connection.execute(query.text).fetchall() for query in queries]

    questions = ("how many albums does Gravel Choir have?", "tracks longer than 10 minutes", "most popular style")
    return {question: readings(reader.read(question, run=run)) for question in questions}


def test_who_has_albums_is_not_an_album(records: dict[str, tuple[Reading, ...]]) -> None:
    first = records["how many albums does Gravel Choir have?"][0]
    assert first.sentence == "Count the albums whose artist's name is 'Gravel Choir'."


def test_minutes_are_no_part_of_a_name(records: dict[str, tuple[Reading, ...]]) -> None:
    offered = records["tracks longer than 10 minutes"]
    assert any("milliseconds are more than 600000" in reading.sentence for reading in offered)
    assert not any("minute" in reading.sentence.lower() for reading in offered)


def test_nothing_is_the_most_of_what_is_there_once(records: dict[str, tuple[Reading, ...]]) -> None:
    for reading in records["most popular style"]:
        assert "for each track, only the one with the highest number of tracks" not in reading.sentence

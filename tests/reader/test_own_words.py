"""Questions in people's own words: words are read by their meaning, and what is only guessed is never called sure."""

from datetime import date
from pathlib import Path

import pytest
from tests.reader.small_databases import described

from answerable.agents.reader_graphs import SURE
from answerable.reader.linking.everyday_words import everyday_names, nations_of, needs_no_link
from answerable.reader.linking.word_meanings import is_person, is_place, nearness, word_vector
from answerable.reader.reader import Reader
from answerable.reader.reading import Read, Unsure

HEAD = "species,island,bill_length_mm,bill_depth_mm,flipper_length_mm,body_mass_g,sex,year"
KINDS = (("Adelie", "Torgersen", 39, 3700), ("Adelie", "Dream", 38, 3600), ("Gentoo", "Biscoe", 47, 5000))
ROWS = tuple(
    f"{species},{island},{bill + n % 5}.{n % 3},{17 + n % 4}.5,{190 + n % 7},{mass + 50 * (n % 6)},{sex},{2007 + n % 3}"
    for n in range(20)
    for species, island, bill, mass in KINDS
    for sex in ("male", "female")
)


@pytest.fixture(scope="module")
def reader(tmp_path_factory: pytest.TempPathFactory) -> Reader:
    folder: Path = tmp_path_factory.mktemp("penguins")
    (folder / "penguins.csv").write_text("\n".join((HEAD, *ROWS)) + "\n", "utf-8")
    catalog, values = described(str(folder / "penguins.csv"), folder / "cache")
    return Reader(catalog, values, today=lambda: date(2026, 1, 1))


@pytest.mark.parametrize(
    ("question", "sentence"),
    [
        ("which birds are the heaviest", "only the one with the highest body mass (g)"),
        ("how many were seen every year", "Count the penguins, for each year"),
        ("do males weigh more than females", "average body mass (g) of the penguins whose sex is 'male' or 'female'"),
        ("whats the longest beak", "highest bill length (mm)"),
        ("how many birds do we have of each kind?", "Count the penguins, for each species"),
    ],
)
def test_a_newcomer_is_understood(reader: Reader, question: str, sentence: str) -> None:
    """Answered, or among the first two choices."""
    reply = reader.read(question)
    assert isinstance(reply, Read | Unsure), reply
    readings = [reply.best] if isinstance(reply, Read) else reply.readings[:2]
    assert any(sentence in reading.sentence for reading in readings), [reading.sentence for reading in readings]


def test_what_is_near_to_several_names_is_asked_about(reader: Reader) -> None:
    reply = reader.read("how big are they on average on each island")
    assert isinstance(reply, Unsure)
    assert any("average body mass (g)" in reading.sentence for reading in reply.readings)


@pytest.mark.parametrize("question", ["which birds are the heaviest", "do males weigh more than females"])
def test_a_guess_is_never_sure(reader: Reader, question: str) -> None:
    reply = reader.read(question)
    assert not isinstance(reply, Read) or reply.best.confidence < SURE


@pytest.mark.parametrize("group", ["by species", "per island", "for each year"])
def test_a_group_is_never_dropped(reader: Reader, group: str) -> None:
    reply = reader.read(f"average body mass of penguins {group}")
    assert not isinstance(reply, Read) or reply.best.plan.group_by


@pytest.mark.parametrize("question", ["how many eggs did each pair lay?", "how many zeppelins?"])
def test_what_the_data_do_not_hold_is_not_answered(reader: Reader, question: str) -> None:
    assert not isinstance(reader.read(question), Read)


def test_words_of_one_meaning_are_near_to_each_other() -> None:
    def near(one: str, other: str) -> float:
        first, second = word_vector(one), word_vector(other)
        assert first is not None
        assert second is not None
        return nearness(first, second)

    assert near("vocalist", "singer") > 0.8
    assert near("heavy", "weight") > near("heavy", "island") + 0.3
    assert near("earn", "salary") > near("earn", "color") + 0.3
    assert word_vector("xyzzy") is None


def test_people_and_places_are_told_apart() -> None:
    assert is_person("teacher")
    assert not is_person("island")
    assert is_place("island")
    assert not is_place("teacher")


def test_everyday_words_ask_for_classes_of_names() -> None:
    assert "salari" in everyday_names("earn", "earn")
    assert "price" not in everyday_names("heaviest", "heaviest")
    assert nations_of("norwegian") == ("Norway",)
    assert needs_no_link("average")
    assert not needs_no_link("beak")


def test_a_forced_answer_to_unknown_words_is_read_by_their_meaning(reader: Reader) -> None:
    """Read as they are, "beak" and "birds" mean nothing here."""
    reply = reader.read("whats the longest beak of all the birds that were seen on any island", force=True)
    assert isinstance(reply, Read)
    assert "bill" in (reply.best.sql or ""), reply.best.sql

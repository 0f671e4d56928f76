"""What people ask of a single file: its rows, what is missing in it, and one question after the other."""

from datetime import date
from typing import Any

import pytest

from answerable.core.catalog import Catalog, Column, Table
from answerable.query.plan import QueryPlan
from answerable.reader.reader import Reader
from answerable.reader.reading import Read, Unsure

PENGUINS = Table(
    name="penguins",
    columns=(
        Column(name="species", type="text", examples=("Adelie", "Gentoo")),
        Column(name="island", type="text", examples=("Dream",)),
        Column(name="sex", type="text", examples=("female", "male"), null_count=11),
        Column(name="body_mass_g", type="integer", minimum=2700, maximum=6300),
        Column(name="seen_on", type="date"),
    ),
    row_count=344,
)
FOUND = {
    ("penguins", "species"): ("Adelie", "Gentoo"),
    ("penguins", "island"): ("Dream",),
    ("penguins", "sex"): ("female", "male"),
}


@pytest.fixture(scope="module")
def reader(values: Any) -> Reader:
    catalog = Catalog(source="penguins", dialect="duckdb", tables=(PENGUINS,))
    return Reader(catalog, type(values)(FOUND), today=lambda: date(2025, 6, 15))


def read(reader: Reader, question: str, previous: QueryPlan | None = None) -> Read:
    reply = reader.read(question, previous=previous)
    assert isinstance(reply, Read), reply
    return reply


@pytest.mark.parametrize(
    ("question", "sentence"),
    [
        ("how many rows are there?", "Count the penguins."),
        ("how many records?", "Count the penguins."),
        ("number of entries", "Count the penguins."),
        ("count the lines", "Count the penguins."),
        ("how many rows per species", "Count the penguins, for each species."),
        ("how many rows have the species Adelie?", "Count the penguins whose species is 'Adelie'."),
        ("how many Gentoos are there?", "Count the penguins whose species is 'Gentoo'."),
        (
            "how many Gentoo were seen in 2024",
            "Count the penguins whose species is 'Gentoo' and whose seen on is in 2024.",
        ),
        ("show all rows", "List the penguins."),
        ("show the first 10 records", "List the penguins, the first 10."),
        ("how many penguins have a missing sex", "Count the penguins whose sex is missing."),
        (
            "what percentage of penguins are female",
            "Give the number of penguins (only those whose sex is 'female') as a percentage of the number of penguins.",
        ),
        (
            "species and body mass in March 2024",
            "List the species and body mass (g) of the penguins whose seen on is in March 2024.",
        ),
    ],
)
def test_questions(reader: Reader, question: str, sentence: str) -> None:
    assert read(reader, question).best.sentence == sentence


def test_follow_ups(reader: Reader) -> None:
    plan = read(reader, "average body mass in 2024").best.plan
    for question, sentence in (
        ("and by species?", "Give the average body mass (g) of the penguins{}, for each species."),
        ("and the median?", "Give the median body mass (g) of the penguins{}, for each species."),
        ("sort by body mass", "Give the median body mass (g) of the penguins{}, for each species, highest first."),
        (
            "without the Gentoo",
            "Give the median body mass (g) of the penguins{} and whose species is not 'Gentoo', for each species, "
            "highest first.",
        ),
    ):
        reply = read(reader, question, plan)
        assert reply.best.sentence == sentence.format(" whose seen on is in 2024")
        plan = reply.best.plan


def test_with_several_tables_it_asks_whose_rows(shop: Catalog, values: Any) -> None:
    reader = Reader(shop, values, today=lambda: date(2025, 6, 15))
    reply = reader.read("how many rows are there?")
    assert isinstance(reply, Unsure)
    assert {"Count the customers.", "Count the orders."} <= {reading.sentence for reading in reply.readings}


def test_a_table_without_dates_has_no_months(shop: Catalog, values: Any) -> None:
    reader = Reader(shop, values, today=lambda: date(2025, 6, 15))
    reply = reader.read("how many rows per month?")
    assert isinstance(reply, Unsure)
    assert all("month" in reading.sentence for reading in reply.readings)

"""Everyday forms on data that no rule was written for: a bakery with its own measure of sales."""

from datetime import date

import pytest
from tests.reader.conftest import ListedValues

from answerable.agents.reader_graphs import SURE
from answerable.core.catalog import Catalog, Column, Measure, Relationship, Table
from answerable.reader.reader import Reader
from answerable.reader.reading import Read


def _id(name: str) -> Column:
    return Column(name=name, type="integer", unique=True, nullable=False)


def _text(name: str, distinct: int, *examples: str, unique: bool = False) -> Column:
    return Column(name=name, type="text", distinct_count=distinct, examples=examples, unique=unique, nullable=False)


BAKERS = Table(
    name="bakers",
    columns=(
        _id("baker_id"),
        _text("name", 20, "Ada Crumb", unique=True),
        _text("town", 3, "Ghent"),
        Column(name="wage", type="integer", nullable=False, minimum=20, maximum=90),
        Column(name="hired", type="date", nullable=False),
        Column(name="apprentice", type="boolean", nullable=False),
    ),
    primary_key=("baker_id",),
    row_count=20,
)
BREADS = Table(
    name="breads",
    columns=(
        _id("bread_id"),
        _text("name", 30, "Rye", unique=True),
        _text("grain", 4, "Spelt"),
        Column(name="price", type="number", nullable=False, distinct_count=9, minimum=1, maximum=9),
        Column(name="launched", type="date", nullable=False),
    ),
    primary_key=("bread_id",),
    row_count=30,
)
STALLS = Table(
    name="stalls",
    columns=(
        _id("stall_id"),
        _text("name", 6, "Quay", unique=True),
        _text("town", 3, "Ghent"),
        Column(name="opened", type="date", nullable=False),
    ),
    primary_key=("stall_id",),
    row_count=6,
)
LINES = Table(
    name="sale_lines",
    columns=(
        _id("line_id"),
        Column(name="bread_id", type="integer", nullable=False),
        Column(name="baker_id", type="integer", nullable=False),
        Column(name="stall_id", type="integer", nullable=False),
        Column(name="sold_on", type="date", nullable=False),
        Column(name="amount", type="number", nullable=False),
    ),
    primary_key=("line_id",),
    row_count=900,
)


def _relation(column: str, to: str, *synonyms: str) -> Relationship:
    return Relationship(
        name=f"{to}_of_line",
        from_table="sale_lines",
        from_columns=(column,),
        to_table=to,
        to_columns=(column,),
        synonyms=synonyms,
        origin="declared",
    )


@pytest.fixture(scope="module")
def reader() -> Reader:
    catalog = Catalog(
        source="bakery",
        dialect="duckdb",
        tables=(BAKERS, BREADS, STALLS, LINES),
        relationships=(
            _relation("bread_id", "breads"),
            _relation("baker_id", "bakers", "baked by"),
            _relation("stall_id", "stalls"),
        ),
        measures=(Measure(name="turnover", table="sale_lines", expression="sum(amount)"),),
    )
    values = ListedValues(
        {("breads", "grain"): ["Spelt"], ("bakers", "town"): ["Ghent"], ("stalls", "town"): ["Ghent"]}
    )
    return Reader(catalog, values, today=lambda: date(2026, 1, 1))


@pytest.mark.parametrize(
    ("question", "sentence"),
    [
        # A superlative that names no column asks for the one of its scale.
        ("our priciest bread", "List the name of the breads, only the one with the highest price."),
        ("what's our newest bread?", "List the name of the breads, only the one with the latest launched."),
        ("which stall is the oldest?", "List the name of the stalls, only the one with the earliest opened."),
        ("best paid baker", "List the name of the bakers, only the one with the highest wage."),
        # The verb before "the most" names the column.
        ("which bread costs the least", "List the name of the breads, only the one with the lowest price."),
        # A number without a column is a price, or the pay of people.
        ("breads under 3", "List the name of the breads whose price is less than 3."),
        ("anything cheaper than 3 euros", "List the name of the breads whose price is less than 3."),
        ("who makes more than 60?", "List the name of the bakers whose wage is more than 60."),
        # Rows that are split into groups are counted.
        ("breads by grain", "Count the breads, for each grain."),
        ("stalls per town", "Count the stalls, for each town."),
        # Verbs of selling ask for the measure of sales.
        (
            "how much did we sell each year?",
            "Give the turnover of the sale lines, for each year of sold on, in order of time.",
        ),
        ("how much did each grain bring in?", "Give the turnover of the sale lines, for each grain."),
        (
            "which stall sold the least?",
            "List the stall's name of the sale lines, for each stall, only the one with the lowest turnover.",
        ),
        (
            "our best month for turnover",
            "List month of sold on, for the sale lines, for each month of sold on, "
            "only the one with the highest turnover.",
        ),
        # The verb of a relationship tells which people are meant.
        (
            "who baked the most by turnover?",
            "List the baker's name of the sale lines, for each baker, only the one with the highest turnover.",
        ),
        # A column of yes and no means its yes, unless it is negated.
        ("number of apprentice bakers", "Count the bakers whose apprentice is true."),
        ("how many bakers are not apprentice", "Count the bakers whose apprentice is false."),
        # A value of the table that is named is not that of another one.
        ("stalls in Ghent", "List the name of the stalls whose town is 'Ghent'."),
        ("what spelt do we sell?", "List the name of the breads whose grain is 'Spelt'."),
        # What describes the things themselves is no part of what they lack.
        (
            "how many Ghent bakers never sold anything?",
            "Count the bakers that have no sale lines and whose town is 'Ghent'.",
        ),
        # The share of a part, in each period.
        (
            "share of spelt breads by year",
            "Give the number of breads (only those whose grain is 'Spelt') as a percentage of the number of breads, "
            "for each year of launched, in order of time.",
        ),
        # A measure per quantity of each thing is a ratio, not a group.
        (
            "turnover per price by bread",
            "Give bread's name and the turnover divided by the highest price, over the sale lines, for each bread.",
        ),
        ("where are our bakers from?", "Count the bakers, for each town, highest first."),
    ],
)
def test_everyday_forms(reader: Reader, question: str, sentence: str) -> None:
    reply = reader.read(question)
    assert isinstance(reply, Read), reply
    assert reply.best.sentence == sentence


@pytest.mark.parametrize(
    ("question", "named"),
    [
        ("average wage of the bakers", True),
        ("bakers with a wage above 60", True),
        ("turnover by town", True),
        ("how many breads are there?", True),
        ("our priciest bread", False),
        ("breads under 3", False),
        ("which stall sold the least?", False),
    ],
)
def test_a_quantity_that_the_reader_chose_is_not_called_sure(reader: Reader, question: str, named: bool) -> None:
    reply = reader.read(question)
    assert isinstance(reply, Read), reply
    assert (reply.best.confidence >= SURE) == named


@pytest.mark.parametrize("question", ["who is our oldest baker?", "breads by price", "bakers by name"])
def test_what_a_scale_does_not_say_is_not_made_up(reader: Reader, question: str) -> None:
    """How old people are is not the day on which they were hired; numbers and names are no groups."""
    reply = reader.read(question)
    text = reply.best.sentence if isinstance(reply, Read) else ""
    assert "hired" not in text
    assert "Count" not in text

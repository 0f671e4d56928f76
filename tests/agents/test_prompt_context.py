"""What a model is told: the tables that a question touches first, values only where rows are shared, and what fits."""

from collections.abc import Sequence
from datetime import date
from typing import Any, ClassVar

import pytest

from answerable.agents.rows_text import frame_text
from answerable.agents.schema_links import schema_links
from answerable.agents.schema_text import tables_text, values_text
from answerable.core.catalog import Catalog, Column, Relationship, Table, ValueHit
from answerable.core.ids import ArtifactId
from answerable.core.values import FrameRef, OutputColumn
from answerable.models.tokens import likely
from answerable.reader.reader import Reader

CATALOG = Catalog(
    source="shop",
    dialect="duckdb",
    tables=(
        Table(
            name="customers",
            columns=(
                Column(name="id", type="integer"),
                Column(name="town", type="text", examples=("Ulm",), distinct_count=9, null_count=2),
                Column(name="status", type="text", examples=("active", "gone"), distinct_count=2),
            ),
        ),
        Table(
            name="orders",
            columns=(
                Column(name="customer_id", type="integer"),
                Column(name="amount", type="number", minimum=1, maximum=9),
            ),
        ),
        Table(name="weather", columns=(Column(name="rain", type="number"),)),
    ),
    relationships=(
        Relationship(
            name="orders_customers",
            from_table="orders",
            from_columns=("customer_id",),
            to_table="customers",
            to_columns=("id",),
            origin="declared",
            synonyms=("bought by",),
        ),
    ),
)


class Values:
    def find(self, phrase: str, limit: int = 8, least: float = 0.0) -> Sequence[ValueHit]:
        return [ValueHit(table="customers", column="town", value="Ulm", score=1.0)] if phrase.lower() == "ulm" else []


@pytest.fixture
def reader() -> Reader:
    return Reader(CATALOG, Values(), today=lambda: date(2026, 1, 1))


def test_touched_tables_come_first_and_their_neighbours_follow(reader: Reader) -> None:
    assert schema_links(reader, "total amount of orders").tables == ("orders", "customers", "weather")


def test_values_and_unknown_words_are_told(reader: Reader) -> None:
    found = schema_links(reader, "orders from Ulm by Zeppelin in thrilling weather")
    text = values_text(found, share_rows=True)
    assert '"customers"."town" = "Ulm"' in text
    assert "Zeppelin" in text
    assert "thrilling" not in text, "a word that is like no value tells nothing"


def test_of_the_tables_of_a_query_only_its_columns_are_described(reader: Reader) -> None:
    found = schema_links(reader, "customers in Ulm")
    text = tables_text(found, share_rows=True, spare=0, code="select count(*) from customers where town = 'ulm'")
    assert '  "town" text, for example "Ulm", 2 empty' in text
    assert '"status" text, only' not in text
    assert 'and "id", "status"' in text, "the others are named"


def test_without_shared_rows_no_value_is_told(reader: Reader) -> None:
    found = schema_links(reader, "orders from Ulm")
    shared, hidden = tables_text(found, share_rows=True), tables_text(found, share_rows=False)
    assert '"town" text, for example "Ulm", 2 empty' in shared
    assert '"status" text, only "active", "gone"' in shared
    assert '"town" text, 2 empty' in hidden
    assert "active" not in hidden
    assert "from 1 to 9" in shared
    assert "Ulm" not in hidden + values_text(found, share_rows=False)
    assert "from 1" not in hidden
    assert 'join "orders"."customer_id" = "customers"."id" (called "bought by")' in hidden


def test_what_does_not_fit_is_only_named(reader: Reader, monkeypatch: pytest.MonkeyPatch) -> None:
    found = schema_links(reader, "total amount of orders")
    text = tables_text(found, share_rows=True, room=likely('table "orders"\n  "customer_id" integer\n' * 2))
    assert 'table "orders"' in text
    assert 'not described: "customers"' in text


def test_rows_of_earlier_steps_show_three_records_only_where_shared() -> None:
    frame = FrameRef(
        artifact=ArtifactId("sha256:0"),
        columns=(OutputColumn(name="town", type="text"), OutputColumn(name="people", type="integer")),
        row_count=5,
        byte_count=1,
        sample=({"town": "Ulm", "people": None},),
    )
    assert '{"town": "Ulm", "people": null}' in frame_text("towns", frame, share_rows=True)
    assert "Ulm" not in frame_text("towns", frame, share_rows=False)
    assert "5 rows" in frame_text("towns", frame, share_rows=False)


class Everywhere:
    """Finds the same few values for any phrase, as an index of short codes and numbers in text columns does."""

    def find(self, phrase: str, limit: int = 8, least: float = 0.0) -> Sequence[ValueHit]:
        return [
            ValueHit(table="jobs", column="start_dt", value="J", score=1.0),
            ValueHit(table="jobs", column="wage", value="clerk", score=0.9),
            ValueHit(table="jobs", column="title", value="clerk", score=0.9),
        ]


@pytest.fixture
def jobs() -> Reader:
    columns = (
        Column(name="title", type="text", examples=("clerk", "nurse")),
        Column(name="wage", type="text", examples=("1,200", "900")),
        Column(name="start_dt", type="text", examples=("2020-01-01", "2021-05-01")),
        Column(name="experience_score", type="number"),
    )
    catalog = Catalog(source="jobs", dialect="duckdb", tables=(Table(name="jobs", columns=columns),))
    return Reader(catalog, Everywhere(), today=lambda: date(2026, 1, 1))


@pytest.mark.parametrize("question", ["wage of clerks", "jobs whose title contains 'experience_score'", 'who is "J"?'])
def test_only_values_that_exist_and_fit_their_column_are_claimed(jobs: Reader, question: str) -> None:
    assert set(schema_links(jobs, question).values) <= {'"jobs"."title" = "clerk"'}


@pytest.mark.parametrize("question", ["mean experience by zeppelin", "which score do jobs start with by zeppelin"])
def test_words_of_columns_are_never_said_to_match_nothing(jobs: Reader, question: str) -> None:
    unknown = schema_links(jobs, question).unknown
    assert not {"experience", "score", "start"} & set(unknown)


@pytest.mark.parametrize(("origin", "confidence", "stated"), [("inferred", 0.6, False), ("inferred", 0.95, True)])
def test_a_weak_relationship_is_not_stated_as_a_fact(origin: Any, confidence: float, stated: bool) -> None:
    [known] = CATALOG.relationships
    guessed = known.model_copy(update={"origin": origin, "confidence": confidence})
    catalog = CATALOG.model_copy(update={"relationships": (guessed,)})
    found = schema_links(Reader(catalog, Values(), today=lambda: date(2026, 1, 1)), "amount of orders per customer")
    text = tables_text(found, share_rows=True)
    assert ("perhaps join" not in text) is stated


class Airports:
    """Finds what a whole phrase is called, in any case."""

    HELD: ClassVar = {
        "day": ("dest", "DAY"),
        "usa": ("country", "usa"),
        "numbers": ("dest", "Numbers"),
        "fit": ("dest", "FIT"),
    }
    HELD |= {"ten": ("dest", "Ten"), "united": ("dest", "United Air Hub")}

    def find(self, phrase: str, limit: int = 8, least: float = 0.0) -> Sequence[ValueHit]:
        column, value = self.HELD.get(phrase.lower(), ("", ""))
        flown = [ValueHit(table="flights", column=column, value=value, score=1.0)] if value else []
        twice = [
            ValueHit(table=t, column=c, value="JFK", score=1.0) for t, c in (("flights", "origin"), ("hubs", "code"))
        ]
        return twice if phrase == "JFK" else flown


@pytest.fixture
def flights() -> Reader:
    origin = Column(name="origin", type="text", examples=("EWR", "JFK"), distinct_count=3)
    dest = Column(name="dest", type="text", examples=("ATL", "DAY"), distinct_count=90)
    country = Column(name="country", type="text", examples=("usa",), distinct_count=1)
    tables = (
        Table(name="flights", columns=(origin, dest, country, Column(name="day", type="date"))),
        Table(
            name="hubs", columns=(Column(name="code", type="text", examples=("ORD",)), Column(name="m", type="text"))
        ),
    )
    return Reader(Catalog(source="air", dialect="duckdb", tables=tables), Airports(), today=lambda: date(2026, 1, 1))


@pytest.mark.parametrize(
    ("question", "values"),
    [
        ("how many flights on each day", ()),  # the column, not the airport
        ("flights to DAY", ('"flights"."dest" = "DAY"',)),
        ("flights in the usa", ()),  # all of them are
        ("the number of flights", ()),
        ("Fit a line through the flights", ()),
        ("the ten best flights", ()),
        ("flights to United", ('"flights"."dest" = "United Air Hub"',)),  # a word of a value
        ("flights from JFK", ('"flights"."origin", "hubs"."code" = "JFK"',)),
    ],
)
def test_values_are_claimed_where_a_value_may_be_meant(flights: Reader, question: str, values: tuple[str, ...]) -> None:
    assert schema_links(flights, question).values == values


def test_a_word_of_a_value_is_not_said_to_match_nothing(flights: Reader) -> None:
    assert schema_links(flights, "R squared of flights by United to Zanzibar").unknown == ("Zanzibar",)


def test_a_month_is_not_said_to_match_nothing(flights: Reader) -> None:
    assert schema_links(flights, "flights in January to Zanzibar").unknown == ("Zanzibar",)


def test_a_table_that_the_question_does_not_touch_is_told_in_one_line(flights: Reader) -> None:
    text = tables_text(schema_links(flights, "how many flights on each day"), share_rows=True)
    assert '"dest" text, for example' in text
    assert 'table "hubs": "code" text, "m" text' in text.split("\n")

"""What a model is told: the tables that a question touches first, values only where rows are shared, and what fits."""

from collections.abc import Sequence
from datetime import date
from typing import Any

import pytest

from answerable.agents.prompt_context import frame_text, schema_links, tables_text, values_text
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
    found = schema_links(reader, "orders from Ulm by zeppelins")
    text = values_text(found, share_rows=True)
    assert '"customers"."town" = "Ulm"' in text
    assert "zeppelins" in text


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

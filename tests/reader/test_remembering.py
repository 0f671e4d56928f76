"""A choice between readings is remembered as another name of a column, where it says that much."""

import pytest

from answerable.answers.answer import Binding, Synonym
from answerable.core.catalog import Catalog, Column, Table
from answerable.query.plan import QueryPlan
from answerable.reader.explaining.bindings import IMPLIED, UNUSED
from answerable.reader.learned_synonyms import synonyms
from answerable.reader.reading import Reading

SHOP = Catalog(
    source="shop",
    dialect="duckdb",
    tables=(
        Table(
            name="products",
            primary_key=("id",),
            columns=(
                Column(name="id", type="integer"),
                Column(name="category", type="text", synonyms=("Kind",)),
                Column(name="brand", type="text"),
            ),
        ),
    ),
)


def reading(**bindings: str) -> Reading:
    told = tuple(Binding(phrase=phrase.replace("_", " "), meaning=meaning) for phrase, meaning in bindings.items())
    return Reading(plan=QueryPlan(entity="products"), sentence="", confidence=0.5, bindings=told)


def implying(column: str, *unused: str) -> Reading:
    words = tuple(Binding(phrase=word, meaning=UNUSED) for word in unused)
    implied = Binding(phrase=IMPLIED, meaning=column)
    return Reading(plan=QueryPlan(entity="products"), sentence="", confidence=0.5, bindings=(*words, implied))


def test_a_phrase_that_readings_take_for_different_columns() -> None:
    readings = [reading(line="products.category", of="products"), reading(line="products.brand", of="products")]
    assert synonyms(readings, SHOP) == (
        Synonym(phrase="line", table="products", column="category"),
        Synonym(phrase="line", table="products", column="brand"),
    )


def test_a_word_that_was_not_understood() -> None:
    readings = [implying("products.brand", "make"), implying("products.id", "make"), implying("products", "make")]
    assert synonyms(readings, SHOP) == (Synonym(phrase="make", table="products", column="brand"), None, None)


@pytest.mark.parametrize(
    "readings",
    [
        [reading(line="products.category"), reading(line="products.category")],
        [reading(a="products.category", b="products.brand"), reading(a="products.brand", b="products.category")],
        [implying("products.brand", "make", "label")],
        [implying("products.category", "kind")],
        [implying("products.category", "day"), implying("products.brand", "day")],
        [implying("products.brand", "make"), reading(make="products.category")],
        [],
    ],
)
def test_else_there_is_nothing_to_remember(readings: list[Reading]) -> None:
    assert synonyms(readings, SHOP) == (None,) * len(readings)

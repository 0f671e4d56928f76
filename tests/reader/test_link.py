"""Phrases find the tables, columns, measures and values they may mean."""

from collections.abc import Callable

import pytest

from answerable.reader.linking.scene import Scene

Make = Callable[[str], Scene]


def _columns(scene: Scene, least: float = 0.9) -> set[str]:
    tables, columns = scene.schema.tables, scene.schema.columns
    return {f"{tables[columns[m.id].table].name}.{columns[m.id].name}" for m in scene.links.columns if m.score >= least}


def _tables(scene: Scene, least: float = 0.9) -> set[str]:
    return {scene.schema.tables[m.id].name for m in scene.links.tables if m.score >= least}


def test_plural_and_case(scene_of: Make) -> None:
    assert _tables(scene_of("Show all CUSTOMERS")) == {"customer"}


def test_a_name_without_its_table(scene_of: Make) -> None:
    assert "product.product_name" in _columns(scene_of("name of each product"))


def test_synonyms_of_the_catalog(scene_of: Make) -> None:
    assert "product.category" in _columns(scene_of("products by department"))


def test_adjectives_point_to_columns(scene_of: Make) -> None:
    assert "customer.age" in _columns(scene_of("who is the oldest customer"), 0.5)
    assert "product.price" in _columns(scene_of("the most expensive product"), 0.5)


def test_misspelt_names(scene_of: Make) -> None:
    assert "product.category" in _columns(scene_of("products of each categorry"), 0.5)


def test_measures_by_synonym(scene_of: Make) -> None:
    (mention,) = [m for m in scene_of("turnover per city").links.measures if m.score >= 0.9]
    assert (mention.start, mention.end) == (0, 1)


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("customers in berlin", "Berlin"),
        ("customers in new york", "New York"),
        ('named "Ada Lovelace"', "Ada Lovelace"),
    ],
)
def test_values(scene_of: Make, text: str, value: str) -> None:
    assert [v.value for v in scene_of(text).values] == [value]


def test_a_quoted_text_that_is_not_in_the_data_is_kept(scene_of: Make) -> None:
    scene = scene_of('customers whose name contains "zzz"')
    assert [(v.value, v.quoted) for v in scene.values] == [("zzz", True)]


def test_the_longer_name_wins(scene_of: Make) -> None:
    scene = scene_of("amount of each order line")
    (best,) = [m for m in scene.links.tables if m.score >= 0.9 and scene.schema.tables[m.id].name == "order_line"]
    assert best.end - best.start == 2

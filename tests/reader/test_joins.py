"""Tables are connected by the cheapest relationships."""

import pytest

from answerable.reader.linking.schema import Schema
from answerable.reader.plans.joins import NoPath, distance, join_tree


def test_the_way_leads_over_tables_between(schema: Schema) -> None:
    ids = schema.table_ids
    names = [schema.tables[edge.end].name for edge in join_tree(schema, ids["customer"], [ids["product"]])]
    assert names == ["orders", "order_line", "product"]


def test_nothing_to_join(schema: Schema) -> None:
    assert join_tree(schema, 0, [0]) == []


def test_tables_without_a_way(schema: Schema) -> None:
    ids = schema.table_ids
    pointing = frozenset(a for edges in schema.edges.values() for edge in edges for a, _ in edge.pairs)
    with pytest.raises(NoPath):
        join_tree(schema, ids["customer"], [ids["product"]], avoid=pointing)


def test_distance(schema: Schema) -> None:
    ids = schema.table_ids
    assert distance(schema, ids["customer"], ids["orders"]) == 1.0
    assert distance(schema, ids["customer"], ids["customer"]) == 0.0

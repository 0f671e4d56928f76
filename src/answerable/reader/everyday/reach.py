"""How near tables and columns are, in the schema and in the question."""

from collections.abc import Sequence
from math import log

from answerable.reader.everyday.request import EverydayRequest
from answerable.reader.everyday.word_options import Element
from answerable.reader.linking.scales import names_something
from answerable.reader.linking.schema import ColumnView, Schema
from answerable.reader.plans.joins import NoPath, distance, join_tree

# What no word asks for is unlikely, and so is each table that has to be joined.
UNSAID = log(0.12)
UNSAID_NUMBER = log(0.25)
EACH_JOIN = 0.45
# A word that stands further from its number or superlative is less likely to belong to it.
_NEARER = 0.85


def headed(request: EverydayRequest, element: Element, heads: Sequence[int]) -> float:
    """How well the words around a number or superlative name the element; nearer words count more."""
    best = 0.0
    for order, place in enumerate(heads):
        best = max(best, request.options.chance(place, element) * _NEARER**order)
    return best


def reach(schema: Schema, table: int, column: int) -> float | None:
    return distance(schema, table, schema.columns[column].table)


def join_weight(schema: Schema, table: int, column: int) -> float:
    return -EACH_JOIN * (reach(schema, table, column) or 0.0)


def is_many(schema: Schema, table: int, other: int) -> bool:
    """Whether a row of the table may have many rows of the other."""
    try:
        path = join_tree(schema, table, [other])
    except NoPath:
        return False
    return any(edge.relationship.to_table == schema.tables[edge.start].name for edge in path)


def is_number(view: ColumnView) -> bool:
    return view.numeric and not view.key and not view.foreign and not names_something(view)

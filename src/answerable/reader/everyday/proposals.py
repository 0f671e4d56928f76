"""Proposals: the queries that a request may stand for, built around each table that it may be about."""

from collections.abc import Iterator
from dataclasses import replace
from itertools import islice

from answerable.reader.everyday.condition import ConditionChoice
from answerable.reader.everyday.conditions import condition_sets
from answerable.reader.everyday.figures import (
    calculations,
    counts,
    each_once,
    figures_of_groups,
    gaps,
    rows_counted,
    shares,
    totals,
    two_figures,
)
from answerable.reader.everyday.groups import grouped
from answerable.reader.everyday.measures import by_measures
from answerable.reader.everyday.proposal import Proposal
from answerable.reader.everyday.rankings import (
    extremes_of_groups,
    first_by_figure,
    first_periods,
    first_rows,
    ranked_groups,
    with_many,
)
from answerable.reader.everyday.rates import ratios
from answerable.reader.everyday.request import EverydayRequest
from answerable.reader.everyday.shown import listed, with_also
from answerable.reader.everyday.word_options import Element
from answerable.reader.linking.schema import Schema

# "Rides to the airport" more often asks for the rides than for their number.
_COUNTED_FRAGMENT = -0.5
_NO_PERIOD = -1.0
_MOST_ENTITIES = 6
_FEW_TABLES = 5


def proposals(request: EverydayRequest) -> Iterator[Proposal]:
    for table in islice(_entities(request), _MOST_ENTITIES):
        yield from _about(request, table)


def _entities(request: EverydayRequest) -> Iterator[int]:
    """Tables that the words point to, the likeliest first."""
    schema = request.question.schema
    points = dict.fromkeys(range(len(schema.tables)), 0.0)
    for options in request.options.by_place.values():
        for element, chance in options.items():
            table = _table_of(schema, element)
            points[table] += chance if element.kind == "table" else 0.6 * chance
    for value in request.question.values:
        for rival in request.question.rivals(value):
            points[schema.columns[rival.column].table] += 0.3
    if len(schema.tables) == 1:
        return iter([0])
    said = [table for table, point in points.items() if point > 0]
    # Of a few tables any may be meant, even if no word points to it.
    tables = said or (list(points) if len(points) <= _FEW_TABLES else [])
    return iter(sorted(tables, key=lambda table: -points[table]))


def _table_of(schema: Schema, element: Element) -> int:
    if element.kind == "table":
        return element.id
    if element.kind == "measure":
        return schema.table_ids[schema.measures[element.id][0].table]
    return schema.columns[element.id].table


def _about(request: EverydayRequest, table: int) -> Iterator[Proposal]:
    for conditions in condition_sets(request, table):
        base = Proposal(
            table,
            where=conditions.where,
            having=conditions.having,
            uses=conditions.uses | {Element("table", table)},
            weight=conditions.weight,
        )
        yield from _shaped(request, base, conditions)


def _shaped(request: EverydayRequest, base: Proposal, conditions: ConditionChoice) -> Iterator[Proposal]:
    yield from ratios(request, base, conditions)
    for one in grouped(request, base, conditions):
        yield from by_measures(request, one)
    if request.unit is not None and request.ranking is not None and not request.groups:
        yield from first_periods(request, base)
    if conditions.counted is not None:
        yield from with_many(request, base, conditions.counted)
        return
    for one in grouped(request, base, conditions):
        if request.asked == "rows":
            yield from _rows(request, one, conditions)
        else:
            yield from _calculated(request, one)


def _calculated(request: EverydayRequest, base: Proposal) -> Iterator[Proposal]:
    match request.asked:
        case "share":
            yield from shares(request, base)
        case "gap":
            yield from gaps(request, base)
        case "count":
            yield from ranked_groups(request, counts(request, base))
        case function if request.ranking is not None and not base.group and not request.ranking.sorts_all:
            yield from first_by_figure(request, base, function)
        case function:
            yield from ranked_groups(request, calculations(request, base, function))
            yield from two_figures(request, base, function)


def _rows(request: EverydayRequest, base: Proposal, conditions: ConditionChoice) -> Iterator[Proposal]:
    if base.group and request.ranking is None:
        yield from figures_of_groups(request, base)
    elif base.group and (request.unit is not None or request.asks_which_period):
        yield from ranked_groups(request, figures_of_groups(request, base))
    elif base.group:
        yield from extremes_of_groups(request, base)
    elif request.ranking is not None and not request.ranking.sorts_all:
        # Who asks for the busiest hour does not ask for a row.
        other = _NO_PERIOD if request.unit in ("hour", "month", "year") else 0.0
        yield from with_also(request, first_rows(request, replace(base, weight=base.weight + other)))
    else:
        yield from totals(request, base)
        yield from with_also(request, listed(request, base, conditions.multiplies))
        if request.is_fragment and base.where and request.ranking is None:
            weight = base.weight + _COUNTED_FRAGMENT + rows_counted(request, base)
            yield replace(base, select=(each_once(request.question.schema, base),), weight=weight)

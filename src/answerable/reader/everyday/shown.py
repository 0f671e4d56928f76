"""What is shown of rows: their names, a column that is asked for, the people they belong to."""

from collections.abc import Iterator
from dataclasses import replace

from answerable.query.plan import Expr
from answerable.reader.everyday.figures import ranked_by, with_measure
from answerable.reader.everyday.proposal import Proposal
from answerable.reader.everyday.reach import EACH_JOIN
from answerable.reader.everyday.request import EverydayRequest
from answerable.reader.everyday.word_options import Element
from answerable.reader.linking.schema import ColumnView, Schema
from answerable.reader.plans.draft_to_plan import column_ref
from answerable.reader.plans.joins import distance

# Beyond three joins nobody means a column without saying its table.
_FAR = 3.0


def listed(request: EverydayRequest, base: Proposal, multiplies: bool) -> Iterator[Proposal]:
    for shown in shown_columns(request, base):
        distinct = multiplies or not _names_rows(request, shown)
        ordered = shown
        if request.ranking is not None and request.ranking.sorts_all:
            for view, chance in ranked_by(request, shown)[:1]:
                by = column_ref(request.question.schema, view.id)
                descending = request.ranking.cue.tag in ("MAX", "MOST")
                ordered = replace(with_measure(request, shown, view, chance), order=((by, descending),))
                distinct = False
        if not ordered.where and not ordered.order and not request.ranking:
            ordered = replace(ordered, weight=ordered.weight - 0.7)
        yield replace(ordered, distinct=distinct)


def _names_rows(request: EverydayRequest, one: Proposal) -> bool:
    names = request.question.schema.tables[one.table].row_names
    return one.select == tuple(column_ref(request.question.schema, column) for column in names)


def shown_columns(request: EverydayRequest, base: Proposal) -> Iterator[Proposal]:
    """What is shown of the rows: their names; a column that is asked for; where; when."""
    question, schema = request.question, request.question.schema
    view = schema.tables[base.table]
    names = tuple(column_ref(schema, column) for column in view.row_names)
    first = question.words[:1]
    people = question.scene.asks_who and not view.people
    if people:
        yield from _owners(request, base)
    if names:
        yield replace(base, select=names, weight=base.weight - (1.0 if people else 0.0))
    tested = {element.id for element in base.uses if element.kind == "column"}
    for column in view.columns:
        one = schema.columns[column]
        chance = request.options.best(Element("column", column), request.content)
        if one.key or one.foreign or one.looks_like_id:
            continue
        where = first == ["where"] and one.place
        when = (first == ["when"] and one.temporal) or _is_period(request, one)
        if column in view.row_names or (not where and not when and (chance < 0.3 or column in tested)):
            continue
        uses = base.uses | ({Element("column", column)} if chance > 0 else set())
        weight = base.weight + (0.3 if where or when else -0.2)
        yield replace(base, select=(column_ref(schema, column),), uses=uses, weight=weight)


def _is_period(request: EverydayRequest, view: ColumnView) -> bool:
    """Which days, in which years: the column that holds them."""
    if request.unit == "day":
        return view.temporal
    return request.unit is not None and view.words[-1:] == (request.unit,)


def _owners(request: EverydayRequest, base: Proposal) -> Iterator[Proposal]:
    """Who: the people that the rows belong to."""
    schema = request.question.schema
    for table in schema.tables:
        far = distance(schema, base.table, table.id)
        if not table.people or table.id == base.table or far is None or far > _FAR:
            continue
        names = tuple(column_ref(schema, column) for column in table.row_names)
        uses = base.uses | {Element("table", table.id)}
        if names:
            weight = base.weight - EACH_JOIN * far
            yield replace(base, select=names, uses=uses, weight=weight)


def row_keys(schema: Schema, one: Proposal) -> tuple[Expr, ...]:
    key = schema.tables[one.table].key
    keys = (*((column_ref(schema, key),) if key is not None else ()), *one.select)
    return tuple(dict.fromkeys(keys))

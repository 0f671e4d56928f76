"""Superlatives: the first rows, groups and periods by a number, or by how many rows belong to them."""

from collections.abc import Iterable, Iterator
from dataclasses import replace
from datetime import date

from answerable.query.plan import Aggregate, ColumnRef, DatePart, Expr
from answerable.reader.everyday.calendar_columns import calendar_columns
from answerable.reader.everyday.figures import figures_of_groups, ranked_by, rows_counted, with_measure
from answerable.reader.everyday.groups import dimensions_at
from answerable.reader.everyday.proposal import Proposal
from answerable.reader.everyday.reach import EACH_JOIN, UNSAID, is_many
from answerable.reader.everyday.request import EverydayRequest
from answerable.reader.everyday.shown import row_keys, shown_columns
from answerable.reader.everyday.word_options import Element
from answerable.reader.grammar.periods import date_column
from answerable.reader.linking.column_kinds import adds_up
from answerable.reader.linking.scales import both_ends, is_descending
from answerable.reader.linking.schema import ColumnView, Schema
from answerable.reader.plans.draft_to_plan import column_ref
from answerable.reader.plans.joins import distance

_COUNT_ROWS = Aggregate(function="count")
_MOST_OPTIONS = 3
# Beyond three joins nobody means a column without saying its table.
_FAR = 3.0
# How many rows have the same value on average, from where on it is what rows belong to and no name of theirs.
_OFTEN = 1.5
_ONE_ROW = 1.2
_NUMBER_ALONE = 0.7
_CHANGES = frozenset(
    {"change", "growth", "difference", "delta", "gain", "profit", "profits", "net", "balance", "return"}
)
_BUSY = frozenset({"busiest", "quietest"})
_OF_MANY = _BUSY | {"top"}


def _is_descending(request: EverydayRequest, view: ColumnView) -> bool:
    """Which end is asked for; the biggest drop is the lowest change."""
    assert request.ranking is not None
    cue = request.ranking.cue
    highest = is_descending(request.question.words[cue.start], cue.tag, view)
    return highest != (request.ranking.falls and not _CHANGES.isdisjoint(view.words))


def first_by_figure(request: EverydayRequest, base: Proposal, function: str) -> Iterator[Proposal]:
    """Which species is the heaviest on average: the subject groups the rows, the superlative says the number."""
    assert request.ranking is not None
    schema, ranking = request.question.schema, request.ranking
    places = (request.subject,) if request.subject is not None else ()
    for keys, shown, uses, weight in dimensions_at(request, base.table, places):
        grouped = replace(base, select=shown, group=keys, uses=base.uses | uses, weight=base.weight + weight)
        for view, chance in ranked_by(request, grouped):
            if not view.numeric or column_ref(schema, view.id) in keys:
                continue
            figure = Aggregate.model_validate({"function": function, "of": column_ref(schema, view.id)})
            one = with_measure(request, grouped, view, chance)
            order = ((figure, _is_descending(request, view)),)
            yield replace(one, select=(*one.select, figure), order=order, limit=ranking.limit)


def first_periods(request: EverydayRequest, base: Proposal) -> Iterator[Proposal]:
    """The hottest day, the wettest month: a day is a row, a month or year is made of many."""
    assert request.ranking is not None
    question, schema, ranking = request.question, request.question.schema, request.ranking
    dated = date_column(question, base.table)
    period = _period(request, base.table, None if dated is None else column_ref(schema, dated.column))
    if period is None:
        return
    word, tag = question.words[ranking.cue.start], ranking.cue.tag
    for view, chance in ranked_by(request, base):
        if not view.numeric or column_ref(schema, view.id) == period:
            continue
        one = with_measure(request, base, view, chance)
        by = column_ref(schema, view.id)
        descending = _is_descending(request, view)
        if isinstance(period, ColumnRef) and dated is not None:
            yield replace(one, select=(period, by), order=((by, descending),), limit=ranking.limit)
        else:
            function = "sum" if adds_up(view) and request.asked != "avg" else "avg"
            figure = Aggregate.model_validate({"function": function, "of": by})
            first = replace(one, order=((figure, descending),), limit=ranking.limit)
            yield replace(first, select=(period, figure), group=(period,))
    # The busiest month, the worst day of the week: the one with the most rows, unless a number is named.
    most = replace(base, select=(period, _COUNT_ROWS), group=(period,), limit=ranking.limit)
    unsaid = 0.0 if tag in ("MOST", "LEAST", "COMMON", "RARE") or word in _OF_MANY else UNSAID
    weight = base.weight + unsaid + rows_counted(request, base)
    yield replace(most, order=((_COUNT_ROWS, tag not in ("LEAST", "RARE") and word != "quietest"),), weight=weight)


def _period(request: EverydayRequest, table: int, dated: ColumnRef | None) -> Expr | None:
    """The day, month or year of the rows; of a table without dates, the column that holds its number."""
    if dated is not None:
        single = request.unit == "day" or _steps(request.question.schema, dated) == request.unit
        return dated if single else DatePart.model_validate({"part": request.unit, "of": dated})
    parts = calendar_columns(request.question.schema, table, request.unit or "")
    return column_ref(request.question.schema, parts[0].id) if parts else None


def _steps(schema: Schema, dated: ColumnRef) -> str | None:
    """A month or a year, if the table has one row for each."""
    column = schema.column_of(dated.table, dated.column)
    source = schema.columns[column].source if column is not None else None
    if source is None or not source.unique or not source.minimum or not source.maximum:
        return None
    first, last = (date.fromisoformat(str(end)[:10]) for end in (source.minimum, source.maximum))
    days = (last - first).days / max(1, (source.distinct_count or 1) - 1)
    return "month" if 28 <= days <= 31 else "year" if 365 <= days <= 366 else None


def ranked_groups(request: EverydayRequest, ones: Iterable[Proposal]) -> Iterator[Proposal]:
    """The group with the highest figure is shown alone; "highest first" sorts them all."""
    ranking = request.ranking
    for one in ones:
        if ranking is None or not one.group:
            yield one
            continue
        descending = ranking.cue.tag in ("MAX", "MOST", "COMMON", "OLD")
        order = ((one.select[-1], descending),)
        if ranking.sorts_all:
            yield replace(one, order=order)
        else:
            yield replace(one, order=order, limit=ranking.limit)
        if request.question.words[ranking.cue.start] == "worst" and one.select[-1] == _COUNT_ROWS:
            # The worst day for fines is the one with the most.
            yield replace(one, order=((one.select[-1], True),), limit=None if ranking.sorts_all else ranking.limit)


def extremes_of_groups(request: EverydayRequest, base: Proposal) -> Iterator[Proposal]:
    """The heaviest of each kind: the highest number of each."""
    assert request.ranking is not None
    if request.ranking.sorts_all:
        yield from ranked_groups(request, figures_of_groups(request, base))
        return
    for view, chance in ranked_by(request, base):
        if not view.numeric:
            continue
        descending = _is_descending(request, view)
        figure = Aggregate(function="max" if descending else "min", of=column_ref(request.question.schema, view.id))
        one = with_measure(request, base, view, chance)
        yield replace(one, select=(*one.select, figure))


def first_rows(request: EverydayRequest, base: Proposal) -> Iterator[Proposal]:
    assert request.ranking is not None
    question, schema, ranking = request.question, request.question.schema, request.ranking
    word, tag = question.words[ranking.cue.start], ranking.cue.tag
    by_number = tag in ("COMMON", "RARE") or word in _BUSY
    counting = by_number or tag in ("MOST", "LEAST")
    for shown in shown_columns(request, base):
        for view, chance in ranked_by(request, base):
            said = chance if chance > 0.0 else 0.0
            if by_number and said == 0.0:
                # The most popular course is not the longest.
                continue
            one = with_measure(request, shown, view, said)
            by = column_ref(schema, view.id)
            if shown.select == (by,):
                # Which state is the most dangerous: not only how dangerous.
                one = replace(one, weight=one.weight - _NUMBER_ALONE)
            descending = _is_descending(request, view)
            if view.table != base.table and is_many(schema, base.table, view.table):
                total: Expr = Aggregate(function="sum" if adds_up(view) else "max", of=by)
                many = replace(one, group=row_keys(schema, one), select=(*one.select, total))
                yield replace(many, order=((total, descending),), limit=ranking.limit)
                continue
            repeats = _repeats(schema, one)
            if repeats and view.numeric:
                # The best customer of a list of orders: the orders of each are taken together.
                function = "sum" if adds_up(view) else "avg"
                figure = Aggregate.model_validate({"function": function, "of": by})
                group = replace(one, select=(*one.select, figure), group=one.select)
                yield replace(group, order=((figure, descending),), limit=ranking.limit)
            select = tuple(dict.fromkeys((*one.select, by)))
            row = replace(one, select=select, weight=one.weight - (_ONE_ROW if repeats else 0.0))
            yield replace(row, order=((by, descending),), limit=ranking.limit)
            if both_ends(word, view):
                yield replace(row, order=((by, not descending),), limit=ranking.limit)
        if counting or tag in ("MAX", "MIN"):
            most = tag in ("MOST", "COMMON", "MAX") and word != "quietest"
            yield from _with_most(request, shown, most, counting, asked=by_number)


def _repeats(schema: Schema, one: Proposal) -> bool:
    """Whether what is shown stands in many rows of the table: a customer in a list of orders."""
    views = [
        schema.columns[column]
        for column in schema.tables[one.table].columns
        if column_ref(schema, column) in one.select and not schema.columns[column].numeric
    ]
    rows = schema.tables[one.table].source.row_count or 0
    return len(views) == len(one.select) and all(
        not view.source.unique and (view.source.distinct_count or rows) * _OFTEN <= rows for view in views
    )


def _with_most(
    request: EverydayRequest, base: Proposal, descending: bool, counting: bool, *, asked: bool
) -> Iterator[Proposal]:
    """What most rows of another table belong to, or the value that most rows have."""
    assert request.ranking is not None
    schema, limit = request.question.schema, request.ranking.limit
    order = ((_COUNT_ROWS, descending),)
    for other in schema.tables:
        if other.id == base.table or distance(schema, base.table, other.id) is None:
            continue
        chance = request.options.best(Element("table", other.id), request.content)
        child = is_many(schema, base.table, other.id)
        if chance == 0.0 and not (child and counting):
            continue
        # "Most popular" asks how many there are of something, without saying of what.
        unsaid = 0.0 if chance > 0.0 else UNSAID / 4 if asked else UNSAID
        weight = base.weight - EACH_JOIN + unsaid - (0.0 if counting else 1.0)
        uses = base.uses | ({Element("table", other.id)} if chance > 0.0 else set())
        select = (*base.select, _COUNT_ROWS)
        most = replace(base, select=select, group=row_keys(schema, base), order=order, limit=limit, extra=(other.id,))
        yield replace(most, uses=uses, weight=weight)
    if base.select and _repeats(schema, base):
        common = replace(base, select=(*base.select, _COUNT_ROWS), group=base.select, order=order, limit=limit)
        yield replace(common, weight=base.weight - 0.3 + rows_counted(request, base))


def with_many(request: EverydayRequest, base: Proposal, counted: int) -> Iterator[Proposal]:
    schema = request.question.schema
    for shown in shown_columns(request, base):
        if counted == base.table:
            if _repeats(schema, shown):
                yield replace(shown, group=shown.select)
        else:
            yield replace(shown, group=row_keys(schema, shown), extra=(counted,))

"""Figures: counts, totals, averages, shares, ratios and differences."""

from collections.abc import Iterable, Iterator
from dataclasses import replace
from math import log

from answerable.query.plan import Aggregate, Arithmetic, Constant, Expr
from answerable.reader.everyday.proposal import Proposal
from answerable.reader.everyday.reach import EACH_JOIN, UNSAID, headed, is_number, join_weight, reach
from answerable.reader.everyday.request import EverydayRequest
from answerable.reader.everyday.word_options import Element
from answerable.reader.grammar.clauses import time_conditions
from answerable.reader.grammar.measure_expressions import is_additive, restricted
from answerable.reader.linking.scales import names_something
from answerable.reader.linking.schema import ColumnView
from answerable.reader.plans.draft_to_plan import all_of, column_ref

_COUNT_ROWS = Aggregate(function="count")
_HUNDRED = Constant(value=100)
_MOST_OPTIONS = 3
# Beyond three joins nobody means a column without saying its table.
_FAR = 3.0


def counts(request: EverydayRequest, base: Proposal) -> Iterator[Proposal]:
    schema = request.question.schema
    yield replace(base, select=(*base.select, _COUNT_ROWS))
    if request.subject is None:
        return
    for element, chance in request.options.by_place[request.subject].items():
        if element.kind != "column" or chance < 0.3:
            continue
        view = schema.columns[element.id]
        if view.table != base.table or view.key:
            continue
        of = column_ref(schema, element.id)
        if view.numeric and not view.looks_like_id and not view.foreign:
            figure = Aggregate(function="sum", of=of)
        else:
            figure = Aggregate(function="count", of=of, distinct=True)
        uses = base.uses | {element}
        yield replace(
            base,
            select=(*base.select, figure),
            uses=uses,
            weight=base.weight - 0.3,
        )


def _measures(
    request: EverydayRequest, base: Proposal, heads: Iterable[int] | None = None
) -> list[tuple[ColumnView, float]]:
    """Numbers that may be meant, of the table or of one that its rows belong to, the best named first."""
    schema = request.question.schema
    places = list(request.content if heads is None else heads)
    found = []
    for view in schema.columns:
        if not view.numeric or view.key or view.foreign or names_something(view):
            continue
        if column_ref(schema, view.id) in base.group:
            continue
        far = reach(schema, base.table, view.id)
        if far is None or far > _FAR:
            continue
        chance = request.options.best(Element("column", view.id), places)
        if chance > 0.0:
            found.append((view, chance, log(chance) - EACH_JOIN * far))
        elif view.table == base.table and is_additive(view):
            found.append((view, 0.0, UNSAID))
    found.sort(key=lambda one: -one[2])
    return [(view, chance) for view, chance, _ in found[: _MOST_OPTIONS + 1]]


def with_measure(request: EverydayRequest, base: Proposal, view: ColumnView, chance: float) -> Proposal:
    schema = request.question.schema
    weight = base.weight + (0.0 if chance > 0.0 else UNSAID) + join_weight(schema, base.table, view.id)
    uses = base.uses | ({Element("column", view.id)} if chance > 0.0 else set())
    return replace(base, uses=uses, weight=weight)


def calculations(request: EverydayRequest, base: Proposal, function: str) -> Iterator[Proposal]:
    schema = request.question.schema
    for view, chance in _measures(request, base):
        figure = Aggregate.model_validate({"function": function, "of": column_ref(schema, view.id)})
        one = with_measure(request, base, view, chance)
        penalty = 0.5 if function == "sum" and not is_additive(view) else 0.0
        yield replace(one, select=(*one.select, figure), weight=one.weight - penalty)


def figures_of_groups(request: EverydayRequest, base: Proposal) -> Iterator[Proposal]:
    """Sales by country, players per school: amounts are added up, other numbers averaged, else rows counted."""
    for view, chance in _measures(request, base):
        if chance == 0.0:
            continue
        function = "sum" if is_additive(view) else "avg"
        figure = Aggregate.model_validate({"function": function, "of": column_ref(request.question.schema, view.id)})
        one = with_measure(request, base, view, chance)
        yield replace(one, select=(*one.select, figure))
    yield replace(base, select=(*base.select, _COUNT_ROWS))


def two_figures(request: EverydayRequest, base: Proposal, function: str) -> Iterator[Proposal]:
    """Total invested against total budgeted."""
    if not request.compares or base.group:
        return
    said = [view for view, chance in _measures(request, base) if chance >= 0.5 and view.table == base.table][:2]
    if len(said) == 2:
        refs = [column_ref(request.question.schema, view.id) for view in sorted(said, key=lambda view: view.id)]
        figures = tuple(Aggregate.model_validate({"function": function, "of": ref}) for ref in refs)
        uses = base.uses | {Element("column", view.id) for view in said}
        yield replace(base, select=figures, uses=uses)


def ratios(request: EverydayRequest, base: Proposal) -> Iterator[Proposal]:
    """Passengers per platform: one number of each row divided by another."""
    question, schema = request.question, request.question.schema
    names = tuple(column_ref(schema, column) for column in schema.tables[base.table].row_names)
    if "per" not in question.words or not request.groups or not names:
        return
    per = question.words.index("per")
    under = next((places for places in request.groups if places[0] > per), ())
    before = [place for place in request.content if place < per]
    for lower in schema.columns:
        if lower.table != base.table or not is_number(lower) or (lower.source.distinct_count or 0) < 5:
            continue
        below = request.options.best(Element("column", lower.id), under)
        for upper, chance in _measures(request, base, before):
            if below == 0.0 or chance == 0.0 or upper.id == lower.id or upper.table != base.table:
                continue
            ratio = Arithmetic(op="/", left=column_ref(schema, upper.id), right=column_ref(schema, lower.id))
            uses = base.uses | {Element("column", upper.id), Element("column", lower.id)}
            descending = request.ranking is not None and request.ranking.cue.tag in ("MAX", "MOST")
            order = ((ratio, descending),) if request.ranking is not None else ()
            yield replace(base, select=(*names, ratio), uses=uses, order=order)


def shares(request: EverydayRequest, base: Proposal) -> Iterator[Proposal]:
    """The part of all rows, or of what they amount to, for which the conditions hold."""
    question = request.question
    times = time_conditions(question, base.table)
    outside = times.filters if times is not None else ()
    inside = tuple(condition for condition in base.where if condition not in outside)
    condition = all_of(inside)
    if condition is None or base.group:
        return
    wholes: list[tuple[Expr, Proposal]] = [(_COUNT_ROWS, base)]
    for view, chance in _measures(request, base):
        if chance > 0.0 and is_additive(view):
            figure = Aggregate(function="sum", of=column_ref(question.schema, view.id))
            wholes.append((figure, with_measure(request, base, view, chance)))
    for whole, one in wholes:
        part = restricted(whole, condition)
        if part is not None:
            ratio = Arithmetic(op="/", left=Arithmetic(op="*", left=_HUNDRED, right=part), right=whole)
            yield replace(one, select=(ratio,), where=outside)


def gaps(request: EverydayRequest, base: Proposal) -> Iterator[Proposal]:
    heads = (*request.content, *(request.ranking.heads if request.ranking else ()))
    for view, chance in _measures(request, base, heads):
        of = column_ref(request.question.schema, view.id)
        gap = Arithmetic(op="-", left=Aggregate(function="max", of=of), right=Aggregate(function="min", of=of))
        yield replace(with_measure(request, base, view, chance), select=(gap,))


def ranked_by(request: EverydayRequest, base: Proposal) -> list[tuple[ColumnView, float]]:
    """Columns that a superlative may rank by: named by itself (the priciest), or after it (the highest price)."""
    assert request.ranking is not None
    schema, links = request.question.schema, request.question.scene.links
    cue = request.ranking.cue
    own = {m.id: m.score for m in links.columns if m.start <= cue.start < m.end}
    found = []
    for view in schema.columns:
        if not (view.numeric or view.temporal) or view.key or view.foreign or names_something(view):
            continue
        far = reach(schema, base.table, view.id)
        if far is None or far > _FAR:
            continue
        chance = max(own.get(view.id, 0.0), headed(request, Element("column", view.id), request.ranking.heads))
        if chance > 0.0:
            found.append((view, chance, log(chance) - EACH_JOIN * far))
        elif view.table == base.table and not own:
            found.append((view, 0.0, UNSAID - 1.0))
    found.sort(key=lambda one: -one[2])
    return [(view, chance) for view, chance, _ in found[: _MOST_OPTIONS + 1]]

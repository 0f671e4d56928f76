"""Figures: counts, totals, averages, shares, ratios and differences."""

from collections.abc import Iterable, Iterator
from dataclasses import replace
from math import log

from answerable.query.plan import Aggregate, Arithmetic, Constant, Expr, Filter, InList
from answerable.reader.everyday.calendar_columns import calendar_part
from answerable.reader.everyday.derived import Quantity, derived
from answerable.reader.everyday.grids import is_grid, is_measured
from answerable.reader.everyday.proposal import Proposal
from answerable.reader.everyday.rates import rates
from answerable.reader.everyday.reach import EACH_JOIN, UNSAID, headed, is_many, is_number, join_weight, reach
from answerable.reader.everyday.request import EverydayRequest
from answerable.reader.everyday.word_options import Element
from answerable.reader.grammar.measure_expressions import restricted
from answerable.reader.grammar.periods import time_conditions
from answerable.reader.linking.column_kinds import adds_up, is_flag, is_level, is_whole
from answerable.reader.linking.scales import names_something
from answerable.reader.linking.schema import ColumnView, Schema
from answerable.reader.plans.draft_to_plan import all_of, column_ref, tables_in

_COUNT_ROWS = Aggregate(function="count")
_HUNDRED = Constant(value=100)
_MOST_OPTIONS = 3
_FEW_NUMBERS = 3
_OF_A_GRID = -0.6
_COUNTED_CELLS = -1.5
_OTHERS_COUNTED = 1.0
_NAMED = 0.6
_COMPARATIVES = frozenset({"better", "more", "higher", "bigger", "longer", "worse", "less"})
_RANKING_BY_TIME = frozenset(
    {"latest", "newest", "oldest", "earliest", "first", "last", "recent", "recently", "youngest"}
)
# Beyond three joins nobody means a column without saying its table.
_FAR = 3.0


def rows_counted(request: EverydayRequest, base: Proposal) -> float:
    """What it costs to count rows: those of a grid are nothing that anybody counts."""
    return _COUNTED_CELLS if is_grid(request.question.schema, base.table) else 0.0


def counts(request: EverydayRequest, base: Proposal) -> Iterator[Proposal]:
    schema = request.question.schema
    counted = each_once(schema, base)
    weight = base.weight + rows_counted(request, base) - (_OTHERS_COUNTED if _names_another(request, base) else 0.0)
    yield replace(base, select=(*base.select, counted), weight=weight)
    for column in schema.tables[base.table].columns:
        view = schema.columns[column]
        # "How many rides": a table of days has their number in a column.
        if is_whole(view) and adds_up(view):
            total = Aggregate(function="sum", of=column_ref(schema, column))
            yield replace(base, select=(*base.select, total), weight=base.weight + UNSAID)
    if request.subject is None:
        return
    for element, chance in request.options.by_place[request.subject].items():
        if element.kind != "column" or chance < 0.3:
            continue
        view = schema.columns[element.id]
        if view.table != base.table or view.key:
            continue
        of = column_ref(schema, element.id)
        if adds_up(view):
            figure = Aggregate(function="sum", of=of)
        # "How many people" counts rows, although a column comes near to the word.
        elif chance >= _NAMED:
            figure = Aggregate(function="count", of=of, distinct=True)
        else:
            continue
        uses = base.uses | {element}
        yield replace(
            base,
            select=(*base.select, figure),
            uses=uses,
            weight=base.weight - 0.3,
        )


def _names_another(request: EverydayRequest, base: Proposal) -> bool:
    """How many *couriers* sent parcels: couriers are counted."""
    options = {} if request.subject is None else request.options.by_place[request.subject]
    tables = [element.id for element, chance in options.items() if element.kind == "table" and chance >= _NAMED]
    return bool(tables) and base.table not in tables


def each_once(schema: Schema, base: Proposal) -> Aggregate:
    """Counts rows. Riders who took a trip in May are counted once each, however many trips they took."""
    key = schema.tables[base.table].key
    others = {other for condition in base.where for other in tables_in(condition, schema)} - {base.table}
    if (
        key is None
        or column_ref(schema, key) in base.group
        or not any(is_many(schema, base.table, other) for other in others)
    ):
        return _COUNT_ROWS
    return Aggregate(function="count", of=column_ref(schema, key), distinct=True)


def _measures(
    request: EverydayRequest, base: Proposal, heads: Iterable[int] | None = None
) -> list[tuple[ColumnView, float]]:
    """Numbers that may be meant, of the table or of one that its rows belong to, the best named first."""
    schema = request.question.schema
    places = list(request.content if heads is None else heads)
    found = []
    for view in schema.columns:
        if not view.numeric or view.key or view.foreign or names_something(view) or is_flag(view):
            continue
        # A year is no quantity.
        if calendar_part(view) is not None or column_ref(schema, view.id) in base.group:
            continue
        far = reach(schema, base.table, view.id)
        if far is None or far > _FAR:
            continue
        element = Element("column", view.id)
        free = [place for place in places if not _is_condition(request, base, place, element)]
        chance = request.options.best(element, free)
        if chance > 0.0:
            found.append((view, chance, log(chance) - EACH_JOIN * far))
        elif view.table == base.table and adds_up(view):
            found.append((view, 0.0, UNSAID))
        elif view.table == base.table and request.asked in ("avg", "median") and is_number(view) and not is_flag(view):
            found.append((view, 0.0, UNSAID - 0.5))
    # Of several amounts, the one that the others are parts of is meant.
    found.sort(key=lambda one: (-one[2], not is_whole(one[0])))
    return [(view, chance) for view, chance, _ in found[: _MOST_OPTIONS + 1]]


def _is_condition(request: EverydayRequest, base: Proposal, place: int, element: Element) -> bool:
    """Whether the word chooses rows rather than naming the column: *foggy* days are no precipitation."""
    values = (one for one in base.uses if one.kind in ("value", "part"))
    return any(request.options.chance(place, one) >= request.options.chance(place, element) for one in values)


def with_measure(request: EverydayRequest, base: Proposal, view: ColumnView, chance: float) -> Proposal:
    schema = request.question.schema
    unsaid = _OF_A_GRID if is_grid(schema, base.table) and is_measured(view) else UNSAID
    weight = base.weight + (0.0 if chance > 0.0 else unsaid) + join_weight(schema, base.table, view.id)
    uses = base.uses | ({Element("column", view.id)} if chance > 0.0 else set())
    return replace(base, uses=uses, weight=weight)


def calculations(request: EverydayRequest, base: Proposal, function: str) -> Iterator[Proposal]:
    schema = request.question.schema
    for quantity in derived(request, base):
        figure = Aggregate.model_validate({"function": function, "of": quantity.expr})
        yield replace(base, select=(*base.select, figure), uses=base.uses | quantity.uses)
    for view, chance in (*_measures(request, base), *_unsaid(request, base)):
        figure = Aggregate.model_validate({"function": function, "of": column_ref(schema, view.id)})
        one = with_measure(request, base, view, chance)
        penalty = 0.5 if function == "sum" and not adds_up(view) else 0.0
        yield replace(one, select=(*one.select, figure), weight=one.weight - penalty)


def _taken_together(quantity: Quantity) -> Aggregate:
    return Aggregate(function="sum" if quantity.added else "avg", of=quantity.expr)


def totals(request: EverydayRequest, base: Proposal) -> Iterator[Proposal]:
    """Takings in North, units in stock: an amount that is asked for by itself is added up."""
    subject = [] if request.subject is None else [request.subject]
    for quantity in derived(request, base):
        if any(Element("word", place) in quantity.uses for place in subject):
            yield replace(base, select=(_taken_together(quantity),), uses=base.uses | quantity.uses)
    for view, chance in _measures(request, base, subject):
        if chance > 0.0 and adds_up(view):
            figure = Aggregate(function="sum", of=column_ref(request.question.schema, view.id))
            yield replace(with_measure(request, base, view, chance), select=(figure,))


def figures_of_groups(request: EverydayRequest, base: Proposal) -> Iterator[Proposal]:
    """Sales by country, players per school: amounts are added up, other numbers averaged, else rows counted. Where
    people are compared ("do men tip better than women"), amounts are averaged, too."""
    comparative = not _COMPARATIVES.isdisjoint(request.question.words)
    compared = request.compares and comparative and not request.question.spans("comparison")
    for quantity in derived(request, base):
        yield replace(base, select=(*base.select, _taken_together(quantity)), uses=base.uses | quantity.uses)
    for view, chance in (*_measures(request, base), *_unsaid(request, base)):
        if chance == 0.0 and view.table != base.table:
            continue
        one = with_measure(request, base, view, chance)
        added = adds_up(view) and not compared
        for function, unlikely in (("sum", not added), ("avg", added)):
            if function == "avg" or not is_level(view):
                of = column_ref(request.question.schema, view.id)
                figure = Aggregate.model_validate({"function": function, "of": of})
                yield replace(one, select=(*one.select, figure), weight=one.weight - (0.7 if unlikely else 0.0))
    counted = each_once(request.question.schema, base)
    yield replace(base, select=(*base.select, counted), weight=base.weight + rows_counted(request, base))
    yield from _different_ones(request, base)


def _unsaid(request: EverydayRequest, base: Proposal) -> list[tuple[ColumnView, float]]:
    """Unemployment over the years: of a table with few numbers, each may be what it is about."""
    schema = request.question.schema
    own = [schema.columns[column] for column in schema.tables[base.table].columns]
    numbers = [view for view in own if is_measured(view) and column_ref(schema, view.id) not in base.group]
    said = {view.id for view, _ in _measures(request, base)}
    return [(view, 0.0) for view in numbers if view.id not in said] if len(numbers) <= _FEW_NUMBERS else []


def _different_ones(request: EverydayRequest, base: Proposal) -> Iterator[Proposal]:
    """Hives of each breed, where every hive has many rows: its different ones are counted."""
    schema = request.question.schema
    options = {} if request.subject is None else request.options.by_place[request.subject]
    for element, chance in options.items():
        view = schema.columns[element.id] if element.kind == "column" and chance >= _NAMED else None
        if view is None or view.table != base.table or view.numeric or view.source.unique:
            continue
        of = column_ref(schema, view.id)
        if of not in base.group:
            figure = Aggregate(function="count", of=of, distinct=True)
            yield replace(base, select=(*base.select, figure), uses=base.uses | {element})


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


def shares(request: EverydayRequest, base: Proposal) -> Iterator[Proposal]:
    """The part of all rows, or of what they amount to, for which the conditions hold."""
    question = request.question
    times = time_conditions(question, base.table)
    outside = times.filters if times is not None else ()
    inside = tuple(condition for condition in base.where if condition not in outside and not _is_of(condition, base))
    outside = tuple(condition for condition in base.where if condition not in inside)
    condition = all_of(inside)
    if condition is None:
        yield from _parts_of_wholes(request, base)
        yield from rates(request, base)
        return
    counted = replace(base, weight=base.weight + rows_counted(request, base))
    wholes: list[tuple[Expr, Proposal]] = [(_COUNT_ROWS, counted)]
    for view, chance in (*_measures(request, base), *_unsaid(request, base)):
        if adds_up(view) or (chance == 0.0 and not is_level(view)):
            figure = Aggregate(function="sum", of=column_ref(question.schema, view.id))
            wholes.append((figure, with_measure(request, base, view, chance)))
    for whole, one in wholes:
        for number, chosen in enumerate((*inside, None) if len(inside) > 1 else (None,)):
            # "The share of women in sales": of those in sales, how many are women. Else all conditions make the part.
            part = restricted(whole, condition if chosen is None else chosen)
            rest = () if chosen is None else tuple(other for other in inside if other != chosen)
            if part is not None:
                ratio = Arithmetic(op="/", left=Arithmetic(op="*", left=_HUNDRED, right=part), right=whole)
                weight = one.weight - 0.1 * number
                yield replace(one, select=(*base.select, ratio), where=(*outside, *rest), weight=weight)


def _is_of(condition: Filter, base: Proposal) -> bool:
    """Whether the condition chooses the groups: women against men."""
    return isinstance(condition, InList) and condition.left in base.group


def _parts_of_wholes(request: EverydayRequest, base: Proposal) -> Iterator[Proposal]:
    """What part of all sales is Japan: one column is a part of another."""
    schema = request.question.schema
    own = [schema.columns[column] for column in schema.tables[base.table].columns]
    wholes = [view for view in own if adds_up(view) and is_whole(view)]
    for view, chance in _measures(request, base):
        for whole in wholes:
            if chance > 0.0 and view.table == base.table and _may_be_part(view, whole, chance):
                part, total = (Aggregate(function="sum", of=column_ref(schema, one.id)) for one in (view, whole))
                ratio = Arithmetic(op="/", left=Arithmetic(op="*", left=_HUNDRED, right=part), right=total)
                one = with_measure(request, base, view, chance)
                yield replace(one, select=(*base.select, ratio), uses=one.uses | {Element("column", whole.id)})


def _may_be_part(view: ColumnView, whole: ColumnView, chance: float) -> bool:
    """Cows among all cattle: no larger than the whole, and named, unless it is an amount by its name."""
    if view.id == whole.id or is_level(view):
        return False
    largest, all_of_it = view.source.maximum, whole.source.maximum
    numbers = isinstance(largest, int | float) and isinstance(all_of_it, int | float)
    return adds_up(view) or (chance >= _NAMED and numbers and largest <= all_of_it)  # type: ignore[operator]


def gaps(request: EverydayRequest, base: Proposal) -> Iterator[Proposal]:
    heads = (*request.content, *(request.ranking.heads if request.ranking else ()))
    for view, chance in _measures(request, base, heads):
        of = column_ref(request.question.schema, view.id)
        gap = Arithmetic(op="-", left=Aggregate(function="max", of=of), right=Aggregate(function="min", of=of))
        yield replace(with_measure(request, base, view, chance), select=(gap,))


def _may_rank_unsaid(request: EverydayRequest, view: ColumnView) -> bool:
    """Only words about time rank by a date that nobody names."""
    assert request.ranking is not None
    if view.temporal or calendar_part(view) is not None:
        return _ranks_by_time(request)
    return not is_flag(view)


def _ranks_by_time(request: EverydayRequest) -> bool:
    ranking = request.ranking
    return ranking is not None and request.question.words[ranking.cue.end - 1] in _RANKING_BY_TIME


def ranked_by(request: EverydayRequest, base: Proposal) -> list[tuple[ColumnView, float]]:
    """Columns that a superlative may rank by: named by itself (the priciest), or after it (the highest price)."""
    assert request.ranking is not None
    schema, links = request.question.schema, request.question.scene.links
    cue = request.ranking.cue
    near = [
        (view, far)
        for view in schema.columns
        if (view.numeric or view.temporal) and not (view.key or view.foreign or names_something(view))
        if (far := reach(schema, base.table, view.id)) is not None and far <= _FAR
    ]
    own: dict[int, float] = {}
    for mention in links.columns:
        # "Best" may mean a place in a ranking, but never the date on which an order was placed.
        by_time = not schema.columns[mention.id].temporal or _ranks_by_time(request)
        if mention.start < cue.end and cue.start < mention.end and by_time:
            own[mention.id] = max(mention.score, own.get(mention.id, 0.0))
    said = any(view.id in own for view, _ in near)
    found = []
    for view, far in near:
        in_time = view.temporal or calendar_part(view) is not None
        if in_time and not _ranks_by_time(request) and view.id not in own:
            # The best year is no latest year.
            continue
        chance = max(own.get(view.id, 0.0), headed(request, Element("column", view.id), request.ranking.heads))
        if view.table != base.table and adds_up(view):
            # The best savers: the amount that the table is about.
            chance = max(chance, 0.6 * headed(request, Element("table", view.table), request.ranking.heads))
        if chance > 0.0:
            found.append((view, chance, log(chance) - EACH_JOIN * far))
        elif view.table == base.table and not said and _may_rank_unsaid(request, view):
            found.append((view, 0.0, UNSAID - (0.0 if adds_up(view) else 1.0)))
    found.sort(key=lambda one: (-one[2], not is_whole(one[0])))
    return [(view, chance) for view, chance, _ in found[: _MOST_OPTIONS + 1]]

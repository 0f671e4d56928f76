"""Proposals: the queries that a request may stand for, built around each table that it may be about."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import islice, product
from math import log

from answerable.query.plan import (
    Aggregate,
    Arithmetic,
    Between,
    ColumnRef,
    Compare,
    Constant,
    DatePart,
    Expr,
    Filter,
    InList,
    InQuery,
    IsNull,
    QueryPlan,
)
from answerable.reader.everyday.request import NumberTest, Request
from answerable.reader.everyday.word_options import Element
from answerable.reader.grammar.clauses import (
    DateBounds,
    date_column,
    in_periods,
    time_bucket,
    time_conditions,
    year_column,
)
from answerable.reader.grammar.measure_expressions import is_additive, restricted
from answerable.reader.linking.scales import is_descending, names_something
from answerable.reader.linking.schema import ColumnView, Schema
from answerable.reader.plans.draft_to_plan import all_of, build_plan, column_ref
from answerable.reader.plans.joins import NoPath, distance, join_tree

SHAPES = (
    "rows",
    "column",
    "owners",
    "count",
    "distinct",
    "total",
    "figure",
    "group_count",
    "group_figure",
    "first",
    "first_by_many",
    "most",
    "most_common",
    "first_group",
    "first_period",
    "extreme_of_group",
    "many",
    "share",
    "gap",
    "ratio",
    "two_figures",
)
_COUNT_ROWS = Aggregate(function="count")
_HUNDRED = Constant(value=100)
_MOST_OPTIONS = 3
_MOST_ENTITIES = 6
_MOST_CONDITION_SETS = 12
# What no word asks for is unlikely, and the more so the more there are to choose from.
_UNSAID = log(0.12)
_UNSAID_NUMBER = log(0.25)
_EACH_JOIN = 0.45
_FAR = 3.0
# A head that stands further from its number or superlative is less likely to belong to it.
_NEARER = 0.85


@dataclass(frozen=True)
class Proposal:
    """The parts of a query, with what words may have asked for in it."""

    table: int
    select: tuple[Expr, ...] = ()
    where: tuple[Filter, ...] = ()
    group: tuple[Expr, ...] = ()
    having: Filter | None = None
    order: tuple[tuple[Expr, bool], ...] = ()
    limit: int | None = None
    distinct: bool = False
    extra: tuple[int, ...] = ()
    uses: frozenset[Element] = frozenset()
    weight: float = 0.0
    """The logarithm of how likely the parts are that no word asks for."""
    shape: str = "rows"
    """What kind of query it is, one of `SHAPES`."""
    figure: int | None = None
    """The number that is shown or ranked by."""
    said: float = 1.0
    """How well that number is named."""
    guessed_values: int = 0

    def plan(self, schema: Schema) -> QueryPlan:
        return build_plan(
            schema,
            self.table,
            self.select,
            where=self.where,
            group=self.group,
            having=self.having,
            order=self.order,
            limit=self.limit,
            extra=self.extra,
            distinct=self.distinct,
        )


@dataclass(frozen=True)
class _Option:
    """One way to take a phrase, as a change to a proposal."""

    where: tuple[Filter, ...] = ()
    having: Filter | None = None
    uses: frozenset[Element] = frozenset()
    weight: float = 0.0
    counted: int | None = None
    """A table whose rows are counted for each row of the entity."""
    multiplies: bool = False
    dated: bool = False
    """Has taken the periods of the question."""
    tested: tuple[int, ...] = ()
    """Columns that a number is compared with: two numbers are not compared with one."""
    compared: int | None = None
    """A column of which several values are set against each other."""


def proposals(request: Request) -> Iterator[Proposal]:
    for table in islice(_entities(request), _MOST_ENTITIES):
        yield from _about(request, table)


def _entities(request: Request) -> Iterator[int]:
    """Tables that the words point to, the likeliest first."""
    schema = request.question.schema
    points = dict.fromkeys(range(len(schema.tables)), 0.0)
    for options in request.options.by_place.values():
        for element, chance in options.items():
            table = element.id if element.kind == "table" else schema.columns[element.id].table
            points[table] += chance if element.kind == "table" else 0.6 * chance
    for value in request.question.values:
        for rival in request.question.rivals(value):
            points[schema.columns[rival.column].table] += 0.3
    if len(schema.tables) == 1:
        return iter([0])
    return iter(sorted((table for table, point in points.items() if point > 0), key=lambda table: -points[table]))


def _about(request: Request, table: int) -> Iterator[Proposal]:
    for conditions in _condition_sets(request, table):
        base = Proposal(
            table,
            where=conditions.where,
            having=conditions.having,
            uses=conditions.uses | {Element("table", table)},
            weight=conditions.weight,
            guessed_values=sum(element.kind == "value" for element in conditions.uses),
        )
        yield from _shaped(request, base, conditions)


# Conditions


def _condition_sets(request: Request, table: int) -> Iterator[_Option]:
    phrases = [
        *_value_options(request, table),
        *([_number_options(request, table, test) for test in request.numbers]),
        *_like_value_options(request, table),
        *_negation_options(request, table),
        *_column_comparisons(request, table),
        *_presences(request, table),
    ]
    times = _time_options(request, table)
    if not all(phrases):
        return
    combined = sorted(product(*(options[:_MOST_OPTIONS] for options in phrases)), key=lambda c: -sum(o.weight for o in c))
    for chosen, timed in product(combined[:_MOST_CONDITION_SETS], times):
        columns = [column for one in chosen for column in one.tested]
        if len(set(columns)) < len(columns):
            continue
        # The period is that of what is lacking, or of the rows.
        if not any(one.dated for one in chosen):
            chosen = (*chosen, timed)
        having = [one.having for one in chosen if one.having is not None]
        compared = [one.compared for one in chosen if one.compared is not None]
        counted = [one.counted for one in chosen if one.counted is not None]
        yield _Option(
            where=tuple(condition for one in chosen for condition in one.where),
            having=all_of(having),
            uses=frozenset().union(*(one.uses for one in chosen)),
            weight=sum(one.weight for one in chosen),
            counted=counted[0] if counted else None,
            multiplies=any(one.multiplies for one in chosen),
            compared=compared[0] if compared else None,
        )


def _value_options(request: Request, table: int) -> Iterator[list[_Option]]:
    """Values of one column belong together: dream or torgersen."""
    question, schema = request.question, request.question.schema
    by_column: dict[tuple[int, bool], list[str]] = {}
    doubtful: list[list[_Option]] = []
    for value in question.values:
        negated = value.start in request.negated_values
        near = sorted(
            (rival for rival in question.rivals(value) if _reach(schema, table, rival.column) is not None),
            key=lambda rival: (-rival.score, _reach(schema, table, rival.column) or 0.0, rival.column),
        )
        if not near:
            yield []
            return
        said = [rival for rival in near if request.options.best(Element("column", rival.column), request.content) > 0.4]
        best = (said or near)[0]
        by_column.setdefault((best.column, negated), []).append(best.value)
    for (column, negated), texts in by_column.items():
        left = column_ref(schema, column)
        values = tuple(Constant(value=_as_stored(schema.columns[column], text)) for text in dict.fromkeys(texts))
        condition: Filter = InList(left=left, values=values, negated=negated)
        if len(values) == 1:
            condition = Compare(left=left, op="!=" if negated else "=", right=values[0])
        yield [
            _Option(
                where=(condition,),
                uses=frozenset({Element("column", column), Element("table", schema.columns[column].table)}),
                weight=_join_weight(schema, table, column),
                multiplies=schema.columns[column].table != table,
                compared=column if len(values) > 1 and request.compares and not negated else None,
            )
        ]
    yield from doubtful


def _as_stored(view: ColumnView, text: str) -> str | int:
    return int(text) if view.numeric and text.lstrip("-").isdigit() else text


def _like_value_options(request: Request, table: int) -> Iterator[list[_Option]]:
    """Words that come near to a value: sunny, foggy, banks. Each may also be no condition."""
    schema = request.question.schema
    for place, options in request.options.by_place.items():
        found = [
            _Option(
                where=(
                    Compare(
                        left=column_ref(schema, element.id),
                        op="!=" if place in request.negated else "=",
                        right=Constant(value=element.value),
                    ),
                ),
                uses=frozenset({element}),
                weight=_join_weight(schema, table, element.id),
                multiplies=schema.columns[element.id].table != table,
            )
            for element, _ in sorted(options.items(), key=lambda pair: -pair[1])
            if element.kind == "value" and _reach(schema, table, element.id) is not None
        ]
        if found:
            yield [_Option(), *found[: _MOST_OPTIONS - 1]]


def _number_options(request: Request, table: int, test: NumberTest) -> list[_Option]:
    schema = request.question.schema
    found: list[tuple[float, _Option]] = []
    for view in schema.columns:
        if _reach(schema, table, view.id) is None or not _may_be_compared(view, test):
            continue
        chance = _headed(request, Element("column", view.id), test.heads)
        if test.unit in _UNITS and _UNITS[test.unit][0] in view.words:
            chance = max(chance, 0.5)
        if chance == 0.0 and (view.table != table or not _in_range(view, test)):
            continue
        weight = (0.0 if chance > 0.0 else _UNSAID_NUMBER + _UNSAID) + _join_weight(schema, table, view.id)
        uses = frozenset({Element("column", view.id)}) if chance > 0.0 else frozenset()
        weight += 0.0 if _in_range(view, test) else -1.5
        where = (_comparison(schema, view, test),)
        option = _Option(where=where, uses=uses, weight=weight, tested=(view.id,))
        found.append((log(max(chance, 0.05)) + weight, option))
    if test.unit in ("times", "time"):
        for other in (table, *(edge.end for edge in schema.edges.get(table, ()) if _is_many(schema, table, edge.end))):
            count = Compare.model_validate({"left": _COUNT_ROWS, "op": test.operator, "right": Constant(value=_whole(test.low))})
            said = request.options.best(Element("table", other), request.content)
            found.append((log(max(said, 0.3)), _Option(having=count, counted=other, uses=frozenset({Element("table", other)}))))
    for other in schema.tables:
        chance = _headed(request, Element("table", other.id), test.heads)
        if chance > 0.0 and other.id != table and _is_many(schema, table, other.id):
            count = Compare.model_validate(
                {"left": _COUNT_ROWS, "op": test.operator if test.operator != "between" else ">=", "right": Constant(value=_whole(test.low))}
            )
            uses = frozenset({Element("table", other.id)})
            found.append((log(chance), _Option(having=count, uses=uses, counted=other.id)))
    found.sort(key=lambda pair: -pair[0])
    return [option for _, option in found]


def _may_be_compared(view: ColumnView, test: NumberTest) -> bool:
    if view.key or view.foreign or view.looks_like_id:
        return False
    if view.temporal:
        return False
    if view.numeric:
        return True
    return test.operator == "=" and any(example.strip().isdigit() for example in view.source.examples[:3])


def _in_range(view: ColumnView, test: NumberTest) -> bool:
    low, high = view.source.minimum, view.source.maximum
    if not isinstance(low, int | float) or not isinstance(high, int | float):
        return True
    return low <= _said_number(view, test) <= high


_UNITS = {
    **dict.fromkeys(("kg", "kilo", "kilos", "kilogram", "kilograms"), ("g", 1000)),
    **dict.fromkeys(("cm", "centimeters", "centimetres"), ("mm", 10)),
    **dict.fromkeys(("km", "kilometers", "kilometres"), ("m", 1000)),
    **dict.fromkeys(("hour", "hours"), ("min", 60)),
}
"""Units of questions, with the smaller unit that a column may be in and how many of those one is."""


def _in_unit(view: ColumnView, number: float, unit: str = "") -> float:
    """50 million passengers are 50 where the column counts millions, 5 kg are 5000 in `mass_g`."""
    words = view.words
    if unit in _UNITS and _UNITS[unit][0] in words:
        return number * _UNITS[unit][1]
    for word, size in (("million", 10**6), ("billion", 10**9), ("thousand", 10**3)):
        if word in words or f"{word}s" in words:
            return number / size if number >= size else number
    return number


def _said_number(view: ColumnView, test: NumberTest) -> float:
    number, high = _in_unit(view, test.low, test.unit), view.source.maximum
    fits = not isinstance(high, int | float) or number <= high or test.unscaled > high
    return number if fits else test.unscaled


def _comparison(schema: Schema, view: ColumnView, test: NumberTest) -> Filter:
    left = column_ref(schema, view.id)
    low = _whole(_said_number(view, test))
    if test.high is not None:
        high = _whole(_in_unit(view, test.high, test.unit))
        return Between(left=left, low=Constant(value=low), high=Constant(value=high))
    right = Constant(value=low if view.numeric else str(low))
    return Compare.model_validate({"left": left, "op": test.operator, "right": right})


def _whole(number: float) -> float | int:
    return int(number) if float(number).is_integer() else number


def _negation_options(request: Request, table: int) -> Iterator[list[_Option]]:
    """Rows without partners, without a value, or with another one."""
    question, schema = request.question, request.question.schema
    if not question.cues("NEG") or request.negated_values:
        return
    found: list[tuple[float, _Option]] = []
    heads = request.negated or tuple(request.content)
    for place in heads:
        for element, chance in request.options.by_place[place].items():
            if element.kind == "value":
                found.append((chance, _Option(uses=frozenset({element}))))
            elif element.kind == "table" and element.id != table and (lacking := _lacking(request, table, element.id)):
                found.append((chance, _Option(where=(lacking,), uses=frozenset({element}), dated=True)))
            elif element.kind == "column":
                view = schema.columns[element.id]
                if view.table == table and view.source.null_count:
                    missing = IsNull(left=column_ref(schema, view.id))
                    found.append((chance, _Option(where=(missing,), uses=frozenset({element}))))
                elif view.table != table and (lacking := _lacking(request, table, view.table)):
                    uses = frozenset({element, Element("table", view.table)})
                    found.append((chance * 0.8, _Option(where=(lacking,), uses=uses, dated=True)))
    if not request.negated or max((chance for chance, _ in found), default=0.0) < 0.3:
        for edge in schema.edges.get(table, ()):
            # Nobody takes, never used: the rows that point here are what is lacking.
            if edge.relationship.to_table == schema.tables[table].name and (lacking := _lacking(request, table, edge.end)):
                found.append((0.1, _Option(where=(lacking,), weight=_UNSAID_NUMBER, dated=True)))
    found.sort(key=lambda pair: -pair[0])
    yield [option for _, option in found]


def _lacking(request: Request, table: int, other: int) -> Filter | None:
    schema = request.question.schema
    try:
        path = join_tree(schema, table, [other])
        if not path:
            return None
        left, right = path[0].pairs[0]
        times = time_conditions(request.question, other)
        where = times.filters if times is not None else ()
        inner = build_plan(schema, path[0].end, [column_ref(schema, right)], where=where, extra=[other])
    except NoPath:
        return None
    return InQuery(left=column_ref(schema, left), plan=inner, negated=True)


def _time_options(request: Request, table: int) -> list[_Option]:
    """The periods, as those of the table or of another one that is spoken of."""
    question, schema = request.question, request.question.schema
    if not question.spans("range", "point", "recurring"):
        return [_Option()]
    against = [span for span in question.spans("comparison") if span.start is not None]
    found = []
    spoken_of = [one.id for one in schema.tables if request.options.best(Element("table", one.id), request.content) > 0]
    for owner in dict.fromkeys((table, *spoken_of)):
        times, dated = time_conditions(question, owner), date_column(question, owner)
        reach = distance(schema, table, owner)
        if times is None or reach is None or (dated is None and owner != table):
            continue
        filters = times.filters
        if against and dated is not None:
            spans = [*question.spans("range", "point"), *against]
            filters = tuple(in_periods(schema, dated.column, [DateBounds(span.start, span.end) for span in spans]))
        uses = frozenset() if dated is None else frozenset({Element("column", dated.column), Element("table", owner)})
        found.append(_Option(where=filters, uses=uses, weight=-_EACH_JOIN * reach, multiplies=owner != table))
    return found[:_MOST_OPTIONS]


def _column_comparisons(request: Request, table: int) -> Iterator[list[_Option]]:
    """Invested more than budgeted: one column against another."""
    question, schema = request.question, request.question.schema
    cue = question.cue("GT", "LT")
    if cue is None or request.numbers or question.dates or len(question.values) > 1 or "than" not in question.words:
        return
    middle = question.words.index("than")
    before = [place for place in request.content if place < middle]
    after = [place for place in request.content if place > middle]
    found = []
    numbers = [view for view in schema.columns if _is_number(view) and _reach(schema, table, view.id) is not None]
    for left in numbers:
        for right in numbers:
            said = request.options.best(Element("column", left.id), before) * request.options.best(
                Element("column", right.id), after
            )
            if left.id != right.id and said > 0.0:
                condition = Compare(
                    left=column_ref(schema, left.id),
                    op=">" if cue.tag == "GT" else "<",
                    right=column_ref(schema, right.id),
                )
                uses = frozenset({Element("column", left.id), Element("column", right.id)})
                weight = _join_weight(schema, table, left.id) + _join_weight(schema, table, right.id)
                found.append((log(said) + weight, _Option(where=(condition,), uses=uses, weight=weight)))
    found.sort(key=lambda pair: -pair[0])
    if found:
        yield [option for _, option in found]


def _presences(request: Request, table: int) -> Iterator[list[_Option]]:
    """Bookings with kids, days that had rain: a number that may be 0 is above it."""
    question, schema = request.question, request.question.schema
    for place in request.content:
        before = question.words[max(0, place - 2) : place]
        if not {"with", "any", "had", "have", "some"} & set(before) or place in request.negated:
            continue
        if any(place in test.heads[:2] for test in request.numbers):
            continue
        found = []
        for element, chance in request.options.by_place[place].items():
            view = schema.columns[element.id] if element.kind == "column" else None
            if view is not None and view.table == table and _is_number(view) and view.source.minimum == 0:
                above = Compare(left=column_ref(schema, view.id), op=">", right=Constant(value=0))
                found.append((chance, _Option(where=(above,), uses=frozenset({element}))))
        if found:
            found.sort(key=lambda pair: -pair[0])
            yield [*(option for _, option in found[:2]), _Option()]


def _is_number(view: ColumnView) -> bool:
    return view.numeric and not view.key and not view.foreign and not names_something(view)


# Shapes


def _shaped(request: Request, base: Proposal, conditions: _Option) -> Iterator[Proposal]:
    groups = list(_grouped(request, base, conditions))
    yield from _ratios(request, base)
    if request.unit is not None and request.ranking is not None and not request.groups:
        yield from _first_periods(request, base)
    if conditions.counted is not None:
        yield from _with_many(request, base, conditions.counted)
        return
    for grouped in groups:
        match request.asked:
            case "share":
                yield from _shares(request, grouped)
            case "gap":
                yield from _gaps(request, grouped)
            case "count":
                yield from _ranked_groups(request, _counts(request, grouped))
            case "avg" | "sum" | "median":
                if request.ranking is not None and not grouped.group and not request.ranking.sorts_all:
                    yield from _first_by_figure(request, grouped, request.asked)
                else:
                    yield from _ranked_groups(request, _calculations(request, grouped, request.asked))
                    yield from _two_figures(request, grouped, request.asked)
            case "rows":
                if grouped.group and request.ranking is None:
                    yield from _figures(request, grouped)
                elif grouped.group:
                    yield from _extremes_of_groups(request, grouped)
                elif request.ranking is not None and not request.ranking.sorts_all:
                    yield from _first_rows(request, grouped)
                else:
                    yield from _listed(request, grouped, conditions.multiplies)


def _grouped(request: Request, base: Proposal, conditions: _Option) -> Iterator[Proposal]:
    """With each way to take what stands after "by" and "each"."""
    question, schema = request.question, request.question.schema
    choices: list[list[tuple[tuple[Expr, ...], tuple[Expr, ...], frozenset[Element], float]]] = []
    if conditions.compared is not None:
        key = column_ref(schema, conditions.compared)
        choices.append([((key,), (key,), frozenset({Element("column", conditions.compared)}), 0.0)])
    for places in request.groups:
        choices.append(list(_dimensions(request, base.table, places)))
    if (question.spans("bucket") or request.trend) and (bucket := _bucket(request, base.table)) is not None:
        choices.append([((bucket,), (bucket,), frozenset(), 0.0)])
    elif question.spans("bucket"):
        return
    spans = question.spans("range", "point", "comparison")
    if not choices and request.compares and len(spans) > 1 and (bucket := _period_of(request, base.table)) is not None:
        choices.append([((bucket,), (bucket,), frozenset(), 0.0)])
    for chosen in islice(product(*(options[:_MOST_OPTIONS] for options in choices)), 9):
        keys = tuple(dict.fromkeys(expr for key, _, _, _ in chosen for expr in key))
        shown = tuple(dict.fromkeys(expr for _, show, _, _ in chosen for expr in show))
        yield replace(
            base,
            select=shown,
            group=keys,
            uses=base.uses.union(*(uses for _, _, uses, _ in chosen)),
            weight=base.weight + sum(weight for *_, weight in chosen),
            order=((shown[-1], False),) if request.trend and shown else (),
        )


def _dimensions(
    request: Request, table: int, places: Sequence[int]
) -> Iterator[tuple[tuple[Expr, ...], tuple[Expr, ...], frozenset[Element], float]]:
    schema = request.question.schema
    found: dict[Element, float] = {}
    for place in places:
        for element, chance in request.options.by_place[place].items():
            if element.kind != "value":
                found[element] = max(found.get(element, 0.0), chance)
    for element in sorted(found, key=lambda one: -found[one]):
        owner = element.id if element.kind == "table" else schema.columns[element.id].table
        if distance(schema, table, owner) is None:
            continue
        weight = log(found[element]) * 0.3 - (distance(schema, table, owner) or 0.0) * _EACH_JOIN
        if element.kind == "table":
            if element.id == table and len(schema.tables) > 1 and not _is_measured(request, table):
                continue
            shown = tuple(column_ref(schema, column) for column in schema.tables[element.id].row_names)
            key = schema.tables[element.id].key
            keys = (*((column_ref(schema, key),) if key is not None else ()), *shown)
            if shown:
                yield tuple(dict.fromkeys(keys)), shown, frozenset({element}), weight
        else:
            view = schema.columns[element.id]
            # A column without repetition groups nothing.
            if view.key or (view.looks_like_id and not _few_kinds(view)) or (view.source.unique and view.table == table):
                continue
            ref = column_ref(schema, element.id)
            yield (ref,), (ref,), frozenset({element, Element("table", view.table)}), weight


def _is_measured(request: Request, table: int) -> bool:
    return request.asked in ("avg", "sum", "rows")


def _few_kinds(view: ColumnView) -> bool:
    return view.source.type == "text" and (view.source.distinct_count or 99) < 50


def _bucket(request: Request, table: int) -> Expr | None:
    question = request.question
    if question.spans("bucket"):
        bucket = time_bucket(question, table)
        return None if bucket is None else bucket.expr
    year = year_column(question.schema, table)
    if year is not None:
        return column_ref(question.schema, year)
    dated = date_column(question, table)
    return None if dated is None else DatePart(part="year", of=column_ref(question.schema, dated.column))


def _period_of(request: Request, table: int) -> Expr | None:
    """The part of the date by which two periods differ: the year of two Decembers, the month of one year."""
    question = request.question
    starts = [span.start for span in question.spans("range", "point", "comparison") if span.start is not None]
    if len({start.year for start in starts}) > 1:
        return _bucket(request, table) if not question.spans("bucket") else None
    dated = date_column(question, table)
    return None if dated is None else DatePart(part="month", of=column_ref(question.schema, dated.column))


def _counts(request: Request, base: Proposal) -> Iterator[Proposal]:
    schema = request.question.schema
    yield replace(base, select=(*base.select, _COUNT_ROWS), shape="group_count" if base.group else "count")
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
        shape = "distinct" if figure.distinct else "total"
        uses = base.uses | {element}
        yield replace(
            base,
            select=(*base.select, figure),
            uses=uses,
            weight=base.weight - 0.3,
            shape=shape,
            figure=element.id,
            said=chance,
        )


def _measures(request: Request, base: Proposal, heads: Iterable[int] | None = None) -> list[tuple[ColumnView, float]]:
    """Numbers that may be meant, of the table or of one that its rows belong to, the best named first."""
    schema = request.question.schema
    places = list(request.content if heads is None else heads)
    found = []
    for view in schema.columns:
        if not view.numeric or view.key or view.foreign or names_something(view):
            continue
        if column_ref(schema, view.id) in base.group:
            continue
        reach = _reach(schema, base.table, view.id)
        if reach is None or reach > _FAR:
            continue
        chance = request.options.best(Element("column", view.id), places)
        if chance > 0.0:
            found.append((view, chance, log(chance) - _EACH_JOIN * reach))
        elif view.table == base.table and is_additive(view):
            found.append((view, 0.0, _UNSAID))
    found.sort(key=lambda one: -one[2])
    return [(view, chance) for view, chance, _ in found[: _MOST_OPTIONS + 1]]


def _with_measure(request: Request, base: Proposal, view: ColumnView, chance: float) -> Proposal:
    schema = request.question.schema
    weight = base.weight + (0.0 if chance > 0.0 else _UNSAID) + _join_weight(schema, base.table, view.id)
    uses = base.uses | ({Element("column", view.id)} if chance > 0.0 else set())
    return replace(base, uses=uses, weight=weight, figure=view.id, said=chance)


def _calculations(request: Request, base: Proposal, function: str) -> Iterator[Proposal]:
    schema = request.question.schema
    for view, chance in _measures(request, base):
        figure = Aggregate.model_validate({"function": function, "of": column_ref(schema, view.id)})
        one = _with_measure(request, base, view, chance)
        penalty = 0.5 if function == "sum" and not is_additive(view) else 0.0
        shape = "group_figure" if one.group else "figure"
        yield replace(one, select=(*one.select, figure), weight=one.weight - penalty, shape=shape)


def _figures(request: Request, base: Proposal) -> Iterator[Proposal]:
    """Sales by country, players per school: amounts are added up, other numbers averaged, else rows counted."""
    for view, chance in _measures(request, base):
        if chance == 0.0:
            continue
        function = "sum" if is_additive(view) else "avg"
        figure = Aggregate.model_validate({"function": function, "of": column_ref(request.question.schema, view.id)})
        one = _with_measure(request, base, view, chance)
        yield replace(one, select=(*one.select, figure), shape="group_figure")
    yield replace(base, select=(*base.select, _COUNT_ROWS), shape="group_count")


def _two_figures(request: Request, base: Proposal, function: str) -> Iterator[Proposal]:
    """Total invested against total budgeted."""
    if not request.compares or base.group:
        return
    said = [view for view, chance in _measures(request, base) if chance >= 0.5 and view.table == base.table][:2]
    if len(said) == 2:
        refs = [column_ref(request.question.schema, view.id) for view in sorted(said, key=lambda view: view.id)]
        figures = tuple(Aggregate.model_validate({"function": function, "of": ref}) for ref in refs)
        uses = base.uses | {Element("column", view.id) for view in said}
        yield replace(base, select=figures, uses=uses, shape="two_figures")


def _first_by_figure(request: Request, base: Proposal, function: str) -> Iterator[Proposal]:
    """Which species is the heaviest on average: the subject groups the rows, the superlative says the number."""
    assert request.ranking is not None
    schema, ranking = request.question.schema, request.ranking
    word, tag = request.question.words[ranking.cue.start], ranking.cue.tag
    places = (request.subject,) if request.subject is not None else ()
    for keys, shown, uses, weight in _dimensions(request, base.table, places):
        grouped = replace(base, select=shown, group=keys, uses=base.uses | uses, weight=base.weight + weight)
        for view, chance in _ranked_by(request, grouped):
            if not view.numeric or column_ref(schema, view.id) in keys:
                continue
            figure = Aggregate.model_validate({"function": function, "of": column_ref(schema, view.id)})
            one = _with_measure(request, grouped, view, chance)
            order = ((figure, is_descending(word, tag, view)),)
            yield replace(one, order=order, limit=ranking.limit, shape="first_group")


def _first_periods(request: Request, base: Proposal) -> Iterator[Proposal]:
    """The hottest day, the wettest month: a day is a row, a month or year is made of many."""
    assert request.ranking is not None
    question, schema, ranking = request.question, request.question.schema, request.ranking
    dated = date_column(question, base.table)
    if dated is None:
        return
    of = column_ref(schema, dated.column)
    word, tag = question.words[ranking.cue.start], ranking.cue.tag
    for view, chance in _ranked_by(request, base):
        if not view.numeric:
            continue
        one = _with_measure(request, base, view, chance)
        by = column_ref(schema, view.id)
        descending = is_descending(word, tag, view)
        if request.unit == "day":
            first = replace(one, order=((by, descending),), limit=ranking.limit, shape="first_period")
            yield replace(first, select=(of,))
            yield replace(first, select=(of, by), weight=one.weight - 0.5)
        else:
            part = DatePart.model_validate({"part": request.unit, "of": of})
            function = "sum" if is_additive(view) and request.asked != "avg" else "avg"
            figure = Aggregate.model_validate({"function": function, "of": by})
            first = replace(one, order=((figure, descending),), limit=ranking.limit, shape="first_period")
            yield replace(first, select=(part,), group=(part,))


def _ratios(request: Request, base: Proposal) -> Iterator[Proposal]:
    """Passengers per platform: one number of each row divided by another."""
    question, schema = request.question, request.question.schema
    names = tuple(column_ref(schema, column) for column in schema.tables[base.table].row_names)
    if "per" not in question.words or not request.groups or not names:
        return
    per = question.words.index("per")
    under = next((places for places in request.groups if places[0] > per), ())
    before = [place for place in request.content if place < per]
    for lower in schema.columns:
        if lower.table != base.table or not _is_number(lower) or (lower.source.distinct_count or 0) < 5:
            continue
        below = request.options.best(Element("column", lower.id), under)
        for upper, chance in _measures(request, base, before):
            if below == 0.0 or chance == 0.0 or upper.id == lower.id or upper.table != base.table:
                continue
            ratio = Arithmetic(op="/", left=column_ref(schema, upper.id), right=column_ref(schema, lower.id))
            uses = base.uses | {Element("column", upper.id), Element("column", lower.id)}
            order = ()
            if request.ranking is not None:
                order = ((ratio, request.ranking.cue.tag in ("MAX", "MOST")),)
            yield replace(
                base, select=(*names, ratio), uses=uses, order=order, shape="ratio", figure=upper.id, said=chance
            )


def _ranked_groups(request: Request, ones: Iterable[Proposal]) -> Iterator[Proposal]:
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
            yield replace(one, select=one.select[:-1], order=order, limit=ranking.limit, shape="first_group")


def _shares(request: Request, base: Proposal) -> Iterator[Proposal]:
    """Of all rows, or of what they amount to, the part for which the conditions hold."""
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
            wholes.append((figure, _with_measure(request, base, view, chance)))
    for whole, one in wholes:
        part = restricted(whole, condition)
        if part is not None:
            ratio = Arithmetic(op="/", left=Arithmetic(op="*", left=_HUNDRED, right=part), right=whole)
            yield replace(one, select=(ratio,), where=outside, shape="share")


def _gaps(request: Request, base: Proposal) -> Iterator[Proposal]:
    heads = (*request.content, *(request.ranking.heads if request.ranking else ()))
    for view, chance in _measures(request, base, heads):
        of = column_ref(request.question.schema, view.id)
        gap = Arithmetic(op="-", left=Aggregate(function="max", of=of), right=Aggregate(function="min", of=of))
        yield replace(_with_measure(request, base, view, chance), select=(gap,), shape="gap")


def _extremes_of_groups(request: Request, base: Proposal) -> Iterator[Proposal]:
    """The heaviest of each kind: the highest number of each."""
    assert request.ranking is not None
    if request.ranking.sorts_all:
        yield from _ranked_groups(request, _figures(request, base))
        return
    for view, chance in _ranked_by(request, base):
        if not view.numeric:
            continue
        descending = is_descending(request.question.words[request.ranking.cue.start], request.ranking.cue.tag, view)
        figure = Aggregate(function="max" if descending else "min", of=column_ref(request.question.schema, view.id))
        one = _with_measure(request, base, view, chance)
        yield replace(one, select=(*one.select, figure), shape="extreme_of_group")


def _ranked_by(request: Request, base: Proposal) -> list[tuple[ColumnView, float]]:
    """Columns that a superlative may rank by: named by itself (the priciest), or after it (the highest price)."""
    assert request.ranking is not None
    schema, links = request.question.schema, request.question.scene.links
    cue = request.ranking.cue
    own = {m.id: m.score for m in links.columns if m.start <= cue.start < m.end}
    found = []
    for view in schema.columns:
        if not (view.numeric or view.temporal) or view.key or view.foreign or names_something(view):
            continue
        reach = _reach(schema, base.table, view.id)
        if reach is None or reach > _FAR:
            continue
        chance = max(own.get(view.id, 0.0), _headed(request, Element("column", view.id), request.ranking.heads))
        if chance > 0.0:
            found.append((view, chance, log(chance) - _EACH_JOIN * reach))
        elif view.table == base.table and not own:
            found.append((view, 0.0, _UNSAID - 1.0))
    found.sort(key=lambda one: -one[2])
    return [(view, chance) for view, chance, _ in found[: _MOST_OPTIONS + 1]]


def _first_rows(request: Request, base: Proposal) -> Iterator[Proposal]:
    assert request.ranking is not None
    question, schema, ranking = request.question, request.question.schema, request.ranking
    word, tag = question.words[ranking.cue.start], ranking.cue.tag
    counting = tag in ("MOST", "LEAST", "COMMON", "RARE")
    for shown in _shown(request, base):
        for view, chance in _ranked_by(request, base):
            said = chance if chance > 0.0 else 0.0
            one = _with_measure(request, shown, view, said)
            by = column_ref(schema, view.id)
            descending = is_descending(word, tag, view)
            if view.table != base.table and _is_many(schema, base.table, view.table):
                total: Expr = Aggregate(function="sum" if is_additive(view) else "max", of=by)
                many = replace(one, group=_row_keys(schema, one), shape="first_by_many")
                yield replace(many, order=((total, descending),), limit=ranking.limit)
            else:
                yield replace(one, order=((by, descending),), limit=ranking.limit, shape="first")
        if counting or tag in ("MAX", "MIN"):
            yield from _with_most(request, shown, tag in ("MOST", "COMMON", "MAX"), counting)


def _with_most(request: Request, base: Proposal, descending: bool, counting: bool) -> Iterator[Proposal]:
    """What most rows of another table belong to, or the value that most rows have."""
    assert request.ranking is not None
    schema, limit = request.question.schema, request.ranking.limit
    order = ((_COUNT_ROWS, descending),)
    for other in schema.tables:
        if other.id == base.table or distance(schema, base.table, other.id) is None:
            continue
        chance = request.options.best(Element("table", other.id), request.content)
        child = _is_many(schema, base.table, other.id)
        if chance == 0.0 and not (child and counting):
            continue
        weight = base.weight - _EACH_JOIN + (0.0 if chance > 0.0 else _UNSAID) - (0.0 if counting else 1.0)
        uses = base.uses | ({Element("table", other.id)} if chance > 0.0 else set())
        most = replace(base, group=_row_keys(schema, base), order=order, limit=limit, extra=(other.id,))
        yield replace(most, uses=uses, weight=weight, shape="most", said=chance)
    if base.select and all(isinstance(expr, ColumnRef) for expr in base.select):
        shown = schema.tables[base.table].row_names
        unique = any(schema.columns[c].source.unique for c in schema.tables[base.table].columns if column_ref(schema, c) in base.select)
        if tuple(column_ref(schema, column) for column in shown) != base.select and not unique:
            common = replace(base, group=base.select, order=order, limit=limit)
            yield replace(common, weight=base.weight - 0.3, shape="most_common")


def _with_many(request: Request, base: Proposal, counted: int) -> Iterator[Proposal]:
    schema = request.question.schema
    for shown in _shown(request, base):
        if counted == base.table:
            yield replace(shown, group=shown.select, shape="many")
        else:
            yield replace(shown, group=_row_keys(schema, shown), extra=(counted,), shape="many")


def _row_keys(schema: Schema, one: Proposal) -> tuple[Expr, ...]:
    key = schema.tables[one.table].key
    keys = (*((column_ref(schema, key),) if key is not None else ()), *one.select)
    return tuple(dict.fromkeys(keys))


def _listed(request: Request, base: Proposal, multiplies: bool) -> Iterator[Proposal]:
    for shown in _shown(request, base):
        distinct = multiplies or not _names_rows(request, shown)
        ordered = shown
        if request.ranking is not None and request.ranking.sorts_all:
            for view, chance in _ranked_by(request, shown)[:1]:
                by = column_ref(request.question.schema, view.id)
                descending = request.ranking.cue.tag in ("MAX", "MOST")
                ordered = replace(_with_measure(request, shown, view, chance), order=((by, descending),))
                distinct = False
        if not ordered.where and not ordered.order and not request.ranking:
            ordered = replace(ordered, weight=ordered.weight - 0.7)
        yield replace(ordered, distinct=distinct)


def _names_rows(request: Request, one: Proposal) -> bool:
    names = request.question.schema.tables[one.table].row_names
    return one.select == tuple(column_ref(request.question.schema, column) for column in names)


def _shown(request: Request, base: Proposal) -> Iterator[Proposal]:
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
        yield replace(base, select=(column_ref(schema, column),), uses=uses, weight=weight, shape="column")


def _is_period(request: Request, view: ColumnView) -> bool:
    """Which days, in which years: the column that holds them."""
    if request.unit == "day":
        return view.temporal
    return request.unit is not None and view.words[-1:] == (request.unit,)


def _owners(request: Request, base: Proposal) -> Iterator[Proposal]:
    """Who: the people that the rows belong to."""
    schema = request.question.schema
    for table in schema.tables:
        reach = distance(schema, base.table, table.id)
        if not table.people or table.id == base.table or reach is None or reach > _FAR:
            continue
        names = tuple(column_ref(schema, column) for column in table.row_names)
        uses = base.uses | {Element("table", table.id)}
        if names:
            weight = base.weight - _EACH_JOIN * reach
            yield replace(base, select=names, uses=uses, weight=weight, shape="owners")


# Distances


def _headed(request: Request, element: Element, heads: Sequence[int]) -> float:
    """How well the words around a number or superlative name the element; nearer words count more."""
    best = 0.0
    for order, place in enumerate(heads):
        best = max(best, request.options.chance(place, element) * _NEARER**order)
    return best


def _reach(schema: Schema, table: int, column: int) -> float | None:
    return distance(schema, table, schema.columns[column].table)


def _join_weight(schema: Schema, table: int, column: int) -> float:
    return -_EACH_JOIN * (_reach(schema, table, column) or 0.0)


def _is_many(schema: Schema, table: int, other: int) -> bool:
    """Whether a row of the table may have many rows of the other."""
    try:
        path = join_tree(schema, table, [other])
    except NoPath:
        return False
    return any(edge.relationship.to_table == schema.tables[edge.start].name for edge in path)

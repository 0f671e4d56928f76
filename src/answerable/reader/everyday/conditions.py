"""Conditions: for each phrase of a request the ways to take it, and the sets that go together."""

from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import product

from answerable.query.plan import Between, Compare, Constant, Filter, InList, InQuery, IsNull, TextMatch
from answerable.reader.everyday.calendar_columns import calendar_columns, stored_part
from answerable.reader.everyday.comparisons import comparisons
from answerable.reader.everyday.condition import ConditionChoice
from answerable.reader.everyday.happenings import NONE_VALUES, happenings, stock_conditions
from answerable.reader.everyday.number_tests import number_options
from answerable.reader.everyday.reach import EACH_JOIN, UNSAID_NUMBER, is_number, join_weight, reach
from answerable.reader.everyday.request import EverydayRequest, Places
from answerable.reader.everyday.word_options import Element
from answerable.reader.grammar.dated_scene import DatedScene
from answerable.reader.grammar.periods import DateBounds, date_column, in_periods, time_conditions
from answerable.reader.linking.links import ValueMention
from answerable.reader.linking.schema import ColumnView, Schema
from answerable.reader.plans.draft_to_plan import all_of, build_plan, column_ref
from answerable.reader.plans.joins import NoPath, distance, join_tree
from answerable.reader.time.date_phrases import DateSpan

_MOST_OPTIONS = 3
_LIKELY_VALUE = 0.3
_DECADES = ["teens", "twenties", "thirties", "forties", "fifties", "sixties", "seventies", "eighties", "nineties"]
_AGES = {word: (tens, tens + 9) for tens, word in zip(range(10, 100, 10), _DECADES, strict=True)} | {
    **dict.fromkeys(("underage", "minors", "minor"), (0, 17)),
    **dict.fromkeys(("adults", "adult", "grownups"), (18, 200)),
    **dict.fromkeys(("teenagers", "teenager", "teenage"), (13, 19)),
    **dict.fromkeys(("seniors", "pensioners", "retirees", "elderly"), (65, 200)),
}
_TENS = {f"{tens}s": (tens, tens + 9) for tens in range(10, 100, 10)}
_MOST_CONDITION_SETS = 12
_RIVAL = -0.4
_BEGINNINGS = "from origin orig source src pickup pick departure departing depart start sender home"
_ENDS = "to destination dest dst dropoff drop arrival arriving arrive end receiver recipient target"
_WAYS = {
    **dict.fromkeys(("from", "leaving", "off"), frozenset(_BEGINNINGS.split())),
    **dict.fromkeys(("to", "into", "towards", "toward", "reaching"), frozenset(_ENDS.split())),
}
"""Words before a place, with the words of columns that hold the beginning or the end of a way."""
_HAVING = frozenset({"with", "any", "had", "have", "some", "get", "gets", "got", "receive", "receives", "received"})


def condition_sets(request: EverydayRequest, table: int) -> Iterator[ConditionChoice]:
    phrases = [
        *_value_options(request, table),
        *([number_options(request, table, test) for test in request.numbers]),
        *_like_value_options(request, table),
        *_negation_options(request, table),
        *comparisons(request, table),
        *_presences(request, table),
        *happenings(request, table),
        *stock_conditions(request, table),
        *_age_options(request, table),
    ]
    times = _time_options(request, table)
    if not all(phrases):
        return
    combined = sorted(
        product(*(options[:_MOST_OPTIONS] for options in phrases)), key=lambda c: -sum(o.weight for o in c)
    )
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
        yield ConditionChoice(
            where=tuple(condition for one in chosen for condition in one.where),
            having=all_of(having),
            uses=frozenset().union(*(one.uses for one in chosen)),
            weight=sum(one.weight for one in chosen),
            counted=counted[0] if counted else None,
            multiplies=any(one.multiplies for one in chosen),
            compared=compared[0] if compared else None,
        )


def _value_options(request: EverydayRequest, table: int) -> Iterator[list[ConditionChoice]]:
    """Values of one column belong together: dream or torgersen."""
    question, schema = request.question, request.question.schema
    by_column: dict[tuple[int, bool], list[str]] = {}
    others: dict[int, list[ValueMention]] = {}
    row = request.compared_row(table)
    for value in question.values:
        if row is not None and value.start == row.start:
            continue
        negated = value.start in request.negated_values
        near = sorted(
            (rival for rival in question.rivals(value) if reach(schema, table, rival.column) is not None),
            key=lambda rival: (-rival.score, reach(schema, table, rival.column) or 0.0, rival.column),
        )
        if not near:
            yield []
            return
        said = [rival for rival in near if request.options.best(Element("column", rival.column), request.content) > 0.4]
        towards = [rival for rival in near if _is_end_of_way(question, value, schema.columns[rival.column])]
        best = (towards or said or near)[0]
        by_column.setdefault((best.column, negated), []).append(best.value)
        if not towards and not said:
            equal = [one for one in near if one.column != best.column and one.score >= best.score]
            others[best.column] = [one for one in equal if schema.columns[one.column].table == table]
    for (column, negated), texts in by_column.items():
        ways = [_is_one_of(request, table, column, texts, negated=negated)]
        if len(texts) == 1:
            # Airport: where the ride begins or where it ends.
            for rival in others.get(column, [])[:1]:
                way = _is_one_of(request, table, rival.column, [rival.value], negated=negated)
                ways.append(replace(way, weight=way.weight + _RIVAL))
        yield ways


def _is_one_of(
    request: EverydayRequest, table: int, column: int, texts: Sequence[str], *, negated: bool
) -> ConditionChoice:
    schema = request.question.schema
    left = column_ref(schema, column)
    values = tuple(Constant(value=_as_stored(schema.columns[column], text)) for text in dict.fromkeys(texts))
    condition: Filter = InList(left=left, values=values, negated=negated)
    if len(values) == 1:
        condition = Compare(left=left, op="!=" if negated else "=", right=values[0])
    return ConditionChoice(
        where=(condition,),
        uses=frozenset({Element("column", column), Element("table", schema.columns[column].table)}),
        weight=join_weight(schema, table, column),
        tested=(column,),
        multiplies=schema.columns[column].table != table,
        compared=column if len(values) > 1 and request.compares and not negated else None,
    )


def _is_end_of_way(question: DatedScene, value: ValueMention, view: ColumnView) -> bool:
    """Rides *to* the airport end there, flights *from* Oslo begin there: the columns for the two ends of a way."""
    before = [word for word in question.words[max(0, value.start - 2) : value.start] if word not in ("the", "a")]
    ends = _WAYS.get(before[-1]) if before else None
    return ends is not None and not ends.isdisjoint(view.words)


def _as_stored(view: ColumnView, text: str) -> str | int | bool:
    if view.source.type == "boolean":
        return text == "true"
    return int(text) if view.numeric and text.lstrip("-").isdigit() else text


def _like_value_options(request: EverydayRequest, table: int) -> Iterator[list[ConditionChoice]]:
    """Words that come near to a value, or are a part of values: sunny, banks, horror films. Each may also be no
    condition."""
    schema = request.question.schema
    together = _values_together(request, table)
    if together is not None:
        # "Rainfall" comes near to "rain" and "drizzle", and may still mean how much it rained.
        yield [together, ConditionChoice()]
    for place, options in request.options.by_place.items():
        found = [
            ConditionChoice(
                where=(_is_like(request, place, element),),
                uses=frozenset({element}),
                weight=join_weight(schema, table, element.id),
                tested=(element.id,),
                multiplies=schema.columns[element.id].table != table,
            )
            for element, _ in sorted(options.items(), key=lambda pair: -pair[1])
            if element.kind in ("value", "part") and reach(schema, table, element.id) is not None
        ]
        if found and (together is None or not any(one.uses <= together.uses for one in found)):
            yield [ConditionChoice(), *found[: _MOST_OPTIONS - 1]]


def _is_like(request: EverydayRequest, place: int, element: Element) -> Filter:
    schema, negated = request.question.schema, place in request.negated
    left = column_ref(schema, element.id)
    if element.kind == "part":
        return TextMatch(left=left, how="contains", pattern=element.value, negated=negated)
    value = _as_stored(schema.columns[element.id], element.value)
    return Compare(left=left, op="!=" if negated else "=", right=Constant(value=value))


def _values_together(request: EverydayRequest, table: int) -> ConditionChoice | None:
    """Democrats and Republicans: words that come near to different values of one column."""
    schema = request.question.schema
    by_column: dict[int, dict[str, Element]] = {}
    for options in request.options.by_place.values():
        likely = [element for element, chance in options.items() if element.kind == "value" and chance >= _LIKELY_VALUE]
        for element in likely:
            if reach(schema, table, element.id) is not None:
                by_column.setdefault(element.id, {}).setdefault(element.value, element)
    for column, elements in by_column.items():
        if len(elements) > 1 and not request.negated:
            stored = (_as_stored(schema.columns[column], text) for text in elements)
            return ConditionChoice(
                where=(
                    InList(left=column_ref(schema, column), values=tuple(Constant(value=value) for value in stored)),
                ),
                uses=frozenset(elements.values()),
                weight=join_weight(schema, table, column),
                tested=(column,),
                multiplies=schema.columns[column].table != table,
                compared=column if request.compares else None,
            )
    return None


def _negation_options(request: EverydayRequest, table: int) -> Iterator[list[ConditionChoice]]:
    """Rows without partners, without a value, or with another one."""
    for scope in () if request.negated_values else request.negations:
        yield _lacking_one(request, table, scope)


def _lacking_one(request: EverydayRequest, table: int, scope: Places) -> list[ConditionChoice]:
    """The ways to take one negation: no garage."""
    schema = request.question.schema
    found: list[tuple[float, ConditionChoice]] = []
    for place in scope or tuple(request.content):
        for element, chance in request.options.by_place[place].items():
            if element.kind == "value":
                found.append((chance, ConditionChoice(uses=frozenset({element}))))
            elif element.kind == "table" and element.id != table and (lacking := _lacking(request, table, element.id)):
                found.append((chance, ConditionChoice(where=(lacking,), uses=frozenset({element}), dated=True)))
            elif element.kind == "column":
                view = schema.columns[element.id]
                if view.table == table and (lacks := _is_none_of(schema, view)):
                    option = ConditionChoice(where=(lacks,), uses=frozenset({element}), tested=(view.id,))
                    found.append((chance, option))
                elif view.table != table and (lacking := _lacking(request, table, view.table)):
                    uses = frozenset({element, Element("table", view.table)})
                    found.append((chance * 0.8, ConditionChoice(where=(lacking,), uses=uses, dated=True)))
    if not scope or max((chance for chance, _ in found), default=0.0) < 0.3:
        for edge in schema.edges.get(table, ()):
            # Nobody takes, never used: the rows that point here are what is lacking.
            if edge.relationship.to_table == schema.tables[table].name and (
                lacking := _lacking(request, table, edge.end)
            ):
                found.append((0.1, ConditionChoice(where=(lacking,), weight=UNSAID_NUMBER, dated=True)))
    found.sort(key=lambda pair: -pair[0])
    # Smokers vs non-smokers: the negation names the other side, and leaves nothing out.
    both = [ConditionChoice()] if request.sets_apart else []
    return [*both, *(option for _, option in found)]


def _is_none_of(schema: Schema, view: ColumnView) -> Filter | None:
    """No kids, no cabin: a number that may be 0 is 0, and what may be missing is missing."""
    left = column_ref(schema, view.id)
    if is_number(view) and view.source.minimum == 0:
        return Compare(left=left, op="=", right=Constant(value=0))
    none = next((text for text in view.source.examples if text.strip().lower() in NONE_VALUES), None)
    if none is not None and not view.numeric:
        return Compare(left=left, op="=", right=Constant(value=_as_stored(view, none)))
    return IsNull(left=left) if view.source.null_count else None


def _lacking(request: EverydayRequest, table: int, other: int) -> Filter | None:
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


def _time_options(request: EverydayRequest, table: int) -> list[ConditionChoice]:
    """The periods, as those of the table or of another one that is spoken of."""
    question, schema = request.question, request.question.schema
    if not question.spans("range", "point", "recurring"):
        return [ConditionChoice()]
    against = [span for span in question.spans("comparison") if span.start is not None]
    found = []
    spoken_of = [one.id for one in schema.tables if request.options.best(Element("table", one.id), request.content) > 0]
    for owner in dict.fromkeys((table, *spoken_of)):
        times, dated = time_conditions(question, owner), date_column(question, owner)
        far = distance(schema, table, owner)
        if times is None or far is None or (dated is None and owner != table):
            continue
        filters = times.filters
        if against and dated is not None:
            spans = [*question.spans("range", "point"), *against]
            filters = tuple(in_periods(schema, dated.column, [DateBounds(span.start, span.end) for span in spans]))
        uses = frozenset() if dated is None else frozenset({Element("column", dated.column), Element("table", owner)})
        found.append(ConditionChoice(where=filters, uses=uses, weight=-EACH_JOIN * far, multiplies=owner != table))
    in_years = _years_apart(request, table) if against else []
    return in_years or found[:_MOST_OPTIONS] or _calendar_options(request, table)


def _years_apart(request: EverydayRequest, table: int) -> list[ConditionChoice]:
    """More in 2023 than in 2022, where a column holds the year."""
    schema, spans = request.question.schema, request.question.spans("range", "comparison")
    years = sorted({span.start.year for span in spans if span.start is not None})
    columns = calendar_columns(schema, table, "year")
    whole = all(span.start is not None and (span.start.month, span.start.day) == (1, 1) for span in spans)
    if not columns or date_column(request.question, table) is not None or not whole:
        return []
    left = column_ref(schema, columns[0].id)
    where = (InList(left=left, values=tuple(map(_constant, years))),)
    return [ConditionChoice(where=where, uses=frozenset({Element("column", columns[0].id)}))]


def _calendar_options(request: EverydayRequest, table: int) -> list[ConditionChoice]:
    """Periods by columns that hold the year, the month or the day of the week. If several do, the words decide: built
    before 1939, sold after 2000."""
    question, schema = request.question, request.question.schema
    each: list[list[ConditionChoice]] = []
    for span in question.spans("range", "point", "recurring"):
        years = span.kind == "range" and all(
            end is None or (end.month, end.day) == (1, 1) for end in (span.start, span.end)
        )
        part = "year" if years else span.part or ""
        options = _months_of_years(request, table, span)
        for view in calendar_columns(schema, table, part):
            said = request.options.best(Element("column", view.id), request.content)
            uses = frozenset({Element("column", view.id)})
            left = column_ref(schema, view.id)
            where: tuple[Filter, ...]
            if years:
                where = (
                    *((Compare(left=left, op=">=", right=Constant(value=span.start.year)),) if span.start else ()),
                    *((Compare(left=left, op="<", right=Constant(value=span.end.year)),) if span.end else ()),
                )
            else:
                where = (InList(left=left, values=tuple(map(_constant, stored_part(view, span.values)))),)
            options.append(ConditionChoice(where=where, uses=uses, weight=0.0 if said > 0.0 else UNSAID_NUMBER))
        options.sort(key=lambda one: -one.weight)
        each.append(options[:_MOST_OPTIONS])
    return [
        ConditionChoice(
            where=tuple(condition for one in chosen for condition in one.where),
            uses=frozenset().union(*(one.uses for one in chosen)),
            weight=sum(one.weight for one in chosen),
        )
        for chosen in product(*each)
    ]


def _months_of_years(request: EverydayRequest, table: int, span: DateSpan) -> list[ConditionChoice]:
    """March 2005, where one column has the year and another the month."""
    schema = request.question.schema
    years, months = (calendar_columns(schema, table, part) for part in ("year", "month"))
    if span.unit != "month" or span.start is None or not years or not months:
        return []
    year = Compare(left=column_ref(schema, years[0].id), op="=", right=Constant(value=span.start.year))
    stored = stored_part(months[0], [span.start.month])
    month = InList(left=column_ref(schema, months[0].id), values=tuple(map(_constant, stored)))
    uses = frozenset(Element("column", view.id) for view in (years[0], months[0]))
    return [ConditionChoice(where=(year, month), uses=uses)] if stored else []


def _constant(value: str | int) -> Constant:
    return Constant(value=value)


def _age_options(request: EverydayRequest, table: int) -> Iterator[list[ConditionChoice]]:
    """People in their forties, minors: words for spans of ages."""
    question, schema = request.question, request.question.schema
    ages = [view for view in schema.columns if view.numeric and "age" in view.words and view.table == table]
    for place, word in enumerate(question.words):
        span = _AGES.get(word) or _TENS.get(word)
        # "The nineties" without "their" are years.
        if span is None or not ages or (word in _DECADES and question.words[place - 1 : place] != ["their"]):
            continue
        left = column_ref(schema, ages[0].id)
        within = Between(left=left, low=Constant(value=span[0]), high=Constant(value=span[1]))
        uses = frozenset({Element("column", ages[0].id), Element("word", place)})
        yield [ConditionChoice(where=(within,), uses=uses)]


def _presences(request: EverydayRequest, table: int) -> Iterator[list[ConditionChoice]]:
    """Bookings with kids, days that had rain: a number that may be 0 is above it."""
    question, schema = request.question, request.question.schema
    for place in request.content:
        before = question.words[max(0, place - 2) : place]
        if (_HAVING.isdisjoint(before) and before != ["on", "a"]) or place in request.negated:
            continue
        if any(place in test.heads[:2] for test in request.numbers):
            continue
        found = []
        for element, chance in request.options.by_place[place].items():
            view = schema.columns[element.id] if element.kind == "column" else None
            if view is not None and view.table == table and is_number(view) and view.source.minimum == 0:
                above = Compare(left=column_ref(schema, view.id), op=">", right=Constant(value=0))
                found.append((chance, ConditionChoice(where=(above,), uses=frozenset({element}))))
        if found:
            found.sort(key=lambda pair: -pair[0])
            yield [*(option for _, option in found[:2]), ConditionChoice()]

"""Conditions: for each phrase of a request the ways to take it, and the sets that go together."""

from collections.abc import Iterator
from itertools import product
from math import log

from answerable.query.plan import Compare, Constant, Filter, InList, InQuery, IsNull
from answerable.reader.everyday.condition import ConditionChoice
from answerable.reader.everyday.number_tests import number_options
from answerable.reader.everyday.reach import EACH_JOIN, UNSAID_NUMBER, is_number, join_weight, reach
from answerable.reader.everyday.request import EverydayRequest
from answerable.reader.everyday.word_options import Element
from answerable.reader.grammar.clauses import DateBounds, date_column, in_periods, time_conditions
from answerable.reader.linking.schema import ColumnView
from answerable.reader.plans.draft_to_plan import all_of, build_plan, column_ref
from answerable.reader.plans.joins import NoPath, distance, join_tree

_MOST_OPTIONS = 3
_MOST_CONDITION_SETS = 12


def condition_sets(request: EverydayRequest, table: int) -> Iterator[ConditionChoice]:
    phrases = [
        *_value_options(request, table),
        *([number_options(request, table, test) for test in request.numbers]),
        *_like_value_options(request, table),
        *_negation_options(request, table),
        *_column_comparisons(request, table),
        *_presences(request, table),
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
    for value in question.values:
        negated = value.start in request.negated_values
        near = sorted(
            (rival for rival in question.rivals(value) if reach(schema, table, rival.column) is not None),
            key=lambda rival: (-rival.score, reach(schema, table, rival.column) or 0.0, rival.column),
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
            ConditionChoice(
                where=(condition,),
                uses=frozenset({Element("column", column), Element("table", schema.columns[column].table)}),
                weight=join_weight(schema, table, column),
                multiplies=schema.columns[column].table != table,
                compared=column if len(values) > 1 and request.compares and not negated else None,
            )
        ]


def _as_stored(view: ColumnView, text: str) -> str | int:
    return int(text) if view.numeric and text.lstrip("-").isdigit() else text


def _like_value_options(request: EverydayRequest, table: int) -> Iterator[list[ConditionChoice]]:
    """Words that come near to a value: sunny, foggy, banks. Each may also be no condition."""
    schema = request.question.schema
    for place, options in request.options.by_place.items():
        found = [
            ConditionChoice(
                where=(
                    Compare(
                        left=column_ref(schema, element.id),
                        op="!=" if place in request.negated else "=",
                        right=Constant(value=element.value),
                    ),
                ),
                uses=frozenset({element}),
                weight=join_weight(schema, table, element.id),
                multiplies=schema.columns[element.id].table != table,
            )
            for element, _ in sorted(options.items(), key=lambda pair: -pair[1])
            if element.kind == "value" and reach(schema, table, element.id) is not None
        ]
        if found:
            yield [ConditionChoice(), *found[: _MOST_OPTIONS - 1]]


def _negation_options(request: EverydayRequest, table: int) -> Iterator[list[ConditionChoice]]:
    """Rows without partners, without a value, or with another one."""
    question, schema = request.question, request.question.schema
    if not question.cues("NEG") or request.negated_values:
        return
    found: list[tuple[float, ConditionChoice]] = []
    heads = request.negated or tuple(request.content)
    for place in heads:
        for element, chance in request.options.by_place[place].items():
            if element.kind == "value":
                found.append((chance, ConditionChoice(uses=frozenset({element}))))
            elif element.kind == "table" and element.id != table and (lacking := _lacking(request, table, element.id)):
                found.append((chance, ConditionChoice(where=(lacking,), uses=frozenset({element}), dated=True)))
            elif element.kind == "column":
                view = schema.columns[element.id]
                if view.table == table and view.source.null_count:
                    missing = IsNull(left=column_ref(schema, view.id))
                    found.append((chance, ConditionChoice(where=(missing,), uses=frozenset({element}))))
                elif view.table != table and (lacking := _lacking(request, table, view.table)):
                    uses = frozenset({element, Element("table", view.table)})
                    found.append((chance * 0.8, ConditionChoice(where=(lacking,), uses=uses, dated=True)))
    if not request.negated or max((chance for chance, _ in found), default=0.0) < 0.3:
        for edge in schema.edges.get(table, ()):
            # Nobody takes, never used: the rows that point here are what is lacking.
            if edge.relationship.to_table == schema.tables[table].name and (
                lacking := _lacking(request, table, edge.end)
            ):
                found.append((0.1, ConditionChoice(where=(lacking,), weight=UNSAID_NUMBER, dated=True)))
    found.sort(key=lambda pair: -pair[0])
    yield [option for _, option in found]


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
    return found[:_MOST_OPTIONS]


def _column_comparisons(request: EverydayRequest, table: int) -> Iterator[list[ConditionChoice]]:
    """Invested more than budgeted: one column against another."""
    question, schema = request.question, request.question.schema
    cue = question.cue("GT", "LT")
    if cue is None or request.numbers or question.dates or len(question.values) > 1 or "than" not in question.words:
        return
    middle = question.words.index("than")
    before = [place for place in request.content if place < middle]
    after = [place for place in request.content if place > middle]
    found = []
    numbers = [view for view in schema.columns if is_number(view) and reach(schema, table, view.id) is not None]
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
                weight = join_weight(schema, table, left.id) + join_weight(schema, table, right.id)
                found.append((log(said) + weight, ConditionChoice(where=(condition,), uses=uses, weight=weight)))
    found.sort(key=lambda pair: -pair[0])
    if found:
        yield [option for _, option in found]


def _presences(request: EverydayRequest, table: int) -> Iterator[list[ConditionChoice]]:
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
            if view is not None and view.table == table and is_number(view) and view.source.minimum == 0:
                above = Compare(left=column_ref(schema, view.id), op=">", right=Constant(value=0))
                found.append((chance, ConditionChoice(where=(above,), uses=frozenset({element}))))
        if found:
            found.sort(key=lambda pair: -pair[0])
            yield [*(option for _, option in found[:2]), ConditionChoice()]

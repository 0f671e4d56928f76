"""Comparisons of a number with what another column, another row or the average has."""

from collections.abc import Iterator
from math import log

from answerable.query.plan import Aggregate, Compare, ScalarQuery
from answerable.reader.everyday.condition import ConditionChoice
from answerable.reader.everyday.reach import is_number, join_weight, reach
from answerable.reader.everyday.request import EverydayRequest
from answerable.reader.everyday.word_options import Element
from answerable.reader.linking.scales import names_something
from answerable.reader.plans.draft_to_plan import build_plan, column_ref, equals

_LEAST_NAMED = 0.25


def comparisons(request: EverydayRequest, table: int) -> Iterator[list[ConditionChoice]]:
    yield from _with_the_average(request, table)
    yield from _with_another_row(request, table)
    yield from _with_a_column(request, table)


def _with_the_average(request: EverydayRequest, table: int) -> Iterator[list[ConditionChoice]]:
    """A balance above average: the number of the row against the average of all."""
    schema = request.question.schema
    cue = request.against_average
    if cue is None:
        return
    found = []
    for column in schema.tables[table].columns:
        view = schema.columns[column]
        said = request.options.best(Element("column", column), request.content)
        if is_number(view) and not names_something(view) and said >= _LEAST_NAMED:
            of = column_ref(schema, column)
            mean = ScalarQuery(plan=build_plan(schema, table, [Aggregate(function="avg", of=of)]))
            condition = Compare(left=of, op=">" if cue.tag == "GT" else "<", right=mean)
            uses = frozenset({Element("column", column)})
            found.append((said, ConditionChoice(where=(condition,), uses=uses, tested=(column,))))
    found.sort(key=lambda pair: -pair[0])
    if found:
        yield [option for _, option in found]


def _with_another_row(request: EverydayRequest, table: int) -> Iterator[list[ConditionChoice]]:
    """Happier than the USA: what the row of that name has."""
    schema = request.question.schema
    row = request.compared_row(table)
    if row is None:
        return
    than = request.question.words.index("than")
    cue = next((one for one in request.question.cues("GT", "LT") if one.start <= than), None)
    less = cue is not None and cue.tag == "LT"
    found = []
    for column in schema.tables[table].columns:
        view = schema.columns[column]
        element = Element("column", column)
        links = request.question.scene.links.columns
        own = max((m.score for m in links if m.id == column and m.start == than - 1), default=0.0)
        said = max(own, request.options.best(element, request.content))
        if not is_number(view) or names_something(view) or said < _LEAST_NAMED:
            continue
        of = column_ref(schema, column)
        theirs = ScalarQuery(plan=build_plan(schema, table, [of], where=[equals(schema, row.column, row.value)]))
        condition = Compare(left=of, op="<" if less else ">", right=theirs)
        uses = frozenset({element, Element("column", row.column)})
        found.append((said, ConditionChoice(where=(condition,), uses=uses, tested=(column,))))
    found.sort(key=lambda pair: -pair[0])
    if found:
        yield [option for _, option in found]


def _with_a_column(request: EverydayRequest, table: int) -> Iterator[list[ConditionChoice]]:
    """Invested more than budgeted: one column against another."""
    question, schema = request.question, request.question.schema
    cue = question.cue("GT", "LT")
    if cue is None or request.numbers or question.dates or len(question.values) > 1 or "than" not in question.words:
        return
    if request.compared_row(table) is not None or request.against_average is not None:
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

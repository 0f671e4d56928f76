"""Rates: the share of rows that say yes to a flag, and one number per other."""

from collections.abc import Iterator, Sequence
from dataclasses import replace

from answerable.query.plan import Aggregate, Arithmetic, Compare, Constant
from answerable.reader.everyday.condition import ConditionChoice
from answerable.reader.everyday.groups import grouped
from answerable.reader.everyday.proposal import Proposal
from answerable.reader.everyday.reach import UNSAID, is_number
from answerable.reader.everyday.request import EverydayRequest
from answerable.reader.everyday.word_options import Element
from answerable.reader.linking.column_kinds import flag_values
from answerable.reader.linking.schema import ColumnView
from answerable.reader.plans.draft_to_plan import column_ref

_COUNT_ROWS = Aggregate(function="count")
_HUNDRED = Constant(value=100)
# Words that say how what was tried went: the column with the outcome has this end.
_SUCCESS = frozenset({"approval", "approved", "success", "successful", "conversion", "converted", "pass", "won", "win"})
_OUTCOMES = frozenset({"status", "result", "outcome", "y", "target", "label", "approved", "converted", "won", "passed"})
_FEW_FLAGS = 3
_LEAST_DIFFERENT = 5
_MOST_UPPER = 4
_OTHER_MEAN = 0.5
_ALL_ROWS = 0.4


def rates(request: EverydayRequest, base: Proposal) -> Iterator[Proposal]:
    """The approval rate, where a column says yes or no of each row."""
    schema = request.question.schema
    own = [schema.columns[column] for column in schema.tables[base.table].columns]
    flags = [(view, values) for view in own if (values := flag_values(view)) is not None]
    for view, (yes, _) in flags:
        chance = request.options.best(Element("column", view.id), request.content)
        outcome = _is_outcome(request, view)
        if chance == 0.0 and not outcome and len(flags) > _FEW_FLAGS:
            continue
        of = column_ref(schema, view.id)
        if of in base.group:
            continue
        holds = Compare(left=of, op="=", right=Constant(value=_stored(view, yes)))
        part = Aggregate(function="count", where=holds)
        ratio = Arithmetic(op="/", left=Arithmetic(op="*", left=_HUNDRED, right=part), right=_COUNT_ROWS)
        words = {Element("word", place) for place in request.content if request.question.words[place] in _SUCCESS}
        uses = base.uses | ({Element("column", view.id)} if chance > 0.0 else set()) | (words if outcome else set())
        weight = base.weight + (0.0 if chance > 0.0 or outcome else UNSAID)
        yield replace(base, select=(*base.select, ratio), uses=uses, weight=weight)


def _is_outcome(request: EverydayRequest, view: ColumnView) -> bool:
    return not _SUCCESS.isdisjoint(request.question.words) and not _OUTCOMES.isdisjoint(view.words)


def _stored(view: ColumnView, text: str) -> str | int | bool:
    if view.source.type == "boolean":
        return text == "true"
    return int(text) if view.numeric else text


def ratios(request: EverydayRequest, base: Proposal, conditions: ConditionChoice) -> Iterator[Proposal]:
    """Passengers per platform: one number of each row divided by another. Price per mile by category: one total divided
    by the other, for each group."""
    question, schema = request.question, request.question.schema
    names = tuple(column_ref(schema, column) for column in schema.tables[base.table].row_names)
    if "per" not in question.words or not request.groups:
        return
    per = question.words.index("per")
    under = next((places for places in request.groups if places[0] > per), ())
    before = [place for place in request.content if place < per]
    others = replace(request, groups=tuple(places for places in request.groups if places != under))
    for upper, lower in _pairs(request, base, before, under):
        left, right = column_ref(schema, upper.id), column_ref(schema, lower.id)
        ratio = Arithmetic(op="/", left=left, right=right)
        one = replace(base, uses=base.uses | {Element("column", upper.id), Element("column", lower.id)})
        if names and not others.groups and conditions.compared is None and request.asked == "rows":
            descending = request.ranking is not None and request.ranking.cue.tag in ("MAX", "MOST")
            order = ((ratio, descending),) if request.ranking is not None else ()
            yield replace(one, select=(*names, ratio), order=order)
        totals = [Aggregate(function="sum", of=of) for of in (left, right)]
        whole = Arithmetic(op="/", left=totals[0], right=totals[1])
        for group in grouped(others, one, conditions):
            figures = (whole, Aggregate(function="avg", of=ratio))
            for figure in figures if request.asked != "avg" else figures[::-1]:
                unlikely = figure is not (figures[1] if request.asked == "avg" else whole)
                weight = group.weight - (_OTHER_MEAN if unlikely else 0.0) - (0.0 if group.group else _ALL_ROWS)
                yield replace(group, select=(*group.select, figure), weight=weight)


def _pairs(
    request: EverydayRequest, base: Proposal, before: Sequence[int], under: Sequence[int]
) -> Iterator[tuple[ColumnView, ColumnView]]:
    """What is divided, and by what, if a word before "per" names the one and a word after it the other."""
    schema = request.question.schema
    own = [schema.columns[column] for column in schema.tables[base.table].columns]
    numbers = [view for view in own if is_number(view) and (view.source.distinct_count or 0) >= _LEAST_DIFFERENT]
    for lower in numbers:
        below = request.options.best(Element("column", lower.id), under)
        ranked = sorted(numbers, key=lambda view: -request.options.best(Element("column", view.id), before))
        for upper in ranked[:_MOST_UPPER]:
            above = request.options.best(Element("column", upper.id), before)
            if below > 0.0 and above > 0.0 and upper.id != lower.id:
                yield upper, lower

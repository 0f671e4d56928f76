"""What rows are grouped by: what stands after "by" and "each", periods, and values that are compared."""

from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import islice, product
from math import log

from answerable.query.plan import Compare, DatePart, Expr
from answerable.reader.everyday.calendar_columns import calendar_columns
from answerable.reader.everyday.condition import ConditionChoice
from answerable.reader.everyday.proposal import Proposal
from answerable.reader.everyday.reach import EACH_JOIN
from answerable.reader.everyday.request import EverydayRequest
from answerable.reader.everyday.word_options import Element
from answerable.reader.grammar.periods import date_column, time_bucket, year_column
from answerable.reader.linking.column_kinds import is_flag
from answerable.reader.linking.schema import ColumnView
from answerable.reader.plans.draft_to_plan import column_ref
from answerable.reader.plans.joins import distance

_MOST_OPTIONS = 3
_NO_GROUP = -1.5
_TOGETHER = -0.3
_UNSAID_GROUP = -1.0
# Nobody groups by a number that is different for nearly every row.
_MOST_NUMBERS = 60
_NAMES_A_FLAG = 0.45
_OTHER_SIDE = frozenset({"without", "rest", "others", "not", "didn't", "don't", "non", "other", "those", "ones", "no"})
Dimension = tuple[tuple[Expr, ...], tuple[Expr, ...], frozenset[Element], float]
"""What to group by, what to show of it, the words that ask for it, and how likely it is."""


def grouped(request: EverydayRequest, base: Proposal, conditions: ConditionChoice) -> Iterator[Proposal]:
    """With each way to take what stands after "by" and "each"."""
    question, schema = request.question, request.question.schema
    choices: list[list[Dimension]] = []
    if conditions.compared is not None:
        key = column_ref(schema, conditions.compared)
        # "Either of them" may also ask for no more than the rows of both.
        apart = ((key,), (key,), frozenset({Element("column", conditions.compared)}), 0.0)
        choices.append([apart] if request.sets_apart else [apart, ((), (), frozenset(), _TOGETHER)])
    elif not request.groups and (sides := _yes_and_no(request, base)):
        choices.append(sides)
    for places in request.groups:
        # "Per head" groups nothing: it is a part of what a column is called.
        said = list(dimensions_at(request, base.table, places))
        choices.append(said or [*_unsaid_dimensions(request, base.table), ((), (), frozenset(), _NO_GROUP)])
    if (question.spans("bucket") or request.trend) and (bucket := time_key(request, base.table)) is not None:
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


def _yes_and_no(request: EverydayRequest, base: Proposal) -> list[Dimension]:
    """Members vs the rest, with a fireplace vs without: the two sides of a flag."""
    question, schema = request.question, request.question.schema
    words = question.words
    if not (request.sets_apart or {"with", "without"} <= set(words)) or _OTHER_SIDE.isdisjoint(words):
        return []
    others = frozenset(Element("word", place) for place, word in enumerate(words) if word in _OTHER_SIDE)
    found = []
    for column in schema.tables[base.table].columns:
        chance = request.options.best(Element("column", column), request.content)
        ref = column_ref(schema, column)
        if is_flag(schema.columns[column]) and chance >= _NAMES_A_FLAG and not _is_tested(base, ref):
            found.append((chance, ((ref,), (ref,), others | {Element("column", column)}, 0.0)))
    found.sort(key=lambda pair: -pair[0])
    return [side for _, side in found]


def _is_tested(base: Proposal, ref: Expr) -> bool:
    return any(isinstance(condition, Compare) and condition.left == ref for condition in base.where)


def dimensions_at(request: EverydayRequest, table: int, places: Sequence[int]) -> Iterator[Dimension]:
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
        weight = log(found[element]) * 0.3 - (distance(schema, table, owner) or 0.0) * EACH_JOIN
        if element.kind == "table":
            if element.id == table and len(schema.tables) > 1 and request.asked == "count":
                continue
            shown = tuple(column_ref(schema, column) for column in schema.tables[element.id].row_names)
            key = schema.tables[element.id].key
            keys = (*((column_ref(schema, key),) if key is not None else ()), *shown)
            if shown:
                yield tuple(dict.fromkeys(keys)), shown, frozenset({element}), weight
        else:
            view = schema.columns[element.id]
            # A column without repetition groups nothing.
            if (
                view.key
                or (view.looks_like_id and not _few_kinds(view))
                or (view.source.unique and view.table == table)
                or (view.numeric and (view.source.distinct_count or 0) > _MOST_NUMBERS)
            ):
                continue
            ref = column_ref(schema, element.id)
            yield (ref,), (ref,), frozenset({element, Element("table", view.table)}), weight


def _unsaid_dimensions(request: EverydayRequest, table: int) -> list[Dimension]:
    """Per industry, where nothing is called so: each column with few different words may be meant."""
    schema = request.question.schema
    views = [schema.columns[column] for column in schema.tables[table].columns]
    kinds = [view for view in views if _few_kinds(view) and (view.source.distinct_count or 0) > 1 and not view.key]
    refs = [column_ref(schema, view.id) for view in kinds[: _MOST_OPTIONS - 1]]
    return [((ref,), (ref,), frozenset(), _UNSAID_GROUP) for ref in refs]


def _few_kinds(view: ColumnView) -> bool:
    return view.source.type == "text" and (view.source.distinct_count or 99) < 50


def time_key(request: EverydayRequest, table: int) -> Expr | None:
    question = request.question
    for span in question.spans("bucket"):
        bucket = time_bucket(question, table)
        if bucket is not None:
            return bucket.expr
        parts = calendar_columns(question.schema, table, span.part or span.unit or "")
        parts = parts or (calendar_columns(question.schema, table, "weekday") if span.unit == "day" else [])
        if not parts and span.unit is None and span.part is None:
            # Over time, without saying in which steps.
            break
        return column_ref(question.schema, parts[0].id) if parts else None
    year = year_column(question.schema, table)
    if year is not None:
        return column_ref(question.schema, year)
    dated = date_column(question, table)
    return None if dated is None else DatePart(part="year", of=column_ref(question.schema, dated.column))


def _period_of(request: EverydayRequest, table: int) -> Expr | None:
    """The part of the date by which two periods differ: the year of two Decembers, the month of one year."""
    question = request.question
    starts = [span.start for span in question.spans("range", "point", "comparison") if span.start is not None]
    if len({start.year for start in starts}) > 1:
        return time_key(request, table) if not question.spans("bucket") else None
    dated = date_column(question, table)
    return None if dated is None else DatePart(part="month", of=column_ref(question.schema, dated.column))

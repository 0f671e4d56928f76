"""Questions that lean on the one before: and in 2024? by region, only the active ones, sorted by revenue, the top 3.

Each change looks for one thing that the question may ask for. It returns the changed plan with the words that it uses;
the plan is the same one if the question does not ask for the change.
"""

import json
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from datetime import date

from answerable.core.values import Json
from answerable.query.headings import COUNT_ROWS
from answerable.query.plan import (
    Aggregate,
    And,
    Arithmetic,
    Between,
    Bucket,
    ColumnRef,
    Compare,
    Constant,
    DateDifference,
    DatePart,
    Expr,
    Filter,
    InList,
    MeasureRef,
    Not,
    Or,
    OrderItem,
    QueryPlan,
    SelectItem,
    TextFunction,
)
from answerable.query.row_source import rows_of
from answerable.query.scope import scope_of
from answerable.reader.grammar.changed_plans import conjuncts, with_joins
from answerable.reader.grammar.clause_parts import Words
from answerable.reader.grammar.conditions import limit, number_conditions, value_conditions
from answerable.reader.grammar.dated_scene import DatedScene, Parse, places_of
from answerable.reader.grammar.dimensions import Dimension, dimensions
from answerable.reader.grammar.follow_up_figures import FUNCTIONS, change_column, change_function
from answerable.reader.grammar.follow_up_phrases import parse_phrase
from answerable.reader.grammar.grammar import FILLERS, unexplained
from answerable.reader.grammar.periods import DateBounds, bounds_of, date_column, in_periods, time_bucket
from answerable.reader.linking.lexicon import PERIODS, STOPWORDS
from answerable.reader.linking.links import Mention
from answerable.reader.linking.schema import Schema
from answerable.reader.plans.draft_to_plan import all_of, build_plan, column_ref
from answerable.reader.plans.joins import NoPath
from answerable.reader.plans.ranked_values import without_unknown_ranks
from answerable.reader.time.calendar_periods import CalendarUnit, Period, unit_of
from answerable.reader.time.date_phrases import DateSpan

_OPENER_WORDS = """
and only just now also same split sort order but then those them per by what how without with top again
instead for in show group break limit add
"""
_OPENERS = frozenset(_OPENER_WORDS.split())
_THEY = frozenset({"they", "them", "those", "these", "their"})
_POINTERS = _THEY | {"that", "it", "ones", "same", "again", "this"}
_MOST_WORDS = 14
"""A longer question says enough to stand alone."""
_STEPS: tuple[CalendarUnit, ...] = ("day", "week", "month", "quarter", "year")
_EARLIER = re.compile(r"\b(?:before|previous|prior|preceding|earlier)\b")
_LAST = re.compile(r"\blast\b")

Change = Callable[[DatedScene, QueryPlan, Words], Parse]
"""Takes the question, the plan so far and the words that earlier changes used."""


def parse_follow_up(question: DatedScene, previous: QueryPlan) -> Parse | None:
    """The plan of the question before, changed by what this one says. None if it stands alone, or if a word of it has
    no part in the changed plan."""
    if (whole := parse_phrase(question, previous)) is not None:
        return whole
    # Changes refer to tables by name, so they cannot change a plan that joins a table under an alias.
    if not _leans_on_previous(question) or any(join.alias for join in previous.joins):
        return None
    # "Without" opens a follow-up and negates. A change must use every word that negates.
    negated = places_of(question.cues("NEG"))
    words = frozenset(
        place for place, word in enumerate(question.words) if word in _OPENERS or word in _POINTERS
    ).difference(negated)
    plan = previous
    try:
        for change in CHANGES:
            changed = change(question, plan, words)
            plan, words = changed.plan, words | changed.words
    except NoPath:
        return None
    if plan == previous or unexplained(question, words):
        return None
    return Parse(without_unknown_ranks(plan, question.schema.catalog), words)


def with_own_values(question: DatedScene, example: DatedScene, plan: QueryPlan) -> Parse | None:
    """The plan of another question with the value and the period of this one. None if the questions differ in more than
    that, or if the plan has no place for them."""
    if _frame(question) != _frame(example) or not _frame(question):
        return None
    words = frozenset(range(len(question.words)))
    said, before = ([value.value for value in one.values] for one in (question, example))
    if len(said) != len(before):
        return None
    if said != before:
        replaced = _replaced_value(question, plan)
        if replaced is None:
            return None
        plan = replaced.plan
    if _periods(question) != _periods(example):
        if not _periods(question) or not _periods(example):
            return None
        plan = _change_period(question, plan, frozenset()).plan
    return Parse(plan, words)


def _frame(question: DatedScene) -> list[str]:
    """The content words without values and dates, in no order; numbers as they are."""
    small = STOPWORDS | FILLERS
    return sorted(
        token.stem if token.kind == "word" else token.text
        for place, token in enumerate(question.scene.tokens)
        if token.kind != "mark"
        and place not in question.value_places
        and place not in question.time_places
        and token.lower not in small
    )


def _leans_on_previous(question: DatedScene) -> bool:
    """It does not stand alone: it begins like a continuation, points back, or names no subject of its own."""
    words = [word for word in question.words if word.isalnum()]
    if not words or len(words) > _MOST_WORDS:
        return False
    asked = question.cue("COUNT", "AVG", "SUM", "MUCH")
    no_subject = not question.tables and question.measure is None and asked is None
    # "what about 2024" continues; "what is the average price" may be a question of its own
    starts = words[0] in _OPENERS and (
        words[0] not in ("what", "how", "show", "in", "for") or words[1:2] == ["about"] or no_subject
    )
    return starts or not _POINTERS.isdisjoint(words) or no_subject


def points_back(words: Sequence[str]) -> bool:
    """Whether the question speaks of those that the one before was about."""
    return not _THEY.isdisjoint(words)


def _count_theirs(question: DatedScene, plan: QueryPlan, _used: Words) -> Parse:
    """How many tracks do they have? What belongs to the rows of the question before."""
    schema, count = question.schema, question.cue("COUNT")
    whole = not (plan.group_by or plan.having or plan.limit or plan.set_operation)
    if count is None or len(question.tables) != 1 or not points_back(question.words) or not whole:
        return Parse(plan, frozenset())
    mention, before = question.tables[0], schema.table_ids[plan.entity]
    if mention.id == before:
        return Parse(plan, frozenset())
    where = conjuncts(plan.where)
    theirs = build_plan(schema, mention.id, [COUNT_ROWS], where=where, extra=[before])
    rows = rows_of(theirs, scope_of(theirs, schema.catalog))
    if not rows.exact or rows.root != schema.tables[mention.id].name:
        return Parse(plan, frozenset())
    return Parse(theirs, places_of([mention, count]))


def _change_period(question: DatedScene, plan: QueryPlan, _used: Words) -> Parse:
    """And in 2024?"""
    periods = _periods(question)
    if not periods:
        return Parse(plan, frozenset())
    schema, words = question.schema, frozenset[int]().union(*(period.words for period in periods))
    column = _date_column_of(plan)
    if column is not None and (before := _period_before(question, plan, column)) is not None:
        periods = [DateBounds(before.start, before.end, words)]
    if column is None:
        own = date_column(question, schema.table_ids[plan.entity])
        if own is None:
            return Parse(plan, words)
        column, words = column_ref(schema, own.column), words | own.words
    number = schema.column_ids[(column.table, column.column)]
    others = [part for part in conjuncts(plan.where) if not _is_about(part, column)]
    where = all_of([*others, *in_periods(schema, number, periods)])
    return Parse(with_joins(plan.model_copy(update={"where": where}), schema), words)


def _periods(question: DatedScene) -> list[DateBounds]:
    """The periods that are named; also a year that stands alone: what about 2024?"""
    spans = question.spans("range", "point", "comparison")
    if spans:
        return [bounds_of(question, span) for span in spans]
    for place in question.scene.numbers:
        year = question.scene.tokens[place].value
        if isinstance(year, int) and 1900 <= year <= 2100:
            return [DateBounds(date(year, 1, 1), date(year + 1, 1, 1), frozenset({place}))]
    return []


def _period_before(question: DatedScene, plan: QueryPlan, column: ColumnRef) -> Period | None:
    """The period before that of the plan, if the question asks for it: "and the year before?". "Last year" means that
    too if the data has no such days: the question before has shown which years are talked about."""
    spans = question.spans("range", "point", "comparison")
    own = _own_period(plan, column)
    unit = None if own is None else unit_of(own)
    if len(spans) != 1 or own is None or unit is None:
        return None
    said = spans[0].text.casefold()
    wanted = next((name for name in _STEPS if re.search(rf"\b{name}\b", said)), None)
    if wanted is None or not (_EARLIER.search(said) or (_LAST.search(said) and _is_beyond(spans[0], question, column))):
        return None
    return own.moved(wanted, -1)


def _own_period(plan: QueryPlan, column: ColumnRef) -> Period | None:
    """The period that the conditions of the plan are about."""
    ends = {
        part.op: date.fromisoformat(str(part.right.value)[:10])
        for part in conjuncts(plan.where)
        if isinstance(part, Compare) and part.left == column and isinstance(part.right, Constant) and part.right.type
    }
    return Period(ends[">="], ends["<"]) if set(ends) == {">=", "<"} else None


def _is_beyond(span: DateSpan, question: DatedScene, column: ColumnRef) -> bool:
    """Whether the whole period is later than the last day of the column."""
    table = question.schema.catalog.table(column.table)
    known = table.column(column.column) if table else None
    if known is None or known.maximum is None or span.start is None:
        return False
    return span.start.isoformat()[:10] > str(known.maximum)[:10]


def _change_groups(question: DatedScene, plan: QueryPlan, used: Words) -> Parse:
    """By region; per month."""
    base = question.schema.table_ids[plan.entity]
    groups = dimensions(question, base, used)
    bucket = time_bucket(question, base)
    all_groups = [*groups.all]
    if bucket is not None:
        all_groups.append(Dimension((bucket.expr,), (bucket.expr,)))
    if not all_groups:
        return Parse(plan, frozenset())
    calculated = [item for item in plan.select if _is_calculated(item.expr)] or [
        SelectItem(expr=Aggregate(function="count"))
    ]
    shown = [SelectItem(expr=expr) for dimension in all_groups for expr in dimension.shown]
    keys = tuple(expr for dimension in all_groups for expr in dimension.key)
    order = tuple(item for item in plan.order_by if _is_calculated(item.expr))
    rows = plan.limit
    if bucket is not None:
        # A series over time is complete and in order of time, so the order and limit of a ranking go.
        order, rows = (OrderItem(expr=bucket.expr),), None
    update = {"select": (*shown, *calculated), "group_by": keys, "order_by": order, "limit": rows}
    changed = with_joins(plan.model_copy(update=update), question.schema)
    return Parse(changed, groups.words | bucket.words if bucket else groups.words)


def _change_values(question: DatedScene, plan: QueryPlan, _used: Words) -> Parse:
    """Only the active ones; without Berlin; and of Iron Maiden?"""
    if (replaced := _replaced_value(question, plan)) is not None:
        return replaced
    values = value_conditions(question, question.schema.table_ids[plan.entity])
    if not values.filters:
        return Parse(plan, values.words)
    filters, words = [_of_the_group(question, plan, part) for part in values.filters], values.words
    negation = question.cue("NEG")
    if negation is not None and negation.end <= question.values[0].start:
        words |= places_of([negation])
        filters = [_negated(part) for part in filters]
    columns = [f.left for f in filters if isinstance(f, Compare)]
    others = [
        part
        for part in conjuncts(plan.where)
        if not any(_is_about(part, column) for column in columns if isinstance(column, ColumnRef))
    ]
    changed = plan.model_copy(update={"where": all_of([*others, *filters])})
    return Parse(with_joins(changed, question.schema), words)


def _of_the_group(question: DatedScene, plan: QueryPlan, part: Filter) -> Filter:
    """Without Germany: by the column that is grouped by, if that has the value too."""
    if not isinstance(part, Compare) or part.op != "=" or part.left in plan.group_by:
        return part
    rivals = (rival for value in question.values for rival in question.rivals(value))
    by_column = {column_ref(question.schema, rival.column): rival.value for rival in rivals}
    key = next((key for key in plan.group_by if isinstance(key, ColumnRef) and key in by_column), None)
    if key is None or not isinstance(part.left, ColumnRef) or part.left not in by_column or len(question.values) > 1:
        return part
    return Compare(left=key, op="=", right=Constant(value=by_column[key]))


def _replaced_value(question: DatedScene, plan: QueryPlan) -> Parse | None:
    """The plan with the value of the question in place of the one that it compares the same column with, wherever that
    stands: the albums of an artist may be asked for by a sub-query."""
    if len(question.values) != 1 or question.cue("NEG") is not None:
        return None
    value = question.values[0]
    by_column = {column_ref(question.schema, v.column): v.value for v in question.rivals(value)}
    document = plan.model_dump(mode="json")
    places = list(_equalities(document, by_column))
    if len({json.dumps(place["left"], sort_keys=True) for place in places}) != 1:
        return None
    for place in places:
        place["right"]["value"] = by_column[ColumnRef.model_validate(place["left"])]
    named = places_of([value])
    owners = {ColumnRef.model_validate(place["left"]) for place in places}
    tables = [m for m in question.tables if any(_is_table_of(m, ref, question.schema) for ref in owners)]
    columns = [m for m in question.columns() if column_ref(question.schema, m.id) in owners]
    return Parse(QueryPlan.model_validate(document), named | places_of([*tables, *columns]))


def _is_table_of(mention: Mention, ref: ColumnRef, schema: Schema) -> bool:
    return schema.tables[mention.id].name == ref.table


def _equalities(document: Json, by_column: Mapping[ColumnRef, str]) -> Iterator[dict[str, Json]]:
    """The comparisons of a plan, its sub-plans included, of one of the columns with a text."""
    if isinstance(document, list):
        for item in document:
            yield from _equalities(item, by_column)
    if not isinstance(document, dict):
        return
    left, right = document.get("left") or {}, document.get("right") or {}
    compares = document.get("kind") == "compare" and document.get("op") == "=" and right["kind"] == "constant"
    if compares and left["kind"] == "column" and isinstance(right["value"], str):
        if ColumnRef.model_validate(left) in by_column:
            yield document
        return
    for item in document.values():
        yield from _equalities(item, by_column)


def _change_numbers(question: DatedScene, plan: QueryPlan, _used: Words) -> Parse:
    """Those with a salary over 40,000."""
    compares = question.cue("GT", "LT", "GE", "LE", "BETWEEN") is not None
    found = number_conditions(question, question.schema.table_ids[plan.entity]) if compares else None
    if found is None or not found.filters:
        return Parse(plan, frozenset())
    columns = [part.left for part in found.filters if isinstance(part, Compare | Between)]
    kept = [part for part in conjuncts(plan.where) if not (isinstance(part, Compare) and part.left in columns)]
    changed = plan.model_copy(update={"where": all_of([*kept, *found.filters])})
    return Parse(with_joins(changed, question.schema), found.words)


def _change_sorting(question: DatedScene, plan: QueryPlan, _used: Words) -> Parse:
    """Sorted by revenue; the top 3."""
    cues = question.cues("SORT", "ASC", "DESC", "MAX", "MIN")
    cue = next((cue for cue in cues if question.words[cue.start] not in FUNCTIONS), None)
    sort_term = _sort_term(question, plan) if cue is not None else None
    picked = _picked_periods(question)
    # After averages by weather, "the hottest day" is a question of its own.
    stands_alone = not all(_has_groups_of(plan, unit) for unit in picked.values())
    if cue is None or sort_term is None or stands_alone:
        return Parse(plan, frozenset())
    term, words = sort_term[0], sort_term[1] | frozenset(picked)
    # "Sort by last name" asks for no last one.
    ends = {one.tag for one in cues if words.isdisjoint(range(one.start, one.end))}
    words |= places_of(question.cues("SORT", "ASC", "DESC", "MAX", "MIN", "BY"))
    # of figures the largest come first unless the question says otherwise
    descending = not ends.isdisjoint(("DESC", "MAX")) or (_is_calculated(term) and ends.isdisjoint(("ASC", "MIN")))
    rows = plan.limit
    if cue.tag in ("MAX", "MIN"):
        said = limit(question)
        rows, words = said.rows, words | said.words
    changed = plan.model_copy(update={"order_by": (OrderItem(expr=term, descending=descending),), "limit": rows})
    return Parse(with_joins(changed, question.schema), words)


def _picked_periods(question: DatedScene) -> dict[int, str]:
    """The periods that superlatives pick, by their places: "the hottest *day*"."""
    picked = {
        cue.end: question.words[cue.end].removesuffix("s")
        for cue in question.cues("MAX", "MIN")
        if cue.end < len(question.words)
    }
    return {place: unit for place, unit in picked.items() if unit in PERIODS}


def _has_groups_of(plan: QueryPlan, unit: str) -> bool:
    return any(
        (isinstance(expr, Bucket) and expr.unit == unit) or (isinstance(expr, DatePart) and expr.part == unit)
        for expr in plan.group_by
    )


def _sort_term(question: DatedScene, plan: QueryPlan) -> tuple[Expr, Words] | None:
    """The measure or column that is named, else the last figure that the plan shows."""
    schema = question.schema
    if question.measure is not None:
        measure = schema.measures[question.measure.id][0]
        return MeasureRef(name=measure.name), places_of([question.measure])
    mention = _best_column(question, plan)
    calculated = [item.expr for item in plan.select if _is_calculated(item.expr)]
    if mention is not None:
        ref = column_ref(schema, mention.id)
        term = next((expr for expr in calculated if isinstance(expr, Aggregate) and expr.of == ref), ref)
        return term, places_of([mention])
    return (calculated[-1], frozenset()) if calculated else None


def _add_column(question: DatedScene, plan: QueryPlan, used: Words) -> Parse:
    """With the product name, and their emails: one more column, where rows are listed."""
    if not {"with", "show", "add", "their", "its", "plus"} & set(question.words):
        return Parse(plan, frozenset())
    mention = _best_column(question, plan)
    if mention is None or mention.start in used:
        return Parse(plan, frozenset())
    words = places_of([mention, *(m for m in question.tables if abs(m.end - mention.start) <= 1)])
    ref = column_ref(question.schema, mention.id)
    items = plan.select or _all_columns(question.schema, plan)
    if any(item.expr == ref for item in items):
        return Parse(plan, words)
    group = (*plan.group_by, ref) if plan.group_by else ()
    changed = plan.model_copy(update={"select": (*items, SelectItem(expr=ref)), "group_by": group})
    return Parse(with_joins(changed, question.schema), words)


# `_add_column` comes last: it accepts any column, so it must see the words that the other changes used.
CHANGES: tuple[Change, ...] = (
    _count_theirs,
    _change_period,
    _change_groups,
    _change_values,
    _change_numbers,
    change_function,
    change_column,
    _change_sorting,
    _add_column,
)


def _all_columns(schema: Schema, plan: QueryPlan) -> tuple[SelectItem, ...]:
    table = schema.tables[schema.table_ids[plan.entity]]
    return tuple(SelectItem(expr=column_ref(schema, column)) for column in table.columns)


def _best_column(question: DatedScene, plan: QueryPlan) -> Mention | None:
    """The column that is named best; of equal ones, one of a table that is named or that the plan has already."""
    schema = question.schema
    inside = {plan.entity, *(join.table for join in plan.joins)}
    named = {m.id for m in question.tables}
    return max(
        question.columns(),
        key=lambda m: (
            m.score,
            schema.columns[m.id].table in named,
            schema.tables[schema.columns[m.id].table].name in inside,
            -m.id,
        ),
        default=None,
    )


def _negated(part: Filter) -> Filter:
    if isinstance(part, Compare):
        return part.model_copy(update={"op": "!="})
    return part.model_copy(update={"negated": True}) if isinstance(part, InList) else Not(part=part)


def _is_about(part: Filter, column: ColumnRef) -> bool:
    if isinstance(part, And | Or):
        return all(_is_about(inner, column) for inner in part.parts)
    return isinstance(part, Compare | InList) and part.left == column


def _date_column_of(plan: QueryPlan) -> ColumnRef | None:
    """The column that the plan's own period is about."""
    dated = (column for part in conjuncts(plan.where) if (column := _dated_column(part)) is not None)
    return next(dated, None) or next((inner for expr in plan.group_by for inner in _bucketed(expr)), None)


def _dated_column(part: Filter) -> ColumnRef | None:
    if isinstance(part, And | Or) and part.parts:
        return _dated_column(part.parts[0])
    dated = isinstance(part, Compare) and isinstance(part.right, Constant) and part.right.type
    return part.left if dated and isinstance(part, Compare) and isinstance(part.left, ColumnRef) else None


def _bucketed(expr: Expr) -> Iterator[ColumnRef]:
    if isinstance(expr, Bucket | DatePart) and isinstance(expr.of, ColumnRef):
        yield expr.of


def _is_calculated(expr: Expr) -> bool:
    match expr:
        case Aggregate() | MeasureRef():
            return True
        case Arithmetic():
            return _is_calculated(expr.left) or _is_calculated(expr.right)
        case TextFunction() | DateDifference() | Bucket() | DatePart():
            return False
    return False

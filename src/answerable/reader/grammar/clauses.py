"""The clauses that forms consist of: the calculation, its groups, and the conditions on rows.

Each function looks at the question and returns a clause together with `words`, the places of the words that the clause
uses. None means that the question does not have the clause, or that the data cannot answer it.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import date, datetime

from answerable.query.plan import (
    Aggregate,
    Between,
    Bucket,
    Compare,
    Constant,
    DatePart,
    Expr,
    Filter,
    InList,
    MeasureRef,
    Or,
)
from answerable.reader.grammar.dated_scene import DatedScene, places_of
from answerable.reader.linking.cues import Cue
from answerable.reader.linking.links import Mention, ValueMention
from answerable.reader.linking.scales import names_something
from answerable.reader.linking.scene import comparison_at
from answerable.reader.linking.schema import ColumnView, Edge, Schema, names_of_rows
from answerable.reader.linking.units import SCALES, UNITS
from answerable.reader.plans.draft_to_plan import all_of, column_ref, equals
from answerable.reader.plans.joins import distance
from answerable.reader.time.date_phrases import DateSpan

Words = frozenset[int]
"""Places of words in the question."""

# A weak mention is enough to account for the words of the date column that is used anyway. To choose another date
# column, the question must name it.
_DATE_HINTED = 0.4
_DATE_NAMED = 0.85
# Below the score of a synonym (0.6), so that "older" names the age.
_COMPARED_NAMED = 0.5
# More different codes than that are rather ids than kinds.
_MANY_KINDS = 50
_NUMBER_CUES = ("GT", "LT", "GE", "LE", "EQ")


@dataclass(frozen=True, slots=True)
class DateBounds:
    """Days or moments from `start` until before `end`; either may be open."""

    start: date | datetime | None
    end: date | datetime | None
    words: Words = frozenset()


@dataclass(frozen=True, slots=True)
class Dimension:
    """What rows are grouped by: the key, and what is shown of it."""

    key: tuple[Expr, ...]
    shown: tuple[Expr, ...]
    words: Words = frozenset()


@dataclass(frozen=True, slots=True)
class Dimensions:
    """All dimensions of a question, in its order."""

    all: tuple[Dimension, ...]
    words: Words

    @property
    def shown(self) -> list[Expr]:
        return [expr for dimension in self.all for expr in dimension.shown]

    @property
    def keys(self) -> list[Expr]:
        return [expr for dimension in self.all for expr in dimension.key]


@dataclass(frozen=True, slots=True)
class Calculation:
    """What is calculated, and the table whose rows it is calculated over."""

    expr: Expr
    table: int
    words: Words


@dataclass(frozen=True, slots=True)
class Conditions:
    """Conditions that all hold."""

    filters: tuple[Filter, ...]
    words: Words


@dataclass(frozen=True, slots=True)
class ColumnUse:
    column: int
    words: Words


@dataclass(frozen=True, slots=True)
class TimeBucket:
    """Groups of days: per month, by weekday."""

    expr: Expr
    words: Words


@dataclass(frozen=True, slots=True)
class RowLimit:
    rows: int
    words: Words


# Time


def date_column(question: DatedScene, table: int) -> ColumnUse | None:
    """The date column that periods are about: the one that is mentioned; else the table's own; else that of the
    nearest table it belongs to ("order lines in 2024" are those of orders of 2024)."""
    columns = question.schema.columns
    mentioned = [m for m in question.columns(_DATE_NAMED) if columns[m.id].temporal]
    mentioned.sort(key=lambda m: (-m.score, distance(question.schema, table, columns[m.id].table) or 0.0))
    near = [m for m in mentioned if distance(question.schema, table, columns[m.id].table) is not None]
    if near and columns[near[0].id].table == table:
        return ColumnUse(near[0].id, places_of(m for m in near if m.id == near[0].id))
    own = question.own_date(table)
    if own is not None:
        hints = [m for m in question.scene.columns.get(own, ()) if m.score >= _DATE_HINTED]
        return ColumnUse(own, places_of(hints))
    parents = [
        edge.end
        for edge in question.schema.edges.get(table, ())
        if edge.relationship.from_table == question.schema.tables[table].name
    ]
    inherited = next((column for parent in parents if (column := question.own_date(parent)) is not None), None)
    return None if inherited is None else ColumnUse(inherited, frozenset())


def time_conditions(question: DatedScene, table: int) -> Conditions | None:
    """The periods and recurring days of the question. None if there is no column that they could be about."""
    spans = question.spans("range", "point", "recurring")
    if not spans:
        return Conditions((), frozenset())
    dated = date_column(question, table)
    if dated is None:
        return _in_years(question, table, spans)
    filters: list[Filter] = []
    words = dated.words
    recurring = [span for span in spans if span.kind == "recurring" and span.part is not None]
    for part in dict.fromkeys(span.part for span in recurring):
        numbers = sorted({value for span in recurring if span.part == part for value in span.values})
        left = DatePart.model_validate({"part": part, "of": column_ref(question.schema, dated.column)})
        filters.append(InList(left=left, values=tuple(Constant(value=number) for number in numbers)))
    periods = [bounds_of(question, span) for span in spans if span.kind != "recurring"]
    filters.extend(in_periods(question.schema, dated.column, periods))
    return Conditions(tuple(filters), words.union(*(period.words for period in periods)))


def _in_years(question: DatedScene, table: int, spans: Sequence[DateSpan]) -> Conditions | None:
    """Whole years, as conditions on a column that holds the number of the year. None if there is no such column."""
    year = year_column(question.schema, table)
    if year is None or any(span.kind != "range" or not _is_whole_years(bounds_of(question, span)) for span in spans):
        return None
    left = column_ref(question.schema, year)
    periods = [bounds_of(question, span) for span in spans]
    filters: list[Filter] = []
    for period in periods:
        if period.start is not None and period.end is not None and period.end.year - period.start.year == 1:
            filters.append(Compare(left=left, op="=", right=Constant(value=period.start.year)))
            continue
        if period.start is not None:
            filters.append(Compare(left=left, op=">=", right=Constant(value=period.start.year)))
        if period.end is not None:
            filters.append(Compare(left=left, op="<", right=Constant(value=period.end.year)))
    if len(periods) > 1 and not _have_common_day(periods):
        filters = [Or(parts=tuple(filters))]
    named = [m for m in question.scene.columns.get(year, ()) if m.score >= _DATE_HINTED]
    return Conditions(tuple(filters), places_of(named).union(*(period.words for period in periods)))


def _is_whole_years(period: DateBounds) -> bool:
    ends = [end for end in (period.start, period.end) if end is not None]
    return bool(ends) and all((end.month, end.day) == (1, 1) for end in ends)


def year_column(schema: Schema, table: int) -> int | None:
    """The column of the table that holds the number of the year."""
    views = [schema.columns[column] for column in schema.tables[table].columns]
    return next((v.id for v in views if v.words[-1:] in (("year",), ("yr",)) and v.source.type == "integer"), None)


def in_periods(schema: Schema, column: int, periods: Sequence[DateBounds]) -> list[Filter]:
    """Periods with a common day all hold ("since March", "before June"). Periods without one ("2022, 2023 and 2024")
    cannot all hold, so a row must be in one of them."""
    each = [within(schema, column, period) for period in periods]
    if len(periods) < 2 or _have_common_day(periods):
        return [condition for conditions in each for condition in conditions]
    return [Or(parts=tuple(part for conditions in each if (part := all_of(conditions)) is not None))]


def _have_common_day(periods: Sequence[DateBounds]) -> bool:
    # As text, because days and moments are not comparable; ISO 8601 text has the order of time.
    start = max((period.start.isoformat() for period in periods if period.start is not None), default="")
    ends = [period.end.isoformat() for period in periods if period.end is not None]
    return not ends or start < min(ends)


def bounds_of(question: DatedScene, span: DateSpan) -> DateBounds:
    """The days of the span; "2022 or later" and "2022 or before" are open at one end."""
    last = max(place for place, other in question.time_places.items() if other is span)
    after = next((cue for cue in question.scene.cues if cue.start == last + 1), None)
    if after is not None and after.tag in ("GE", "LE"):
        words = places_of([after])
        return DateBounds(span.start, None, words) if after.tag == "GE" else DateBounds(None, span.end, words)
    return DateBounds(span.start, span.end)


def within(schema: Schema, column: int, bounds: DateBounds) -> list[Filter]:
    left = column_ref(schema, column)
    filters: list[Filter] = []
    if bounds.start is not None:
        filters.append(Compare(left=left, op=">=", right=_moment(bounds.start)))
    if bounds.end is not None:
        filters.append(Compare(left=left, op="<", right=_moment(bounds.end)))
    return filters


def time_bucket(question: DatedScene, table: int) -> TimeBucket | None:
    span = next(iter(question.spans("bucket")), None)
    dated = date_column(question, table) if span else None
    year = year_column(question.schema, table) if span is not None and span.unit == "year" else None
    if dated is None and year is not None:
        return TimeBucket(column_ref(question.schema, year), frozenset())
    if span is None or dated is None:
        return None
    of = column_ref(question.schema, dated.column)
    # Where the catalog defines measures, periods are those of reports: they are shown by their first day.
    if span.unit == "year" and span.part is None and not question.schema.measures:
        return TimeBucket(DatePart(part="year", of=of), dated.words)
    expr = Bucket(unit=span.unit or "month", of=of) if span.part is None else DatePart(part=span.part, of=of)
    return TimeBucket(expr, dated.words)


def _moment(value: date | datetime) -> Constant:
    return Constant(value=value.isoformat(), type="datetime" if isinstance(value, datetime) else "date")


# Values


def value_conditions(question: DatedScene, table: int, *, negatable: bool = False) -> Conditions:
    """Every value of the question as a condition on the column that holds it. If more than one column holds it, the
    nearest is compared. With `negatable`, a negation right before a value negates its condition."""
    by_column: dict[tuple[int, bool], list[str]] = {}
    mentions: list[Mention | ValueMention | Cue] = []
    for value in question.values:
        best = min(question.rivals(value), key=lambda v: (-v.score, question.distance_to(table, v.column), v.column))
        negation = _negation_before(question, value.start) if negatable else None
        by_column.setdefault((best.column, negation is not None), []).append(best.value)
        mentions.extend([negation] if negation else [])
        owner = question.schema.columns[best.column].table
        mentions.append(value)
        mentions.extend(m for m in question.scene.columns.get(best.column, ()) if m.score >= 0.85)
        mentions.extend(m for m in question.scene.tables.get(owner, ()) if m.score >= 0.9)
    filters = tuple(_is_one_of(question.schema, *key, texts) for key, texts in by_column.items())
    return Conditions(filters, places_of(mentions))


def _negation_before(question: DatedScene, place: int) -> Cue | None:
    # Two words may stand between: "other than the ones in Biscoe".
    return next((cue for cue in question.cues("NEG") if 0 <= place - cue.end <= 2), None)


def _is_one_of(schema: Schema, column: int, negated: bool, texts: Sequence[str]) -> Filter:
    if len(texts) == 1 and not negated:
        return equals(schema, column, texts[0])
    if len(texts) == 1:
        return Compare(left=column_ref(schema, column), op="!=", right=Constant(value=texts[0]))
    values = tuple(Constant(value=text) for text in texts)
    return InList(left=column_ref(schema, column), values=values, negated=negated)


def both(*parts: Conditions) -> Conditions:
    return Conditions(
        tuple(one for part in parts for one in part.filters), frozenset().union(*(part.words for part in parts))
    )


# Names


def names_of(question: DatedScene, table: int) -> list[Expr]:
    """What rows are shown by: their names. Asked *who*, the names of the people that rows without people belong to."""
    schema = question.schema
    if question.scene.asks_who and not schema.tables[table].people:
        owners = [edge.end for edge in schema.edges.get(table, ()) if _is_owner(edge, schema)]
        table = next((owner for owner in owners if schema.tables[owner].people), table)
        display = schema.tables[table].display
        if display is not None and schema.columns[display].looks_like_id:
            return []
    return [column_ref(schema, column) for column in names_of_rows(schema, table)]


def _is_owner(edge: Edge, schema: Schema) -> bool:
    """Whether each row of the edge's start has one row at its end."""
    return edge.relationship.from_table == schema.tables[edge.start].name


# Dimensions


def dimensions(question: DatedScene, table: int, used: Words) -> Dimensions:
    """What follows `by`, `per` and `each`, unless it is a measure or a period. `used` are the places of words of other
    clauses: a list such as "by region and product" goes on after them."""
    found: list[Dimension] = []
    words: Words = frozenset()
    for cue in question.scene.cues:
        for_all = question.words[cue.start : cue.end] == ["for", "all"]
        if cue.tag not in ("EACH", "BY") or cue.start in question.time_places or for_all:
            continue
        start = cue.end
        while start < len(question.words) and question.words[start] in ("the", "a", "our"):
            start += 1
        dimension = dimension_at(question, start, table)
        while dimension is not None:
            words |= places_of([cue]) | dimension.words
            if not any(other.key == dimension.key and other.shown == dimension.shown for other in found):
                found.append(dimension)
            start = _after_and(question, start, used | words)
            dimension = dimension_at(question, start, table)
    return Dimensions(tuple(found), words)


def _after_and(question: DatedScene, start: int, used: Words) -> int:
    """Where the next dimension of "by region and product" would begin."""
    while start in used:
        start += 1
    return start + 1 if question.words[start : start + 1] in (["and"], [","]) else len(question.words)


def dimension_at(question: DatedScene, start: int, table: int) -> Dimension | None:
    """The column or table that is named at this place; "store city" is the column city of stores."""
    if start in question.measure_places or start in question.time_places:
        return None
    owner = next((m for m in question.tables if m.start == start), None)
    columns = [
        m
        for m in question.columns()
        if (m.start == start or (m.start == start + 1 and owner is not None))
        and _may_group(question.schema.columns[m.id])
    ]
    # "Department name" is the name of departments, also where nearer tables have a name.
    own = [m for m in columns if owner is not None and question.schema.columns[m.id].table == owner.id]
    columns = own or columns
    best = min(columns, key=lambda m: (-(m.end - m.start) - m.score, question.distance_to(table, m.id)), default=None)
    if best is not None and (owner is None or best.end > owner.end):
        shown = column_ref(question.schema, best.id)
        words = places_of([best]) | (frozenset({start}) if owner is not None else frozenset())
        return Dimension((shown,), (shown,), words)
    return table_dimension(question, owner) if owner else None


def _may_group(view: ColumnView) -> bool:
    """Ids group nothing, but a code of a few kinds does."""
    few = view.source.type == "text" and (view.source.distinct_count or _MANY_KINDS) < _MANY_KINDS
    return not view.looks_like_id or (few and not view.key)


def table_dimension(question: DatedScene, mention: Mention) -> Dimension | None:
    """Groups by the key of a table and shows the names of its rows. None if no column names them."""
    view = question.schema.tables[mention.id]
    shown = tuple(column_ref(question.schema, column) for column in names_of_rows(question.schema, mention.id))
    if not shown:
        return None
    key = () if view.key is None else (column_ref(question.schema, view.key),)
    return Dimension(tuple(dict.fromkeys((*key, *shown))), shown, places_of([mention]))


def ranked_dimension(question: DatedScene, table: int, used: Words) -> Dimension | None:
    """What a superlative ranks ("the best *products*"): the first column or table that no other clause uses."""
    for place in range(len(question.words)):
        if place in used or place in question.measure_places or place in question.value_places:
            continue
        dimension = dimension_at(question, place, table)
        if dimension is not None:
            return dimension
    return None


# Calculations


def calculation(question: DatedScene) -> Calculation | None:
    """A measure of the catalog, an aggregate that is asked for, a column that is added up, or a count of rows."""
    # From the surest evidence to the weakest: a count needs no column.
    return _measure(question) or _aggregate(question) or _sum(question) or _count(question)


def _measure(question: DatedScene) -> Calculation | None:
    mention = question.measure
    if mention is None:
        return None
    quantity_cues = [c for c in question.scene.cues if c.tag in ("MUCH", "COUNT", "SUM") and c.end <= mention.start]
    measure = question.schema.measures[mention.id][0]
    table = question.schema.table_ids[measure.table]
    return Calculation(MeasureRef(name=measure.name), table, places_of([mention, *quantity_cues]))


def _aggregate(question: DatedScene) -> Calculation | None:
    """The average price, the median of …"""
    cue = question.cue("AVG", "SUM")
    median = question.words.index("median") if "median" in question.words else None
    column = numeric_column(question) if cue is not None or median is not None else None
    if column is None:
        return None
    function = "median" if median is not None else "avg" if cue and cue.tag == "AVG" else "sum"
    owner = question.schema.columns[column.id].table
    words = places_of([cue, column, *question.tables_of(owner), *question.cues("MUCH", "COUNT")])
    expr = Aggregate.model_validate({"function": function, "of": column_ref(question.schema, column.id)})
    return Calculation(expr, owner, words if median is None else words | {median})


def numeric_column(question: DatedScene) -> Mention | None:
    """The numeric column that is named best, of the tables that are named if there are any."""
    named = {m.id for m in question.tables}
    columns = question.schema.columns
    numeric = [
        m
        for m in question.columns()
        if columns[m.id].numeric and not question.is_key(m.id) and not names_something(columns[m.id])
    ]
    return min(
        numeric, key=lambda m: (-(m.end - m.start) - m.score, columns[m.id].table not in named, m.start), default=None
    )


def _sum(question: DatedScene) -> Calculation | None:
    summed = question.summed_column
    if summed is None:
        return None
    owner = question.schema.columns[summed.id].table
    words = places_of([summed, *question.cues("MUCH", "SUM"), *question.tables_of(owner)])
    return Calculation(Aggregate(function="sum", of=column_ref(question.schema, summed.id)), owner, words)


def _count(question: DatedScene) -> Calculation | None:
    cue = question.cue("COUNT")
    if not question.tables:
        return _counted_value(question, cue)
    entity = next((m for m in question.tables if cue is not None and m.start >= cue.end), question.tables[0])
    if cue is None and not _counts_rows(question, entity):
        return None
    distinct = question.cue("DISTINCT")
    if distinct is not None and cue is not None:
        column = next((m for m in question.columns() if m.start >= distinct.end), None)
        if column is not None:
            of = column_ref(question.schema, column.id)
            table = question.schema.columns[column.id].table
            words = places_of([cue, distinct, entity, column])
            return Calculation(Aggregate(function="count", of=of, distinct=True), table, words)
    return Calculation(Aggregate(function="count"), entity.id, places_of([cue, entity]))


def _counted_value(question: DatedScene, cue: Cue | None) -> Calculation | None:
    """How many owls, how many were seen: of the only table there is, the rows that are owls, or all of them."""
    alone = len(question.schema.tables) == 1
    if cue is None or not alone:
        return None
    follows = question.scene.tags[cue.end : cue.end + 1]
    if follows != ["BE"] and all(value.start != cue.end for value in question.values):
        return None
    return Calculation(Aggregate(function="count"), 0, places_of([cue]))


def _counts_rows(question: DatedScene, table: Mention) -> bool:
    """Orders per month, or orders in 2024, are counted; things that have names are listed."""
    if question.spans("bucket"):
        return True
    each = question.cue("EACH")
    per = each is not None and table.end <= each.start
    return not _has_name(question, table.id) and (bool(question.dates) or per)


def _has_name(question: DatedScene, table: int) -> bool:
    display = question.schema.tables[table].display
    return display is not None and question.schema.columns[display].words[-1:] in (("name",), ("title",))


# Numbers


def limit(question: DatedScene) -> RowLimit:
    """The first number that is said, else 1: "the top 3", "the best product"."""
    for place in question.free_numbers:
        number = question.scene.tokens[place].value
        if isinstance(number, int) and number > 0:
            return RowLimit(number, frozenset({place}))
    return RowLimit(1, frozenset())


def compared_column(question: DatedScene, table: int, *, temporal: bool = False) -> ColumnUse | None:
    """The numeric column of the table that the question names, also by an adjective (older: age). With `temporal`, it
    may be a date: the newest."""
    mentions = [
        m
        for m in question.scene.links.columns
        if question.schema.columns[m.id].table == table
        and (question.schema.columns[m.id].numeric or (temporal and question.schema.columns[m.id].temporal))
        and not question.is_key(m.id)
        and question.value_places.isdisjoint(range(m.start, m.end))
        and m.score >= _COMPARED_NAMED
    ]
    best = max(mentions, key=lambda m: (m.score, -m.id), default=None)
    if best is None or _is_asked_for(question, best):
        return None
    return ColumnUse(best.id, places_of(m for m in mentions if m.id == best.id))


def _is_asked_for(question: DatedScene, mention: Mention) -> bool:
    """What is the height of …: the column is wanted, not compared."""
    before = [word for word in question.words[max(0, mention.start - 3) : mention.start] if word != "the"]
    verbs: Iterable[str] = ("return", "give", "show", "find", "list")
    return before[-2:] in (["what", "is"], ["what", "are"]) or before[-1:] in [[word] for word in verbs]


def number_conditions(question: DatedScene, table: int) -> Conditions:
    """Products above 50, people between 20 and 30."""
    numbers = question.free_numbers
    compared = compared_column(question, table) if numbers else None
    if compared is None:
        return Conditions((), frozenset())
    left = column_ref(question.schema, compared.column)
    scales = {place + 1 for place in numbers if _is_unit(question, place + 1)}
    constants = [Constant(value=_in_unit(question, place, compared.column)) for place in numbers]
    words = compared.words | frozenset(numbers) | scales
    if len(numbers) == 2:
        between = Between(left=left, low=constants[0], high=constants[1])
        return Conditions((between,), words | places_of(question.cues("BETWEEN")))
    test = Compare(left=left, op=comparison_at(question.scene, numbers[0]), right=constants[0])
    return Conditions((test,), words | places_of(question.cues(*_NUMBER_CUES)))


def _is_unit(question: DatedScene, place: int) -> bool:
    word = (question.words[place : place + 1] or [""])[0]
    return word in SCALES or word in UNITS


def _scale(question: DatedScene, place: int) -> int:
    """What the word after a number multiplies it by."""
    after = question.words[place + 1 : place + 2]
    return SCALES.get(after[0], 1) if after else 1


def _in_unit(question: DatedScene, place: int, column: int) -> float | int | None:
    """The number in the unit of the column: 5 kg are 5000 in `mass_g`, 2 trillion are 2000 in `assets_billion`."""
    number = question.scene.tokens[place].value
    if number is None:
        return None
    words = question.schema.columns[column].words
    scale: float = _scale(question, place)
    own = next((SCALES[word.removesuffix("s")] for word in words if word.removesuffix("s") in SCALES), 1)
    unit = UNITS.get((question.words[place + 1 : place + 2] or [""])[0])
    if unit is not None and unit[0] in words:
        scale *= unit[1]
    # A number that is far too small for such a scale was meant in the column's unit already.
    scaled = number * scale / own if scale >= own else number
    return int(scaled) if float(scaled).is_integer() else scaled

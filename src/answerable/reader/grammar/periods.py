"""Clauses of time: which date column is meant, conditions on it, and groups of days."""

from collections.abc import Sequence
from datetime import date, datetime

from answerable.core.records import dataclass
from answerable.query.plan import Bucket, Compare, Constant, DatePart, Expr, Filter, InList, Or
from answerable.reader.grammar.clause_parts import ColumnUse, Conditions, Words
from answerable.reader.grammar.dated_scene import DatedScene, places_of
from answerable.reader.linking.schema import Schema
from answerable.reader.plans.draft_to_plan import all_of, column_ref
from answerable.reader.plans.joins import distance
from answerable.reader.time.date_phrases import DateSpan

# A weak mention is enough to account for the words of the date column that is used anyway. To choose another date
# column, the question must name it.
_DATE_HINTED = 0.4
_DATE_NAMED = 0.85


@dataclass(frozen=True, slots=True)
class DateBounds:
    """Days or moments from `start` until before `end`; either may be open."""

    start: date | datetime | None
    end: date | datetime | None
    words: Words = frozenset()


@dataclass(frozen=True, slots=True)
class TimeBucket:
    """Groups of days: per month, by weekday."""

    expr: Expr
    words: Words


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
    # A year that is held against another one would be lost.
    if (
        year is None
        or question.spans("comparison")
        or any(span.kind != "range" or not _is_whole_years(bounds_of(question, span)) for span in spans)
    ):
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

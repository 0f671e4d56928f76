"""Forms of questions about measures: overviews, the top, growth, shares, two periods, durations.

Each form returns a plan with the words that it uses, or None if the question does not have this form.
"""

from collections.abc import Sequence
from datetime import date

from answerable.query.plan import (
    Aggregate,
    Arithmetic,
    Bucket,
    Constant,
    DateDifference,
    Expr,
    MeasureRef,
    ScalarQuery,
)
from answerable.reader.grammar.calculations import Calculation, calculation
from answerable.reader.grammar.clause_parts import Conditions, Words
from answerable.reader.grammar.conditions import limit, number_conditions, value_conditions
from answerable.reader.grammar.dated_scene import DatedScene, Parse, places_of
from answerable.reader.grammar.dimensions import (
    Dimension,
    dimensions,
    goods_sold,
    people_by_verb,
    per_quantity,
    ranked_dimension,
)
from answerable.reader.grammar.measure_expressions import is_money, restricted, written_out
from answerable.reader.grammar.periods import DateBounds, date_column, time_bucket, time_conditions, within
from answerable.reader.grammar.scale_columns import scale_column
from answerable.reader.grammar.selling import sales_measure
from answerable.reader.linking.cues import Cue
from answerable.reader.linking.links import Mention
from answerable.reader.plans.draft_to_plan import all_of, build_plan, column_ref
from answerable.reader.time.date_phrases import DateSpan

_EXTREMES = ("MAX", "MIN", "MOST", "LEAST")
_PERIODS = frozenset({"day", "week", "month", "quarter", "year"})
_JUDGED = frozenset({"best", "top", "worst", "biggest", "largest", "smallest", "strongest", "weakest"})
_DESCENDING = frozenset({"MAX", "MOST"})
# A decimal number in front of the division, so that no database divides two integers.
_HUNDRED = Constant(value=100.0)


def overview(question: DatedScene) -> Parse | None:
    """A calculation, perhaps for each of something, in a period: revenue by region in 2025."""
    main = calculation(question)
    if main is None:
        return None
    groups = dimensions(question, main.table, main.words)
    times = time_conditions(question, main.table)
    if times is None:
        return None
    bucket = time_bucket(question, main.table)
    values = value_conditions(question, main.table, negatable=True)
    counts = isinstance(main.expr, Aggregate) and main.expr.function == "count"
    numbers = number_conditions(question, main.table) if counts else Conditions((), frozenset())
    shown, keys = groups.shown, groups.keys
    words = main.words | groups.words | times.words | values.words | numbers.words
    order: list[tuple[Expr, bool]] = []
    if bucket is not None:
        shown, keys, order = [bucket.expr, *shown], [bucket.expr, *keys], [(bucket.expr, False)]
        words |= bucket.words
    sorting, sorting_words = _sorting(question, main.expr)
    first = bucket is None and _is_asked_first(question, main)
    select = [main.expr, *shown] if first else [*shown, main.expr]
    where = [*values.filters, *numbers.filters, *times.filters]
    plan = build_plan(question.schema, main.table, select, where=where, group=keys, order=sorting or order)
    return Parse(plan, words | sorting_words)


def measure_per_quantity(question: DatedScene) -> Parse | None:
    """Sales per square metre by store: the measure of each thing, divided by a number that the thing has."""
    main = calculation(question)
    quantities = [m for cue in question.cues("EACH") if (m := per_quantity(question, cue)) is not None]
    if main is None or len(quantities) != 1:
        return None
    schema, quantity = question.schema, quantities[0]
    owner = schema.columns[quantity.id].table
    groups = dimensions(question, main.table, main.words)
    times = time_conditions(question, main.table)
    key = schema.tables[owner].key
    # Only the things themselves have the number once: a region would need the sum over its stores.
    if times is None or len(groups.all) != 1 or key is None or column_ref(schema, key) not in groups.keys:
        return None
    of = Aggregate(function="max", of=column_ref(schema, quantity.id))
    ratio = Arithmetic(op="/", left=main.expr, right=of)
    values = value_conditions(question, main.table)
    where = [*values.filters, *times.filters]
    plan = build_plan(schema, main.table, [*groups.shown, ratio], where=where, group=groups.keys)
    per = [cue for cue in question.cues("EACH") if cue.end == quantity.start]
    words = main.words | groups.words | times.words | values.words | places_of([quantity, *per])
    return Parse(plan, words)


def _is_asked_first(question: DatedScene, main: Calculation) -> bool:
    """The average age for each city: columns keep the order of the question. Where the catalog has measures, and where
    rows are counted, the dimension comes first, as in a report."""
    counted = isinstance(main.expr, Aggregate) and main.expr.function == "count"
    if counted or question.schema.measures or question.measured:
        return False
    first_dimension = min((cue.start for cue in question.cues("EACH", "BY")), default=0)
    return min(main.words, default=0) < first_dimension


def _sorting(question: DatedScene, expr: Expr) -> tuple[list[tuple[Expr, bool]], Words]:
    """Slowest first, from highest to lowest, descending."""
    for cue in question.cues("MAX", "MIN", "DESC", "ASC"):
        first = cue.end < len(question.words) and question.words[cue.end] == "first"
        if cue.tag in ("DESC", "ASC") or first:
            words = places_of([cue, *question.cues("SORT")]) | (frozenset({cue.end}) if first else frozenset())
            # "slowest" has the cue of a minimum, but the slowest are those that take longest
            slowest = question.words[cue.start] == "slowest"
            return [(expr, cue.tag in ("MAX", "DESC") or slowest)], words
    return [], frozenset()


def top(question: DatedScene) -> Parse | None:
    """The five best products by sales; which region had the highest revenue."""
    cue = question.cue(*_EXTREMES)
    # "The best product of each region" is another question: the first of each group.
    if cue is None or (question.cue("EACH") and question.tables):
        return None
    ranked = question.measured
    main = _number_of(question, cue) or _best_by_sales(question, cue) if ranked is None else calculation(question)
    if main is None:
        return None
    by = [c for c in question.cues("BY") if ranked is not None and 0 <= ranked.start - c.end <= 1]
    words = main.words | places_of([cue, *by])
    target = _ranked_periods(question, main.table) or ranked_dimension(question, main.table, words)
    target = target or people_by_verb(question, main.table) or goods_sold(question, main.table)
    times = time_conditions(question, main.table)
    if target is None or times is None:
        return None
    rows = limit(question)
    again = _repeated_measure(question)
    values = value_conditions(question, main.table)
    # "Which region" asks for one name; a list is shown with its figures.
    shown = [*target.shown, main.expr] if rows.rows > 1 or again else [*target.shown]
    plan = build_plan(
        question.schema,
        main.table,
        shown,
        where=[*values.filters, *times.filters],
        group=target.key,
        order=[(main.expr, cue.tag in _DESCENDING)],
        limit=rows.rows,
    )
    words |= target.words | times.words | rows.words | places_of(again) | values.words
    return Parse(plan, words)


def _ranked_periods(question: DatedScene, table: int) -> Dimension | None:
    """The best *month*, which *year* had the most."""
    if question.spans("bucket") and question.cue("EACH", "BY") is None and (bucket := time_bucket(question, table)):
        return Dimension((bucket.expr,), (bucket.expr,), bucket.words)
    dated = date_column(question, table)
    for place, word in enumerate(question.words):
        after = any(cue.end == place for cue in question.cues(*_EXTREMES)) or question.words[place - 1] == "which"
        if after and dated is not None and word in _PERIODS and place not in question.time_places:
            period = Bucket.model_validate({"unit": word, "of": column_ref(question.schema, dated.column)})
            return Dimension((period,), (period,), dated.words | {place})
    return None


def _best_by_sales(question: DatedScene, cue: Cue) -> Calculation | None:
    """Our best customers, the biggest spender: things that nothing of their own ranks are ranked by sales."""
    schema = question.schema
    word = question.words[cue.start]
    if word not in _JUDGED or len(question.tables) != 1 or question.columns():
        return None
    table = question.tables[0]
    measure = sales_measure([one for one, _ in schema.measures])
    if measure is None or table.start != cue.end or scale_column(schema, table.id, word) is not None:
        return None
    found = schema.measures[measure][0]
    return Calculation(MeasureRef(name=found.name), schema.table_ids[found.table], frozenset())


def _number_of(question: DatedScene, cue: Cue) -> Calculation | None:
    """The most orders: how many there are of what follows."""
    counted = next((m for m in question.tables if m.start == cue.end and cue.tag in ("MOST", "LEAST")), None)
    if counted is None or not question.dates:
        return None
    return Calculation(Aggregate(function="count"), counted.id, places_of([counted]))


def _repeated_measure(question: DatedScene) -> Sequence[Mention]:
    """The mentions of a measure that is named twice ("… and their revenue"): it is to be shown as well."""
    mentions = [m for m in question.scene.links.measures if question.measure and m.id == question.measure.id]
    return mentions if len({m.start for m in mentions if m.score >= 0.9}) > 1 else ()


def growth(question: DatedScene) -> Parse | None:
    """How much a measure grew, by something, between two periods; or what grew fastest."""
    if question.cue("GROW") is None:
        return None
    main = _unnamed_measure(question) if question.measured is None else calculation(question)
    periods = _later_and_earlier(question)
    if main is None or periods is None:
        return None
    later_and_earlier = _in_periods(question, main, periods)
    if later_and_earlier is None:
        return None
    (later, earlier), date_words = later_and_earlier
    change = Arithmetic(op="-", left=later, right=earlier)
    ratio = Arithmetic(op="/", left=Arithmetic(op="*", left=_HUNDRED, right=change), right=earlier)
    words = places_of(question.cues("GROW", "MUCH", "SHARE")) | main.words | date_words
    groups = dimensions(question, main.table, words)
    values = value_conditions(question, main.table)
    words |= groups.words
    fastest = question.cue(*_EXTREMES)
    if fastest is None:
        select = [*groups.shown, ratio]
        plan = build_plan(question.schema, main.table, select, where=values.filters, group=groups.keys)
        return Parse(plan, words | values.words)
    words |= places_of([fastest])
    target = next(iter(groups.all), None) or ranked_dimension(question, main.table, words)
    if target is None:
        return None
    rows = limit(question)
    plan = build_plan(
        question.schema,
        main.table,
        target.shown,
        where=values.filters,
        group=target.key,
        order=[(ratio, fastest.tag in _DESCENDING)],
        limit=rows.rows,
    )
    return Parse(plan, words | target.words | values.words | rows.words)


def _unnamed_measure(question: DatedScene) -> Calculation | None:
    """The measure of a question about growth that names none: the first measure of the catalog; in a catalog without
    measures, the sum of its only column of money."""
    schema = question.schema
    if schema.measures:
        measure = schema.measures[0][0]
        return Calculation(MeasureRef(name=measure.name), schema.table_ids[measure.table], frozenset())
    sums = [view for view in schema.columns if is_money(view)]
    if len(sums) != 1:
        return None
    of = column_ref(schema, sums[0].id)
    return Calculation(Aggregate(function="sum", of=of), sums[0].table, frozenset())


def _bounded_spans(question: DatedScene) -> list[DateSpan]:
    spans = question.spans("range", "point", "comparison")
    return [span for span in spans if span.start is not None and span.end is not None]


def _later_and_earlier(question: DatedScene) -> tuple[DateBounds, DateBounds] | None:
    """The period and the one that it is compared with: the other one that is named, or the one just before."""
    spans = _bounded_spans(question)
    if len(spans) >= 2:
        first, second = sorted(spans[:2], key=lambda span: span.start.isoformat() if span.start else "")
        return DateBounds(second.start, second.end), DateBounds(first.start, first.end)
    if not spans:
        return None
    now = DateBounds(spans[0].start, spans[0].end)
    # Only "from 2023 to 2025" names two years to compare. Any other range is one period.
    ends = _first_and_last_year(now) if spans[0].text.lower().startswith("from") else None
    if ends is not None:
        return ends
    before = _period_before(now)
    return None if before is None else (now, before)


def _in_periods(
    question: DatedScene, main: Calculation, periods: Sequence[DateBounds]
) -> tuple[list[Expr], Words] | None:
    """The calculation over the rows of each period. None if there is no date column, or the measure cannot be
    restricted to some rows."""
    dated = date_column(question, main.table)
    plain = _without_measure(question, main.expr)
    if dated is None or plain is None:
        return None
    found = []
    for period in periods:
        condition = all_of(within(question.schema, dated.column, period))
        part = None if condition is None else restricted(plain, condition)
        if part is None:
            return None
        found.append(part)
    return found, dated.words


def _without_measure(question: DatedScene, expr: Expr) -> Expr | None:
    if not isinstance(expr, MeasureRef):
        return expr
    measure = question.schema.catalog.measure(expr.name)
    return None if measure is None else written_out(measure)


def two_periods(question: DatedScene) -> Parse | None:
    """The same measure in two periods, side by side, in the order in which they are named."""
    spans = _bounded_spans(question)
    main = calculation(question) if len(spans) == 2 and not question.cue("NEG") else None
    if main is None:
        return None
    pair = _in_periods(question, main, [DateBounds(span.start, span.end) for span in spans])
    if pair is None:
        return None
    exprs, date_words = pair
    words = main.words | date_words
    groups = dimensions(question, main.table, words)
    values = value_conditions(question, main.table)
    select = [*groups.shown, *exprs]
    plan = build_plan(question.schema, main.table, select, where=values.filters, group=groups.keys)
    return Parse(plan, words | groups.words | values.words)


def share(question: DatedScene) -> Parse | None:
    """What part of the rows has a property, in percent; or what part of a measure falls to each of something."""
    if question.cue("SHARE") is None:
        return None
    words = places_of(question.cues("SHARE", "SUM"))
    if question.measured is not None:
        return _share_of_measure(question, words)
    if not question.tables or not question.values:
        return None
    table = question.tables[0]
    words |= places_of([table])
    times = time_conditions(question, table.id)
    values = value_conditions(question, table.id)
    condition = all_of(values.filters)
    if times is None or condition is None:
        return None
    words |= times.words | values.words
    groups = dimensions(question, table.id, words)
    bucket = time_bucket(question, table.id)
    periods = [] if bucket is None else [bucket.expr]
    words |= bucket.words if bucket else frozenset()
    part = Arithmetic(op="*", left=_HUNDRED, right=Aggregate(function="count", where=condition))
    ratio = Arithmetic(op="/", left=part, right=Aggregate(function="count"))
    select, order = [*periods, *groups.shown, ratio], [(period, False) for period in periods]
    keys = [*periods, *groups.keys]
    plan = build_plan(question.schema, table.id, select, where=times.filters, group=keys, order=order)
    return Parse(plan, words | groups.words)


def _share_of_measure(question: DatedScene, words: Words) -> Parse | None:
    main = calculation(question)
    if main is None:
        return None
    times = time_conditions(question, main.table)
    if times is None:
        return None
    words |= main.words | times.words
    groups = dimensions(question, main.table, words)
    if not groups.all:
        return None
    values = value_conditions(question, main.table)
    where = [*values.filters, *times.filters]
    total = ScalarQuery(plan=build_plan(question.schema, main.table, [main.expr], where=where))
    ratio = Arithmetic(op="/", left=Arithmetic(op="*", left=_HUNDRED, right=main.expr), right=total)
    dimension = groups.all[0]
    plan = build_plan(question.schema, main.table, [*dimension.shown, ratio], where=where, group=dimension.key)
    return Parse(plan, words | groups.words | values.words)


def duration(question: DatedScene) -> Parse | None:
    """How many days from one date to another, on average."""
    unit = next((word for word in question.words if word in ("days", "hours", "minutes")), None)
    cue = question.cue("AVG")
    if unit is None or cue is None:
        return None
    columns = question.schema.columns
    dates = [m for m in question.scene.links.columns if columns[m.id].temporal and m.score >= 0.4]
    pairs = [
        (first.score + second.score, first, second)
        for first in dates
        for second in dates
        if first.id != second.id and first.end <= second.start and columns[first.id].table == columns[second.id].table
    ]
    if not pairs:
        return None
    _, first, second = max(pairs, key=lambda pair: (pair[0], -pair[1].start))
    table = columns[first.id].table
    words = places_of([cue, first, second, *question.cues("COUNT", "BETWEEN"), *question.tables_of(table)])
    times = time_conditions(question, table)
    if times is None:
        return None
    words |= times.words
    groups = dimensions(question, table, words)
    values = value_conditions(question, table)
    start, end = column_ref(question.schema, first.id), column_ref(question.schema, second.id)
    span = DateDifference.model_validate({"unit": unit[:-1], "start": start, "end": end})
    select = [*groups.shown, Aggregate(function="avg", of=span)]
    where = [*values.filters, *times.filters]
    plan = build_plan(question.schema, table, select, where=where, group=groups.keys)
    return Parse(plan, words | groups.words | values.words)


def _period_before(period: DateBounds) -> DateBounds | None:
    """The period of the same length that ends where this one starts; whole months stay whole months."""
    start, end = period.start, period.end
    if start is None or end is None:
        return None
    months = (end.year - start.year) * 12 + end.month - start.month
    if start.day == end.day == 1 and months > 0:
        return DateBounds(_months_earlier(start, months), start)
    return DateBounds(start - (end - start), start)


def _first_and_last_year(period: DateBounds) -> tuple[DateBounds, DateBounds] | None:
    """From 2024 to 2025: the later year compared with the earlier one."""
    start, end = period.start, period.end
    if start is None or end is None or (start.month, start.day, end.month, end.day) != (1, 1, 1, 1):
        return None
    if end.year - start.year < 2:
        return None
    later = DateBounds(date(end.year - 1, 1, 1), date(end.year, 1, 1))
    return later, DateBounds(date(start.year, 1, 1), date(start.year + 1, 1, 1))


def _months_earlier(day: date, months: int) -> date:
    index = day.year * 12 + day.month - 1 - months
    return date(index // 12, index % 12 + 1, 1)

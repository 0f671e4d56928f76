"""Forms of everyday questions: this or that, what share, how it changed, one per other, from lowest to highest.

Each form returns a plan with the words that it uses, or None if the question does not have this form.
"""

from answerable.query.plan import Aggregate, Arithmetic, ColumnRef, Constant, Expr, Filter, InList
from answerable.reader.grammar.calculations import Calculation, calculation, numeric_column
from answerable.reader.grammar.conditions import number_conditions, value_conditions
from answerable.reader.grammar.dated_scene import DatedScene, Parse, places_of
from answerable.reader.grammar.dimensions import FEWEST_QUANTITIES, dimensions, names_of
from answerable.reader.grammar.measure_expressions import is_additive, restricted
from answerable.reader.grammar.periods import time_bucket, time_conditions, year_column
from answerable.reader.linking.everyday_words import PERSON_WORDS
from answerable.reader.linking.links import Mention
from answerable.reader.plans.draft_to_plan import all_of, build_plan, column_ref

_HUNDRED = Constant(value=100.0)
_COUNT_ROWS = Aggregate(function="count")
_VERSUS = frozenset({"vs", "vs.", "versus", "against", "compare", "compared"})
_EITHER = frozenset({"or", "than"})
_YES_OR_NO = frozenset({"do", "does", "did", "is", "are", "was", "were", "has", "have", "who", "which", "how"})
_TRENDS = frozenset({"getting", "changed", "change", "changing", "trend", "develop", "developed", "evolve", "evolved"})
_YEARLY = frozenset({"year", "years", "annually", "time"})
_DIFFERENCES = frozenset({"difference", "gap", "spread", "range", "swing"})
# Satisfied, satisfaction; crowded, crowd is too short to tell.
_SAME_BEGINNING = 6
_RATES = frozenset({"rate", "ratio", "%", "percent"})


def _places_of_words(question: DatedScene, words: frozenset[str]) -> frozenset[int]:
    return frozenset(place for place, token in enumerate(question.scene.tokens) if token.lower in words)


def this_or_that(question: DatedScene) -> Parse | None:
    """Do males weigh more than females; average price, tents vs boots: a figure for each of several values."""
    signs = _places_of_words(question, _VERSUS)
    # "Snow or drizzle days" are days of both kinds; "do males weigh more than females" compares.
    if question.words[:1] and question.words[0] in _YES_OR_NO and question.cue("GT", "LT", "MOST"):
        signs |= _places_of_words(question, _EITHER)
    if not signs or len(question.values) < 2 or question.cue("NEG", "SHARE"):
        return None
    shared = set.intersection(*({rival.column for rival in question.rivals(value)} for value in question.values))
    if not shared:
        return None
    schema = question.schema
    column = min(shared, key=lambda c: (-_best_score(question, c), c))
    main = _compared_figure(question, schema.columns[column].table)
    times = None if main is None else time_conditions(question, main.table)
    if main is None or times is None:
        return None
    key = column_ref(schema, column)
    spans = sorted({(value.start, value.end) for value in question.values} | set(_values_beside(question, column)))
    texts = [rival.value for span in spans for rival in question.scene.rivals[span] if rival.column == column]
    values = tuple(Constant(value=text) for text in dict.fromkeys(texts))
    where: list[Filter] = [InList(left=key, values=values), *times.filters]
    words = main.words | times.words | signs | places_of([*question.values, *question.tables])
    words |= places_of(question.cues("GT", "LT", "THAN", "EITHER", "MOST", "LEAST"))
    words |= places_of(m for m in question.columns() if m.id == column)
    words |= {place for start, end in spans for place in range(start, end)}
    return Parse(build_plan(schema, main.table, [key, main.expr], where=where, group=[key]), words)


def _values_beside(question: DatedScene, column: int) -> list[tuple[int, int]]:
    """Online vs *store*: a word that by itself names a table is a value beside others of its column."""
    exact = 1.0
    return [
        span
        for span, rivals in question.scene.rivals.items()
        if span[0] not in question.value_places
        and any(rival.column == column and rival.score >= exact for rival in rivals)
    ]


def where_from(question: DatedScene) -> Parse | None:
    """Where are our customers from: how many there are in each place, by the widest of their places."""
    if question.words[:1] != ["where"] or len(question.tables) != 1 or question.dates or "from" not in question.words:
        return None
    schema, table = question.schema, question.tables[0]
    views = [schema.columns[column] for column in schema.tables[table.id].columns]
    places = [view for view in views if view.place and view.source.type == "text" and view.source.distinct_count]
    widest = min(places, key=lambda view: view.source.distinct_count or 0, default=None)
    if widest is None:
        return None
    key = column_ref(schema, widest.id)
    values = value_conditions(question, table.id)
    words = places_of([table]) | values.words | {0} | _places_of_words(question, frozenset({"from"}))
    plan = build_plan(
        schema, table.id, [key, _COUNT_ROWS], where=values.filters, group=[key], order=[(_COUNT_ROWS, True)]
    )
    return Parse(plan, words)


def how_often(question: DatedScene) -> Parse | None:
    """What do people complain about, and how often: how many rows there are for each."""
    words = question.words
    place = next((p for p in range(len(words)) if words[p : p + 2] == ["how", "often"]), None)
    named = [m for m in question.columns() if not question.schema.columns[m.id].numeric and not question.is_key(m.id)]
    if place is None or not named or question.cue("EACH", "BY", "COUNT"):
        return None
    column = max(named, key=lambda m: (m.end - m.start, m.score))
    table = question.schema.columns[column.id].table
    times = time_conditions(question, table)
    if times is None:
        return None
    key = column_ref(question.schema, column.id)
    values = value_conditions(question, table)
    order: list[tuple[Expr, bool]] = [(_COUNT_ROWS, True)]
    where = [*values.filters, *times.filters]
    plan = build_plan(question.schema, table, [key, _COUNT_ROWS], where=where, group=[key], order=order)
    used = places_of([column, *question.tables_of(table)]) | {place, place + 1} | values.words | times.words
    return Parse(plan, used | _places_of_words(question, PERSON_WORDS))


def how_much_of_each(question: DatedScene) -> Parse | None:
    """How satisfied are people with each topic: the average of the number that the adjective names."""
    words = question.words
    if words[:1] != ["how"] or words[2:3] not in (["are"], ["is"], ["were"], ["was"]) or question.cue("COUNT", "MUCH"):
        return None
    column = _number_like(question, words[1])
    table = None if column is None else question.schema.columns[column].table
    times = None if table is None else time_conditions(question, table)
    if column is None or table is None or times is None:
        return None
    groups = dimensions(question, table, frozenset({1}))
    figure = Aggregate(function="avg", of=column_ref(question.schema, column))
    values = value_conditions(question, table)
    where = [*values.filters, *times.filters]
    plan = build_plan(question.schema, table, [*groups.shown, figure], where=where, group=groups.keys)
    used = {1} | _places_of_words(question, PERSON_WORDS) | places_of([*question.tables_of(table), question.cue("AVG")])
    return Parse(plan, frozenset(used) | groups.words | values.words | times.words) if groups.all else None


def _number_like(question: DatedScene, adjective: str) -> int | None:
    """Satisfied, `satisfaction`: the only number of the data that begins like the adjective."""
    numbers = [view for view in question.schema.columns if view.numeric and not question.is_key(view.id)]
    found = [view.id for view in numbers if any(_begin_alike(adjective, word) for word in view.words)]
    return found[0] if len(found) == 1 else None


def _begin_alike(one: str, other: str) -> bool:
    return min(len(one), len(other)) >= _SAME_BEGINNING and one[:_SAME_BEGINNING] == other[:_SAME_BEGINNING]


def _best_score(question: DatedScene, column: int) -> float:
    return max(rival.score for value in question.values for rival in question.rivals(value) if rival.column == column)


def _compared_figure(question: DatedScene, owner: int) -> Calculation | None:
    """What is asked to be calculated; else the average of the number that is named; else how many rows there are."""
    asked = calculation(question)
    if asked is not None:
        return asked
    number = numeric_column(question)
    if number is not None:
        return Calculation(_typical(question, number), question.schema.columns[number.id].table, places_of([number]))
    table = question.tables[0].id if question.tables else owner
    return Calculation(_COUNT_ROWS, table, places_of(question.tables[:1]))


def _typical(question: DatedScene, number: Mention) -> Aggregate:
    """Amounts are added up, other numbers averaged."""
    of = column_ref(question.schema, number.id)
    return Aggregate(function="sum" if is_additive(question.schema.columns[number.id]) else "avg", of=of)


def share_of_part(question: DatedScene) -> Parse | None:
    """What percentage are gentoos; what share of the donations went to Glenn; share of ratings of 4 or better."""
    signs = places_of(question.cues("SHARE")) | _places_of_words(question, _RATES)
    if not signs or question.cue("AVG", "EACH", "BY", "NEG"):
        return None
    number = question.measured
    table = _table_of_part(question, number)
    if table is None:
        return None
    values, times = value_conditions(question, table), time_conditions(question, table)
    # A rate is of a kind ("pass rate"); "rate" may also be a verb.
    kinds_only = not question.cue("SHARE") and "%" not in question.words and not question.values
    numbers = number_conditions(question, table) if number is None and not kinds_only else None
    condition = all_of([*values.filters, *(numbers.filters if numbers else ())])
    if condition is None or times is None:
        return None
    whole: Expr = (
        _COUNT_ROWS if number is None else Aggregate(function="sum", of=column_ref(question.schema, number.id))
    )
    part = restricted(whole, condition)
    if part is None or question.measure is not None:
        return None
    ratio = Arithmetic(op="/", left=Arithmetic(op="*", left=_HUNDRED, right=part), right=whole)
    words = signs | values.words | times.words | places_of([number, *question.tables, *question.cues("SUM", "MUCH")])
    words |= numbers.words if numbers else frozenset()
    return Parse(build_plan(question.schema, table, [ratio], where=times.filters), words)


def _table_of_part(question: DatedScene, number: Mention | None) -> int | None:
    if number is not None:
        return question.schema.columns[number.id].table if number.kind == "column" else None
    if question.tables:
        return question.tables[0].id
    owners = {question.schema.columns[value.column].table for value in question.values}
    if len(question.schema.tables) == 1:
        return 0
    return owners.pop() if len(owners) == 1 else None


def trend(question: DatedScene) -> Parse | None:
    """Are flippers getting longer over the years: the figure of each year, in order."""
    signs = _places_of_words(question, _TRENDS)
    yearly = _places_of_words(question, _YEARLY)
    number = numeric_column(question)
    if not signs or not yearly or number is None:
        return None
    schema = question.schema
    table = schema.columns[number.id].table
    bucket, year = time_bucket(question, table), year_column(schema, table)
    key: Expr | None = bucket.expr if bucket else None if year is None else column_ref(schema, year)
    if key is None:
        return None
    asked = question.cue("AVG", "SUM")
    function = {"AVG": "avg", "SUM": "sum"}[asked.tag] if asked else _typical(question, number).function
    figure = Aggregate.model_validate({"function": function, "of": column_ref(schema, number.id)})
    values = value_conditions(question, table)
    words = signs | yearly | values.words | places_of([number, asked, *question.cues("GT", "LT"), *question.tables])
    words |= places_of(m for m in question.columns() if m.id == year) | (bucket.words if bucket else frozenset())
    plan = build_plan(schema, table, [key, figure], where=values.filters, group=[key], order=[(key, False)])
    return Parse(plan, words)


def two_totals(question: DatedScene) -> Parse | None:
    """Total invested vs total budgeted: the same figure of two columns, side by side."""
    signs = _places_of_words(question, frozenset({"vs", "vs.", "versus", "against"}))
    cue = question.cue("SUM", "AVG")
    columns = question.schema.columns
    numbers = [m for m in question.columns() if columns[m.id].numeric and not question.is_key(m.id)]
    chosen = {m.id: m for m in numbers}
    if not signs or cue is None or len(chosen) != 2 or question.values:
        return None
    first, second = chosen.values()
    table = columns[first.id].table
    times = time_conditions(question, table)
    if columns[second.id].table != table or times is None:
        return None
    function = "avg" if cue.tag == "AVG" else "sum"
    figures = [
        Aggregate.model_validate({"function": function, "of": column_ref(question.schema, m.id)})
        for m in (first, second)
    ]
    words = signs | times.words | places_of([*numbers, *question.cues("SUM", "AVG"), *question.tables_of(table)])
    return Parse(build_plan(question.schema, table, figures, where=times.filters), words)


def from_lowest_to_highest(question: DatedScene) -> Parse | None:
    """The gap between the fastest and the slowest time: the highest less the lowest."""
    signs = _places_of_words(question, _DIFFERENCES)
    ends = question.cues("MAX", "MIN")
    number = numeric_column(question)
    if not signs or {cue.tag for cue in ends} != {"MAX", "MIN"} or number is None:
        return None
    table = question.schema.columns[number.id].table
    values, times = value_conditions(question, table), time_conditions(question, table)
    if times is None:
        return None
    of = column_ref(question.schema, number.id)
    gap = Arithmetic(op="-", left=Aggregate(function="max", of=of), right=Aggregate(function="min", of=of))
    same = [m for m in question.scene.links.columns if m.id == number.id]
    words = signs | values.words | times.words | places_of([*ends, *same, *question.tables])
    words |= places_of(question.cues("BETWEEN", "DIFFER"))
    return Parse(build_plan(question.schema, table, [gap], where=[*values.filters, *times.filters]), words)


def one_per_other(question: DatedScene) -> Parse | None:
    """Passengers per platform: one number of each row divided by another."""
    per = next((cue for cue in question.cues("EACH") if question.words[cue.start] == "per"), None)
    if per is None:
        return None
    columns = question.schema.columns
    numbers = [m for m in question.columns() if columns[m.id].numeric and not question.is_key(m.id)]
    upper = next((m for m in reversed(numbers) if m.end <= per.start), None)
    lower = next((m for m in numbers if 0 <= m.start - per.end <= 1), None)
    if upper is None or lower is None or columns[upper.id].table != columns[lower.id].table or upper.id == lower.id:
        return None
    # A number with few values is a group of rows: students per grade.
    if (columns[lower.id].source.distinct_count or 0) < FEWEST_QUANTITIES:
        return None
    table = columns[upper.id].table
    names = names_of(question, table)
    groups = dimensions(question, table, frozenset())
    shown = [expr for expr in groups.shown if not _is_number(expr, question)] or list(names)
    times = time_conditions(question, table)
    if times is None or not shown:
        return None
    ratio = Arithmetic(op="/", left=column_ref(question.schema, upper.id), right=column_ref(question.schema, lower.id))
    first = next(
        (cue for cue in question.cues("MAX", "MIN", "MOST", "LEAST") if _followed_by_first(question, cue.end)), None
    )
    words = places_of([upper, lower, per, first, *question.tables]) | groups.words | times.words
    words |= frozenset() if first is None else frozenset(range(first.start, len(question.words)))
    order: list[tuple[Expr, bool]] = [] if first is None else [(ratio, first.tag in ("MAX", "MOST"))]
    return Parse(build_plan(question.schema, table, [*shown, ratio], where=times.filters, order=order), words)


def _is_number(expr: Expr, question: DatedScene) -> bool:
    column = question.schema.column_of(expr.table, expr.column) if isinstance(expr, ColumnRef) else None
    return column is not None and question.schema.columns[column].numeric


def _followed_by_first(question: DatedScene, place: int) -> bool:
    return "first" in question.words[place : place + 2]


def highest_of_each(question: DatedScene) -> Parse | None:
    """The heaviest bird of each species: rows without a name of their own are told by their number."""
    cue = question.cue("MAX", "MIN")
    each = question.cue("EACH")
    number = numeric_column(question)
    if cue is None or each is None or number is None:
        return None
    schema = question.schema
    table = schema.columns[number.id].table
    words = places_of([cue, number, *question.tables])
    groups = dimensions(question, table, words)
    display = schema.tables[table].display
    named = display is not None and schema.columns[display].source.unique
    times = time_conditions(question, table)
    if not groups.all or named or times is None:
        return None
    values = value_conditions(question, table)
    figure = Aggregate.model_validate({"function": cue.tag.lower(), "of": column_ref(schema, number.id)})
    where = [*values.filters, *times.filters]
    plan = build_plan(schema, table, [*groups.shown, figure], where=where, group=groups.keys)
    return Parse(plan, words | groups.words | values.words | times.words)

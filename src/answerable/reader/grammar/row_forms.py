"""Forms of questions about the rows of one table: lists, firsts, what is missing, more than average, still open.

Each form returns a plan with the words that it uses, or None if the question does not have this form.
"""

from collections.abc import Sequence

from answerable.core.words import stem
from answerable.query.plan import (
    Aggregate,
    Compare,
    Expr,
    IsNull,
    ScalarQuery,
)
from answerable.reader.grammar.calculations import numeric_column
from answerable.reader.grammar.clause_parts import ColumnUse
from answerable.reader.grammar.conditions import compared_column, limit, number_conditions, value_conditions
from answerable.reader.grammar.dated_scene import COLUMN_NAMED, DatedScene, Parse, places_of
from answerable.reader.grammar.dimensions import names_of
from answerable.reader.grammar.periods import time_conditions
from answerable.reader.grammar.scale_columns import pay_column, price_column, scale_column
from answerable.reader.linking.cues import Cue
from answerable.reader.linking.everyday_words import PERSON_WORDS
from answerable.reader.linking.links import Mention
from answerable.reader.linking.scales import is_descending
from answerable.reader.linking.scene import is_row_word
from answerable.reader.linking.schema import ColumnView, Schema, TableView
from answerable.reader.plans.draft_to_plan import build_plan, column_ref

# Stems in the names of dates on which something ends: `resolved_at`, `shipped_on`.
_END_STEMS = frozenset({"resolv", "clos", "end", "finish", "complet", "solv", "deliver", "ship"})
_COMPARISONS = ("GT", "LT", "GE", "LE", "EQ")
_COUNT_ROWS = Aggregate(function="count")


def unfinished(question: DatedScene) -> Parse | None:
    """Tickets that are still open or not resolved: the date of the end is missing."""
    if not question.tables:
        return None
    schema, table = question.schema, question.tables[0]
    end = _missing_end(question, table.id)
    times = time_conditions(question, table.id)
    if end is None or times is None:
        return None
    count = question.cue("COUNT")
    names = names_of(question, table.id)
    shown: list[Expr] = [_COUNT_ROWS] if count or not names else [*names]
    values = value_conditions(question, table.id)
    where = [IsNull(left=column_ref(schema, end.column)), *values.filters, *times.filters]
    words = places_of([table, count, *question.cues("NEG")]) | end.words | times.words | values.words
    return Parse(build_plan(schema, table.id, shown, where=where), words)


def _missing_end(question: DatedScene, table: int) -> ColumnUse | None:
    """The date that is empty while something goes on: open tickets, unshipped orders, tickets that are not closed."""
    columns = question.schema.columns
    ends = [
        c
        for c in question.schema.tables[table].columns
        if columns[c].temporal and columns[c].source.nullable and not _END_STEMS.isdisjoint(_stems_of(columns[c]))
    ]
    for place, word in enumerate(question.words):
        if word == "open" and ends:
            return ColumnUse(ends[0], frozenset({place}))
        # "Unresolved" and "unshipped", but not "until" and "unique".
        if word.startswith("un") and len(word) > 6:
            matching = [c for c in ends if stem(word[2:]) in _stems_of(columns[c])]
            if matching:
                return ColumnUse(matching[0], frozenset({place}))
    if question.cue("NEG") is None:
        return None
    mentioned = [m for m in question.scene.links.columns if m.id in ends and m.score >= 0.85]
    return ColumnUse(mentioned[0].id, places_of(mentioned)) if mentioned else None


def _stems_of(view: ColumnView) -> set[str]:
    return {stem_ for variant in view.variants for stem_ in variant.stems}


def missing_value(question: DatedScene) -> Parse | None:
    """Penguins with a missing sex, or whose sex is unknown; tracks without a composer."""
    lacking = [cue for cue in question.cues("NEG") if question.words[cue.end - 1] in ("without", "no")]
    cue = question.cue("NULL") or next(iter(lacking), None)
    if cue is None or not question.tables:
        return None
    schema, table = question.schema, question.tables[0]
    own = [m for m in question.columns() if schema.columns[m.id].table == table.id]
    own = [m for m in own if schema.columns[m.id].source.type != "boolean"]
    near = min(own, key=lambda m: (max(m.start - cue.end, cue.start - m.end), -m.score), default=None)
    times = time_conditions(question, table.id)
    if near is None or times is None or (cue in lacking and not 0 <= near.start - cue.end <= 1):
        return None
    count = question.cue("COUNT")
    values = value_conditions(question, table.id)
    where = [IsNull(left=column_ref(schema, near.id)), *values.filters, *times.filters]
    words = places_of([cue, near, count, table]) | values.words | times.words
    return Parse(build_plan(schema, table.id, [_COUNT_ROWS] if count else [], where=where), words)


def more_than_average(question: DatedScene) -> Parse | None:
    """Products that cost more than the average."""
    cue, average = question.cue("GT", "LT"), question.cue("AVG")
    if cue is None or average is None or not question.tables or average.start < cue.start or question.dates:
        return None
    schema, entity = question.schema, question.tables[0].id
    compared = compared_column(question, entity)
    names = names_of(question, entity)
    if compared is None or not names:
        return None
    left = column_ref(schema, compared.column)
    mean = ScalarQuery(plan=build_plan(schema, entity, [Aggregate(function="avg", of=left)]))
    test = Compare(left=left, op=">" if cue.tag == "GT" else "<", right=mean)
    values = value_conditions(question, entity)
    words = places_of([cue, average, *question.tables_of(entity)]) | compared.words | values.words
    return Parse(build_plan(schema, entity, names, where=[test, *values.filters]), words)


def most_common(question: DatedScene) -> Parse | None:
    """The most common first name of customers."""
    cue = question.cue("COMMON", "RARE")
    if cue is None:
        return None
    schema = question.schema
    named = {m.id for m in question.tables}
    columns = [m for m in question.columns() if not question.is_key(m.id)]
    best = min(columns, key=lambda m: (schema.columns[m.id].table not in named, -m.score, m.start), default=None)
    table = None if best is None else schema.columns[best.id].table
    times = None if table is None else time_conditions(question, table)
    if best is None or table is None or times is None:
        return None
    shown = column_ref(schema, best.id)
    values, rows = value_conditions(question, table), limit(question)
    plan = build_plan(
        schema,
        table,
        [shown],
        where=[*values.filters, *times.filters],
        group=[shown],
        order=[(_COUNT_ROWS, cue.tag == "COMMON")],
        limit=rows.rows,
    )
    words = places_of([cue, best, *question.tables_of(table)])
    return Parse(plan, words | times.words | values.words | rows.words)


def first_rows(question: DatedScene) -> Parse | None:
    """The most expensive product: rows sorted by a column of their own; or the extremes of that column."""
    cues = question.cues("MAX", "MIN", "OLD", "YOUNG") or _after_verb(question)
    if not cues or question.measure is not None:
        return None
    schema = question.schema
    owners = (_owner_of_number(question), _owner_of_date(question))
    entity = question.tables[0].id if question.tables else next((table for table in owners if table is not None), None)
    if entity is None:
        return None
    compared = _ranked_column(question, entity, cues)
    names = names_of(question, entity)
    times = time_conditions(question, entity)
    if compared is None or not names or times is None:
        return None
    values, rows = value_conditions(question, entity), limit(question)
    where = [*values.filters, *times.filters]
    words = places_of([*cues, *question.tables_of(entity)]) | compared.words | times.words | values.words
    ref, view = column_ref(schema, compared.column), schema.columns[compared.column]
    both_ends = {cue.tag for cue in cues} == {"MAX", "MIN"}
    aged = any(cue.tag in ("OLD", "YOUNG") for cue in cues)
    if both_ends or (not aged and _asks_for_the_number(question, compared.column, cues[0], rows.rows)):
        shown = [Aggregate.model_validate({"function": cue.tag.lower(), "of": ref}) for cue in cues]
        return Parse(build_plan(schema, entity, shown, where=where), words if both_ends else words | rows.words)
    down = is_descending(question.words[cues[0].start], cues[0].tag, view)
    if not rows.words and question.words[cues[0].start - 2 : cues[0].start] == ["are", "the"]:
        # "Who are the youngest": all who share the lowest age.
        end = Aggregate(function="max" if down else "min", of=ref)
        extreme = ScalarQuery(plan=build_plan(schema, entity, [end], where=where))
        plan = build_plan(schema, entity, names, where=[*where, Compare(left=ref, op="=", right=extreme)])
        return Parse(plan, words)
    order: list[tuple[Expr, bool]] = [(ref, down)]
    plan = build_plan(schema, entity, names, where=where, order=order, limit=rows.rows)
    return Parse(plan, words | rows.words)


def _after_verb(question: DatedScene) -> list[Cue]:
    """Earns the most, costs the least: the verb names the column."""
    named = {m.end for m in question.columns() if question.schema.columns[m.id].numeric and not question.is_key(m.id)}
    tables = [mention.id for mention in question.tables[:1]]
    return [
        cue
        for cue in question.cues("MOST", "LEAST")
        if named & {cue.start, cue.start - 1}
        or any(scale_column(question.schema, table, _verb_before(question, cue)) is not None for table in tables)
    ]


def _verb_before(question: DatedScene, cue: Cue) -> str:
    before = [word for word in question.words[max(0, cue.start - 2) : cue.start] if word != "the"]
    return before[-1] if before else ""


def _ranked_column(question: DatedScene, table: int, cues: Sequence[Cue]) -> ColumnUse | None:
    """The column that is named; else the one that the superlative asks for by itself (the priciest)."""
    named = compared_column(question, table, temporal=True)
    said = named is not None and any(
        m.score >= COLUMN_NAMED for m in question.scene.columns[named.column] if m.start in named.words
    )
    if not said:
        places = frozenset(place for cue in cues for place in range(cue.start, cue.end))
        verbs = [_verb_before(question, cue) for cue in cues if cue.tag in ("MOST", "LEAST")]
        places |= {place for place, word in enumerate(question.words) if word in verbs}
        columns = {scale_column(question.schema, table, question.words[place]) for place in places} - {None}
        if len(columns) == 1:
            named = ColumnUse(next(iter(columns)) or 0, places)
    if named is None:
        return None
    # "The largest store by space".
    by = [cue for cue in question.cues("BY") if cue.end in named.words]
    return ColumnUse(named.column, named.words | places_of(by))


def _asks_for_the_number(question: DatedScene, column: int, extreme: Cue, rows: int) -> bool:
    """The highest total of an invoice, but neither the invoice with the highest total nor who has it."""
    named = [m for m in question.scene.links.columns if m.id == column and m.score >= COLUMN_NAMED]
    # "The longest beak": the superlative and the word after it name the column together.
    together = not question.tables and any(mention.end == extreme.end + 1 for mention in named)
    said = together or any(mention.start >= extreme.end for mention in named)
    # "The largest store by space", "the latest product that we launched": the thing stands before its number.
    number = min((m.start for m in named), default=0)
    rows_first = any(table.start < extreme.start or table.end < number for table in question.tables)
    # "The longest serving employee": the column describes the rows.
    rows_first = rows_first or any(mention.end == table.start for mention in named for table in question.tables)
    judged = question.words[extreme.start] in ("best", "worst", "top")
    asked_of_rows = question.scene.asks_who or question.words[0] in ("whose", "which") or rows != 1 or judged
    return said and not rows_first and not asked_of_rows


def _owner_of_number(question: DatedScene) -> int | None:
    """The table of the numeric column that is named in full."""
    best = numeric_column(question)
    return None if best is None else question.schema.columns[best.id].table


def listing(question: DatedScene) -> Parse | None:
    """Things by name, with conditions on values, numbers and dates."""
    schema = question.schema
    entity = question.tables[0].id if question.tables else _owner_of_condition(question)
    shown = [] if entity is None else names_of(question, entity)
    if entity is None or not shown or question.cue("COUNT", "AVG", "SUM", "EACH", "MAX", "MIN"):
        return None
    times = time_conditions(question, entity)
    if times is None:
        return None
    numbers = number_conditions(question, entity)
    values = value_conditions(question, entity, negatable=True)
    where = [*values.filters, *numbers.filters, *times.filters]
    if not where:
        return None
    # Gentoos shown by their species say nothing.
    fixed = [test.left for test in values.filters if isinstance(test, Compare) and test.op == "="]
    if all(name in fixed for name in shown):
        return None
    names = [m for m in question.columns() if column_ref(schema, m.id) in shown]
    words = places_of([*question.tables_of(entity), *names]) | times.words | numbers.words | values.words
    if schema.tables[entity].people:
        words |= {place for place, word in enumerate(question.words) if word in PERSON_WORDS}
    plan = build_plan(schema, entity, shown, where=where)
    key = schema.tables[entity].key
    # A row that has several partners is listed once.
    if plan.joins and key is not None and not question.schema.measures:
        group = tuple(dict.fromkeys((column_ref(schema, key), *shown)))
        plan = plan.model_copy(update={"group_by": group})
    return Parse(plan, words)


def _owner_of_condition(question: DatedScene) -> int | None:
    """All footwear, who are our store managers, who makes more than 60k: the table of the date, of the values, or of
    the pay that the question is about."""
    schema = question.schema
    dated = _owner_of_date(question)
    if dated is not None or question.dates:
        return dated
    holders = [
        {schema.columns[rival.column].table for rival in question.rivals(value) if rival.score >= value.score}
        for value in question.values
    ]
    # Contractors in London: the table that holds all values, if others hold some of them.
    owners = set.intersection(*holders) if holders else set()
    if not holders and question.free_numbers:
        people = question.scene.asks_who
        priced = [table for table in schema.tables if table.people == people and _is_named(schema, table)]
        column_of = pay_column if people else price_column
        owners = {table.id for table in priced if column_of(schema, table.id) is not None}
    asked = {schema.columns[m.id].table for m in question.columns() if m.id != _display_of(question, m)}
    return next(iter(owners)) if len(owners) == 1 and asked <= owners else None


def _is_named(schema: Schema, table: TableView) -> bool:
    return any(schema.columns[column].source.type == "text" for column in table.row_names)


def _display_of(question: DatedScene, mention: Mention) -> int | None:
    """The column that names the rows of the table: "names of everyone" says no more than "everyone"."""
    return question.schema.tables[question.schema.columns[mention.id].table].display


def _owner_of_date(question: DatedScene) -> int | None:
    """Who was hired: the table of the only date that is named."""
    columns = question.schema.columns
    named = question.columns()
    # "Joined the company" says more than "joined".
    longest = [
        m
        for m in named
        if not any(m.start >= n.start and m.end <= n.end and m.end - m.start < n.end - n.start for n in named)
    ]
    owners = {columns[m.id].table for m in longest if columns[m.id].temporal}
    return owners.pop() if len(owners) == 1 else None


def facts(question: DatedScene) -> Parse | None:
    """The price of AAPL in 2008: columns of one table that has dates, in a period."""
    schema = question.schema
    columns = [m for m in question.columns() if m.end not in question.time_places or not schema.columns[m.id].temporal]
    owners = {schema.columns[m.id].table for m in columns} | {m.id for m in question.tables}
    calculated = question.cue("COUNT", "AVG", "SUM", "EACH", "MAX", "MIN", "MOST", "LEAST", "NEG")
    alone = len(schema.tables) == 1 or not question.tables
    if len(owners) != 1 or calculated or not question.spans("range", "point") or not alone:
        return None
    (owner,) = owners
    times = time_conditions(question, owner) if question.own_date(owner) is not None else None
    if times is None:
        return None
    values = value_conditions(question, owner)
    tested = {rival.column for value in question.values for rival in question.rivals(value)}
    shown = list(dict.fromkeys(column_ref(schema, m.id) for m in columns if m.id not in tested))
    if not shown:
        return None
    words = places_of([*columns, *question.tables]) | times.words | values.words
    return Parse(build_plan(schema, owner, shown, where=[*values.filters, *times.filters]), words)


def all_rows(question: DatedScene) -> Parse | None:
    """Show the rows, or five of them, with all their columns."""
    if len(question.tables) != 1 or not is_row_word(question.words[question.tables[0].start]):
        return None
    table = question.tables[0]
    times = time_conditions(question, table.id)
    if question.columns() or question.cue("COUNT") or times is None:
        return None
    first = [cue for cue in question.cues("MIN") if question.words[cue.start] == "first"]
    rows = limit(question) if question.scene.numbers else None
    values = value_conditions(question, table.id)
    where = [*values.filters, *times.filters]
    plan = build_plan(question.schema, table.id, [], where=where, limit=rows.rows if rows else None)
    words = places_of([table, *first]) | times.words | values.words
    return Parse(plan, words | rows.words if rows else words)

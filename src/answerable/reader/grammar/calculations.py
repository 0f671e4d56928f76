"""What is calculated, and over which rows."""

from answerable.core.records import dataclass
from answerable.core.words import stem
from answerable.query.plan import Aggregate, ColumnRef, Expr, MeasureRef
from answerable.reader.grammar.clause_parts import Words
from answerable.reader.grammar.dated_scene import COLUMN_NAMED, DatedScene, places_of
from answerable.reader.grammar.dimensions import dimension_at
from answerable.reader.grammar.scale_columns import scale_column
from answerable.reader.linking.cues import EXTREMES, Cue
from answerable.reader.linking.links import Mention
from answerable.reader.linking.scales import names_something
from answerable.reader.linking.schema import ColumnView
from answerable.reader.plans.draft_to_plan import column_ref

_OF_MONEY = frozenset(
    ["spend", "spends", "spent", "spending", "bill", "bills", "costs", "expense", "expenses", "money"]
)
_MONEY_COLUMNS = frozenset(
    map(stem, ["salary", "wage", "pay", "income", "price", "cost", "fee", "charge", "amount", "budget", "payment"])
)
_BEFORE_ROWS = frozenset({"our", "the", "all", "how", "do", "are", "is", "what", "what's", "show", "me"})


@dataclass(frozen=True, slots=True)
class Calculation:
    """What is calculated, and the table whose rows it is calculated over."""

    expr: Expr
    table: int
    words: Words


def calculation(question: DatedScene) -> Calculation | None:
    """A measure of the catalog, an aggregate that is asked for, a column that is added up, or a count of rows."""
    # From the surest evidence to the weakest: a count needs no column.
    return _measure(question) or _aggregate(question) or _sum(question) or _count(question)


def _measure(question: DatedScene) -> Calculation | None:
    mention = question.measure
    if mention is None or _counts_named_rows(question, mention):
        return None
    quantity_cues = [c for c in question.scene.cues if c.tag in ("MUCH", "COUNT", "SUM") and c.end <= mention.start]
    measure = question.schema.measures[mention.id][0]
    table = question.schema.table_ids[measure.table]
    words = question.measure_places | places_of(quantity_cues)
    return Calculation(MeasureRef(name=measure.name), table, words)


def _counts_named_rows(question: DatedScene, measure: Mention) -> bool:
    """How many *orders* did we take: the table after "how many" is counted, whatever a later verb is like."""
    count = question.cue("COUNT")
    counted = count is not None and any(m.start == count.end and m.end <= measure.start for m in question.tables)
    return counted and question.scene.tags[measure.start] == "O" and question.cue(*EXTREMES) is None


def _aggregate(question: DatedScene) -> Calculation | None:
    """The average price, the median of …"""
    cue = question.cue("AVG", "SUM") or _together(question)
    median = question.words.index("median") if "median" in question.words else None
    column = numeric_column(question) or _column_of_adjective(question) if cue or median is not None else None
    if column is None:
        return None
    function = "median" if median is not None else "avg" if cue and cue.tag == "AVG" else "sum"
    owner = question.schema.columns[column.id].table
    near = [m for m in question.scene.columns[column.id] if m.end == column.start or m.start == column.end]
    words = places_of([cue, column, *near, *question.tables_of(owner), *question.cues("MUCH", "COUNT")])
    words |= _words_of_money(question, column)
    expr = Aggregate.model_validate({"function": function, "of": column_ref(question.schema, column.id)})
    return Calculation(expr, owner, words if median is None else words | {median})


def _together(question: DatedScene) -> Cue | None:
    """How much do we pay all our people *together*."""
    return question.cue("RESPECT") if question.cue("MUCH") and "together" in question.words else None


def _column_of_adjective(question: DatedScene) -> Mention | None:
    """How *big* are the stores on average."""
    if question.words[:1] != ["how"] or not question.tables:
        return None
    table = question.tables[0].id
    column = scale_column(question.schema, table, question.words[1])
    return None if column is None else Mention("column", column, 1, 2, COLUMN_NAMED)


def _words_of_money(question: DatedScene, column: Mention) -> Words:
    """What we *spend* on salaries, the wage *bill*: words that add nothing to a number that is money."""
    if _MONEY_COLUMNS.isdisjoint(map(stem, question.schema.columns[column.id].words)):
        return frozenset()
    return frozenset(place for place, word in enumerate(question.words) if word in _OF_MONEY)


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
    flag = next(
        (m for m in question.columns() if cue is not None and m.start == cue.end and _is_yes_or_no(question, m)), None
    )
    if flag is not None:
        return Calculation(Aggregate(function="count"), question.schema.columns[flag.id].table, places_of([cue, flag]))
    named = _rows_of_named_value(question, cue)
    if named is not None or cue is None or not alone:
        return named
    follows = question.scene.tags[cue.end : cue.end + 1]
    if follows != ["BE"] and all(value.start != cue.end for value in question.values):
        return None
    return Calculation(Aggregate(function="count"), 0, places_of([cue]))


def _rows_of_named_value(question: DatedScene, cue: Cue | None) -> Calculation | None:
    """How many contractors, contractors per city: where `semantic.yaml` calls a value so, its rows are counted."""
    start = 0 if cue is None else cue.end
    value = next((value for value in question.values if value.start == start), None)
    if value is None or (cue is None and all(each.start != value.end for each in question.cues("EACH", "BY"))):
        return None
    view = question.schema.columns[value.column]
    phrase = " ".join(question.words[value.start : value.end])
    if not view.source.calls(value.value, phrase):
        return None
    return Calculation(Aggregate(function="count"), view.table, places_of([cue]))


def _is_yes_or_no(question: DatedScene, mention: Mention) -> bool:
    return question.schema.columns[mention.id].source.type == "boolean"


def _counts_rows(question: DatedScene, table: Mention) -> bool:
    """Orders per month, or orders in 2024, are counted; things that have names are listed."""
    if question.spans("bucket"):
        return True
    each = question.cue("EACH")
    per = each is not None and table.end <= each.start
    if _splits_rows(question, table):
        return True
    return not _has_name(question, table.id) and not _names_a_number(question, table) and (bool(question.dates) or per)


def _splits_rows(question: DatedScene, table: Mention) -> bool:
    """Stores by region, staff per shop, how do customers split by segment: a question that begins with the rows and
    goes on with groups: no numbers, and nothing that differs from row to row."""
    before = set(question.words[: table.start])
    cue = next((c for c in question.cues("EACH", "BY") if c.start == table.end), None)
    if cue is None or not before <= _BEFORE_ROWS or len(question.tables_of(table.id)) > 1:
        return False
    dimension = dimension_at(question, cue.end, table.id)
    columns = (
        [question.schema.column_of(e.table, e.column) for e in dimension.shown if isinstance(e, ColumnRef)]
        if dimension
        else []
    )
    views = [question.schema.columns[column] for column in columns if column is not None]
    return bool(views) and all(not view.numeric and not view.temporal and _repeats(question, view) for view in views)


def _repeats(question: DatedScene, view: ColumnView) -> bool:
    """Whether many rows have the same value. A column of names of other rows groups those that belong to them."""
    rows = question.schema.tables[view.table].source.row_count or 0
    return view.table not in {m.id for m in question.tables[:1]} or (view.source.distinct_count or rows) * 2 <= rows


def _names_a_number(question: DatedScene, table: Mention) -> bool:
    """Budgets of 2001: a table that is called like a number of its own stands for the number."""
    columns = question.schema.columns
    return any(
        columns[m.id].numeric and columns[m.id].table == table.id and not question.is_key(m.id)
        for m in question.scene.links.columns
        if m.start == table.start
    )


def _has_name(question: DatedScene, table: int) -> bool:
    display = question.schema.tables[table].display
    return display is not None and question.schema.columns[display].words[-1:] in (("name",), ("title",))

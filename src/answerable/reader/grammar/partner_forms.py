"""Forms of questions about things and what belongs to them: their manager, both, once and never again, never, many.

Each form returns a plan with the words that it uses, or None if the question does not have this form.
"""

from answerable.core.catalog import Relationship
from answerable.core.words import stem
from answerable.query.plan import (
    Aggregate,
    ColumnRef,
    Compare,
    Constant,
    Expr,
    Filter,
    InList,
    InQuery,
    Join,
    QueryPlan,
    SelectItem,
)
from answerable.reader.grammar.calculations import numeric_column
from answerable.reader.grammar.clause_parts import ColumnUse, Words
from answerable.reader.grammar.conditions import compared_column, limit, value_conditions
from answerable.reader.grammar.dated_scene import DatedScene, Parse, places_of
from answerable.reader.grammar.dimensions import Dimension, names_of, people_by_verb, table_dimension
from answerable.reader.grammar.periods import DateBounds, time_conditions, within
from answerable.reader.linking.cues import Cue
from answerable.reader.linking.everyday_words import CONNECTING_VERBS
from answerable.reader.linking.links import Mention
from answerable.reader.linking.scene import comparison_at
from answerable.reader.plans.draft_to_plan import build_plan, column_ref, equals
from answerable.reader.plans.joins import join_tree

_NEGATIONS = frozenset({"nobody", "never", "no", "without", "none", "not", "n't"})
_COMPARISONS = ("GT", "LT", "GE", "LE", "EQ")
_COUNT_ROWS = Aggregate(function="count")


def more_than_manager(question: DatedScene) -> Parse | None:
    """Employees who earn more than their manager: rows of a table are compared with the row that they point to."""
    cue = question.cue("GT", "LT")
    if cue is None or question.dates:
        return None
    words: Words = frozenset()
    for relationship in question.schema.catalog.relationships:
        if relationship.from_table != relationship.to_table:
            continue
        table = question.schema.table_ids[relationship.from_table]
        names = {
            stem(word)
            for name in (relationship.name, *relationship.synonyms)
            for word in name.replace("_", " ").split()
        }
        tokens = enumerate(question.scene.tokens)
        said = [place for place, token in tokens if token.stem in names and place > cue.start]
        compared = compared_column(question, table)
        display = question.schema.tables[table].display
        words |= compared.words if compared else frozenset()
        if said and compared is not None and display is not None:
            words |= places_of([cue, *question.tables_of(table)]) | frozenset(said)
            return Parse(_compared_with_other_row(question, relationship, table, compared.column, display, cue), words)
    return None


def _compared_with_other_row(
    question: DatedScene, relationship: Relationship, table: int, column: int, display: int, cue: Cue
) -> QueryPlan:
    name = question.schema.tables[table].name
    value = question.schema.columns[column].name
    # The alias is the role: `manager_id` joins the table as `manager`. It must not be the name of a table.
    other = relationship.from_columns[0].lower().removesuffix("_id") or "other"
    other = f"other_{other}" if other in question.schema.table_ids else other
    on = tuple(
        (ColumnRef(table=name, column=here), ColumnRef(table=other, column=there))
        for here, there in zip(relationship.from_columns, relationship.to_columns, strict=True)
    )
    return QueryPlan(
        entity=name,
        joins=(Join(table=name, alias=other, on=on),),
        select=(SelectItem(expr=column_ref(question.schema, display)),),
        where=Compare(
            left=ColumnRef(table=name, column=value),
            op=">" if cue.tag == "GT" else "<",
            right=ColumnRef(table=other, column=value),
        ),
    )


def bought_both(question: DatedScene) -> Parse | None:
    """Customers who bought both A and B: two values of one column of another table."""
    if len(question.values) != 2 or not question.tables or question.dates:
        return None
    if question.cue("BOTH", "AND") is None or question.cue("COUNT"):
        return None
    schema, entity = question.schema, question.tables[0]
    first, second = question.values
    columns = {v.column for v in question.rivals(first)} & {v.column for v in question.rivals(second)}
    columns = {c for c in columns if schema.columns[c].table != entity.id}
    names = names_of(question, entity.id)
    if not columns or not names:
        return None
    column = min(columns, key=lambda c: (question.distance_to(entity.id, c), c))
    path = join_tree(schema, entity.id, [schema.columns[column].table])
    if len(path) < 2:
        return None
    left, right = path[0].pairs[0]
    tests = []
    for value in (first, second):
        text = next(v.value for v in question.rivals(value) if v.column == column)
        condition = equals(schema, column, text)
        inner = build_plan(schema, path[0].end, [column_ref(schema, right)], where=[condition])
        tests.append(InQuery(left=column_ref(schema, left), plan=inner))
    # "bought" and "ordered" link to the date column of the orders; here they only say how the tables are related
    verbs = [m for m in question.scene.links.columns if m.score >= 0.85 and schema.columns[m.id].temporal]
    words = places_of([first, second, *question.tables, *question.cues("BOTH"), *verbs])
    return Parse(build_plan(schema, entity.id, names, where=tests), words)


def in_one_period_only(question: DatedScene) -> Parse | None:
    """Customers who ordered in 2024 but not in 2025."""
    spans = question.spans("range", "point")
    if len(spans) != 2 or question.cue("NEG") is None or not question.tables:
        return None
    schema, entity = question.schema, question.tables[0]
    named = next((question.own_date(m.id) for m in question.tables[1:]), None)
    verb = None if named else _date_of_verb(question, entity.id)
    date_of = named or (verb.column if verb else None)
    names = names_of(question, entity.id)
    if date_of is None or not names:
        return None
    path = join_tree(schema, entity.id, [schema.columns[date_of].table])
    # "Orders in 2024 but not orders in 2025": the date is the entity's own, and there is no other table to look in.
    if not path:
        return None
    left, right = path[0].pairs[0]
    tests = []
    for number, span in enumerate(spans):
        where = within(schema, date_of, DateBounds(span.start, span.end))
        inner = build_plan(schema, path[0].end, [column_ref(schema, right)], where=where)
        tests.append(InQuery(left=column_ref(schema, left), plan=inner, negated=number == 1))
    words = places_of([*question.tables, *question.cues("NEG")]) | (verb.words if verb else frozenset())
    return Parse(build_plan(schema, entity.id, names, where=tests), words)


def _date_of_verb(question: DatedScene, entity: int) -> ColumnUse | None:
    """Ordered, as a verb, is the date of another table."""
    for mention in question.scene.links.columns:
        view = question.schema.columns[mention.id]
        if view.temporal and view.table != entity and mention.score >= 0.85:
            return ColumnUse(mention.id, places_of([mention]))
    return None


def never(question: DatedScene) -> Parse | None:
    """Things that have no partner: customers without an order."""
    negation = next((place for place, word in enumerate(question.words) if word in _NEGATIONS), None)
    if negation is None or not question.tables or question.tables[0].start > negation or question.dates:
        return None
    schema, entity = question.schema, question.tables[0]
    lacking = _lacking_table(question, entity, negation)
    names = names_of(question, entity.id)
    if lacking is None or not names:
        return None
    other, mention = lacking
    path = join_tree(schema, entity.id, [other])
    # A measure of the entity's own table is no partner that could be lacking.
    if not path:
        return None
    left, right = path[0].pairs[0]
    values = value_conditions(question, entity.id)
    # Business customers who never ordered: what describes the things themselves is no part of what they lack.
    own = [test for test in values.filters if _is_about(test, schema.tables[entity.id].name)]
    where = [test for test in values.filters if test not in own]
    inner = build_plan(schema, path[0].end, [column_ref(schema, right)], where=where, extra=[other])
    condition = InQuery(left=column_ref(schema, left), plan=inner, negated=True)
    count = question.cue("COUNT")
    shown: list[Expr] = [_COUNT_ROWS] if count else names
    words = places_of([entity, mention, count, *question.cues("NEG")]) | values.words | {negation}
    return Parse(build_plan(schema, entity.id, shown, where=[condition, *own]), words)


def _is_about(test: Filter, table: str) -> bool:
    return isinstance(test, Compare | InList) and isinstance(test.left, ColumnRef) and test.left.table == table


def _lacking_table(question: DatedScene, entity: Mention, negation: int) -> tuple[int, Mention] | None:
    """What is lacking: a table, or the table of a measure or of a column that is said as a verb."""
    schema, links = question.schema, question.scene.links
    for mention in links.tables:
        if mention.start > negation and mention.id != entity.id and mention.score >= 0.6:
            return mention.id, mention
    for mention in links.measures:
        if mention.start > negation and mention.score >= 0.45:
            return schema.table_ids[schema.measures[mention.id][0].table], mention
    # A column as a verb is the weakest evidence of a table, so it must match best.
    for mention in links.columns:
        table = schema.columns[mention.id].table
        if mention.start > negation and table != entity.id and mention.score >= 0.85:
            return table, mention
    return None


def with_many(question: DatedScene) -> Parse | None:
    """Customers with more than 50 orders."""
    numbers = question.free_numbers
    if len(question.tables) < 2 or len(numbers) != 1 or question.cue(*_COMPARISONS) is None:
        return None
    entity, other = question.tables[:2]
    place = numbers[0]
    if entity.id == other.id or not 0 < other.start - place <= 2:
        return None
    dimension = table_dimension(question, entity)
    times = time_conditions(question, other.id)
    number = question.scene.tokens[place].value
    if dimension is None or times is None or number is None:
        return None
    operator = comparison_at(question.scene, place)
    having = Compare(left=_COUNT_ROWS, op=operator, right=Constant(value=number))
    values = value_conditions(question, other.id)
    plan = build_plan(
        question.schema,
        entity.id,
        dimension.shown,
        where=[*values.filters, *times.filters],
        group=dimension.key,
        having=having,
        extra=[other.id],
    )
    words = places_of([entity, other, *question.cues(*_COMPARISONS)]) | {place}
    return Parse(plan, words | dimension.words | times.words | values.words)


def with_most(question: DatedScene) -> Parse | None:
    """Who handles the most complaints, which room gets booked most: the thing that the most rows belong to."""
    cue = question.cue("MOST", "LEAST", "COMMON", "RARE")
    if cue is None or question.measured is not None or question.cue("COUNT", "AVG", "SUM", "NEG", "EACH"):
        return None
    # "Takes the fewest days" ranks by the column of days.
    ranked = _ranked_things(question) if numeric_column(question) is None else None
    if ranked is None:
        return None
    dimension, counted = ranked
    times = time_conditions(question, counted.id)
    if times is None:
        return None
    values, rows = value_conditions(question, counted.id), limit(question)
    plan = build_plan(
        question.schema,
        counted.id,
        dimension.shown,
        where=[*values.filters, *times.filters],
        group=dimension.key,
        order=[(_COUNT_ROWS, cue.tag in ("MOST", "COMMON"))],
        limit=rows.rows,
    )
    verbs = {p for p, w in enumerate(question.words) if w in CONNECTING_VERBS and question.scene.tags[p] == "O"}
    words = places_of([cue, counted]) | dimension.words | times.words | values.words | rows.words
    return Parse(plan, words | verbs)


def _ranked_things(question: DatedScene) -> tuple[Dimension, Mention] | None:
    """What is ranked, and the table whose rows are counted for it."""
    if len(question.tables) >= 2:
        thing, counted = question.tables[:2]
        if thing.id == counted.id:
            return None
        if _belongs_to(question, thing.id, counted.id):
            thing, counted = counted, thing
        dimension = table_dimension(question, thing)
        return None if dimension is None else (dimension, counted)
    people = people_by_verb(question, question.tables[0].id) if len(question.tables) == 1 else None
    if people is not None:
        return people, question.tables[0]
    groups = [m for m in question.columns() if not question.schema.columns[m.id].numeric]
    if len(question.tables) != 1 or not groups or question.schema.columns[groups[0].id].table != question.tables[0].id:
        return None
    shown = column_ref(question.schema, groups[0].id)
    return Dimension((shown,), (shown,), places_of([groups[0]])), question.tables[0]


def _belongs_to(question: DatedScene, table: int, other: int) -> bool:
    """Whether rows of the table point to rows of the other, so that those are what is ranked."""
    names = question.schema.tables
    return any(
        edge.end == other and edge.relationship.from_table == names[table].name
        for edge in question.schema.edges.get(table, ())
    )

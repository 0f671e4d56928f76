"""What rows are grouped by."""

from answerable.core.records import dataclass
from answerable.core.words import stem
from answerable.query.plan import ColumnRef, Expr
from answerable.reader.grammar.clause_parts import Words
from answerable.reader.grammar.dated_scene import DatedScene, places_of
from answerable.reader.grammar.selling import verb_of_sale
from answerable.reader.linking.cues import Cue
from answerable.reader.linking.links import Mention
from answerable.reader.linking.schema import ColumnView, Edge, Schema, names_of_rows
from answerable.reader.plans.draft_to_plan import column_ref
from answerable.reader.plans.joins import distance

# More different codes than that are rather ids than kinds.
_MANY_KINDS = 50
_GOODS = frozenset(map(stem, ("product", "item", "article", "good", "goods")))
# A number with fewer values is a group of rows: students per grade.
FEWEST_QUANTITIES = 5


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
        dimension = None if per_quantity(question, cue) else dimension_at(question, start, table)
        while dimension is not None:
            words |= places_of([cue]) | dimension.words
            if not any(other.key == dimension.key and other.shown == dimension.shown for other in found):
                found.append(dimension)
            start = _after_and(question, start, used | words)
            dimension = dimension_at(question, start, table)
    return Dimensions(tuple(found), words)


def per_quantity(question: DatedScene, cue: Cue) -> Mention | None:
    """Sales per *square metre*: after a measure, "per" and a number of many values divide by it."""
    if question.measure is None or question.words[cue.end - 1] != "per":
        return None
    columns = question.schema.columns
    named = [
        m for m in question.columns() if m.start == cue.end and columns[m.id].numeric and not question.is_key(m.id)
    ]
    many = [m for m in named if (columns[m.id].source.distinct_count or 0) >= FEWEST_QUANTITIES]
    return next(iter(many), None)


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
    columns = own or _spread_names(question, start, table) or columns
    best = min(columns, key=lambda m: (-(m.end - m.start) - m.score, question.distance_to(table, m.id)), default=None)
    if best is not None and (owner is None or best.end > owner.end):
        shown = column_ref(question.schema, best.id)
        words = places_of([best]) | (frozenset({start}) if owner is not None else frozenset())
        return Dimension((shown,), (shown,), words)
    return table_dimension(question, owner) if owner else None


def _spread_names(question: DatedScene, start: int, table: int) -> list[Mention]:
    """Groups per type: a column of the table whose name is the words before "per" and after it."""
    columns = question.schema.columns
    around = [m for m in question.columns() if m.start < start < m.end and columns[m.id].table == table]
    return [m for m in around if m.end == start + 1 and _may_group(columns[m.id])]


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
    # "Best seller" may be a name of products.
    around = next((m for m in question.tables if m.start in used and m.end - 1 not in used), None)
    if around is not None:
        return table_dimension(question, around)
    for place in range(len(question.words)):
        if place in used or place in question.measure_places or place in question.value_places:
            continue
        dimension = dimension_at(question, place, table)
        if dimension is not None and not _is_date(question, dimension):
            return dimension
    return None


def _is_date(question: DatedScene, dimension: Dimension) -> bool:
    """Who *bought* the most: the verb may be the name of a date, but nobody asks for the best one."""
    columns = [question.schema.column_of(e.table, e.column) for e in dimension.shown if isinstance(e, ColumnRef)]
    return any(column is not None and question.schema.columns[column].temporal for column in columns)


def goods_sold(question: DatedScene, table: int) -> Dimension | None:
    """*What* did we sell the most of: the goods, if a single table has their names and is joined to the sales."""
    schema = question.schema
    if question.words[:1] != ["what"] or verb_of_sale(question.words) is None:
        return None
    goods = [
        view.id
        for view in schema.tables
        if not _GOODS.isdisjoint(map(stem, view.words))
        and distance(schema, table, view.id) is not None
        and view.display is not None
        and schema.columns[view.display].source.type == "text"
        and not schema.columns[view.display].looks_like_id
    ]
    return table_dimension(question, Mention("table", goods[0], 0, 1, 1.0)) if len(goods) == 1 else None


def people_by_verb(question: DatedScene, table: int) -> Dimension | None:
    """Who *handled* the most tickets, who *bought* the most: the verb tells which people rows belong to, if the
    relationship is called so (handled by, bought by)."""
    schema = question.schema
    if not question.scene.asks_who and question.words[:1] != ["which"]:
        return None
    for relationship in schema.catalog.relationships:
        people = schema.table_ids[relationship.to_table]
        owner = schema.table_ids[relationship.from_table]
        near = owner == table or distance(schema, table, owner) is not None
        names = {stem(name.split()[0]) for name in relationship.synonyms if len(name.split()) <= 2}
        places = [place for place, token in enumerate(question.scene.tokens) if token.stem in names]
        if not places or not near or owner == people or not schema.tables[people].people:
            continue
        dimension = table_dimension(question, Mention("table", people, places[0], places[0] + 1, 1.0))
        if dimension is not None:
            return dimension
    return None

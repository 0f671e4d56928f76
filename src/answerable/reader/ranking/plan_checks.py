"""Checks that a plan uses what the question says. If the question has a superlative and the plan does not sort, or a
year and the plan compares nothing with it, the reader dropped these words without understanding them."""

import re
from collections.abc import Iterator

from pydantic import BaseModel

from answerable.core.catalog import Catalog
from answerable.query.plan import (
    Aggregate,
    Arithmetic,
    Between,
    ColumnRef,
    Compare,
    Constant,
    InList,
    InQuery,
    MeasureRef,
    Not,
    QueryPlan,
    TextMatch,
)
from answerable.reader.linking.column_kinds import adds_up, is_level
from answerable.reader.linking.everyday_words import TYPICAL
from answerable.reader.linking.scene import Scene
from answerable.reader.linking.schema import SchemaElement

_DIGITS = re.compile(r"\d+")
_SAID = 0.45
"""How much of a name must be said, at least."""
_FUNCTIONS = frozenset({"AVG", "SUM", "MUCH"})
_EXTREMES = frozenset({"MAX", "MIN", "MOST", "LEAST", "COMMON", "RARE"})
_BOTH_ENDS = frozenset({"MAX", "MIN"})
"""The highest and the lowest: a plan with one of them is half of the answer."""


# "Oldest" and "largest" need something with a size. The first name in the alphabet is hardly meant by them.
_MEASURED = frozenset({"MAX", "MIN", "MOST", "LEAST", "OLD", "YOUNG"})


def covers_cues(plan: QueryPlan, scene: Scene) -> bool:
    """Whether the plan does something about every extreme, average, sum and negation that the question speaks of, and
    takes the largest and smallest of something that has a size: not of names. The words of a name that the plan uses
    ask for no more than that: the last name, the highest point."""
    traces = set(_traces(plan))
    named = set(_named_places(plan, scene))
    tags = {cue.tag for cue in scene.cues if named.isdisjoint(range(cue.start, cue.end))}
    if any(tag in _WANTED and _WANTED[tag].isdisjoint(traces) for tag in tags):
        return False
    if tags >= _BOTH_ENDS and not ({"max", "min"} <= traces or plan.set_operation is not None):
        return False
    if _drops_group(plan, scene) or _drops_comparison(traces, scene) or shows_nobody(plan, scene):
        return False
    return _MEASURED.isdisjoint(tags) or not any(_is_text(column, scene.schema.catalog) for column in _extremes(plan))


def names_its_quantities(plan: QueryPlan, scene: Scene) -> bool:
    """Whether the question names every measure and column that the plan computes with or ranks by. "Our biggest store"
    names none: the reader has chosen what "biggest" means. Dates are not asked for, because "in 2024" seldom says of
    what."""
    schema = scene.schema
    said_columns = {m.id for m in scene.links.columns if m.score >= _SAID}
    said_measures = {schema.measures[m.id][0].name for m in scene.links.measures if m.score >= _SAID}
    for part in _quantities(plan):
        if isinstance(part, MeasureRef):
            if part.name not in said_measures:
                return False
        else:
            column = schema.column_of(part.table, part.column)
            if column is not None and not schema.columns[column].temporal and column not in said_columns:
                return False
    return True


def _quantities(part: object) -> Iterator[ColumnRef | MeasureRef]:
    """Measures, and columns that are aggregated, compared with a number, or sorted by to take the first."""
    if isinstance(part, MeasureRef):
        yield part
    if isinstance(part, Aggregate) and part.function != "count" and isinstance(part.of, ColumnRef):
        yield part.of
    if isinstance(part, Compare) and part.op not in ("=", "!=") and isinstance(part.left, ColumnRef):
        yield part.left
    if isinstance(part, QueryPlan) and part.limit is not None:
        yield from (item.expr for item in part.order_by[:1] if isinstance(item.expr, ColumnRef))
    for inner in _inside(part):
        yield from _quantities(inner)


def _drops_comparison(traces: set[str], scene: Scene) -> bool:
    """Whether "more than 4" became a plan that compares nothing: "4 seasons" may be a value of the data."""
    near = [
        place
        for cue in scene.cues_of("GT", "LT", "GE", "LE")
        for place in range(cue.end, cue.end + _NUMBER_WITHIN)
        if place < len(scene.tokens) and scene.tokens[place].kind == "number"
    ]
    return bool(near) and "compare" not in traces


def shows_nobody(plan: QueryPlan, scene: Scene) -> bool:
    """Whether "who" is answered with numbers or dates alone. A donor's number stands for the donor."""
    shown = [item.expr for item in plan.select]
    refs = [expr for expr in shown if isinstance(expr, ColumnRef)]
    return scene.asks_who and bool(refs) and not any(_may_name_somebody(ref, scene) for ref in refs)


def _may_name_somebody(ref: ColumnRef, scene: Scene) -> bool:
    column = scene.schema.column_of(ref.table, ref.column)
    numbered = column is not None and scene.schema.columns[column].looks_like_id
    return numbered or _is_text(ref, scene.schema.catalog)


def _drops_group(plan: QueryPlan, scene: Scene) -> bool:
    """Whether "by species" or "per region" names something of the data and the plan neither groups, sorts nor compares
    by it: the reader left it out."""
    used = set(_columns(plan))
    tables = {ref.table for ref in used} | {plan.entity, *(join.table for join in plan.joins)}
    columns, names = scene.schema.columns, scene.schema.tables
    for cue in scene.cues_of("EACH", "BY"):
        there = [
            m for m in (*scene.links.columns, *scene.links.tables) if 0 <= m.start - cue.end <= 1 and m.score > 0.45
        ]
        refs = {(names[columns[m.id].table].name, columns[m.id].name) for m in there if m.kind == "column"}
        said_tables = {names[m.id].name for m in there if m.kind == "table"}
        if there and refs.isdisjoint((ref.table, ref.column) for ref in used) and said_tables.isdisjoint(tables):
            return True
    return False


def _named_places(plan: QueryPlan, scene: Scene) -> Iterator[int]:
    """Where words of the question are words of the names of used columns and tables."""
    schema = scene.schema
    columns = {schema.column_of(ref.table, ref.column) for ref in _columns(plan)}
    tables = {schema.columns[column].table for column in columns if column is not None}
    mentions = [
        *(m for m in scene.links.columns if m.id in columns),
        *(m for m in scene.links.tables if m.id in tables),
    ]
    for mention in mentions:
        stems = {
            stem for variant in schema.variants_of(SchemaElement(mention.kind, mention.id)) for stem in variant.stems
        }
        yield from (place for place in range(mention.start, mention.end) if scene.tokens[place].stem in stems)


def dropped_numbers(plan: QueryPlan, scene: Scene) -> tuple[str, ...]:
    """The numbers and dates of the question that the plan does not use."""
    constants, parts = _numbers_of(plan)
    named = set(_named_places(plan, scene))
    dropped = []
    for place in scene.numbers:
        token = scene.tokens[place]
        said = token.text if token.value is None else token.value
        # "At least one order" becomes a join, and "no orders" a negation, without a number in the plan.
        in_plan = said in (0, 1) or said in constants or str(said) in parts
        if not in_plan and place not in named:
            dropped.append(token.text)
    return tuple(dropped)


def uses_number(plan: QueryPlan, text: str) -> bool:
    """Whether a number or year that was said stands in the plan, also as a part of a date."""
    constants, parts = _numbers_of(plan)
    return text in parts or text in map(str, constants)


def _numbers_of(plan: QueryPlan) -> tuple[set[object], set[str]]:
    """The constants of the plan, and the numbers within those that are text."""
    constants = set(_constants(plan))
    return constants, {
        part for value in constants if isinstance(value, str) for part in (value, *_DIGITS.findall(value))
    }


def _constants(part: object) -> Iterator[object]:
    match part:
        case Constant():
            yield part.value
        case TextMatch():
            yield part.pattern
        case QueryPlan():
            yield from (part.limit, part.offset)
    for inner in _inside(part):
        yield from _constants(inner)


def chooses_a_function(plan: QueryPlan, scene: Scene) -> bool:
    """Whether the reader has chosen between a total, an average and the highest value of a column that may be taken in
    either way: "weight by quality". Amounts are added up, and levels such as prices are averaged, unless said."""
    if not _FUNCTIONS.isdisjoint(scene.cue_tags) or not TYPICAL.isdisjoint(scene.words):
        return False
    ranked = {item.expr for item in plan.order_by}
    return any(
        _is_free_choice(expr, expr in ranked, scene)
        for expr in (*(item.expr for item in plan.select), *ranked)
        if isinstance(expr, Aggregate)
    )


def _is_free_choice(figure: Aggregate, ranked: bool, scene: Scene) -> bool:
    if figure.function not in ("sum", "avg", "max", "min") or not isinstance(figure.of, ColumnRef):
        return False
    column = scene.schema.column_of(figure.of.table, figure.of.column)
    if column is None:
        return False
    view = scene.schema.columns[column]
    match figure.function:
        case "sum":
            return not adds_up(view)
        case "avg":
            return not is_level(view)
    return ranked


def names_a_column(plan: QueryPlan) -> bool:
    """A plan that names none counts or lists all rows, whatever else the question said."""
    return any(True for _ in _columns(plan))


def _columns(part: object) -> Iterator[ColumnRef]:
    if isinstance(part, ColumnRef):
        yield part
    for inner in _inside(part):
        yield from _columns(inner)


def _extremes(part: object) -> Iterator[ColumnRef]:
    """The columns of which only the first or the largest is taken."""
    if isinstance(part, QueryPlan) and part.limit is not None:
        yield from (item.expr for item in part.order_by if isinstance(item.expr, ColumnRef))
    if isinstance(part, Aggregate) and part.function in ("min", "max") and isinstance(part.of, ColumnRef):
        yield part.of
    for inner in _inside(part):
        yield from _extremes(inner)


def _is_text(ref: ColumnRef, catalog: Catalog) -> bool:
    table = next((table for table in catalog.tables if table.name == ref.table), None)
    column = table.column(ref.column) if table is not None else None
    return column is not None and column.type == "text"


_WANTED: dict[str, frozenset[str]] = {
    **dict.fromkeys(_EXTREMES, frozenset({"order", "max", "min", "measure"})),
    "AVG": frozenset({"avg", "median", "measure"}),
    # "The total number of orders" is a count.
    "SUM": frozenset({"sum", "measure", "count"}),
    "NEG": frozenset({"not"}),
    "SHARE": frozenset({"ratio", "measure", "avg"}),
}
_NUMBER_WITHIN = 3


def _traces(part: object) -> Iterator[str]:
    """What the plan does, by the names above, at any depth."""
    match part:
        case Aggregate():
            yield part.function
        case MeasureRef():
            yield "measure"
        case QueryPlan() if part.order_by:
            yield "order"
        case Arithmetic(op="/"):
            yield "ratio"
        case Compare(op="<" | ">" | "<=" | ">=") | Between():
            yield "compare"
        case Not() | Compare(op="!="):
            yield "not"
        case InList(negated=True) | InQuery(negated=True) | TextMatch(negated=True):
            yield "not"
    if isinstance(part, QueryPlan) and part.set_operation is not None and part.set_operation.op == "except":
        yield "not"
    for inner in _inside(part):
        yield from _traces(inner)


def _inside(part: object) -> Iterator[object]:
    if isinstance(part, BaseModel):
        yield from (getattr(part, name) for name in type(part).model_fields)
    elif isinstance(part, tuple):
        yield from part

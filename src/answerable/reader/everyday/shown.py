"""What is shown of rows: their names, a column that is asked for, the people they belong to."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace

from answerable.query.plan import Compare, Expr
from answerable.reader.everyday.calendar_columns import calendar_part
from answerable.reader.everyday.figures import ranked_by, with_measure
from answerable.reader.everyday.grids import is_grid
from answerable.reader.everyday.proposal import Proposal
from answerable.reader.everyday.reach import EACH_JOIN
from answerable.reader.everyday.request import EverydayRequest
from answerable.reader.everyday.word_options import Element
from answerable.reader.linking.column_kinds import is_flag
from answerable.reader.linking.schema import ColumnView, Schema, TableView
from answerable.reader.plans.draft_to_plan import column_ref
from answerable.reader.plans.joins import distance

# Beyond three joins nobody means a column without saying its table.
_FAR = 3.0
_FIXED = 3.0
_MOST_SHOWN = 16
_NAMED = 0.6
_GUESSED = -0.8
_UNASKED = -0.7
_OWNER = -0.2
_NOBODY = 1.5
_WHAT = (["what"], ["where"], ["what's"])
_FEW_KINDS = 60
_MOST_KINDS = 3


def listed(request: EverydayRequest, base: Proposal, multiplies: bool) -> Iterator[Proposal]:
    for shown in shown_columns(request, base):
        distinct = multiplies or not _names_rows(request, shown)
        ordered = shown
        if request.ranking is not None and request.ranking.sorts_all:
            for view, chance in ranked_by(request, shown)[:1]:
                by = column_ref(request.question.schema, view.id)
                descending = request.ranking.cue.tag in ("MAX", "MOST")
                ordered = replace(with_measure(request, shown, view, chance), order=((by, descending),))
                distinct = False
        if not ordered.where and not ordered.order and not request.ranking:
            ordered = replace(ordered, weight=ordered.weight - 0.7)
        yield replace(ordered, distinct=distinct)


def with_also(request: EverydayRequest, ones: Iterable[Proposal]) -> Iterator[Proposal]:
    """The biggest payment *and who made it*, drivers *and how old they are*: one more column is shown."""
    asked = _also_asked(request.question.words)
    for one in ones:
        more = _also_shown(request, one, asked) if asked is not None and not one.group else None
        yield one if more is None else more


def _also_asked(words: Sequence[str]) -> tuple[str, ...] | None:
    for place in range(2, len(words) - 1):
        if words[place] in ("and", ","):
            after = tuple(words[place + 1 : place + 3])
            if after[:1] in (("where",), ("when",), ("who",)) or after == ("how", "old"):
                return after if after[0] == "how" else after[:1]
    return None


def _also_shown(request: EverydayRequest, one: Proposal, asked: tuple[str, ...]) -> Proposal | None:
    schema = request.question.schema
    views = [schema.columns[column] for column in schema.tables[one.table].columns]
    match asked[0]:
        case "where":
            found = [view for view in views if view.place]
        case "when":
            found = [view for view in views if view.temporal or calendar_part(view) == "year"]
        case "how":
            found = [view for view in views if "age" in view.words]
        case _:
            people = (table for table in schema.tables if table.people and table.id != one.table)
            near = sorted(
                (far, table.id) for table in people if (far := distance(schema, one.table, table.id)) is not None
            )
            found = [schema.columns[column] for column in schema.tables[near[0][1]].row_names] if near else []
            found = [view for view in views if view.people][:1] or found
    shown = [column_ref(schema, view.id) for view in (found if asked[0] == "who" else found[:1])]
    fresh = tuple(ref for ref in shown if ref not in one.select)
    if not fresh:
        return None
    uses = one.uses | {Element("table", view.table) for view in found} | {Element("column", view.id) for view in found}
    return replace(one, select=(*one.select, *fresh), uses=uses, distinct=False)


def _names_rows(request: EverydayRequest, one: Proposal) -> bool:
    names = request.question.schema.tables[one.table].row_names
    shown = tuple(column_ref(request.question.schema, column) for column in names)
    return one.select == shown or (not shown and len(one.select) > 1)


def shown_columns(request: EverydayRequest, base: Proposal) -> Iterator[Proposal]:
    """What is shown of the rows: their names; a column that is asked for; where; when."""
    question, schema = request.question, request.question.schema
    view = schema.tables[base.table]
    names = tuple(column_ref(schema, column) for column in view.row_names)
    first = question.words[:1]
    people = question.scene.asks_who and not view.people
    tested = {element.id for element in base.uses if element.kind == "column"}
    # Who asks about a thing by its name wants to know something else of it.
    fixed = bool(names) and set(names) <= _fixed(base)
    if people:
        yield from _related(request, base, [table for table in schema.tables if table.people])
        for column in view.columns:
            one = schema.columns[column]
            if one.people and not is_flag(one) and column_ref(schema, column) not in names:
                yield replace(base, select=(column_ref(schema, column),))
    unnamed = len(view.row_names) == 1 and _is_number_of_row(schema.columns[view.row_names[0]])
    if unnamed and not people:
        yield from _related(request, base, _parents(schema, base.table), _OWNER)
    if fixed:
        yield from _about_the_named(request, base)
    yield from _sides(request, base)
    yield from _what_repeats(request, base)
    # Rows that nothing names are shown whole.
    shown = names or tuple(column_ref(schema, column) for column in view.columns)
    if len(shown) <= _MOST_SHOWN:
        against = (1.0 if people or unnamed else 0.0) + (_FIXED if fixed else 0.0)
        yield replace(base, select=shown, weight=base.weight - against)
    for column in view.columns:
        one = schema.columns[column]
        chance = request.options.best(Element("column", column), request.content)
        if one.key or one.foreign or one.looks_like_id:
            continue
        where = first == ["where"] and one.place
        when = (first == ["when"] and one.temporal) or _is_period(request, one)
        if column in view.row_names or column_ref(schema, column) in _fixed(base):
            continue
        if not where and not when and (chance < 0.3 or column in tested):
            continue
        uses = base.uses | ({Element("column", column)} if chance > 0 else set())
        weight = base.weight + (0.3 if where or when else -0.2 if chance >= _NAMED else _GUESSED)
        # Who worked the most: nobody is a date of work; when: no number is a time.
        weight -= _NOBODY if (people and not one.people) or (first == ["when"] and not when) else 0.0
        yield replace(base, select=(column_ref(schema, column),), uses=uses, weight=weight)


def _sides(request: EverydayRequest, base: Proposal) -> Iterator[Proposal]:
    """Which sector: a side of the grid, if nothing is called so."""
    schema = request.question.schema
    if request.question.words[:1] not in (["which"], ["what"], ["where"], ["who"]) or not is_grid(schema, base.table):
        return
    for column in schema.tables[base.table].columns:
        side = column_ref(schema, column)
        if schema.columns[column].source.type == "text" and side not in _fixed(base):
            yield replace(base, select=(side,), weight=base.weight + _GUESSED)


def _what_repeats(request: EverydayRequest, base: Proposal) -> Iterator[Proposal]:
    """What breaks most often: the columns with few different words, if none is named."""
    ranking, schema = request.ranking, request.question.schema
    if ranking is None or ranking.cue.tag not in ("COMMON", "RARE") or request.question.words[:1] not in _WHAT:
        return
    view = schema.tables[base.table]
    texts = [schema.columns[column] for column in view.columns if schema.columns[column].source.type == "text"]
    named = [one for one in texts if request.options.best(Element("column", one.id), request.content) >= _NAMED]
    kinds = [
        one for one in texts if 2 < (one.source.distinct_count or 0) <= _FEW_KINDS and one.id not in view.row_names
    ]
    places = [one for one in kinds if one.place] if request.question.words[:1] == ["where"] else kinds
    for one in () if named else (places or kinds)[:_MOST_KINDS]:
        yield replace(base, select=(column_ref(schema, one.id),), weight=base.weight + _GUESSED)


def _is_period(request: EverydayRequest, view: ColumnView) -> bool:
    """Which days, in which years: the column that holds them."""
    if request.unit == "day":
        return view.temporal
    return request.unit is not None and view.words[-1:] == (request.unit,)


def _is_number_of_row(view: ColumnView) -> bool:
    return view.key or view.foreign or view.looks_like_id


def _parents(schema: Schema, table: int) -> list[TableView]:
    """The tables that rows of this one belong to."""
    name = schema.tables[table].name
    return [schema.tables[edge.end] for edge in schema.edges.get(table, ()) if edge.relationship.from_table == name]


def _fixed(base: Proposal) -> set[Expr]:
    return {condition.left for condition in base.where if isinstance(condition, Compare) and condition.op == "="}


def _about_the_named(request: EverydayRequest, base: Proposal) -> Iterator[Proposal]:
    """Where can I get an iPhone X: places that it belongs to, dates, or the names of what is joined with it."""
    schema, first = request.question.schema, request.question.words[:1]
    for view in schema.columns:
        far = distance(schema, base.table, view.table)
        asked = (first == ["where"] and view.place) or (first == ["when"] and (view.temporal or calendar_part(view)))
        if asked and far is not None and far <= _FAR and not view.key and not view.foreign:
            weight = base.weight - EACH_JOIN * far
            yield replace(base, select=(column_ref(schema, view.id),), weight=weight)
    near = [table for table in schema.tables if not table.bridge]
    places = [table for table in near if table.places]
    yield from _related(request, base, places if first == ["where"] else near, _UNASKED)


def _related(
    request: EverydayRequest, base: Proposal, tables: Iterable[TableView], unasked: float = 0.0
) -> Iterator[Proposal]:
    """The names of what the rows belong to: who, the people."""
    schema = request.question.schema
    for table in tables:
        far = distance(schema, base.table, table.id)
        if table.id == base.table or far is None or far > _FAR:
            continue
        names = tuple(column_ref(schema, column) for column in table.row_names)
        uses = base.uses | {Element("table", table.id)}
        if names:
            weight = base.weight - EACH_JOIN * far + unasked
            yield replace(base, select=names, uses=uses, weight=weight)


def row_keys(schema: Schema, one: Proposal) -> tuple[Expr, ...]:
    key = schema.tables[one.table].key
    keys = (*((column_ref(schema, key),) if key is not None else ()), *one.select)
    return tuple(dict.fromkeys(keys))

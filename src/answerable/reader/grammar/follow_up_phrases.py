"""Follow-ups that are set phrases: list them, who are they, how many are there, the other way round, and the youngest?,
highest first, make it 5."""

import re
from collections.abc import Callable

from answerable.query.headings import COUNT_ROWS
from answerable.query.plan import Aggregate, ColumnRef, Expr, MeasureRef, OrderItem, QueryPlan, SelectItem
from answerable.query.row_source import rows_of
from answerable.query.scope import scope_of
from answerable.reader.grammar.dated_scene import DatedScene, Parse
from answerable.reader.grammar.dimensions import names_of
from answerable.reader.linking.scales import is_descending
from answerable.reader.linking.schema import Schema
from answerable.reader.plans.draft_to_plan import column_ref

_THEM = "(?:them|those|these|they|the ones|that|it)"
_LIST = re.compile(
    rf"(?:list|show|name|see|display|give)(?: me)?(?: all)?(?: of)? {_THEM}(?: all)?|(?:who|which|what)(?: ones)?"
    rf" (?:are|were|is|was) {_THEM}|which ones|who|(?:list|show)(?: me)?(?: all)?(?: the| their)? names"
)
_COUNT = re.compile(rf"how many(?: (?:are|is|were|was) (?:there|{_THEM})| of {_THEM})?(?: in (?:total|all))?")
_TURN = re.compile(
    r"(?:the )?other way (?:a)?round|(?:in )?reverse(?:d)?(?: order)?|reverse (?:it|that|them|the order)"
)
_NUMBER = re.compile(r"(?:make (?:it|that|them)|(?:just |only )?(?:the )?(?:first|top))(?: the)?(?: top| first)? (\d+)")
_OTHER_END = re.compile(r"(?:the |what about the |how about the )?([a-z]+)(?: one| ones)?")
_FIRST = re.compile(r"(?:the )?(highest|largest|biggest|most|best|lowest|smallest|least|fewest) (?:one |ones )?first")
_HIGH = frozenset({"highest", "largest", "biggest", "most", "best"})
_AROUND = re.compile(r"^(?:(?:and|so|ok|okay|now|please|then|just|but) )+|(?: please| then| now| instead)+$")
_MOST_ROWS = 10_000

PhraseChange = Callable[[DatedScene, QueryPlan, re.Match[str]], QueryPlan | None]


def parse_phrase(question: DatedScene, previous: QueryPlan) -> Parse | None:
    """The changed plan, if the whole question is one of the phrases and the plan before it can be changed so."""
    said = _AROUND.sub("", " ".join(word for word in question.words if word[:1].isalnum()))
    for pattern, change in _PHRASES:
        found = pattern.fullmatch(said)
        changed = change(question, previous, found) if found else None
        if changed is not None and changed != previous:
            return Parse(changed, frozenset(range(len(question.words))))
    return None


def _listed(question: DatedScene, plan: QueryPlan, _: re.Match[str]) -> QueryPlan | None:
    """The rows that were counted, by their names; also those that were counted for each of something."""
    counted = [item.expr for item in plan.select if item.expr not in plan.group_by]
    whole = plan.having is None and plan.limit is None and plan.set_operation is None
    if counted != [COUNT_ROWS] or not (whole or not plan.group_by):
        return None
    plan = plan.model_copy(update={"group_by": (), "order_by": ()}) if plan.group_by else plan
    schema = question.schema
    rows = rows_of(plan, scope_of(plan, schema.catalog))
    if not rows.exact or rows.root not in schema.table_ids:
        return None
    names = [name for name in names_of(question, schema.table_ids[rows.root]) if _names_a_row(name, rows.root, schema)]
    columns = [column_ref(schema, column) for column in schema.tables[schema.table_ids[rows.root]].columns]
    return plan.model_copy(update={"select": tuple(SelectItem(expr=shown) for shown in names or columns)})


def _names_a_row(shown: Expr, table: str, schema: Schema) -> bool:
    """Whether the column says which row it is. The channel of an order does not."""
    if not isinstance(shown, ColumnRef) or shown.table != table:
        return False
    view = schema.columns[schema.column_ids[(shown.table, shown.column)]]
    return view.source.unique or view.words[-1:] in (("name",), ("title",))


def _counted(_: DatedScene, plan: QueryPlan, __: re.Match[str]) -> QueryPlan | None:
    """How many rows were listed."""
    calculated = any(isinstance(item.expr, Aggregate) for item in plan.select)
    if calculated or plan.group_by or plan.distinct or plan.set_operation is not None or plan.limit is not None:
        return None
    return plan.model_copy(update={"select": (SelectItem(expr=COUNT_ROWS),), "order_by": ()})


def _turned(_: DatedScene, plan: QueryPlan, __: re.Match[str]) -> QueryPlan | None:
    if not plan.order_by:
        return None
    order = tuple(item.model_copy(update={"descending": not item.descending}) for item in plan.order_by)
    return plan.model_copy(update={"order_by": order})


def _other_end(question: DatedScene, plan: QueryPlan, found: re.Match[str]) -> QueryPlan | None:
    """And the youngest? The other end of the same scale; another scale is a question of its own."""
    cue = question.cue("MAX", "MIN", "MOST", "LEAST", "OLD", "YOUNG")
    ranked = plan.order_by[0].expr if len(plan.order_by) == 1 and plan.limit is not None else None
    if cue is None or ranked is None or question.words[cue.start] != found[1] or question.columns():
        return None
    if isinstance(ranked, ColumnRef) and cue.tag not in ("MOST", "LEAST"):
        view = question.schema.columns[question.schema.column_ids[(ranked.table, ranked.column)]]
        descending = is_descending(found[1], cue.tag, view)
    elif cue.tag in ("MAX", "MIN", "MOST", "LEAST"):
        descending = cue.tag in ("MAX", "MOST")
    else:
        return None
    order = (OrderItem(expr=ranked, descending=descending),)
    return plan.model_copy(update={"order_by": order})


def _sorted(_: DatedScene, plan: QueryPlan, found: re.Match[str]) -> QueryPlan | None:
    """Highest first: all groups, in the order of their figure."""
    figures = [item.expr for item in plan.select if item.expr not in plan.group_by and _is_figure(item.expr)]
    if not plan.group_by or len(figures) != 1:
        return None
    return plan.model_copy(update={"order_by": (OrderItem(expr=figures[0], descending=found[1] in _HIGH),)})


def _is_figure(expr: Expr) -> bool:
    return isinstance(expr, Aggregate | MeasureRef)


def _limited(_: DatedScene, plan: QueryPlan, found: re.Match[str]) -> QueryPlan | None:
    """So many rows of a ranking."""
    rows = int(found[1])
    return plan.model_copy(update={"limit": rows}) if plan.order_by and 0 < rows <= _MOST_ROWS else None


_PHRASES: tuple[tuple[re.Pattern[str], PhraseChange], ...] = (
    (_LIST, _listed),
    (_COUNT, _counted),
    (_TURN, _turned),
    (_NUMBER, _limited),
    (_FIRST, _sorted),
    (_OTHER_END, _other_end),
)

"""Words that must leave a trace in the plan: a superlative that nothing sorts by was dropped, not understood."""

from collections.abc import Iterable, Iterator

from pydantic import BaseModel

from answerable.core.catalog import Catalog
from answerable.query.plan import (
    Aggregate,
    ColumnRef,
    Compare,
    InList,
    InQuery,
    MeasureRef,
    Not,
    QueryPlan,
    TextMatch,
)
from answerable.reader.tag import Cue

_EXTREMES = frozenset({"MAX", "MIN", "MOST", "LEAST", "COMMON", "RARE"})


_MEASURED = frozenset({"MAX", "MIN", "MOST", "LEAST", "OLD", "YOUNG"})


def honours(plan: QueryPlan, cues: Iterable[Cue], catalog: Catalog) -> bool:
    """Whether the plan does something about every extreme, average, sum and negation that the question speaks of, and
    takes the largest and smallest of something that has a size: not of names."""
    traces = set(_traces(plan))
    tags = {cue.tag for cue in cues}
    if any(tag in _WANTED and _WANTED[tag].isdisjoint(traces) for tag in tags):
        return False
    return _MEASURED.isdisjoint(tags) or not any(_is_text(column, catalog) for column in _extremes(plan))


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
    "SUM": frozenset({"sum", "measure", "count"}),
    "NEG": frozenset({"not"}),
}


def _traces(part: object) -> Iterator[str]:
    """What the plan does, by the names above, at any depth."""
    match part:
        case Aggregate():
            yield part.function
        case MeasureRef():
            yield "measure"
        case QueryPlan() if part.order_by:
            yield "order"
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

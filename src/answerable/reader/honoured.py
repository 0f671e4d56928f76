"""Words that must leave a trace in the plan: a superlative that nothing sorts by was dropped, not understood."""

from collections.abc import Iterable, Iterator

from pydantic import BaseModel

from answerable.query.plan import Aggregate, Compare, InList, InQuery, MeasureRef, Not, QueryPlan, TextMatch
from answerable.reader.tag import Cue

_EXTREMES = frozenset({"MAX", "MIN", "MOST", "LEAST", "COMMON", "RARE"})


def honours(plan: QueryPlan, cues: Iterable[Cue]) -> bool:
    """Whether the plan does something about every extreme, average, sum and negation that the question speaks of."""
    traces = set(_traces(plan))
    return all(cue.tag not in _WANTED or not _WANTED[cue.tag].isdisjoint(traces) for cue in cues)


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
    if isinstance(part, BaseModel):
        for name in type(part).model_fields:
            yield from _traces(getattr(part, name))
    elif isinstance(part, tuple):
        for item in part:
            yield from _traces(item)

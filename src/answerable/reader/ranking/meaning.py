"""Which readings are offered: likely ones that differ in what they mean, not only in how they are written."""

from collections import Counter
from collections.abc import Iterator, Sequence

from answerable.reader.candidates.shape import without_ties
from answerable.reader.plans.draft import Draft, DraftCondition
from answerable.reader.ranking.rank import RankedCandidate

_REPEATED = 0.5
"""What a reading loses for each earlier reading with nearly the same meaning; fitted on the folds."""


def diverse(ranked: Sequence[RankedCandidate]) -> Iterator[RankedCandidate]:
    """The candidates in the order in which they are offered: by score, where a candidate loses a little for each
    earlier one with nearly the same meaning. A meaning is computed only when the candidate may be next."""
    waiting: list[tuple[RankedCandidate, object]] = []
    taken: Counter[object] = Counter()
    for one in (*ranked, None):
        while waiting:
            best = max(waiting, key=lambda pair: _worth(pair, taken))
            if one is not None and one.score > _worth(best, taken):
                break
            waiting.remove(best)
            taken[best[1]] += 1
            yield best[0]
        if one is not None:
            waiting.append((one, meaning_of(one.candidate.draft)))


def _worth(pair: tuple[RankedCandidate, object], taken: Counter[object]) -> float:
    return pair[0].score - _REPEATED * taken[pair[1]]


def meaning_of(draft: Draft) -> object:
    """What is shown under which conditions. Joins and DISTINCT do not count."""
    other = draft.combination
    return draft.select, _said(draft), other and (other.operator, _said(other.right))


def _said(draft: Draft, inside: bool = False) -> frozenset[object]:
    draft = without_ties(draft)
    found: set[object] = {*draft.order, *draft.having, ("limit", draft.limit)}
    for clause in draft.where:
        for condition in clause:
            found.update(_condition(condition))
    if inside and draft.select and draft.select[0].function:
        found.add(draft.select)
    return frozenset(found)


def _condition(condition: DraftCondition) -> frozenset[object]:
    inner = condition.right
    if not isinstance(inner, Draft):
        return frozenset({condition})
    # A membership says the same as a join with its conditions: customers who ordered in 2024.
    if condition.operator == "in":
        return _said(inner, inside=True)
    # "Not in" by key or by name excludes the same rows, so the column does not count.
    left = None if condition.operator == "not_in" else condition.left.column
    return frozenset({(left, condition.operator, _said(inner, inside=True))})

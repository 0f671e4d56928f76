"""How sure the best reading is: what speaks for it, what the others say, and what came out of the dry run."""

from collections.abc import Iterable, Mapping
from math import exp

from answerable.reader.candidates.role_features import Vector
from answerable.reader.linking.unknown_words import doubts
from answerable.reader.pipeline import Ranked, Understanding
from answerable.reader.plans.draft import Draft
from answerable.reader.ranking.dry_run import Outcome
from answerable.reader.ranking.meaning import gist

_RIVALS = 30
_ALONE = 9.0
_COLUMN_ROLES = ("select", "order", "group")

Outcomes = Mapping[Draft, Outcome | None]
"""Of the readings that ran."""


def confidence_vector(found: Understanding, outcomes: Outcomes) -> Vector:
    """Of the best: all that ranked it, and how far those that mean something else are behind. Not its score: that one
    tells something only beside those of the same question."""
    best = found.ranked[0]
    scores = [one.score for one in found.ranked]
    second = scores[1] if len(scores) > 1 else scores[0] - 5.0
    third = scores[2] if len(scores) > 2 else second
    return [
        *best.vector,
        scores[0] - second,
        scores[0] - third,
        float(len(scores)),
        *_agreement(found.ranked, outcomes),
        *_result(outcomes.get(best.candidate.draft)),
        *_uncertainty(found),
    ]


def _agreement(ranked: tuple[Ranked, ...], outcomes: Outcomes) -> Vector:
    """The share of those that mean the same as the best, and the lead over the first that means something else."""
    rivals = ranked[:_RIVALS]
    meanings = _meanings(rivals, outcomes)
    top = ranked[0].score
    weights = [exp(one.score - top) for one in rivals]
    same = [meaning == meanings[0] for meaning in meanings]
    agreed = sum(weight for weight, equal in zip(weights, same, strict=True) if equal)
    squares = sum(weight**2 for weight, equal in zip(weights, same, strict=True) if equal)
    other = next((one.score for one, equal in zip(rivals, same, strict=True) if not equal), top - _ALONE)
    return [
        agreed / sum(weights),
        squares / sum(weight**2 for weight in weights),
        agreed / sum(exp(one.score - top) for one in ranked),
        1.0 / sum(exp(one.score - top) for one in ranked),
        top - other,
        float(len(set(meanings[:5]))),
        float(sum(same[:5])),
    ]


def _meanings(rivals: Iterable[Ranked], outcomes: Outcomes) -> list[object]:
    """The same for readings with the same rows; one that did not run means what its like that ran does."""
    by_gist: dict[object, object] = {}
    for draft, outcome in outcomes.items():
        if outcome is not None:
            by_gist.setdefault(gist(draft), outcome.key)
    return [_meaning(one.candidate.draft, outcomes, by_gist) for one in rivals]


def _meaning(draft: Draft, outcomes: Outcomes, by_gist: Mapping[object, object]) -> object:
    outcome = outcomes.get(draft)
    if outcome is not None:
        return outcome.key
    said = gist(draft)
    return by_gist.get(said, said)


def _result(outcome: Outcome | None) -> Vector:
    return [-1.0] * 5 if outcome is None else [float(value) for value in outcome[1:]]


def _uncertainty(found: Understanding) -> Vector:
    """How far each kind of role is from being settled, and what was not understood."""
    roles, doubt = found.roles, doubts(found.scene)
    kinds = [
        *([chance.probability for chance in roles.columns[role].values()] for role in _COLUMN_ROLES),
        roles.tables,
        [chance.probability for chance in roles.aggregates.values()],
        [use.probability for use in roles.values],
        [use.probability for use in roles.numbers],
    ]
    return [
        *(sum(min(chance, 1.0 - chance) for chance in chances) for chances in kinds),
        float(len(doubt.unknown)),
        float(doubt.serious),
        float(found.scene.tags.count("O")),
        float(len(found.scene.schema.tables)),
        float(len(found.scene.schema.columns)),
    ]

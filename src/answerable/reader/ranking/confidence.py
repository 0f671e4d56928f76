"""How sure the best reading is: what speaks for it, what the others say, and what came out of the dry run."""

from collections.abc import Iterable, Mapping
from math import exp
from typing import NamedTuple

from answerable.reader.fitted.features import Vector, prefixed
from answerable.reader.linking.unknown_words import unknown_words
from answerable.reader.plans.draft import Draft
from answerable.reader.ranking.dry_run import DryRunResult
from answerable.reader.ranking.meaning import meaning_of
from answerable.reader.ranking.rank import CandidateRanking, RankedCandidate
from answerable.reader.ranking.ranker_feature_names import RANKER_FEATURE_NAMES

# Candidates behind the thirtieth have hardly any weight in the sums: their scores are far below the best.
_RIVALS = 30
# The lead of a candidate that all rivals agree with: larger than any lead between two meanings in practice.
_ALONE = 9.0

Outcomes = Mapping[Draft, DryRunResult | None]
"""What came out of each reading that ran; None for one that failed."""


class Leads(NamedTuple):
    over_second: float
    over_third: float
    candidates: float


class Agreement(NamedTuple):
    """How many of the likeliest candidates mean the same as the best one, and the lead over the first that does not."""

    share: float
    share_of_squares: float
    share_of_all: float
    best_share: float
    lead_over_other: float
    meanings: float
    same: float


class Uncertainty(NamedTuple):
    """How far each kind of role is from being settled, and what was not understood."""

    select: float
    order: float
    group: float
    tables: float
    aggregates: float
    values: float
    numbers: float
    unknown_words: float
    serious: float
    untagged: float
    schema_tables: float
    schema_columns: float


def confidence_vector(found: CandidateRanking, outcomes: Outcomes) -> Vector:
    """The features of the best candidate, and its lead over candidates with another meaning. Its score is left out,
    because scores of different questions cannot be compared."""
    best = found.ranked[0]
    scores = [one.score for one in found.ranked]
    # Without a rival the lead is a large one, but not so large that trees would split on it alone.
    second = scores[1] if len(scores) > 1 else scores[0] - 5.0
    third = scores[2] if len(scores) > 2 else second
    return [
        *best.vector,
        *Leads(over_second=scores[0] - second, over_third=scores[0] - third, candidates=float(len(scores))),
        *_agreement(found.ranked, outcomes),
        *_result(outcomes.get(best.candidate.draft)),
        *_uncertainty(found),
    ]


def _agreement(ranked: tuple[RankedCandidate, ...], outcomes: Outcomes) -> Agreement:
    rivals = ranked[:_RIVALS]
    meanings = _meanings(rivals, outcomes)
    top = ranked[0].score
    # Relative to the best score, so that `exp` cannot overflow.
    weights = [exp(one.score - top) for one in rivals]
    same = [meaning == meanings[0] for meaning in meanings]
    agreed = sum(weight for weight, equal in zip(weights, same, strict=True) if equal)
    squares = sum(weight**2 for weight, equal in zip(weights, same, strict=True) if equal)
    other = next((one.score for one, equal in zip(rivals, same, strict=True) if not equal), top - _ALONE)
    return Agreement(
        share=agreed / sum(weights),
        share_of_squares=squares / sum(weight**2 for weight in weights),
        share_of_all=agreed / sum(exp(one.score - top) for one in ranked),
        best_share=1.0 / sum(exp(one.score - top) for one in ranked),
        lead_over_other=top - other,
        # Five are offered to choose from, so the first five decide how sure the choice looks.
        meanings=float(len(set(meanings[:5]))),
        same=float(sum(same[:5])),
    )


def _meanings(rivals: Iterable[RankedCandidate], outcomes: Outcomes) -> list[object]:
    """One key for each reading. Readings that returned the same rows share a key. A reading that did not run takes the
    key of one that ran and has the same meaning."""
    by_gist: dict[object, object] = {}
    for draft, outcome in outcomes.items():
        if outcome is not None:
            by_gist.setdefault(meaning_of(draft), outcome.key)
    return [_meaning(one.candidate.draft, outcomes, by_gist) for one in rivals]


def _meaning(draft: Draft, outcomes: Outcomes, by_gist: Mapping[object, object]) -> object:
    outcome = outcomes.get(draft)
    if outcome is not None:
        return outcome.key
    said = meaning_of(draft)
    return by_gist.get(said, said)


def _result(outcome: DryRunResult | None) -> Vector:
    # No feature of a result is negative, so the trees can recognise a reading that did not run.
    return [-1.0] * 5 if outcome is None else [float(value) for value in outcome[1:]]


def _uncertainty(found: CandidateRanking) -> Uncertainty:
    roles, doubt = found.roles, unknown_words(found.scene)
    return Uncertainty(
        select=_unsettled(chance.probability for chance in roles.columns["select"].values()),
        order=_unsettled(chance.probability for chance in roles.columns["order"].values()),
        group=_unsettled(chance.probability for chance in roles.columns["group"].values()),
        tables=_unsettled(roles.tables),
        aggregates=_unsettled(chance.probability for chance in roles.aggregates.values()),
        values=_unsettled(use.probability for use in roles.values),
        numbers=_unsettled(use.probability for use in roles.numbers),
        unknown_words=float(len(doubt.unknown)),
        serious=float(doubt.serious),
        untagged=float(found.scene.tags.count("O")),
        schema_tables=float(len(found.scene.schema.tables)),
        schema_columns=float(len(found.scene.schema.columns)),
    )


def _unsettled(chances: Iterable[float]) -> float:
    """How far the chances are from 0 and 1, in sum."""
    return sum(min(chance, 1.0 - chance) for chance in chances)


CONFIDENCE_FEATURE_NAMES = (
    *RANKER_FEATURE_NAMES,
    *prefixed("lead", Leads._fields),
    *prefixed("agreement", Agreement._fields),
    *prefixed("result", DryRunResult._fields[1:]),
    *prefixed("uncertainty", Uncertainty._fields),
)
"""The names of the features of confidence, in order."""

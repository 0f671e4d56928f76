"""Weighs proposals: each content word should have a part in the query, and each part of the query a word."""

from collections.abc import Sequence
from math import log
from typing import NamedTuple

from answerable.query.plan import QueryPlan
from answerable.reader.everyday.proposal_features import explained, proposal_vector
from answerable.reader.everyday.proposals import Proposal, proposals
from answerable.reader.everyday.request import Request, request_of
from answerable.reader.everyday.word_options import word_options
from answerable.reader.fitted.features import Vector
from answerable.reader.fitted.trees import Trees
from answerable.reader.grammar.dated_scene import DatedScene
from answerable.reader.plans.joins import NoPath

# The noun that a question is about may be a name for the rows that the data does not know: "games" of `vgsales`.
_THE_ROWS = 0.15
_MOST_PLANS = 24
_EACH_TABLE = 0.25


class WeighedPlan(NamedTuple):
    plan: QueryPlan
    vector: Vector
    score: float
    left_over: tuple[int, ...]
    """Places of content words that have no part in it."""


def everyday_plans(question: DatedScene, ranker: Trees | None = None) -> list[WeighedPlan]:
    """The likeliest plans first, by the ranker or, without one, by rule."""
    request = request_of(question, word_options(question))
    found = _distinct(request)
    if ranker is None or not found:
        return found
    scores = ranker.scores([one.vector for one in found])
    scored = [one._replace(score=score) for one, score in zip(found, scores, strict=True)]
    return sorted(scored, key=lambda one: -one.score)


def _distinct(request: Request) -> list[WeighedPlan]:
    weighed = sorted(((_weight(request, one), one) for one in proposals(request)), key=lambda pair: -pair[0])
    found: dict[str, WeighedPlan] = {}
    for weight, proposal in weighed:
        if len(found) >= _MOST_PLANS:
            break
        try:
            plan = proposal.plan(request.question.schema)
        except NoPath:
            continue
        key = plan.model_dump_json()
        if key not in found:
            left = tuple(place for place in request.content if explained(request, proposal, place) == 0.0)
            vector = proposal_vector(request, proposal, weight, weighed[0][0], len(found))
            found[key] = WeighedPlan(plan, vector, weight, left)
    return list(found.values())


def _weight(request: Request, proposal: Proposal) -> float:
    """The logarithm of how likely the proposal is, by rule: it chooses what the ranker sees."""
    tables = sum(element.kind == "table" for element in proposal.uses) - 1
    return proposal.weight + sum(log(_chance(request, proposal, place)) for place in request.content) - _EACH_TABLE * tables


def _chance(request: Request, proposal: Proposal, place: int) -> float:
    least = request.options.left_over(place)
    if place == request.subject:
        least = max(least, _THE_ROWS)
    return max(explained(request, proposal, place), least)

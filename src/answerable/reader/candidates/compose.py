"""Composes candidates: options for each clause are combined into drafts, and the likeliest drafts are kept.

The order is `clause_sets` (which columns, conditions, sorting and group condition go together), `groupings` (what to
group by) and then `STEPS`. Drafts that cannot answer anything are left out at the end.
"""

from collections.abc import Iterable, Iterator
from itertools import islice, product
from typing import NamedTuple

from answerable.reader.candidates.composition import (
    Candidate,
    Chances,
    ClauseOptions,
    Composition,
    Evidence,
    HavingOption,
    SortOption,
    Step,
    UnscoredCandidate,
    composition_of,
)
from answerable.reader.candidates.from_clause import with_joined_tables
from answerable.reader.candidates.group_clause import group_options, groupings, having_options, having_score
from answerable.reader.candidates.impossible_drafts import is_impossible
from answerable.reader.candidates.order_clause import sort_options, sorting_score
from answerable.reader.candidates.roles import Roles
from answerable.reader.candidates.select_clause import SelectSet, select_options, select_sets, with_distinct
from answerable.reader.candidates.shape import UNSEEN, shape_of, shape_of_having, shape_of_limit, shape_of_order
from answerable.reader.candidates.variants import with_variants
from answerable.reader.candidates.where_clause import WhereSet, comparing_tests, condition_options, where_sets
from answerable.reader.linking.scene import Scene
from answerable.reader.plans.draft import Draft

# The ranker computes a long vector for each candidate, so their number bounds the time of a question.
MAX_CANDIDATES = 60
# Bounds the work: each combination costs dozens of drafts, and they are tried in order of likelihood.
_MOST_CLAUSE_SETS = 40
# The shape was fitted on whole questions, the options one by one: the shape is trusted a little more.
_EVIDENCE_WEIGHT = 0.7

STEPS: tuple[Step, ...] = (with_joined_tables, with_variants, with_distinct)
"""What is done to each draft, in order. Each step sees every draft that the one before it yields."""


class ClauseSet(NamedTuple):
    select: SelectSet
    where: WhereSet
    sorting: SortOption | None
    having: HavingOption | None


def compose_candidates(scene: Scene, roles: Roles, chances: Chances) -> list[Candidate]:
    """The likeliest candidates, the best first."""
    composition = composition_of(scene, find_options(scene, roles), chances)
    best: dict[Draft, Candidate] = {}
    for draft, evidence in _drafts(composition):
        known = best.get(draft)
        if known is None:
            shape = shape_of(draft)
            scores = composition.shape_scores.of(shape)
            best[draft] = Candidate(draft, shape, scores, evidence, _total(scores, evidence))
        # Different options can lead to the same draft. The likeliest way counts.
        elif known.score < (score := _total(known.scores, evidence)):
            best[draft] = known._replace(evidence=evidence, score=score)
    ordered = sorted(best.values(), key=lambda candidate: -candidate.score)
    # Checked last and lazily: of some thousand drafts only the first few dozen are ever looked at.
    possible = (one for one in ordered if not is_impossible(one.draft, composition.schema))
    return list(islice(possible, MAX_CANDIDATES))


def find_options(scene: Scene, roles: Roles) -> ClauseOptions:
    """The options for each clause, each with how likely it is."""
    return ClauseOptions(
        parts=select_options(scene, roles),
        tests=condition_options(scene, roles),
        nested=comparing_tests(scene, roles),
        sortings=sort_options(scene, roles),
        havings=having_options(scene, roles),
        tables=roles.tables,
        groups=group_options(roles),
    )


def _total(scores: tuple[float, ...], evidence: Evidence) -> float:
    options = evidence.select + evidence.where + evidence.order + evidence.having + evidence.group
    return sum(scores) + _EVIDENCE_WEIGHT * options


def _drafts(composition: Composition) -> Iterator[UnscoredCandidate]:
    drafts = _grouped_drafts(composition)
    for step in STEPS:
        drafts = _applied(step, drafts, composition)
    return drafts


def _applied(step: Step, drafts: Iterable[UnscoredCandidate], composition: Composition) -> Iterator[UnscoredCandidate]:
    for draft in drafts:
        yield from step(draft, composition)


def _grouped_drafts(composition: Composition) -> Iterator[UnscoredCandidate]:
    """Drafts of the first clause sets whose parts go together, with each possible group."""
    sets = ((one, list(_groupings(one, composition))) for one in clause_sets(composition))
    for (select, where, sorting, having), grouped in islice((pair for pair in sets if pair[1]), _MOST_CLAUSE_SETS):
        for draft, group_score in grouped:
            evidence = Evidence(
                select=select.score,
                where=where.score,
                order=sorting_score(sorting),
                having=having_score(having),
                group=group_score,
                dropped=where.dropped,
                tests=where.tests,
                variant="",
            )
            yield UnscoredCandidate(draft, evidence)


def _groupings(clauses: ClauseSet, composition: Composition) -> Iterator[tuple[Draft, float]]:
    draft = Draft(
        # Not known yet: `with_joined_tables` sets it.
        entity=-1,
        select=clauses.select.terms,
        where=tuple((test.condition,) for test in clauses.where.tests),
        having=(clauses.having.condition,) if clauses.having else (),
        order=clauses.sorting.order if clauses.sorting else (),
        limit=clauses.sorting.limit if clauses.sorting else None,
    )
    return groupings(draft, composition)


def clause_sets(composition: Composition) -> list[ClauseSet]:
    """Every combination of the clauses, ordered by the parts of the shape that are settled already."""
    options = composition.options
    sortings = [(one, sorting_score(one), *_sorting_fit(one, composition)) for one in (None, *options.sortings)]
    havings = [(one, having_score(one), _having_fit(one, composition)) for one in (None, *options.havings)]
    wheres = where_sets(options)
    scored = []
    combined = product(select_sets(composition), sortings, havings)
    for number, (select, with_sorting, with_having) in enumerate(combined):
        sorting, order_score, order_fit, limit_fit = with_sorting
        having, group_score, group_fit = with_having
        rough = select.score + order_score + group_score + (select.fit + order_fit + limit_fit + group_fit)
        for rank, where in enumerate(wheres):
            # One number is used once: "more than 3 orders" is a condition on groups or one on rows, never both.
            if having is None or not any(test.start <= having.place < test.end for test in where.tests):
                # `rank` and `number` break ties, so that the order is fixed and clause sets are never compared.
                scored.append((-rough - where.score, rank, number, ClauseSet(select, where, sorting, having)))
    return [clauses for *_, clauses in sorted(scored)]


def _sorting_fit(sorting: SortOption | None, composition: Composition) -> tuple[float, float]:
    """How well the order and the limit fit the words."""
    order, limit = (shape_of_order(sorting.order), shape_of_limit(sorting.limit)) if sorting else ("", "")
    return composition.chances["order"].get(order, UNSEEN), composition.chances["limit"].get(limit, UNSEEN)


def _having_fit(having: HavingOption | None, composition: Composition) -> float:
    return composition.chances["having"].get(shape_of_having(having.condition) if having else "", UNSEEN)

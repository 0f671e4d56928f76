"""From ranked candidates to the readings that are offered: compiled, tried in the dry run, distinct, and with a
confidence."""

from collections.abc import Callable, Iterator, Sequence
from itertools import islice
from typing import NamedTuple

from answerable.core.catalog import Catalog
from answerable.core.errors import UserError
from answerable.core.records import dataclass
from answerable.query.checked import CheckedQuery
from answerable.query.compiling import compiled
from answerable.query.plan import QueryPlan
from answerable.reader.plans.draft_to_plan import to_plan
from answerable.reader.plans.joins import NoPath
from answerable.reader.ranking.confidence import confidence_vector
from answerable.reader.ranking.dry_run import MORE_RUNS, RUNS, DryRunResult, Run, dry_run_result
from answerable.reader.ranking.meaning import diverse
from answerable.reader.ranking.rank import CandidateRanking, RankedCandidate
from answerable.reader.reading import Reading
from answerable.reader.weights import Weights


class Offer(NamedTuple):
    """A candidate that can run."""

    ranked: RankedCandidate
    plan: QueryPlan
    query: CheckedQuery

    @property
    def sql(self) -> str:
        return self.query.text


@dataclass(frozen=True, slots=True)
class OfferedReadings:
    """Makes readings of the ranked candidates of one catalog."""

    catalog: Catalog
    weights: Weights
    sentence: Callable[[QueryPlan], str]

    def best(self, ranking: CandidateRanking, run: Run | None, wanted: int) -> list[Reading]:
        """Distinct readings, the best first. Candidates that cannot be compiled are left out. Readings that returned
        the same rows count as one; if too few remain to choose from, more readings run."""
        waiting = self.offers(ranking)
        offers = list(islice(waiting, wanted if run is None else RUNS))
        if not offers:
            return []
        results = dry_run(offers, run)
        confidence = self.confidence(ranking, offers, results)
        distinct = _distinct(offers, results)
        if run is not None and len(distinct) < wanted and confidence < self.weights.threshold:
            more = list(islice(waiting, MORE_RUNS))
            distinct = _distinct([*offers, *more], [*results, *dry_run(more, run)])
        # The confidence is fitted for the best reading only. Those behind it share what is left, the later the less.
        return [
            self._reading(offer, confidence if number == 0 else confidence * 0.5 / (1 + number))
            for number, offer in enumerate(distinct[:wanted])
        ]

    def offers(self, ranking: CandidateRanking) -> Iterator[Offer]:
        """Compiled one by one as they are taken: compiling all sixty candidates would cost more than ranking them."""
        for one in diverse(ranking.ranked):
            try:
                plan = to_plan(one.candidate.draft, ranking.scene.schema)
                yield Offer(one, plan, compiled(plan, self.catalog))
            except (NoPath, UserError):
                continue

    def confidence(
        self, ranking: CandidateRanking, offers: Sequence[Offer], results: Sequence[DryRunResult | None]
    ) -> float:
        """How likely it is that the best candidate is what the user meant."""
        by_draft = {one.ranked.candidate.draft: result for one, result in zip(offers, results, strict=True)}
        tried = any(result is not None for result in results)
        model = self.weights.confidence if tried else self.weights.untried_confidence
        return model.probabilities([confidence_vector(ranking, by_draft)])[0]

    def _reading(self, offer: Offer, confidence: float) -> Reading:
        return Reading(
            plan=offer.plan, sentence=self.sentence(offer.plan), confidence=round(confidence, 4), sql=offer.sql
        )


def dry_run(offers: Sequence[Offer], run: Run | None) -> list[DryRunResult | None]:
    if run is None or not offers:
        return [None] * len(offers)
    results = run([offer.query for offer in offers])
    return [
        None if rows is None else dry_run_result(rows, ordered=bool(offer.plan.order_by))
        for offer, rows in zip(offers, results, strict=True)
    ]


def _distinct(offers: Sequence[Offer], results: Sequence[DryRunResult | None]) -> list[Offer]:
    """One offer for each set of rows: the likeliest."""
    found: dict[object, Offer] = {}
    for offer, result in zip(offers, results, strict=True):
        found.setdefault(offer.sql if result is None else result.key, offer)
    return list(found.values())

"""Fitting in stages on folds of databases, so that each stage learns from what the one before says of unseen data."""

import random
import zlib
from collections.abc import Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from functools import cache
from itertools import islice
from multiprocessing import get_context
from typing import TypeVar

import numpy

from answerable.reader.candidates.compose import compose_candidates
from answerable.reader.candidates.composition import Candidate
from answerable.reader.candidates.roles import RoleModels, Roles, assign_roles
from answerable.reader.candidates.shape import grams, shape_of
from answerable.reader.fitted.linear import Linear
from answerable.reader.fitted.trees import Trees
from answerable.reader.plans.draft import Draft
from answerable.reader.ranking.confidence import confidence_vector
from answerable.reader.ranking.dry_run import MOST_ROWS, RUNS, DryRunResult, dry_run_result
from answerable.reader.ranking.meaning import diverse
from answerable.reader.ranking.rank import CandidateRanking, RankedCandidate, least_score
from answerable.reader.ranking.ranker_features import CandidateFeaturizer
from train.cases import Case, load_cases, run_sql, same_rows
from train.examples import ROLE_NAMES, Rows, Sample, make_sample, role_rows, table_rows
from train.models import fit_ranker, fit_shapes, fit_trees
from train.quick_sql import quick_sql

FOLDS = 3
# Questions in people's own words are few, and what the reader meets most: each counts as often as that.
_REPEATED = {"plain": 3, "asked": 3}
_INNER_FOLDS = 3


@dataclass(frozen=True)
class Fit:
    """What one file of weights is fitted on."""

    file: str
    sets: tuple[str, ...]
    guessing: bool
    """Words are also linked to names that they come near to in meaning."""
    precision: tuple[tuple[str, float], ...]
    """What the answers that are given should reach on the folds, by set: a threshold loses up to four points on
    databases that nobody has seen, and up to two on other questions of the same one."""


@dataclass
class Stage:
    roles: RoleModels
    shapes: Linear


@dataclass
class Judged:
    """A question with its candidates as models that never saw its database made them."""

    case: Case
    fold: int
    candidates: list[Candidate]
    vectors: "numpy.ndarray"
    right: "numpy.ndarray"
    outcomes: list[DryRunResult | None]
    """Nothing where the dry run would not tell."""
    sample: Sample
    roles: Roles


def folds_of(samples: Sequence[Sample]) -> list[int]:
    """By database; the questions of a set with one database are spread."""
    names = sorted({str(s.case.database.name) for s in samples})
    random.Random(3).shuffle(names)
    by_name = {name: number % FOLDS for number, name in enumerate(names)}
    return [
        zlib.crc32(s.case.id.encode()) % FOLDS if s.case.set == "geoquery" else by_name[s.case.database.name]
        for s in samples
    ]


def fit_stage(samples: Sequence[Sample]) -> Stage:
    """Role and shape models; the table model's chances for the role models come from folds within."""
    known = repeated([s for s in samples if s.gold is not None])
    models, chances = _fit_tables(known)
    rows = {name: Rows() for name in ROLE_NAMES}
    for sample, chance in zip(known, chances, strict=True):
        role_rows(sample, chance, rows)
    for name in ROLE_NAMES:
        models[name] = fit_trees(*_arrays(rows[name]))
    shapes = fit_shapes([grams(s.scene) for s in known], [shape_of(s.gold) for s in known if s.gold])
    return Stage(models, shapes)


def _fit_tables(known: Sequence[Sample]) -> tuple[RoleModels, list[list[float]]]:
    tables = Rows()
    counts = []
    for sample in known:
        table_rows(sample, tables)
        counts.append(len(sample.scene.schema.tables))
    vectors, labels = _arrays(tables)
    owner = numpy.repeat(numpy.array(folds_of(known)) % _INNER_FOLDS, counts)
    chances = numpy.zeros(len(labels))
    for fold in range(_INNER_FOLDS):
        inside = owner != fold
        model = fit_trees(vectors[inside], labels[inside])
        chances[~inside] = model.probabilities(vectors[~inside].tolist())
    ends = numpy.cumsum(counts)
    return {"table": fit_trees(vectors, labels)}, [c.tolist() for c in numpy.split(chances, ends[:-1])]


def _arrays(rows: Rows) -> "tuple[numpy.ndarray, numpy.ndarray]":
    return numpy.array(rows.vectors, dtype=numpy.float32), numpy.array(rows.labels)


def judged(sample: Sample, stage: Stage, fold: int) -> Judged:
    roles = assign_roles(sample.scene, stage.roles)
    chances = stage.shapes.chances(grams(sample.scene))
    candidates = compose_candidates(sample.scene, roles, chances)
    vectors = CandidateFeaturizer(sample.scene, roles, candidates).vectors()
    kept = [number for number, vector in enumerate(vectors) if vector is not None]
    outcomes = _Outcomes(sample)
    found = [outcomes.of(candidates[number]) for number in kept]
    return Judged(
        sample.case,
        fold,
        [candidates[number] for number in kept],
        numpy.array([vectors[number] for number in kept], dtype=numpy.float32),
        numpy.array([right for right, _ in found], dtype=bool),
        [outcome for _, outcome in found],
        sample,
        roles,
    )


class _Outcomes:
    """What candidates give when they run: whether it is right, and what came out."""

    def __init__(self, sample: Sample) -> None:
        self.sample = sample
        self.by_sql: dict[str, tuple[bool, DryRunResult | None]] = {}
        self.numbers: dict[object, int] = {}

    def of(self, candidate: Candidate) -> tuple[bool, DryRunResult | None]:
        sql = quick_sql(candidate.draft, self.sample.scene.schema)
        if sql not in self.by_sql:
            rows = run_sql(self.sample.case.database, sql)
            known = rows is not None and len(rows) <= MOST_ROWS
            outcome = dry_run_result(rows, bool(candidate.draft.order)) if known and rows is not None else None
            self.by_sql[sql] = (same_rows(self.sample.case, rows), outcome and self._numbered(outcome))
        return self.by_sql[sql]

    def _numbered(self, outcome: DryRunResult) -> DryRunResult:
        """A number in place of the rows, which are not needed again."""
        return outcome._replace(key=self.numbers.setdefault(outcome.key, len(self.numbers)))


@cache
def fit_samples(fit: Fit) -> list[Sample]:
    """The questions that models are fitted on. Of the rewordings of Spider every second: they repeat its questions."""
    cases = load_cases(fit.sets, split="fit")
    reworded = [case for case in cases if case.set == "spider_syn"]
    left_out = {case.id for case in reworded[1::2]}
    return [make_sample(case, guessing=fit.guessing) for case in cases if case.id not in left_out]


def judge_fold(fit: Fit, fold: int) -> tuple[Stage, list[Judged]]:
    samples = fit_samples(fit)
    folds = folds_of(samples)
    stage = fit_stage([s for s, f in zip(samples, folds, strict=True) if f != fold])
    return stage, [judged(s, stage, fold) for s, f in zip(samples, folds, strict=True) if f == fold]


def judge_all(fit: Fit, processes: int = 2) -> tuple[list[Stage], list[Judged]]:
    """Candidates for every question of the fit split, by models that were fitted without its database."""
    fit_samples(fit)  # before the processes fork, so that they share it
    with ProcessPoolExecutor(processes, mp_context=get_context("fork")) as pool:
        parts = list(pool.map(judge_fold, [fit] * FOLDS, range(FOLDS)))
    return [stage for stage, _ in parts], [one for _, judged_ones in parts for one in judged_ones]


def rank_folds(questions: Sequence[Judged]) -> tuple[list[list[RankedCandidate]], list[Trees]]:
    """The candidates ranked by rankers that did not see the question's fold, and these rankers."""
    ranked: list[list[RankedCandidate]] = [[] for _ in questions]
    rankers = []
    for fold in range(FOLDS):
        ranker = fit_ranker(repeated([q for q in questions if q.fold != fold]))
        rankers.append(ranker)
        for number, question in enumerate(questions):
            if question.fold == fold:
                ranked[number] = rank_with(question, ranker)
    return ranked, rankers


_Weighed = TypeVar("_Weighed", Sample, Judged)


def repeated(ones: Sequence[_Weighed]) -> list[_Weighed]:
    return [one for one in ones for _ in range(_REPEATED.get(one.case.set, 1))]


def rank_with(question: Judged, ranker: Trees) -> list[RankedCandidate]:
    vectors = question.vectors.astype(float).tolist()
    scored = zip(question.candidates, vectors, ranker.scores(vectors, least_score), strict=True)
    return sorted((RankedCandidate(*one) for one in scored), key=lambda one: -one.score)


def confidence_rows(
    questions: Sequence[Judged], ranked: Sequence[Sequence[RankedCandidate]], *, dry: bool
) -> "tuple[numpy.ndarray, numpy.ndarray]":
    """As the reader sees them after a dry run, or without one."""
    vectors, labels = [], []
    for question, order in zip(questions, ranked, strict=True):
        if order:
            found = CandidateRanking(question.sample.scene, question.roles, {}, tuple(order))
            vectors.append(confidence_vector(found, _ran(question, order) if dry else {}))
            labels.append(int(right_of(question)[order[0].candidate.draft]))
    return numpy.array(vectors), numpy.array(labels)


def _ran(question: Judged, order: Sequence[RankedCandidate]) -> dict[Draft, DryRunResult | None]:
    known = {c.draft: outcome for c, outcome in zip(question.candidates, question.outcomes, strict=True)}
    return {one.candidate.draft: known[one.candidate.draft] for one in islice(diverse(order), RUNS)}


def right_of(question: Judged) -> dict[object, bool]:
    return {c.draft: bool(r) for c, r in zip(question.candidates, question.right, strict=True)}

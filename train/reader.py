"""`make train`: fits the reader's weights from the `fit` splits and writes them with their provenance.

There are two files of weights (`reader/weights.py`), fitted one after the other, and the model that judges answers
after the second. `python -m train.reader FILE` fits one of the files.
"""

import subprocess
import sys
from collections.abc import Iterable
from datetime import UTC, datetime
from pathlib import Path

import numpy

from answerable.reader.fitted.trees import Trees
from answerable.reader.ranking.rank import RankedCandidate
from answerable.reader.weights import (
    OWN_WORDS,
    POOL,
    WORDED_LIKE_DATA,
    Weights,
    pool_to_bytes,
    save_weights,
    to_bytes,
)
from train.cases import IN_OWN_WORDS
from train.models import fit_ranker, fit_trees
from train.pipeline import (
    FOLDS,
    Fit,
    Judged,
    confidence_rows,
    fit_samples,
    fit_stage,
    judge_all,
    rank_folds,
    repeated,
    right_of,
)
from train.pool import fit_pool

FITS = (
    Fit(
        WORDED_LIKE_DATA,
        sets=("spider_train", "geoquery"),
        guessing=False,
        precision=(("spider_train", 0.942), ("geoquery", 0.975)),
    ),
    Fit(
        OWN_WORDS,
        sets=("spider_train", "geoquery", "spider_syn", "plain", "asked"),
        guessing=True,
        precision=(("spider_train", 0.942), ("geoquery", 0.975), ("spider_syn", 0.92)),
    ),
)
_ABOUT = {
    "spider_train": "Spider train subset, CC BY-SA 4.0, split fit",
    "geoquery": "GeoQuery, split fit",
    "spider_syn": "Spider-Syn, MIT, every second question of split fit",
    "plain": "questions in people's own words, written for this project, split fit",
    "asked": "questions in people's own words of train/asked, split fit",
}


def main() -> None:
    wanted = sys.argv[1:]
    for fit in FITS:
        if not wanted or fit.file in wanted:
            _fit(fit)


def _fit(fit: Fit) -> None:
    print(f"{fit.file}:")
    stages, questions = judge_all(fit)
    ranked, rankers = rank_folds(questions)
    models, chances, rights = _fit_confidence(questions, ranked)
    sets = [q.case.set for q, order in zip(questions, ranked, strict=True) if order]
    thresholds = {name: _threshold(chances[0], rights, sets, name, least) for name, least in fit.precision}
    print("thresholds for the wanted precision:", thresholds)
    threshold = max(thresholds.values())
    _report(questions, ranked, chances, rights, sets, threshold)
    samples = fit_samples(fit)
    stage, ranker = fit_stage(samples), fit_ranker(repeated(questions))
    (*tried_by_fold, tried), (*untried_by_fold, untried) = models
    weights = Weights(stage.roles, stage.shapes, ranker, tried, untried, threshold)
    save_weights(to_bytes(weights), fit.file, _provenance(fit, fit.sets, len(samples)))
    if fit.file == OWN_WORDS:
        by_fold = [
            Weights(part.roles, part.shapes, own_ranker, own_tried, own_untried, threshold)
            for part, own_ranker, own_tried, own_untried in zip(
                stages, rankers, tried_by_fold, untried_by_fold, strict=True
            )
        ]
        own = [question for question in questions if question.case.set in IN_OWN_WORDS]
        pool = fit_pool([one.case for one in own], [one.fold for one in own], by_fold)
        save_weights(pool_to_bytes(pool), POOL, _provenance(fit, IN_OWN_WORDS, len(own)))


def _fit_confidence(
    questions: list[Judged], ranked: list[list[RankedCandidate]]
) -> tuple[list[list[Trees]], list[numpy.ndarray], numpy.ndarray]:
    """Two kinds of models, for readings that ran and for those that did not: one for each fold, which did not see it,
    and one fitted on all; what those of the folds say; and which readings are right."""
    folds = numpy.array([q.fold for q, order in zip(questions, ranked, strict=True) if order])
    models, chances = [], []
    for dry in (True, False):
        vectors, labels = confidence_rows(questions, ranked, dry=dry)
        said = numpy.zeros(len(labels))
        of_folds = [_confidence_of(vectors[folds != fold], labels[folds != fold]) for fold in range(FOLDS)]
        for fold, model in enumerate(of_folds):
            said[folds == fold] = model.probabilities(vectors[folds == fold].tolist())
        models.append([*of_folds, _confidence_of(vectors, labels)])
        chances.append(said)
    return models, chances, labels


def _confidence_of(vectors: numpy.ndarray, labels: numpy.ndarray) -> Trees:
    return fit_trees(vectors, labels, rounds=250, leaves=4, least=50, learning_rate=0.03, feature_fraction=0.2)


def _threshold(chances: numpy.ndarray, rights: numpy.ndarray, sets: list[str], name: str, wanted: float) -> float:
    """The lowest at which the wanted precision of a set still holds."""
    chosen = numpy.array([each == name for each in sets])
    chances, rights = chances[chosen], rights[chosen]
    order = numpy.argsort(-chances)
    precision = numpy.cumsum(rights[order]) / numpy.arange(1, len(order) + 1)
    good = numpy.flatnonzero(precision >= wanted)
    return round(float(chances[order][good[-1]]), 4) if len(good) else 0.99


def _report(
    questions: list[Judged],
    ranked: list[list[RankedCandidate]],
    chances: list[numpy.ndarray],
    rights: numpy.ndarray,
    sets: list[str],
    threshold: float,
) -> None:
    for name in sorted(set(sets)):
        pairs = [(q, r) for q, r in zip(questions, ranked, strict=True) if q.case.set == name]
        tops = {
            n: sum(any(right_of(q)[o.candidate.draft] for o in r[:n]) for q, r in pairs) / len(pairs)
            for n in (1, 3, 5, 60)
        }
        chosen = numpy.array([s == name for s in sets])
        print(f"{name} ({len(pairs)}, folds of fit): " + ", ".join(f"top {n} {v:.3f}" for n, v in tops.items()))
        for way, of_all in zip(("after a dry run", "without one"), chances, strict=True):
            _report_curve(way, of_all[chosen], rights[chosen], threshold)


def _report_curve(way: str, chances: numpy.ndarray, rights: numpy.ndarray, threshold: float) -> None:
    sure = chances >= threshold
    precision = rights[sure].mean() if sure.any() else 0.0
    print(f"   {way}, threshold {threshold}: precision {precision:.3f} at coverage {sure.mean():.3f}")
    curve = numpy.cumsum(rights[numpy.argsort(-chances)]) / numpy.arange(1, len(chances) + 1)
    shares = ", ".join(f"{c}%: {curve[int(len(curve) * c / 100) - 1]:.3f}" for c in (20, 30, 40, 45, 50, 60, 80))
    print(f"   precision at coverage {shares}")


def _provenance(fit: Fit, sets: Iterable[str], count: int) -> dict[str, object]:
    head = ["git", "-C", str(Path(__file__).parent), "rev-parse", "HEAD"]
    commit = subprocess.run(head, capture_output=True, text=True, check=True).stdout.strip()
    return {
        "script": f"python -m train.reader {fit.file}",
        "commit": commit,
        "date": datetime.now(UTC).date().isoformat(),
        "data": {name: _ABOUT[name] for name in sets},
        "questions": count,
        "folds": FOLDS,
        "wanted_precision": dict(fit.precision),
    }


if __name__ == "__main__":
    main()

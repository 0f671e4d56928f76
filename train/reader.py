"""`make train`: fits the reader's weights from the `fit` splits and writes them with their provenance."""

import pickle
import subprocess
import sys
import tempfile
from datetime import UTC, datetime
from pathlib import Path

import numpy

from answerable.reader.fitted.trees import Trees
from answerable.reader.ranking.rank import RankedCandidate
from answerable.reader.weights import Weights, save_weights
from train.models import fit_ranker, fit_trees
from train.pipeline import (
    FOLDS,
    Judged,
    Stage,
    confidence_rows,
    fit_samples,
    fit_stage,
    judge_all,
    rank_folds,
    repeated,
    right_of,
)

FOLD_WEIGHTS = Path(tempfile.gettempdir()) / "answerable-train" / "folds.pickle"

WANTED_PRECISION = {"spider_train": 0.942, "geoquery": 0.975, "spider_syn": 0.92, "plain": 0.9}
"""On the folds, of every set: a threshold loses up to four points on databases that nobody has seen, and up to two on
other questions of the same one."""


def main() -> None:
    reuse = "--reuse" in sys.argv
    kept = Path(tempfile.gettempdir()) / "answerable-train" / "judged.pickle"
    stages, questions = pickle.loads(kept.read_bytes()) if reuse else judge_all()
    kept.write_bytes(pickle.dumps((stages, questions)))
    ranked, rankers = rank_folds(questions)
    models, chances, rights = _fit_confidence(questions, ranked)
    sets = [q.case.set for q, order in zip(questions, ranked, strict=True) if order]
    threshold = max(_threshold(chances[0], rights, sets, name) for name in WANTED_PRECISION)
    _report(questions, ranked, chances, rights, sets, threshold)
    _keep_folds(stages, rankers, models, threshold, questions)
    samples = fit_samples()
    stage, ranker = fit_stage(samples), fit_ranker(repeated(questions))
    tried, untried = (trees[-1] for trees in models)
    save_weights(Weights(stage.roles, stage.shapes, ranker, tried, untried, threshold), _provenance(len(samples)))


def _keep_folds(
    stages: list[Stage], rankers: list[Trees], models: list[list[Trees]], threshold: float, questions: list[Judged]
) -> None:
    """For `train.evaluate --folds`: the weights of each fold, and the fold of each database."""
    tried, untried = models
    folds = [
        Weights(stage.roles, stage.shapes, rankers[fold], tried[fold], untried[fold], threshold)
        for fold, stage in enumerate(stages)
    ]
    of_database = {question.case.database.name: question.fold for question in questions}
    FOLD_WEIGHTS.write_bytes(pickle.dumps((folds, of_database)))


def _fit_confidence(
    questions: list[Judged], ranked: list[list[RankedCandidate]]
) -> tuple[list[list[Trees]], list[numpy.ndarray], numpy.ndarray]:
    """Two kinds of models, for readings that ran and for those that did not: one for each fold, which did not see it,
    and one fitted on all; and what those of the folds say."""
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


def _threshold(chances: numpy.ndarray, rights: numpy.ndarray, sets: list[str], name: str) -> float:
    """The lowest at which the wanted precision of a set still holds."""
    chosen = numpy.array([each == name for each in sets])
    chances, rights = chances[chosen], rights[chosen]
    order = numpy.argsort(-chances)
    precision = numpy.cumsum(rights[order]) / numpy.arange(1, len(order) + 1)
    good = numpy.flatnonzero(precision >= WANTED_PRECISION[name])
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


def _provenance(count: int) -> dict[str, object]:
    head = ["git", "-C", str(Path(__file__).parent), "rev-parse", "HEAD"]
    commit = subprocess.run(head, capture_output=True, text=True, check=True).stdout.strip()
    return {
        "script": "python -m train.reader",
        "commit": commit,
        "date": datetime.now(UTC).date().isoformat(),
        "data": {
            "spider_train": "Spider train subset, CC BY-SA 4.0, split fit",
            "geoquery": "GeoQuery, split fit",
            "spider_syn": "Spider-Syn, MIT, every second question of split fit",
            "plain": "questions in people's own words, written for this project, split fit",
        },
        "questions": count,
        "folds": FOLDS,
        "wanted_precision": WANTED_PRECISION,
    }


if __name__ == "__main__":
    main()

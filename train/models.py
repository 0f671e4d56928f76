"""Fitting: boosted trees with lightgbm, linear models with scikit-learn, both turned into the plain form that ships."""

import os
from collections import Counter
from collections.abc import Sequence
from typing import TYPE_CHECKING

import lightgbm
import numpy
from sklearn.feature_extraction import DictVectorizer
from sklearn.linear_model import LogisticRegression

from answerable.reader.candidates.shape import PARTS, Shape
from answerable.reader.fitted.linear import Linear, LinearPart
from answerable.reader.fitted.trees import Trees

if TYPE_CHECKING:
    from scipy.sparse import csr_matrix

    from train.pipeline import Judged

SEED = 7
_LEAST_WEIGHT = 0.02
_COMMON = {
    "learning_rate": 0.08,
    "feature_fraction": 0.5,
    "bagging_fraction": 0.8,
    "bagging_freq": 1,
    "lambda_l2": 1.0,
    "max_bin": 63,
    "verbose": -1,
    "seed": SEED,
    "deterministic": True,
    "force_row_wise": True,
    "num_threads": int(os.environ.get("TRAIN_THREADS", "1")),
}


def fit_trees(
    vectors: "numpy.ndarray",
    labels: "numpy.ndarray",
    rounds: int = 150,
    leaves: int = 31,
    least: int = 20,
    **more: object,
) -> Trees:
    vectors = _apart(vectors)
    settings = {**_COMMON, "objective": "binary", "num_leaves": leaves, "min_data_in_leaf": least, **more}
    data = lightgbm.Dataset(vectors, labels)
    return plain_trees(lightgbm.train(settings, data, rounds), vectors)


def _apart(vectors: "numpy.ndarray") -> "numpy.ndarray":
    """No two values so near to each other that a threshold between them could not be stored in four bytes."""
    return numpy.round(vectors, 5)


def plain_trees(booster: "lightgbm.Booster", vectors: "numpy.ndarray") -> Trees:
    """The form that ships; says of some of the vectors what the library says."""
    trees = _flat(booster)
    some = vectors[:: max(1, len(vectors) // 200)].astype(float)
    said = booster.predict(some, raw_score=True)
    if not numpy.allclose(said, trees.scores(some.tolist()), atol=1e-4):
        raise ArithmeticError("The trees as they ship do not say what the fitted ones say.")
    return trees


def _flat(booster: "lightgbm.Booster") -> Trees:
    roots: list[int] = []
    feature: list[int] = []
    threshold: list[float] = []
    right: list[int] = []

    def add(node: dict) -> None:  # type: ignore[type-arg]
        here = len(feature)
        if "leaf_value" in node:
            feature.append(-1)
            threshold.append(_stored(node["leaf_value"]))
            right.append(-1)
            return
        feature.append(int(node["split_feature"]))
        threshold.append(_stored(node["threshold"]))
        right.append(-1)
        add(node["left_child"])
        right[here] = len(feature)
        add(node["right_child"])

    for info in booster.dump_model()["tree_info"]:
        roots.append(len(feature))
        add(info["tree_structure"])
    return Trees(roots, feature, threshold, right)


def _stored(value: float) -> float:
    """As the number is once it was stored in four bytes."""
    return float(numpy.float32(value))


def fit_shapes(
    features: Sequence[Sequence[str]], shapes: Sequence[Shape], least: int = 3, strength: float = 0.3
) -> Linear:
    counts = Counter(name for names in features for name in names)
    kept = [{name: 1.0 for name in names if counts[name] >= least} for names in features]
    vectorizer = DictVectorizer()
    matrix = vectorizer.fit_transform(kept)
    names = [str(name) for name in vectorizer.get_feature_names_out()]
    parts = {part: _fit_part(matrix, [shape[n] for shape in shapes], strength) for n, part in enumerate(PARTS)}
    return Linear({name: number for number, name in enumerate(names)}, parts)


def _fit_part(matrix: "csr_matrix", labels: Sequence[str], strength: float) -> LinearPart:
    """Classes that are hardly seen count as the commonest one."""
    seen = Counter(labels)
    common = [label if seen[label] >= 3 else max(seen, key=seen.__getitem__) for label in labels]
    model = LogisticRegression(C=strength, max_iter=300, random_state=SEED).fit(matrix, common)
    weights, bias = model.coef_, model.intercept_
    if len(model.classes_) == 2:
        weights, bias = numpy.vstack([-weights[0] / 2, weights[0] / 2]), numpy.array([-bias[0] / 2, bias[0] / 2])
    useful = numpy.flatnonzero(abs(weights).max(axis=0) > _LEAST_WEIGHT)
    return LinearPart(
        classes=[str(name) for name in model.classes_],
        bias=_single(bias),
        rows={int(column): row for row, column in enumerate(useful)},
        weights=_single(weights[:, useful].T.ravel()),
    )


def _single(values: "numpy.ndarray") -> list[float]:
    return [_stored(value) for value in values]


def fit_ranker(questions: "Sequence[Judged]", rounds: int = 200, leaves: int = 31) -> Trees:
    """Learns to put a right candidate first, from questions that have one."""
    useful = [q for q in questions if q.right.any() and not q.right.all()]
    vectors = _apart(numpy.concatenate([q.vectors for q in useful]))
    labels = numpy.concatenate([q.right for q in useful]).astype(int)
    settings = {
        **_COMMON,
        "objective": "lambdarank",
        "lambdarank_truncation_level": 5,
        "num_leaves": leaves,
        "learning_rate": 0.06,
        "min_data_in_leaf": 30,
        "feature_fraction": 0.4,
        "lambda_l2": 2.0,
    }
    data = lightgbm.Dataset(vectors, labels, group=[len(q.right) for q in useful])
    return plain_trees(lightgbm.train(settings, data, rounds), vectors)
